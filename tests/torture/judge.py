"""What a database, an exit code and an output ought to be. Reads with SQLite itself, not with haul."""
import contextlib
import csv
import io
import json
import re
import sqlite3
import urllib.parse

TOLERANCE = 0.001  # the virtual clock of the fake driver repeats to the ns
ALL_SICK = -1  # of judge(): no case must be ok
csv.field_size_limit(1 << 30)

# Cases that every process of a run that is done ought to have: how often each is there.
COUNTS_SQL = """
  WITH RECURSIVE ordinals (run, ordinal, processes) AS (
    SELECT id, 0, processes FROM run WHERE status = 'done'
    UNION ALL SELECT run, ordinal + 1, processes FROM ordinals WHERE ordinal + 1 < processes)
  SELECT b.name, o.ordinal, count(c.id)
  FROM ordinals o JOIN plan_case p ON p.run = o.run JOIN bench_case b ON b.id = p.bench_case
  LEFT JOIN process q ON q.run = o.run AND q.ordinal = o.ordinal
  LEFT JOIN case_run c ON c.run = o.run AND c.bench_case = b.id AND (c.process = q.id OR c.process IS NULL)
  GROUP BY o.run, b.id, o.ordinal HAVING count(c.id) <> 1"""
# In runs that are not done a case may be missing, but not be there twice.
DOUBLED_SQL = """
  SELECT b.name, count(*) FROM case_run c JOIN bench_case b ON b.id = c.bench_case
  GROUP BY c.run, c.process, c.bench_case HAVING count(*) > 1"""
# Every result, beside that of the clean run where the clock of the case repeats.
RESULTS_SQL = """
  SELECT b.name, c.status, c.reason, c.median_ns, k.median_ns, b.path, c.verified, k.verified
  FROM case_run c JOIN bench_case b ON b.id = c.bench_case
  LEFT JOIN (clean.case_run k JOIN clean.bench_case l
             ON l.id = k.bench_case AND k.status = 'ok' AND k.clock <> 'host') ON l.case_key = b.case_key"""
# What a case says of its trials, where these differ; of one that crashed all that came counts.
VISITS_SQL = """
  SELECT b.name, c.n, c.visits, count(t.ordinal), count(DISTINCT ifnull(t.visit, 0)), max(ifnull(t.visit, 0))
  FROM case_run c JOIN bench_case b ON b.id = c.bench_case
  LEFT JOIN trial t ON t.case_run = c.id AND t.phase = 1 AND t.status = 0
  WHERE c.status = 'ok' GROUP BY c.id
  HAVING c.n <> count(t.ordinal) OR c.visits <> count(DISTINCT ifnull(t.visit, 0))
    OR c.visits <> max(ifnull(t.visit, 0)) + 1"""
CORRUPT_SQL = """
  SELECT DISTINCT b.name FROM case_run c JOIN bench_case b ON b.id = c.bench_case JOIN flow f ON f.bench_case = b.id
  WHERE c.status = 'ok' AND f.method = 'ce' AND f.source_place <> f.target_place
    AND ? = CASE 'gpu' WHEN f.source_place THEN f.source_index ELSE f.target_index END"""


def connect(path):
    """A database that is there."""
    made = sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=rw", uri=True, timeout=10, isolation_level=None)
    made.text_factory = lambda text: text.decode(errors="replace")
    return contextlib.closing(made)


def execute(path, sql):
    """Runs SQL on a database, ignoring what it says."""
    with contextlib.suppress(sqlite3.Error), connect(path) as database:
        database.executescript(sql)


def rows(path, sql, *parameters, clean=None):
    """Of a query, or None where SQLite cannot answer it."""
    try:
        with connect(path) as database:
            if clean:
                database.execute("ATTACH ? AS clean", [clean])
            return database.execute(sql, parameters).fetchall()
    except sqlite3.Error:
        return None


def text(value):
    """In SQL, whatever bytes it has."""
    return f"CAST(x'{value.hex()}' AS TEXT)"


def run_is(path, *statuses):
    """Whether the run that started last has one of them."""
    found = rows(path, "SELECT status FROM run ORDER BY id DESC LIMIT 1")
    return bool(found) and found[0][0] in statuses


def numbers(path):
    """What the cases of the first run were measured with."""
    return rows(path, "SELECT id, median_ns, n FROM case_run WHERE run = (SELECT min(id) FROM run) ORDER BY id") or []


def count_results(path):
    found = rows(path, "SELECT count(*) FROM case_run")
    return found[0][0] if found else 0


def sound(trial, path):
    """SQLite finds it in order."""
    found = rows(path, "PRAGMA integrity_check")
    if found != [("ok",)]:
        trial.count("broken", f"integrity_check of {path}: {found}"[:300])
    return found == [("ok",)]


def complete(trial, path):
    """No case of a run that is done is missing, none is there twice."""
    missing, doubled = rows(path, COUNTS_SQL), rows(path, DOUBLED_SQL)
    if missing is None or doubled is None:
        trial.count("broken", f"{path} has no results that can be read")
        return False
    for name, ordinal, count in missing:
        trial.count("doubled" if count else "lost", f"case {name} is there {count} times in process {ordinal}")
    for name, count in doubled:
        trial.count("doubled", f"case {name} is there {count} times")
    return True


def visits(trial, path):
    """It is sound, no case is lost or there twice, and each has the trials and visits that it says."""
    if sound(trial, path) and complete(trial, path):
        for row in rows(path, VISITS_SQL) or []:
            trial.count("lost", "case %s says %d trials in %d visits, and has %d in %d up to number %d" % row)
    trial.cases += count_results(path)


def judge(trial, path, sick_gpus):
    """It is sound, and every run that is done has each planned case once for each process, with a reason where it is
    not ok, and the number of the clean database where it is. Cases that use none of these GPUs (bits) must be ok."""
    if not sound(trial, path) or not complete(trial, path):
        return
    results = rows(path, RESULTS_SQL, clean=trial.settings.clean)
    if results is None:
        trial.count("broken", f"results of {path} cannot be read")
    for name, status, reason, found, clean, way, verified, clean_verified in results or []:
        trial.cases += 1
        if status == "ok":
            if clean is not None and abs(found - clean) > TOLERANCE * clean:
                trial.count("wrong", f"{name} took {found} ns, {clean} when undisturbed")
            if clean_verified and not verified:
                trial.count("wrong", f"{name} is ok and was not verified")
            continue
        if not reason:
            trial.count("silent", f"{name} is {status} without a reason")
        gpus = sum({1 << int(gpu) for gpu in re.findall(r"gpu(\d+)", way)})
        if status != "skipped" and not gpus & sick_gpus and sick_gpus != ALL_SICK:
            trial.count("spread", f"{name} is {status}: {reason}")


def corrupt(trial, path, gpu):
    """No copy by an engine between the host and that GPU is called ok."""
    for name, in rows(path, CORRUPT_SQL, gpu) or []:
        trial.count("wrong", f"{name} is ok, though a byte of every copy of its GPU was changed")


def none(trial, path, status):
    """No case has that status."""
    for name, reason in rows(path, "SELECT b.name, c.reason FROM case_run c JOIN bench_case b ON b.id = c.bench_case"
                             " WHERE c.status = ?", status) or []:
        trial.count("spread", f"{name}: {reason}")


def code(trial, haul, path):
    """The exit code of `haul run` fits what the last run has."""
    if haul.code == 0:
        bad = rows(path, "SELECT count(*) FROM case_run WHERE status NOT IN ('ok', 'skipped')"
                   " AND run = (SELECT max(id) FROM run)")
        if bad != [(0,)]:
            trial.count("silent", f"exit code 0 with {bad} cases that are not ok")
        if not run_is(path, "done"):
            trial.count("silent", "exit code 0 of a run that is not done")


def is_format(out, form):
    """Of formats for programs."""
    def refuse(word):
        raise ValueError(word)
    try:
        if form in ("json", "jsonl"):
            for part in filter(None, out.split("\n")) if form == "jsonl" else [out] if out.strip() else []:
                json.loads(part, parse_constant=refuse)
        return form != "csv" or len({len(row) or 1 for row in csv.reader(io.StringIO(out, newline=""), strict=True)}) < 2
    except (ValueError, csv.Error):
        return False


def output(trial, haul, form):
    """It can be read as that, and holds nothing that a terminal or a browser would take for more than text."""
    # A page shows scenarios as they are, tabs and all.
    control = re.search("[\x00-\x08\x0b-\x1f\x7f]" if form == "html" else "[\x00-\x09\x0b-\x1f\x7f]", haul.out)
    if form != "csv" and control:
        trial.count("broken", f"byte {ord(control[0]):02x} in output as {form}")
    elif not is_format(haul.out, form):
        trial.count("broken", f"output {haul.number} is not {form}")
    if form == "html" and "<script>alert" in haul.out:
        trial.count("broken", f"a script from the database in output {haul.number}")
