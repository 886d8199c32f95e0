#!/usr/bin/env python3
"""outside_simulator.py HAUL TEMPLATE.db [DIFFS] [WORLD] - are verdicts right, asked from outside?

Databases are made by SQL and judged by the executable HAUL. This file shares nothing with haul but the tables of the
database: no statistics, no random numbers and no noise of simulate_diff. It needs Python's standard library alone.

TEMPLATE is a database with one run of one process, whose result rows are copied with other times:

    haul run nvbandwidth --processes 1 --db TEMPLATE.db

DIFFS is the number of diffs of each kind per world (100), WORLD a part of a name. One worker per processor; the same
draws everywhere. It ends with 1 if a limit of docs/SIMULATIONS.md is broken by more than two standard errors.
"""
import concurrent.futures
import dataclasses
import json
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

CASES = 64
DELTA = 0.01
LARGE, SMALL = math.log(0.97), math.log(0.985)  # the changes, as logarithms of rates
HOUR_NS = 3_600_000_000_000
RUNS_MAX = 30  # haul promises nothing beyond
TABLES = ("case_note", "flow_trial", "trial", "flow_run", "telemetry", "case_run", "process", "plan_alias", "plan_case",
          "check_result", "run_fact", "run")


class Database:
    """A copy of the template, without its run, to which runs are added."""

    def __init__(self, template, path):
        shutil.copy(template, path)
        self.path = path
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA foreign_keys = OFF")
        self.db.execute("PRAGMA synchronous = OFF")
        self.run = self.rows("run")[0]
        self.environment = self.rows("environment")[0]
        self.devices = self.rows("device")
        results = [row for row in self.rows("case_run") if row["status"] == "ok" and row["median_ns"]]
        self.results = results[:: max(1, len(results) // CASES)][:CASES]
        kept = {row["bench_case"] for row in self.results}
        self.plan = [row for row in self.rows("plan_case") if row["bench_case"] in kept]
        self.names = dict(self.db.execute("SELECT name, id FROM bench_case"))
        for table in TABLES:
            self.db.execute(f"DELETE FROM {table}")
        self.count = {"run": 0, "process": 0, "case_run": 0}

    def rows(self, table):
        cursor = self.db.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    def insert(self, table, rows):
        names = list(rows[0])
        self.db.executemany(f"INSERT INTO {table} ({','.join(names)}) VALUES ({','.join('?' * len(names))})",
                            [[row[name] for name in names] for row in rows])

    def next(self, table):
        self.count[table] += 1
        return self.count[table]

    def add_nodes(self, count):
        """The hosts of a fleet, each with hardware of its own; their environments are 2, 3 ..."""
        expected = ",".join(f"n{n:04}" for n in range(count))
        self.insert("fleet", [{"id": 1, "key": "%032x" % 1, "name": "fleet", "expected": expected}])
        for n in range(count):
            name = f"n{n:04}"
            self.insert("environment", [dict(self.environment, id=n + 2, key="%032x" % (n + 2), host_name=name,
                                             boot_id=name)])
            self.insert("device", [dict(row, environment=n + 2, uuid=row["uuid"] and f"GPU-{n:08}-{row['number']}")
                                   for row in self.devices])

    def add_run(self, tag, at, processes, p95=0.002, statuses=None, **more):
        """processes[i][case]: how much longer than the template's the median of a process is, as a logarithm."""
        run = self.next("run")
        start = 1_700_000_000_000_000_000 + int(at * HOUR_NS)
        self.insert("run", [dict(self.run, id=run, uuid="%032x" % (run + 7 * 16**12), tag=tag, started_at_ns=start,
                                 ended_at_ns=start + HOUR_NS // 60, processes=len(processes), **more)])
        self.insert("plan_case", [dict(row, run=run, peak_bytes_per_second=None) for row in self.plan])
        for ordinal, values in enumerate(processes):
            process = self.next("process")
            self.insert("process", [{"id": process, "run": run, "ordinal": ordinal, "pid": process, "workers": 1,
                                     "started_at_ns": start, "ended_at_ns": start + 1}])
            rows = []
            for i, result in enumerate(self.results):
                row = dict(result, id=self.next("case_run"), run=run, process=process)
                median = result["median_ns"] * math.exp(values[i])
                wide = p95[i] if isinstance(p95, list) else p95
                row.update(median_ns=median, mean_ns=median, median_low_ns=median * 0.999, median_high_ns=median * 1.001,
                           min_ns=median * 0.99, p5_ns=median * 0.995, p95_ns=median * (1 + wide),
                           max_ns=median * (1.01 + wide))
                if statuses is not None and statuses[i] != "ok":
                    row.update(dict.fromkeys((name for name in row if name.endswith("_ns") and name[0] != "s"), None),
                               status=statuses[i], reason="made", n=0, cv=None)
                rows.append(row)
            self.insert("case_run", rows)

    def ask(self, verb, *arguments):
        self.db.commit()
        return subprocess.run([HAUL, verb, *arguments, "--db", self.path], capture_output=True, text=True, check=False)

    def ask_json(self, verb, *arguments):
        answer = self.ask(verb, *arguments, "--json")
        if not answer.stdout:
            raise RuntimeError(answer.stderr)
        return json.loads(answer.stdout)


# ---- Welch's test, to compare with ----

def student_upper(t, df):
    """P(T > t), by the continued fraction of the incomplete beta function (Numerical Recipes, section 6.4)."""
    if t < 0:
        return 1 - student_upper(-t, df)
    x, a, b = df / (df + t * t), df / 2, 0.5
    swap = x > (a + 1) / (a + b + 2)
    if swap:
        x, a, b = 1 - x, b, a
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a \
        if 0 < x < 1 else 0.0
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), 1e-30)
    fraction = d
    for m in range(1, 200):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + numerator * d or 1e-30)
            c = 1 + numerator / c or 1e-30
            fraction *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    beta = front * fraction
    return (1 - beta if swap else beta) / 2


def mean_and_error(values):
    n = len(values)
    mean = sum(values) / n
    return mean, sum((value - mean) ** 2 for value in values) / (n - 1) / n


def welch(sides):
    """The cases that Welch's test finds to differ by more than DELTA, at a false discovery rate of 5 %."""
    tests = []
    for case, (a, b) in enumerate(sides):
        (mean_a, error_a), (mean_b, error_b) = mean_and_error(a), mean_and_error(b)
        error = math.sqrt(error_a + error_b)
        df = (error_a + error_b) ** 2 / (error_a**2 / (len(a) - 1) + error_b**2 / (len(b) - 1))
        away, margin = abs(mean_a - mean_b), math.log1p(DELTA)
        p = student_upper((away - margin) / error, df) + student_upper((away + margin) / error, df)
        tests.append((p, case, mean_a - mean_b))
    tests.sort()
    last = max((i for i, test in enumerate(tests) if test[0] <= 0.05 * (i + 1) / len(tests)), default=-1)
    return {case: change for _, case, change in tests[: last + 1]}


# ---- worlds ----

@dataclasses.dataclass
class World:
    """Runs of two sides. Spreads are standard deviations of logarithms."""
    name: str
    runs: int
    sd: float  # between processes
    processes: int = 1  # of a run
    run_sd: float = 0  # between runs, half of the variance common to all cases
    wander: float = 0  # correlation of a run with the next
    order: str = "abab"  # or abba, aabb, bbaa
    drift: float = 0  # over all runs
    odd: tuple = (0, 0)  # that share of the results takes so much longer
    modes: float = 0  # results are at two levels, so far apart, at random
    tails: float = 0  # degrees of freedom of Student's t instead of normal noise
    earlier: int = 0  # runs before both sides
    all_slower: bool = False  # by 2 %, instead of single cases


WORLDS = [
    World("0.4 %, 4 runs in turn", 4, 0.004),
    World("0.4 %, A then B, 4 runs", 4, 0.004, order="aabb"),
    World("0.4 %, A then B, 10 runs", 10, 0.004, order="aabb"),
    World("1.5 %, 10 runs in turn", 10, 0.015),
    World("1.5 %, 30 runs in turn", 30, 0.015),
    World("t of 4 df, 0.5 %, 10 runs in turn", 10, 0.005, tails=4),
    World("6 runs of 3 differ by 1 %", 6, 0.004, 3, run_sd=0.01),
    World("2 runs of 2 differ by 0.3 %", 2, 0.004, 2, run_sd=0.003),
    World("wander 0.7 of 1 %, A then B, 10", 10, 0.001, run_sd=0.01, wander=0.7, order="aabb"),
    World("wander 0.9 of 1 %, A then B, 6", 6, 0.001, run_sd=0.01, wander=0.9, order="aabb"),
    World("wander 0.95 of 0.3 %, B then A, 4", 4, 0.001, run_sd=0.003, wander=0.95, order="bbaa"),
    World("wander 0.9 of 1 %, 6 in turn", 6, 0.001, run_sd=0.01, wander=0.9),
    World("wander 0.9 of 1 %, 6, ABBA", 6, 0.001, run_sd=0.01, wander=0.9, order="abba"),
    World("drift of 4 %, A then B, 8", 8, 0.002, drift=0.04, order="aabb"),
    World("drift of 4 %, 5, ABBA", 5, 0.002, drift=0.04, order="abba"),
    World("outliers: 5 %, 20 % slow, 10 runs", 10, 0.004, odd=(0.05, 0.2)),
    World("two tight modes 5 % apart, 4 runs", 4, 0.0005, modes=0.05),
    World("two tight modes 5 % apart, 10 runs", 10, 0.0005, modes=0.05),
    World("one run each of 5, runs 0.5 %", 1, 0.004, 5, run_sd=0.005),
    World("the same, 12 earlier runs", 1, 0.004, 5, run_sd=0.005, earlier=12),
    World("3 %, all 2 % slower, 10 runs", 10, 0.03, all_slower=True),
]


def order_of(world, runs):
    return {"abab": "ab" * runs, "abba": ("abba" * runs)[: 2 * runs], "aabb": "a" * runs + "b" * runs,
            "bbaa": "b" * runs + "a" * runs}[world.order]


def noise(random_, world):
    if not world.tails:
        return random_.gauss(0, world.sd)
    chi = random_.gammavariate(world.tails / 2, 2)
    return world.sd * random_.gauss(0, 1) / math.sqrt(chi / world.tails)


class Draw:
    """One machine, which goes on as long as runs are asked for."""

    def __init__(self, world, changed, seed, path):
        self.random, self.world, self.time = random.Random(seed), world, 0
        self.database = Database(TEMPLATE, path)
        self.cases = len(self.database.results)
        self.truth = [0.0] * self.cases
        if changed:
            self.truth = [math.log(0.98) if world.all_slower else {0: LARGE, 1: SMALL}.get(i % 8, 0.0)
                          for i in range(self.cases)]
        self.levels = [self.random.gauss(0, 1) for _ in range(self.cases + 1)]  # the last is common to all
        self.means = {"a": [], "b": []}  # by run
        for _ in range(world.earlier):
            self.add(None)
        for side in order_of(world, world.runs):
            self.add(side)

    def add(self, side):
        world, rng = self.world, self.random
        if self.time > 0:
            step = math.sqrt(1 - world.wander**2)
            self.levels = [world.wander * level + step * rng.gauss(0, 1) for level in self.levels]
        drift = world.drift * self.time / (2 * world.runs - 1)
        processes = []
        for _ in range(world.processes):
            values = []
            for i in range(self.cases):
                value = world.run_sd * math.sqrt(0.5) * (self.levels[i] + self.levels[-1]) + drift + noise(rng, world)
                value += math.log1p(world.odd[1]) if rng.random() < world.odd[0] else 0
                value += rng.choice((-0.5, 0.5)) * world.modes
                values.append(value - (self.truth[i] if side == "b" else 0))
            processes.append(values)
        self.database.add_run(side, 24 * self.time, processes)
        self.time += 1
        if side:
            self.means[side].append([sum(column) / len(column) for column in zip(*processes)])

    def by_case(self):
        return [([run[i] for run in self.means["a"]], [run[i] for run in self.means["b"]]) for i in range(self.cases)]


# ---- counting ----

def case_index(database):
    places = {row["bench_case"]: i for i, row in enumerate(database.results)}
    return {name: places[number] for name, number in database.names.items() if number in places}


def diff_cases(draw):
    answer = draw.database.ask_json("diff", "tag:a", "tag:b", "--delta", str(100 * DELTA))
    index = case_index(draw.database)
    return {index[row["case"]]: row for row in answer["cases"]}, answer


def covers(row, truth):
    return row["low_percent"] <= 100 * math.expm1(truth) <= row["high_percent"]


def is_reported(row, firm=True):
    return row["verdict"] in ("regressed", "improved") and not (firm and row["provisional"])


def is_decided(row):
    return is_reported(row) or (row["verdict"] == "same" and not row["provisional"])


def count_promise(draw, cases, counts):
    """Measures on until as many runs are there as one of the undecided cases asks for."""
    open_cases = [i for i, row in cases.items() if row.get("runs_needed") and row["verdict"] == "insufficient"]
    if not open_cases or draw.world.order not in ("abab", "abba"):
        return
    case = draw.random.choice(open_cases)
    while len(draw.means["b"]) < min(cases[case]["runs_needed"], RUNS_MAX):
        for side in order_of(draw.world, len(draw.means["b"]) + 1)[2 * len(draw.means["b"]):]:
            draw.add(side)
    later, _ = diff_cases(draw)
    counts["promised"] += 1
    counts["kept"] += is_decided(later[case])


def count_draw(job):
    world, number, changed = job
    counts = dict.fromkeys(("any", "any_provisional", "group", "reports", "wrong", "large", "found", "found_all",
                            "small", "false_same", "intervals", "covered", "exact", "exact_covered", "groups", "groups_covered",
                            "groups_exact", "groups_exact_covered", "welch_any", "welch_found", "promised", "kept"), 0)
    with tempfile.TemporaryDirectory() as folder:
        draw = Draw(world, changed, f"{world.name} {number} {changed}", os.path.join(folder, "diff.db"))
        cases, answer = diff_cases(draw)
        by_welch = welch(draw.by_case()) if world.runs > 1 else {}
        for i, row in cases.items():
            truth = draw.truth[i]
            right = row["verdict"] == "regressed" and truth < 0
            counts["reports"] += is_reported(row)
            counts["wrong"] += is_reported(row) and not right
            counts["any_provisional"] |= is_reported(row, firm=False) and not changed
            if row["low_percent"] is not None:
                counts["intervals"] += 1
                counts["covered"] += covers(row, truth)
                counts["exact"] += not row["conservative"]
                counts["exact_covered"] += not row["conservative"] and covers(row, truth)
            if truth == LARGE:
                counts["large"] += 1
                counts["found"] += right and is_reported(row)
                counts["welch_found"] += by_welch.get(i, 0) < 0
            if truth < -DELTA and truth != LARGE:
                counts["small"] += 1
                counts["false_same"] += row["verdict"] == "same" and not row["provisional"]
        for group in answer.get("groups", []):
            if group["low_percent"] is None:
                continue
            if group["cases"] == len(cases):
                counts["groups"] += 1
                covered = covers(group, sum(draw.truth) / len(draw.truth))
                counts["groups_covered"] += covered
                counts["groups_exact"] += not group["conservative"]
                counts["groups_exact_covered"] += not group["conservative"] and covered
                counts["found_all"] += changed and is_reported(group)
            counts["group"] |= is_reported(group) and not changed
        counts["any"] = int(counts["wrong"] > 0 and not changed)
        counts["welch_any"] = int(bool(by_welch) and not changed)
        if changed and number % 2 == 0 and world.runs >= 4:
            count_promise(draw, cases, counts)
        draw.database.db.close()
    return counts


# ---- examples with exit codes ----

def make_examples(random_, folder):
    """Title, database and the exit code of check that is expected."""
    def machine(name):
        return Database(TEMPLATE, os.path.join(folder, name + ".db"))

    def values(database, sd):
        return [random_.gauss(0, sd) for _ in database.results]

    def in_turn(database, runs, sd, change=lambda values, side, run: values, **more):
        for run in range(runs):
            for side in "ab":
                database.add_run(side, 2 * run + (side == "b"), [change(values(database, sd), side, run)],
                                 **{name: make(side, run) for name, make in more.items()})
        return database

    def with_mode(all_values, side, run):
        return all_values[:3] + [all_values[3] + (0.05 if side == "b" and run % 2 else 0)] + all_values[4:]

    def corrupt(last):
        return lambda side, run: ["corrupt" if i == 2 and run < last[side] else "ok" for i in range(CASES)]

    yield "nothing changed", in_turn(machine("none"), 5, 0.002), 0
    yield "p95 39 % longer, same median", in_turn(
        machine("p95"), 5, 0.002, p95=lambda side, run: [0.39 if i == 3 and side == "b" else 0.002
                                                         for i in range(CASES)]), 1
    yield "spread times 15", in_turn(
        machine("jitter"), 12, 0.002,
        change=lambda v, side, run: v[:3] + [v[3] * (15 if side == "b" else 1)] + v[4:]), 1
    yield "slow mode from 0 to half of 20 runs", in_turn(machine("mode"), 20, 0.001, change=with_mode), 1
    yield "all 2 % slower, spread 3 %, 10 runs", in_turn(
        machine("shift"), 10, 0.03, change=lambda v, side, run: [x + (0.02 if side == "b" else 0) for x in v]), 1
    for title, last in (("corrupt 5 of 5 on both sides", {"a": 5, "b": 5}), ("corrupt 2 of 5, then 1", {"a": 2, "b": 1}),
                        ("corrupt 1 of 5, then 0", {"a": 1, "b": 0})):
        yield title, in_turn(machine(title.replace(" ", "")), 5, 0.002, statuses=corrupt(last)), 1


# ---- fleets ----

FLEETS = [(10, 0), (10, 1), (10, 4), (52, 6), (100, 20)]  # nodes, and how many of them are 5 % slow
FLEET_SD = 0.003  # between nodes


def count_fleet(job):
    """Whether every slow node is named, and whether anything else is."""
    (nodes, slow), number = job
    rng = random.Random(f"fleet {nodes} {slow} {number}")
    with tempfile.TemporaryDirectory() as folder:
        database = Database(TEMPLATE, os.path.join(folder, "fleet.db"))
        database.add_nodes(nodes)
        slow_nodes = {f"n{n:04}" for n in rng.sample(range(nodes), slow)}
        for n in range(nodes):
            own = rng.gauss(0, FLEET_SD) - (math.log(0.95) if f"n{n:04}" in slow_nodes else 0)
            database.add_run("fleet", 0, [[own + rng.gauss(0, 0.002) for _ in database.results] for _ in range(3)],
                             environment=n + 2, fleet=1)
        found = [row for row in database.ask_json("outliers", "--all")["rows"]
                 if row["finding"] == "slow" and row["verdict"]]
        database.db.close()
    named = {row["host_name"] for row in found if row["entity"] == "host"}
    return slow_nodes <= named, not named <= slow_nodes or any(row["host_name"] not in slow_nodes for row in found)


# ---- tables ----

def add_counts(sums, counts):
    for name, value in counts.items():
        sums[name] = sums.get(name, 0) + value


def percent(part, whole):
    return f"{100 * part / whole:6.1f}" if whole else "     -"


def is_kept(sums, diffs, has_levels):
    """The limits: 5 % of A/A diffs, 5 % false SAME, and 93 to 97 % of intervals, give or take chance between diffs.
    Conservative intervals have no upper limit, nor have those of levels or odd values."""
    def is_rare(part, whole):
        return part <= 0.05 * whole + 2 * math.sqrt(0.05 * 0.95 * whole)

    def is_honest(prefix, every):
        chance = 2 * math.sqrt(0.05 * 0.95 / (2 * diffs))
        exact = sums[prefix + "exact"]
        return ((not every or 0.93 - chance <= sums[prefix + "covered"] / every) and
                (not exact or has_levels or sums[prefix + "exact_covered"] / exact <= 0.97 + chance))
    return (is_rare(sums["any"], diffs) and is_rare(sums["group"], diffs) and
            is_rare(sums["false_same"], sums["small"]) and is_honest("", sums["intervals"]) and
            is_honest("groups_", sums["groups"]))


COLUMNS = (("any", lambda s, n: (s["any"], n)), ("any?", lambda s, n: (s["any_provisional"], n)),
           ("group", lambda s, n: (s["group"], n)), ("wrong", lambda s, n: (s["wrong"], s["reports"])),
           ("found", lambda s, n: (s["found"], s["large"]) if s["large"] else (s["found_all"], n)),
           ("false", lambda s, n: (s["false_same"], s["small"])), ("cover", lambda s, n: (s["covered"], s["intervals"])),
           ("of gr", lambda s, n: (s["groups_covered"], s["groups"])),
           ("cons.", lambda s, n: (s["intervals"] - s["exact"], s["intervals"])), ("W any", lambda s, n: (s["welch_any"], n)),
           ("Welch", lambda s, n: (s["welch_found"], s["large"])), ("prom.", lambda s, n: (s["kept"], s["promised"])))


def print_worlds(pool, diffs, part):
    fine = True
    print(f"| {'world; %':<35} | {' | '.join(f'{name:>6}' for name, _ in COLUMNS)} |")
    print(f"|{'-' * 37}|{'|'.join(['-------:'] * len(COLUMNS))}|", flush=True)
    for world in WORLDS:
        if part in world.name:
            sums = {}
            for counts in pool.map(count_draw, [(world, d // 2, d % 2 == 1) for d in range(2 * diffs)], chunksize=4):
                add_counts(sums, counts)
            kept = is_kept(sums, diffs, world.modes > 0 or world.odd[0] > 0)
            fine = fine and kept
            cells = [percent(*pick(sums, diffs)) for _, pick in COLUMNS]
            print(f"| {world.name:<35} | {' | '.join(cells)} |{'' if kept else ' BROKEN'}", flush=True)
    return fine


def print_fleets(pool, draws):
    fine = True
    print("\n| nodes | 5 % slow | named, % | others, % |\n|------:|---------:|---------:|----------:|", flush=True)
    for fleet in FLEETS:
        results = list(pool.map(count_fleet, [(fleet, number) for number in range(draws)]))
        named, others = (sum(column) for column in zip(*results))
        kept = max(draws - named, others) <= 0.05 * draws + 2 * math.sqrt(0.05 * 0.95 * draws)
        fine = fine and kept
        print(f"| {fleet[0]:5} | {fleet[1]:8} |   {percent(named, draws)} |    {percent(others, draws)} |"
              f"{'' if kept else ' BROKEN'}", flush=True)
    return fine


def print_examples():
    fine = True
    print("\n| example | check ends with | first line of its answer |\n|---|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for title, database, expected in make_examples(random.Random(1), folder):
            answer = database.ask("check", "tag:a", "tag:b", "--delta", str(100 * DELTA))
            database.db.close()
            kept = answer.returncode == expected
            fine = fine and kept
            print(f"| {title} | {answer.returncode} | {answer.stdout.splitlines()[0]} |{'' if kept else ' BROKEN'}")
    return fine


def main():
    diffs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    part = sys.argv[4] if len(sys.argv) > 4 else ""
    with concurrent.futures.ProcessPoolExecutor() as pool:
        fine = print_worlds(pool, diffs, part)
        if not part:
            fine = print_fleets(pool, diffs) and fine
    if not part:
        fine = print_examples() and fine
    return 0 if fine else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    HAUL, TEMPLATE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    sys.exit(main())
