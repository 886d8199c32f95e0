"""Hostile things done with files that others may write: shared folders, parts of databases, names and texts that reach
a terminal."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import judge
from trial import LIMIT_READ_S, PR_SET_PDEATHSIG, children_of, kill, prctl

NOBODY, SOMEBODY = 65534, 65533
PRECIOUS = b"precious\n"


# ---- a file of another user, which nothing may change ----

def make_victim(trial):
    trial.victim = trial.path("victim")
    with open(os.open(trial.victim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(PRECIOUS)


def judge_victim(trial, by):
    try:
        with open(trial.victim, "rb") as file:
            done = "" if file.read() == PRECIOUS else "changed"
    except OSError:
        done = "removed"
    if done:
        trial.count("spoilt", f"the file of another user was {done} by {by}")


def plant(trial, path):
    """A link to it, its other name, a FIFO or a folder, of another user where this one is root."""
    which = trial.below(4)
    with contextlib.suppress(OSError):
        if which == 0:
            os.link(trial.victim, path)
            return
        if which == 1:
            os.mkfifo(path, 0o666)
        elif which == 2:
            os.mkdir(path, 0o777)
        else:
            os.symlink(trial.victim, path)
        if os.geteuid() == 0:
            os.lchown(path, NOBODY, NOBODY)


def shared_folder(path):
    os.mkdir(path)
    os.chmod(path, 0o1777)
    return path


# ---- shards ----

def names_in(folder, pattern):
    """Names of a folder that are like that as a whole."""
    with contextlib.suppress(OSError):
        return [name for name in os.listdir(folder) if re.fullmatch(pattern, name)]
    return []


def trial_shard(trial):
    """Runs in shards killed, in a folder where another user puts links and FIFOs; another run of the node, and one that
    goes on, leave nothing behind and lose nothing that was said to be ok."""
    shards, local = shared_folder(trial.path("shards")), trial.path("local")
    os.mkdir(local, 0o700)
    make_victim(trial)
    environment = {"TMPDIR": local}
    if trial.chance(2):  # as on a file system that knows no files without a name
        environment.update(LD_PRELOAD=trial.settings.preload, TORTURE_NAMED="1")
    first_node = ["--shard", shards, "--node-name", "n1"]
    fleet = ["--expected-nodes", "n[1-2]", "--tag", "t"]
    haul = trial.start(["run", trial.scenario, "-v", *first_node, "--shard-every", "20ms", *fleet], **environment)
    trial.pause(500)
    shard = [os.path.join(shards, name) for name in names_in(shards, r"[^.].*\.db")][-1:]
    if shard:
        plant(trial, f"{shards}/.{os.path.basename(shard[0])}.part")
        if trial.chance(2):
            plant(trial, shard[0] + ".failed")
    trial.pause(700)
    if not trial.chance(4) and haul.is_running():
        kill(trial.choice([haul.pid, -haul.pid]), signal.SIGKILL)
    trial.finish(haul)
    # "[3/54] up/gpu0/4KiB: ok": of a further visit it is the same name.
    said = len(set(re.findall(r"([^ \n]*): ok", haul.err)))
    judge_victim(trial, "a shard")
    # The node's next run takes up what is left; then the first one goes on.
    trial.run(["run", trial.scenario, "--shard", shards, "--node-name", "n2", *fleet, "--set", "measure.processes=1"],
              **environment)
    shard = shard or []
    if shard and judge.count_results(shard[0]) < said:
        trial.count("lost", f"{said} cases were ok on the screen, {judge.count_results(shard[0])} are in {shard[0]}")
    folders = names_in(f"{local}/haul-shards-{os.geteuid()}", "[^.].*")
    temporary = names_in(shards, r"\..*\.[^.]{16}")  # what was written when haul was killed
    if folders or temporary:
        trial.count("left", f"{folders} in {local} and {temporary} in {shards}")
    if haul.code == 128 + signal.SIGKILL and shard and not judge.run_is(shard[0], "done"):
        haul = trial.run(["run", "--resume", "latest", *first_node], **environment)
        if not judge.run_is(shard[0], "done"):
            trial.count("lost", f"--resume ended with {haul.code}: {haul.err:.300}")
    if shard:
        judge.judge(trial, shard[0], judge.ALL_SICK)
    trial.run(["merge", trial.database, shards], LIMIT_READ_S, **environment)
    judge.judge(trial, trial.database, judge.ALL_SICK)
    judge_victim(trial, "a merge of shards")


# ---- parts of databases, and outputs ----

def write_journal(trial, path):
    """A journal as SQLite writes it, that names the file of another user as its super-journal."""
    magic, victim = bytes.fromhex("d9d505f920a163d7"), trial.victim.encode()
    page = magic + bytes(12) + struct.pack(">II", 512, 4096)  # sectors and pages
    end = struct.pack(">II", len(victim), sum(victim))
    with contextlib.suppress(OSError), open(path, "xb") as file:
        file.write(page.ljust(512, b"\0") + b"\xff\xff\xff\xff" + victim + end + magic)


def trial_parts(trial):
    """Journals, links and FIFOs beside databases, and outputs over them."""
    folder = trial.path("inputs")
    os.mkdir(folder)
    copy = folder + "/s.db"
    make_victim(trial)
    for _ in range(4):
        with contextlib.suppress(OSError):
            os.unlink(copy)
        trial.copy_clean(copy)
        part = copy + trial.choice(["-journal", "-wal", "-shm"])
        if trial.chance(2):
            write_journal(trial, part)
        else:
            plant(trial, part)
        words = trial.choice([
            ["merge", trial.database, folder], ["list", "runs", "--db", copy],
            ["query", "select * from v_case", "--db", copy], ["tag", "latest", "t", "--db", copy],
            ["export", "csv", "-o", part, "--db", copy], ["export", "csv", "-o", copy, "--db", copy],
            ["env", "--save", copy], ["run", "--resume", "latest", "--db", copy]])
        trial.run(words, LIMIT_READ_S)
        judge_victim(trial, words[0])
        with contextlib.suppress(OSError):
            (os.rmdir if os.path.isdir(part) and not os.path.islink(part) else os.unlink)(part)
        judge.judge(trial, copy, judge.ALL_SICK)


# ---- two users ----

def meddle(trial, path):
    """Something of this user under that name, in place of what was there where that may be."""
    which = trial.below(8)
    if which == 0:
        os.link(trial.victim, path)
    elif which == 1:
        os.mkfifo(path, 0o666)
    elif which == 2:
        os.mkdir(path, 0o777)
    elif which == 3:
        write_journal(trial, path)
    elif which == 4:  # a folder that becomes a link
        with contextlib.suppress(OSError):
            os.rename(path, path + "~")
        os.symlink(trial.folder, path)
    elif which == 5:
        (os.rmdir if os.path.isdir(path) else os.unlink)(path)
    elif which == 6:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK
        with open(os.open(path, flags, 0o666), "wb") as file:
            file.write(b"pid=1 use=exclusive\n")
            file.truncate(trial.choice([20, 1 << 40]))
    else:
        os.symlink(trial.victim, path)


def meddle_all(trial, folders):
    """Another user, who puts things into the folders that all may write to, until the end."""
    guesses = [".{}.part", "{}.part", "{}.failed", "{}-journal", "{}-wal", "{}-shm", ".{}", "{}.tmp", "{}~", "{}",
               "{}.lock", "{}-merge-000000"]
    names = ["haul-shards-65534", "r.db", "r.db-journal", "out.csv", "page.html", "host", "gpu0", "m.db",
             "m.db-journal", "taken", "run", "haul"]
    while True:
        folder = trial.choice(folders)
        there = os.listdir(folder)
        # A shard, of which haul writes a newer copy soon, or anything.
        there = [name for name in there if re.fullmatch(r"n1-.*\.db", name)] or there
        name = trial.choice(there or names)
        if name.startswith(".") or trial.chance(2):
            name = trial.choice(names)
        with contextlib.suppress(OSError):
            meddle(trial, os.path.join(folder, trial.choice(guesses).format(name)))
        trial.pause(4)


def trial_users(trial):
    """haul runs as one user, and its files of no concern to others stay as they are, whatever another user does in
    folders that both may write to."""
    if os.geteuid() != 0:
        trial.skipped = "only root can start haul as another user"
        return
    folders = [shared_folder(trial.path(name)) for name in ("shared", "tmp", "locks")]
    make_victim(trial)
    for path in (trial.victim, trial.folder):
        os.chown(path, NOBODY, NOBODY)
    database, out, page, merged = (os.path.join(folders[0], name) for name in ("r.db", "out.csv", "page.html", "m.db"))
    trial.helper = os.fork()
    if trial.helper == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setgroups([])
        os.setresgid(SOMEBODY, SOMEBODY, SOMEBODY)
        os.setresuid(SOMEBODY, SOMEBODY, SOMEBODY)
        try:
            meddle_all(trial, folders)
        finally:
            os._exit(1)
    trial.user = NOBODY
    quick = ["--set", "measure.processes=1", "--wait", "2s"]
    verbs = [["run", trial.scenario, "-v", "--shard", folders[0], "--node-name", "n1", "--shard-every", "20ms", *quick],
             ["run", trial.scenario, "--db", database, *quick], ["export", "csv", "-o", out, "--db", database],
             ["report", page, "--db", database], ["merge", merged, folders[0]],
             ["tag", "latest", "t", "--db", database], ["env", "--save", out], ["list", "runs", "--db", database]]
    for words in [*verbs[:2], *(trial.choice(verbs) for _ in range(3))]:
        trial.run(words, TMPDIR=folders[1], HAUL_LOCKS=folders[2])
        judge_victim(trial, words[0])
    trial.user = 0
    if trial.helper not in children_of(os.getpid()):
        trial.count("broken", "torture's other user ended before its time")
    kill(trial.helper, signal.SIGKILL)
    os.waitpid(trial.helper, 0)
    trial.helper = 0


# ---- a terminal ----

def run_on_terminal(trial, words):
    """The exit code (-1: it did not end by itself), and what it wrote on a screen of 100 columns."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        os.execve(trial.settings.haul, ["haul", *words], {**os.environ, "LC_ALL": "C.UTF-8", "HOME": trial.folder,
                                                          "TERM": "xterm", "NO_COLOR": "1"})
    screen, end = b"", time.monotonic() + LIMIT_READ_S
    with contextlib.suppress(OSError):
        while select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            got = os.read(terminal, 65536)
            screen += got
            if not got:
                break
    kill(pid, signal.SIGHUP)
    os.close(terminal)
    status = os.waitpid(pid, 0)[1]
    trial.runs += 1
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1, screen


# Nothing but text, ends of lines, and a line that is cleared.
ESCAPED = re.compile(rb"\x1b(?!\[K)|[\x00-\x09\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|"
                     rb"\xe2\x81[\xa6-\xa9]")


def trial_screen(trial):
    """Hostile texts and names on a terminal."""
    text = trial.choice([b"\x1b]0;title\x07", b"\xc2\x9b[2J", b"\xe2\x80\xae right", b"\x7f\x08\x08\rover",
                         b"\xe2\x81\xa6isolate", b"\x1b[31mred"])
    folder, name = trial.path("in"), os.fsdecode(text)
    os.mkdir(folder)
    trial.copy_clean()
    for column in ("run SET tag", "environment SET host_name", "bench_case SET name", "case_note SET what",
                   "device SET name"):
        judge.execute(trial.database, f"UPDATE OR IGNORE {column} = {judge.text(text)}")
    trial.copy_clean(f"{folder}/{name}{trial.below(9)}.db")
    trial.copy_clean(f"{folder}/z.db")
    form = ["--format", trial.choice(["table", "csv", "csv-safe", "json", "jsonl", "md"])]
    db = ["--db", trial.database]
    for words in (["list", "runs", *db, *form], ["list", "cases", *db, *form],
                  ["query", "select * from v_case", *db, *form], ["show", "latest", *db], ["env", "--run", "latest", *db],
                  ["export", "csv", *db], ["export", "prometheus", *db], ["merge", trial.path("out.db"), folder],
                  ["list", name], ["run", "quick", "--" + name], ["validate", name]):
        code, screen = run_on_terminal(trial, words)
        if not 0 <= code <= 4:
            trial.count("broken", f"{words[0]} on a terminal ended with {code}: {screen[:200]}")
        found = ESCAPED.search(screen)
        if found:
            trial.count("escaped", f"bytes {found[0].hex()} on the terminal by {words[0]}")
