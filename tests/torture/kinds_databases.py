"""Databases that are damaged, hold hostile texts, lie about others, or have another schema."""
import collections
import os
import signal

import judge
from trial import LIMIT_READ_S, LIMIT_S, kill

MANY = 100  # shards


# ---- read ----

def read(trial, verbs=20):
    """Reads it with one of the first so many verbs, in some format."""
    form, db = trial.choice(["table", "json", "jsonl", "csv", "md", "html"]), trial.database
    page = form == "html"
    plain, listed = ["--db", db], ["--db", db, "--format", "table" if page else form]
    shown = "table" if page else form
    words, form = [
        (["list", "runs", *listed], shown), (["list", "cases", *listed], shown),
        (["query", "select * from v_case", *listed], shown), (["query", "select * from v_run", *listed], shown),
        (["query", "--saved", "run-result", *listed], shown),
        (["query", "select * from environment_fact", *listed], shown), (["diff", "latest", "latest", *listed], shown),
        (["check", "latest", "latest", *plain], ""), (["history", "*", *listed], shown),
        (["outliers", "latest", *listed], shown), (["explain", "latest", *listed], shown),
        (["export", "csv", *plain], "csv"), (["export", "jsonl", *plain], "jsonl"), (["export", "prometheus", *plain], ""),
        (["env", "--run", "latest", *listed], shown), (["baseline", "list", *listed], shown),
        (["report", "-", *plain], "html"), (["identify", "latest", *listed], shown),
        (["run", "--resume", "latest", *plain], ""),
        (["merge", trial.path("page.html" if page else "page"), db], "")][trial.below(verbs)]
    haul = trial.run(words, LIMIT_READ_S)
    if haul.code in (0, 1, 4):
        judge.output(trial, haul, form)


def trial_damage(trial):
    """Damaged databases x verbs that read."""
    trial.copy_clean()
    size = os.stat(trial.database).st_size
    with open(trial.database, "r+b") as file:
        for _ in range(1 + trial.below(20)):
            at, which = trial.below(size), trial.below(8)
            if which == 0:  # the end is gone
                file.truncate(at)
            elif which < 3:  # a page of zeros, or one of another place
                file.seek(trial.below(size) // 4096 * 4096)
                page = bytes(4096) if which == 1 else file.read(4096).ljust(4096, b"\0")
                file.seek(at // 4096 * 4096)
                file.write(page)
            else:  # a byte, in the header or the schema where 3
                file.seek(at % 4096 if which == 3 else at)
                file.write(bytes([trial.below(256)]))
    for _ in range(4):
        read(trial)


HOSTILE = [
    b"<script>alert(1)</script>", b'"><img src=x onerror=alert(1)>', b"]]>&lt;&amp;&#0;", b"a' OR 1=1; DROP TABLE run; --",
    b"=cmd|' /C calc'!A0", b"\x1b[2J\x1b]0;title\x07", b"line\none\ttab\rreturn", b"%s%n%x%d",
    b"\xff\xfe invalid \xc3\x28", b"\xe2\x80\xae right to left \xe2\x80\x8b", b'",",\n"', b'{"json": [1, 2}',
    b"|pipe|in|markdown|`code`", b"${HOME} $(id) `id`", b"../../../../etc/passwd", b"", b"very long " * 8000]
TEXTS = {
    "environment": "host_name driver_version gpu_name cuda_state kernel cpu_model os", "environment_fact": "value",
    "device": "name uuid pci_address", "scenario": "name description text resolved",
    "run": "scenario_path tag command_line haul_version seed reason", "check_result": "want found",
    "bench_case": "block name kind axes path definition", "case_note": "what kind", "case_run": "clock stop",
    "flow": "method source_memory", "plan_case": "limited_by"}


def trial_strings(trial):
    """Hostile strings in columns of text x output formats."""
    trial.copy_clean()
    for _ in range(1 + trial.below(8)):
        table, column = trial.choice([(table, name) for table, names in TEXTS.items() for name in names.split()])
        judge.execute(trial.database, f"UPDATE OR IGNORE {table} SET {column} = {judge.text(trial.choice(HOSTILE))}")
    for _ in range(5):
        read(trial, 17)


# ---- merges ----

# What somebody may write into a shard: each is a database that SQLite finds in order. {honest} is the key of the
# environment of another node, {run} its run. Who is first among those that say different things under one key cannot be
# told: where these two stand, an honest input may be refused, by name.
LIES = """
  UPDATE bench_case SET payload_bytes = 2 * payload_bytes
  UPDATE flow SET size_bytes = 2 * size_bytes
  UPDATE flow SET source_index = target_index, target_index = source_index
  UPDATE bench_case SET definition = replace(definition, '65536', '131072')
  UPDATE bench_case SET definition = replace(definition, '65536', '131072'), payload_bytes = 1
  UPDATE bench_case SET name = name || 'x'
  UPDATE bench_case SET path = 'numa0:pinned-gpu9', axes = 'size=1GiB'
  UPDATE bench_case SET kind = 'chase', operations = 1000 WHERE kind = 'transfer'
  UPDATE bench_case SET operations = 2 * operations + 1
  UPDATE chase SET hops = 2 * hops
  UPDATE stream SET size_bytes = 2 * size_bytes
  UPDATE bench_case SET host_cache = 'flushed', device_cache = 'flushed'
  UPDATE scenario SET resolved = resolved || '#'
  UPDATE scenario SET text = '', description = 'x'
  UPDATE scenario SET name = 'other'
  UPDATE environment SET key = '{honest}', host_name = 'other'
  UPDATE environment SET key = '{honest}'; UPDATE environment_fact SET value = 'x'
  UPDATE environment SET key = '{honest}'; UPDATE device SET name = 'x'
  UPDATE environment SET key = '{honest}'; DELETE FROM device WHERE ordinal > 0
  UPDATE run SET uuid = '{run}'; UPDATE case_run SET median_ns = 2 * median_ns
  UPDATE run SET uuid = '{run}', ended_at_ns = ended_at_ns + 1, reason = 'x'
  UPDATE run SET uuid = '{run}', tag = 'z'; UPDATE environment SET key = '{honest}'
  CREATE TRIGGER t AFTER INSERT ON case_run BEGIN UPDATE case_run SET median_ns = 1; END
  DROP VIEW v_case; CREATE VIEW v_case AS SELECT * FROM run
  CREATE TABLE more (x); CREATE INDEX further ON case_run (median_ns)
  PRAGMA foreign_keys = OFF; DELETE FROM bench_case WHERE id = 1
  PRAGMA ignore_check_constraints = ON; UPDATE case_run SET n = -1, status = 'great'
  PRAGMA foreign_keys = OFF; UPDATE run SET id = 9223372036854775807
  UPDATE case_run SET median_ns = 1e308, p5_ns = -1e308, gated = NULL""".strip().split("\n")
MERGED_SQL = """
  SELECT ifnull(node, ''), case_name, kind, axes, path, status, n, median_ns, p5_ns, p95_ns, size_bytes, payload_bytes, gbps,
    ns_per_hop, hops, operations, source, target, scenario, host_name, gpu_name, gpu_uuid FROM v_case"""


def numbers_of_nodes(path):
    """What v_case says of the results of each node."""
    found = collections.defaultdict(collections.Counter)
    for node, *values in judge.rows(path, MERGED_SQL) or []:
        found[node][repr(values)] += 1
    return {node: hash(frozenset(counts.items())) for node, counts in found.items()}


def make_shard(trial, folder, number, shards, lies):
    """The same run on another node, and a little slower or faster there; *lies* are told in it. Returns its path."""
    path = f"{folder}/n{number:05}-{number + 1:032x}.db"
    trial.copy_clean(path)
    rest = "DELETE FROM flow_trial; DELETE FROM trial; DELETE FROM telemetry;" if shards > MANY else ""
    judge.execute(path, f"""PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;
      UPDATE run SET uuid = '{number + 1:032x}', started_at_ns = started_at_ns + {number};
      UPDATE environment SET key = '{0x1000000 + number:032x}', node = 'n{number:05}', host_name = 'n{number:05}';
      UPDATE case_run SET median_ns = median_ns * {950 + number % 100} / 1000.0, p95_ns = p95_ns * 1.5; {rest} COMMIT""")
    for lie in lies:
        other = trial.below(shards)
        judge.execute(path, lie.replace("{run}", f"{other + 1:032x}").replace("{honest}", f"{0x1000000 + other:032x}"))
    return path


def judge_merge(trial, honest, disputed, path, said):
    """Each honest node has after the merge the numbers that it had before, or is named as skipped where another one
    disputes it."""
    merged = numbers_of_nodes(path)
    for node, numbers in honest.items():
        named = f"/{node}-" in said
        if node not in merged and not (disputed and named):
            trial.count("lost", f"node {node} is not in the merged database{', though nothing disputes it' * named}")
        elif merged.get(node, numbers) != numbers:
            trial.count("wrong", f"node {node} has other numbers after the merge")


def trial_merge(trial):
    """Shards that are valid and lie, merged with honest ones."""
    shards = trial.settings.shards or 2 + trial.below(7)
    folder, again = trial.path("in"), trial.path("again.db")
    os.mkdir(folder)
    honest, disputed = {}, False
    for number in range(shards):
        lies = []
        if trial.chance(50 if shards > MANY else 3):
            lies = [trial.choice(LIES) for _ in range(1 + trial.below(2))]
        disputed = disputed or any("{" in lie for lie in lies)
        path = make_shard(trial, folder, number, shards, lies)
        if not lies:
            honest.update(numbers_of_nodes(path))
    limit_s, merge = LIMIT_S + shards, ["merge", trial.database, folder]
    for _ in range(trial.below(3)):
        haul = trial.start(merge)
        trial.pause(10000 if shards > MANY else 60 * shards)
        if haul.is_running():
            kill(haul.pid, signal.SIGKILL)
        trial.finish(haul, limit_s)
    haul = trial.run(merge, limit_s)
    judge.sound(trial, trial.database)
    judge_merge(trial, honest, disputed, trial.database, haul.err)
    # Once more into it, and what it holds into another one: nothing changes.
    haul = trial.run(merge, limit_s)
    judge_merge(trial, honest, disputed, trial.database, haul.err)
    trial.run(["merge", again, trial.database], limit_s)
    judge_merge(trial, honest, disputed, again, haul.err)


# ---- another schema ----

# {t}, {c}: a table and one of its columns.
SCHEMAS = r"""
  PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = '{t}'
  PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'CHECK', 'CHECK (1) CHECK') WHERE name = '{t}'
  PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', 'TEXT') WHERE name = '{t}'
  PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '{c} ', 'x{c} ') WHERE name = '{t}'
  ALTER TABLE {t} ADD COLUMN later AS (zeroblob(900000000))
  ALTER TABLE {t} ADD COLUMN later AS ({c})
  ALTER TABLE {t} ADD COLUMN stored TEXT NOT NULL DEFAULT 'x'
  ALTER TABLE {t} RENAME COLUMN {c} TO was
  ALTER TABLE {t} DROP COLUMN {c}
  ALTER TABLE {t} RENAME TO was; CREATE VIEW {t} AS SELECT * FROM was
  CREATE UNIQUE INDEX once ON {t} (abs(random()) % 1)
  CREATE INDEX part ON {t} ({c}) WHERE {c} = 1
  DROP VIEW v_case; CREATE VIEW v_case AS SELECT 'fake' AS case_name, 1 AS median_ns
  DROP VIEW v_run; CREATE VIEW v_run AS WITH RECURSIVE n (run) AS (SELECT 1 UNION ALL SELECT run + 1 FROM n) SELECT * FROM n
  DROP VIEW v_run_case; CREATE VIEW v_run_case AS SELECT * FROM v_run_case
  {views}
  CREATE VIRTUAL TABLE words USING fts5 (x)
  CREATE VIRTUAL TABLE boxes USING rtree (id, a, b)
  CREATE TABLE "x{newline}y{escape}[2J" ("'" TEXT)
  DROP TABLE {t}
  DROP INDEX case_run_by_run
  PRAGMA foreign_keys = OFF; UPDATE {t} SET {c} = NULL
  PRAGMA ignore_check_constraints = ON; UPDATE {t} SET {c} = -9223372036854775808
  PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE {t} SET {c} = x'00ff00'
  PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE {t} SET {c} = 1e999
  PRAGMA page_size = 512; VACUUM
  PRAGMA page_size = 65536; VACUUM
  PRAGMA auto_vacuum = 1; VACUUM
  PRAGMA journal_mode = WAL
  PRAGMA application_id = 1
  PRAGMA user_version = 1002
  PRAGMA user_version = 1999
  PRAGMA user_version = -1
  CREATE TABLE sqlite_stat1 (tbl, idx, stat); ANALYZE; UPDATE sqlite_stat1 SET stat = '1 x 0'""".strip().split("\n")
# Views that name one another, more often from one to the next.
VIEWS = "CREATE VIEW a0 AS SELECT 1 AS x" + "".join(
    f"; CREATE VIEW a{i + 1} AS SELECT p0.x FROM " + ", ".join(f"a{i} p{k}" for k in range(count))
    for i, count in enumerate((2, 2, 2, 5, 6, 7)))
TRIGGERS = "".join(f"CREATE TRIGGER {name} AFTER {event} BEGIN UPDATE case_run SET median_ns = {value}; END;"
                   for value, (name, event) in enumerate((("evil", "UPDATE ON run"), ("worse", "INSERT ON run"),
                                                          ("worst", "INSERT ON baseline")), 1))
COLUMNS = {
    "run": "status uuid started_at_ns scenario_path", "case_run": "status n process",
    "bench_case": "axes definition kind path payload_bytes", "scenario": "text name resolved",
    "environment": "key host_name simulated", "environment_fact": "value state", "device": "name uuid",
    "flow": "method size_bytes", "plan_case": "position", "process": "ordinal", "trial": "elapsed_ns",
    "check_result": "found", "link": "kind", "telemetry": "at_ns", "baseline": "name", "fleet": "name",
    "schema_text": "hash", "merged_input": "path", "deleted_number": "highest"}


def trial_schema(trial):
    """Databases with another schema, read and written."""
    triggered = trial.chance(4)
    trial.copy_clean()
    for _ in range(trial.below(2 if triggered else 4)):
        table, column = trial.choice([(table, name) for table, names in COLUMNS.items() for name in names.split()])
        judge.execute(trial.database, trial.choice(SCHEMAS).format(t=table, c=column, views=VIEWS, newline="\n",
                                                                   escape="\x1b"))
    if trial.chance(3):  # the text that it had, with what is in it by now
        judge.execute(trial.database, f"""PRAGMA writable_schema = ON; ATTACH '{trial.settings.clean}' AS clean;
          UPDATE main.sqlite_master SET sql = (SELECT c.sql FROM clean.sqlite_master c
            WHERE c.name = main.sqlite_master.name) WHERE name IN (SELECT name FROM clean.sqlite_master)""")
    if triggered:
        judge.execute(trial.database, TRIGGERS)
    before = judge.numbers(trial.database)
    for _ in range(3):
        read(trial)
    mode, db = str(trial.below(100)), ["--db", trial.database]
    trial.run(trial.choice([
        ["tag", "latest", mode, *db], ["baseline", "set", mode, "latest", *db],
        ["run", trial.scenario, *db, "--set", "measure.processes=1", "--only", "host*"],
        ["merge", trial.path("out.db"), trial.database], ["merge", trial.database, trial.settings.clean]]), LIMIT_READ_S)
    if triggered and judge.numbers(trial.database) != before:
        trial.count("wrong", "numbers of the database were changed by what is in it")
