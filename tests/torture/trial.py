"""A trial: one hostile thing done to haul, in a folder of its own, by one job. Its random numbers follow from seed, kind
and number alone, so that it can be repeated. What it finds goes into its counts, all of which ought to be 0."""
import collections
import ctypes
import os
import random
import shutil
import signal
import subprocess
import time

COUNTS = """lost doubled silent orphaned wrong spread broken spoilt left escaped stuck""".split()
LIMIT_S, LIMIT_HANG_S, LIMIT_READ_S = 240, 900, 120
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CRASHES = {127, *(128 + number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
                                              signal.SIGILL))}


def prctl(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def children_of(parent):
    """The processes whose parent that is, without zombies."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{int(name)}/stat", encoding="utf-8", errors="replace") as file:
                state, owner = file.read().rpartition(")")[2].split()[:2]
        except (ValueError, OSError):
            continue
        if int(owner) == parent and state != "Z":
            found.append(int(name))
    return sorted(found)


def kill(pid, number):
    """As kill(2): a group where pid is negative, and nothing where nobody is there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Haul:
    """The executable, started in a process group of its own; out, err and code are there when it has ended.

    code is its exit code, 128 + n where signal n ended it, -1 where it did not end in time."""

    def __init__(self, trial, words, environment):
        settings = trial.settings
        self.number, self.code, self.out, self.err = trial.runs, None, "", ""
        self.files = [trial.path(f"{self.number}.{name}") for name in ("out", "err")]
        whole = {"LD_LIBRARY_PATH": settings.fake, "HAUL_FAKE_MACHINE": settings.machine, "HOME": trial.folder,
                 "LC_ALL": "C.UTF-8", **environment}
        who = {"user": trial.user, "group": trial.user, "extra_groups": []} if trial.user else {}
        enter = None
        if trial.group:
            def enter():
                with open(trial.group, "w", encoding="ascii") as file:
                    file.write("0")
        with open(self.files[0], "wb") as out, open(self.files[1], "wb") as err:
            self.process = subprocess.Popen(["haul", *words], executable=settings.haul, env=whole, stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, process_group=0, preexec_fn=enter, **who)
        self.pid = self.process.pid

    def is_running(self):
        """Its number stays its own until finish()."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


class Trial:
    def __init__(self, settings, kind, number, folder):
        self.settings, self.kind, self.number, self.folder = settings, kind, number, folder
        self.random = random.Random(f"{settings.seed} {kind} {number}")
        self.counts = collections.Counter()
        self.runs = self.running = 0  # of haul: all, and now
        self.cases = 0  # with a result in the database at the end
        self.detail = ""  # of the first count
        self.skipped = ""  # why nothing was done
        self.user = 0  # that haul runs as; 0: as this one
        self.helper = 0  # a child that is no process of haul
        self.group = ""  # file that a process writes itself into
        self.database = self.path("t.db")
        self.scenario = settings.clean + ".toml"

    def path(self, name):
        return os.path.join(self.folder, name)

    def below(self, limit):
        return self.random.randrange(limit)

    def chance(self, one_in):
        return self.random.randrange(one_in) == 0

    def choice(self, items):
        return self.random.choice(items)

    def pause(self, ms_below, ms_more=0):
        time.sleep((ms_more + self.below(ms_below)) / 1000)

    def count(self, name, detail, number=1):
        self.detail = self.detail or f"{name}: {detail}"
        self.counts[name] += number

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def copy_clean(self, path=None):
        """The database of the undisturbed run, as the trial's or as that file."""
        shutil.copyfile(self.settings.clean, path or self.database)

    def start(self, words, **environment):
        haul = Haul(self, words, environment)
        self.runs += 1
        self.running += 1
        return haul

    def finish(self, haul, limit_s=LIMIT_S):
        """Wait at most that long, then kill it; counts what is stuck, broken, orphaned or silent."""
        try:
            code = haul.process.wait(limit_s)
            haul.code = 128 - code if code < 0 else code
        except subprocess.TimeoutExpired:
            kill(-haul.pid, signal.SIGKILL)
            haul.process.wait()
            haul.code = -1
            self.count("stuck", f"no end in {limit_s} s")
        haul.out, haul.err = (open(path, encoding="utf-8", errors="surrogateescape", newline="").read()
                              for path in haul.files)
        if "Sanitizer" in haul.err or "ssertion" in haul.err or haul.code in CRASHES:
            self.count("broken", f"haul ended with {haul.code}: {haul.err:.200}")
        elif haul.code in (2, 3) and not haul.err:
            self.count("silent", f"exit code {haul.code} and no message")
        self.running -= 1
        if not self.running:
            self.count_orphans()
        return haul

    def run(self, words, limit_s=LIMIT_S, **environment):
        return self.finish(self.start(words, **environment), limit_s)

    def count_orphans(self):
        """This process is the subreaper: whoever loses its parent becomes its child."""
        end = time.monotonic() + 3
        while True:
            try:
                while os.waitpid(-1, os.WNOHANG)[0] > 0:
                    pass
            except ChildProcessError:
                pass
            left = [pid for pid in children_of(os.getpid()) if pid != self.helper]
            if not left or time.monotonic() > end:
                break
            time.sleep(0.01)
        if left:
            self.count("orphaned", f"process {left[0]} is left", len(left))
        for pid in left:
            kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
