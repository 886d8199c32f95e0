"""Processes of haul that are killed, signalled, stopped or short of memory, and drivers, clocks and disks that fail."""
import contextlib
import errno
import os
import re
import signal
import sqlite3
import time

import judge
from trial import LIMIT_HANG_S, LIMIT_S, children_of, kill

CALLS = {  # of the lists of entry points, and patterns
    "engine/cuda/driver_api.h": ["cuGetProcAddress", "cuInit", "cuDriverGetVersion", "haul_*", "cuMemcpy*", "cu*"],
    "engine/cuda/nvml.h": ["nvml*"],
}
CUDA_CODES = [*range(1, 9), 34, 36, 46, *range(100, 103), *range(200, 203), *range(205, 227), *range(300, 305), 400, 401,
              402, 500, 600, *range(700, 706), *range(708, 722), *range(800, 808), *range(808, 813), *range(900, 917),
              999, 12345]


def run_words(trial, resume=False):
    return ["run", *(["--resume", "latest"] if resume else [trial.scenario]), "-v", "--db", trial.database]


def has_open_run(trial):
    return judge.run_is(trial.database, "running", "interrupted", "failed")


def complete(trial, sick_gpus):
    """Undisturbed from here on: resume what is open, and all must be there."""
    if has_open_run(trial):
        haul = trial.run(run_words(trial, resume=True))
        # Who kills each probe that asks the driver has a run without one, which is not resumed with.
        if not judge.run_is(trial.database, "done") and \
                "cannot be resumed: driver_version was none" not in haul.err:
            trial.count("lost", f"--resume ended with {haul.code}: {haul.err:.300}")
        judge.code(trial, haul, trial.database)
    if judge.run_is(trial.database, "done"):
        judge.judge(trial, trial.database, sick_gpus)


def must_be_well(trial, haul, beside=""):
    if haul.code != 0:
        trial.count("spread", f"exit code {haul.code}{beside}: {haul.err:.200}")


def trial_kill(trial):
    """Parent, worker, sampler and group killed at random moments, and in chains."""
    for _ in range(1 + trial.below(4)):
        resume = has_open_run(trial)
        if not resume and judge.run_is(trial.database, "done"):
            break
        haul = trial.start(run_words(trial, resume))
        trial.pause(1200)
        for _ in range(1 + trial.below(3)):
            if not haul.is_running():
                break
            children, whom = children_of(haul.pid), trial.below(4)
            if whom < 2:
                kill(haul.pid if whom == 0 else -haul.pid, signal.SIGKILL)
            elif children:
                kill(trial.choice(children), signal.SIGKILL)
            trial.pause(300)
        trial.finish(haul)
    complete(trial, judge.ALL_SICK)


def trial_io(trial):
    """Each call that reads or writes the database failing in turn."""
    code = trial.choice([errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EINTR])
    # A call that is interrupted is made again: not for ever.
    count = 1 if code == errno.EINTR else trial.below(3)
    # One call after the other, as far as a run makes any.
    first = 1 + (trial.number * 7 + trial.below(7)) % 1500
    haul = trial.run(run_words(trial), LD_PRELOAD=trial.settings.preload, TORTURE_PATH=".db",
                     TORTURE_IO=f"{first}:{code}:{count}")
    if os.path.exists(trial.database):
        judge.code(trial, haul, trial.database)
    complete(trial, judge.ALL_SICK)


def calls(header):
    """The entry points that a header of the engine lists, and the patterns for them."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..", header)
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^ +X\(((?:cu|nvml)\w+),", file.read(), re.M) + CALLS[header]


def run_with_fault(trial, text, limit_s=LIMIT_S):
    haul = trial.run(run_words(trial), limit_s, HAUL_FAKE_FAULTS=trial.write("fault.toml", "[[fake.fault]]\n" + text))
    if os.path.exists(trial.database):
        judge.code(trial, haul, trial.database)


def fault(trial, nvml):
    kinds = ["error", "sticky", "crash", "error", "sticky", "error", "sticky", "crash"]
    hang = trial.chance(40)
    kind = "hang" if hang else trial.choice(kinds if nvml else kinds + ["flip_byte", "drop", "out_of_memory"])
    call = trial.choice(calls("engine/cuda/nvml.h" if nvml else "engine/cuda/driver_api.h"))
    code = trial.choice([*range(1, 29), 1, 999]) if nvml else trial.choice(CUDA_CODES)
    which = trial.below(3)
    gpu = trial.below(4) if not nvml and trial.chance(2) else None
    run_with_fault(trial, f"""kind = "{kind}"
call = "{call}"
nth = {2 + trial.below(60) if which == 1 else 1}
count = {0 if which == 2 and not hang else 1}
code = {code}
signal = {int(trial.choice([signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL, signal.SIGTERM]))}
{"" if gpu is None else f"gpu = {gpu}"}
""", LIMIT_HANG_S if hang else LIMIT_S)
    if os.path.exists(trial.database):
        judge.judge(trial, trial.database, 0 if nvml else judge.ALL_SICK if gpu is None else 1 << gpu)


def trial_cuda(trial):
    """Each entry point of CUDA x code x which calls x kind of fault; or every copy of a GPU arrives with a wrong byte,
    and none of its transfers may be called ok."""
    if not trial.chance(16):
        fault(trial, nvml=False)
        return
    gpu = trial.below(4)
    run_with_fault(trial, f'kind = "flip_byte"\ncall = "cuMemcpy*"\ncount = 0\ngpu = {gpu}\n'
                   f'offset = {trial.below(65536)}\n')
    judge.judge(trial, trial.database, 1 << gpu)
    judge.corrupt(trial, trial.database, gpu)


def trial_nvml(trial):
    """The same of NVML."""
    fault(trial, nvml=True)


def trial_clock(trial):
    """The clock set, once or back and forth for as long as the run takes."""
    jump = trial.choice([-1, -3600, -86400, -2000000000, 1, 3600, 1000000000, 4000000])
    haul = trial.run(run_words(trial), LD_PRELOAD=trial.settings.preload,
                     TORTURE_CLOCK=f"{1 + trial.below(12)}:{jump}:{trial.below(2) * 5}")
    must_be_well(trial, haul)
    judge.code(trial, haul, trial.database)
    complete(trial, 0)


def trial_signal(trial):
    """Signals to the parent."""
    to_end = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    others = [signal.SIGPIPE, signal.SIGQUIT, signal.SIGUSR1, signal.SIGXFSZ, signal.SIGALRM, signal.SIGCONT,
              signal.SIGWINCH, signal.SIGCHLD]
    haul = trial.start(run_words(trial))
    asked = True  # only by signals that ask to end
    trial.pause(1500)
    for _ in range(1 + trial.below(3)):
        if not haul.is_running():
            break
        number = trial.choice(to_end + others)
        asked = asked and number in to_end
        kill(trial.choice([haul.pid, -haul.pid]), number)
        trial.pause(200)
    trial.finish(haul)
    if asked and haul.code < 128 + 2 and judge.run_is(trial.database, "running"):
        trial.count("silent", f"exit code {haul.code} and the run is running")
    complete(trial, judge.ALL_SICK)


def trial_visits(trial):
    """Kills, signals, budgets and resumes while cases are visited again: on a noisy host the first round takes half a
    second."""
    hang = trial.chance(12)
    budget = trial.chance(4)
    text = "[fake.noise]\nseed = 1\nwithin = 0.05\n"
    if hang or trial.chance(3):
        text += f"""[[fake.fault]]
kind = "{"hang" if hang else trial.choice(["crash", "sticky"])}"
call = "cuMemcpy*"
nth = {200 + trial.below(3000)}
"""
    noise = trial.write("noise.toml", text)
    for round_ in range(4):
        words = run_words(trial, has_open_run(trial))
        if "--resume" not in words:
            for setting in ("settle_time=4s", "max_time=3ms", "budget=3s" if budget else "budget=none"):
                words += ["--set", "measure." + setting]
        haul = trial.start(words, HAUL_FAKE_FAULTS=noise)
        if round_ < 3:
            trial.pause(3200, 400)
            children, whom = children_of(haul.pid), trial.below(4)
            if whom == 0 or not children:
                kill(haul.pid, signal.SIGINT)
            elif whom == 1:
                kill(-haul.pid, signal.SIGKILL)
            else:
                kill(trial.choice(children), signal.SIGKILL if whom == 2 else signal.SIGSEGV)
        trial.finish(haul, LIMIT_HANG_S if hang else LIMIT_S)
        if os.path.exists(trial.database):
            judge.visits(trial, trial.database)
        if judge.run_is(trial.database, "done"):
            break
    if not budget and has_open_run(trial):
        trial.count("lost", "--resume does not end the run")


def trial_stop(trial):
    """Processes stopped and continued."""
    haul = trial.start(run_words(trial))
    trial.pause(500)
    for _ in range(1 + trial.below(5)):
        if not haul.is_running():
            break
        processes = [haul.pid, *children_of(haul.pid)]
        pid, other = trial.choice([*processes, -haul.pid]), trial.choice(processes)
        kill(pid, signal.SIGSTOP)
        kill(other, signal.SIGSTOP)
        trial.pause(800)
        kill(pid, signal.SIGCONT)
        trial.pause(200)
        kill(other, signal.SIGCONT)
    trial.finish(haul)
    must_be_well(trial, haul)
    judge.code(trial, haul, trial.database)
    complete(trial, 0)


def trial_many(trial):
    """Two to eight runs at once."""
    locks = {"HAUL_LOCKS": trial.path("locks")} if trial.chance(2) else {}
    hauls = []
    for _ in range(2 + trial.below(7)):
        hauls.append(trial.start(run_words(trial), **locks))
        trial.pause(100)
    for haul in hauls:
        must_be_well(trial, trial.finish(haul, 4 * LIMIT_S), f" of one of {len(hauls)} runs")
    judge.judge(trial, trial.database, 0)


def trial_readers(trial):
    """Up to ten connections that hold the database while runs record: each run ends well and in time, and the next one
    finds all of them."""
    runs = 2 + trial.below(3)
    for run in range(runs):
        count = 1 + trial.below(10) if 0 < run < runs - 1 else 0
        before = trial.chance(2)
        if not before:
            haul = trial.start(run_words(trial))
            trial.pause(500)
        with contextlib.ExitStack() as readers:
            for _ in range(count):
                reader = sqlite3.connect(trial.database, isolation_level=None)
                readers.enter_context(contextlib.closing(reader))
                with contextlib.suppress(sqlite3.Error):
                    reader.execute("BEGIN")
                    reader.execute("SELECT count(*) FROM run").fetchall()
            if before:
                haul = trial.start(run_words(trial))
            if trial.chance(3):
                trial.pause(3000)
                readers.close()
            must_be_well(trial, trial.finish(haul), f" beside {count} readers")
    judge.judge(trial, trial.database, 0)
    done = judge.rows(trial.database, "SELECT count(*) FROM run WHERE status = 'done'")
    if not done or done[0][0] < runs:
        trial.count("lost", f"{done} of {runs} runs are in the database", runs - (done[0][0] if done else 0))


# Host memory in sizes that rise beyond what the group has.
RISING = """schema_version = 1
name = "rising"
[measure]
trials = { min = 2, max = 2 }
max_time = "5ms"
min_trial = "1ms"
processes = 2
[[transfer]]
name = "host"
method = "cpu"
pairs = "same"
from = { numa = 0, memory = "pageable" }
to = { numa = 0, memory = "pageable" }
size = { from = "8MiB", to = "128MiB", step = "8MiB" }
"""


def trial_limit(trial):
    """A control group with little memory."""
    unified = os.path.exists("/sys/fs/cgroup/cgroup.procs")
    group = f"/sys/fs/cgroup/{'' if unified else 'memory/'}torture-{os.getpid()}-{trial.number}"
    size = (96 + trial.below(160)) << 20
    try:
        os.mkdir(group)
        with open(f"{group}/memory.{'max' if unified else 'limit_in_bytes'}", "w", encoding="ascii") as file:
            file.write(str(size))
    except OSError:
        trial.skipped = "no control group of memory can be made here"
        with contextlib.suppress(OSError):
            os.rmdir(group)
        return
    trial.group = group + "/cgroup.procs"
    haul = trial.run(["run", trial.write("rising.toml", RISING), "-v", "--db", trial.database])
    if haul.code not in (0, 3):
        must_be_well(trial, haul, f" with {size} bytes")
    judge.code(trial, haul, trial.database)
    judge.judge(trial, trial.database, judge.ALL_SICK)
    judge.none(trial, trial.database, "crashed")
    for _ in range(100):
        try:
            os.rmdir(group)
            break
        except OSError:
            time.sleep(0.02)
