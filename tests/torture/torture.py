#!/usr/bin/env python3
"""Does hostile things to haul on the fake driver, in several jobs at once, and ends with a table of what came of it.
Every count but the first three ought to be 0; then the exit code is 0. README.md describes it."""
import argparse
import collections
import concurrent.futures
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time

import judge
import kinds
import kinds_databases
import kinds_files
from trial import COUNTS, PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, Trial, prctl

WEIGHTS = {"kill": 4, "io": 4, "cuda": 8, "nvml": 2, "damage": 3, "strings": 2, "clock": 1, "visits": 2, "signal": 2,
           "stop": 1, "many": 1, "readers": 1, "shard": 3, "parts": 3, "screen": 2, "merge": 3, "schema": 3, "users": 2,
           "limit": 1}
KINDS = {name: next(getattr(module, "trial_" + name) for module in (kinds, kinds_files, kinds_databases)
                    if hasattr(module, "trial_" + name)) for name in WEIGHTS}
WEIGHED = [name for name, weight in WEIGHTS.items() for _ in range(weight)]

# One case of each path and kind that the fake driver knows: short ones.
SCENARIO = """schema_version = 1
name = "torture"
[measure]
trials = { min = 5, max = 6 }
max_time = "50ms"
processes = 2
telemetry = "20ms"
[[transfer]]
name = "up"
method = "ce"
from = { numa = 0, memory = "pinned" }
to = { gpu = [0, 1, 2, 3] }
size = ["64KiB", "1MiB"]
[[transfer]]
name = "down"
method = ["ce", "sm"]
from = { gpu = [0, 1, 2, 3] }
to = { numa = 0, memory = "pinned" }
size = "256KiB"
[[transfer]]
name = "across"
method = "ce"
from = { gpu = [0, 1, 2] }
to = { gpu = [0, 1, 2] }
size = "512KiB"
[[transfer]]
name = "host"
method = "cpu"
pairs = "same"
threads = 1
from = { numa = 0, memory = "pageable" }
to = { numa = 0, memory = "pageable" }
size = ["4KiB", "64KiB"]
[[chase]]
name = "latency"
at = { gpu = [0, 3] }
footprint = "64KiB"
space = "global"
stride = 128
[[stream]]
name = "triad"
at = { gpu = 1 }
op = "triad"
size = "1MiB"
"""


def make_clean_run(settings):
    """The run that others are compared with."""
    trial = Trial(settings, "clean", 0, settings.folder)
    trial.write("clean.toml", SCENARIO)
    haul = trial.run(["run", trial.scenario, "--db", settings.clean, "--set", "measure.processes=1"], 600)
    if haul.code == 0:
        haul = trial.run(["query", "--db", settings.clean, "pragma integrity_check"], 600)
    if haul.code != 0:
        sys.exit(f"torture: an undisturbed run ended with {haul.code}: {haul.err}")
    judge.execute(settings.clean, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")


def do_trial(settings, number, totals):
    # Neighbours are of different kinds: a short run has all.
    kind = settings.kind or WEIGHED[number * 11 % len(WEIGHED)]
    trial = Trial(settings, kind, number, os.path.join(settings.folder, f"{kind}-{number}"))
    shutil.rmtree(trial.folder, ignore_errors=True)
    os.mkdir(trial.folder)
    KINDS[kind](trial)
    totals[kind].update(trials=1, runs=trial.runs, cases=trial.cases, **trial.counts)
    if trial.skipped:
        totals[kind]["skipped"] += 1
        print(f"{kind} is skipped: {trial.skipped}", flush=True)
    if not trial.detail:
        shutil.rmtree(trial.folder, ignore_errors=True)
        return
    print(f"{kind} {number}: " + re.sub("[\n\x1b]", " ", trial.detail).encode(errors="replace").decode() +
          f"\n  repeat: --seed {settings.seed} --kind {kind} --trial {number}; its files: {trial.folder}", flush=True)


def job(arguments):
    """Trials, until there are no more, or until the end."""
    settings, end = arguments
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    totals = collections.defaultdict(collections.Counter)
    while time.monotonic() < end:
        with job.following.get_lock():
            number = job.following.value
            job.following.value += 1
        if settings.trials and number >= settings.first + settings.trials:
            break
        do_trial(settings, number, totals)
    return dict(totals)


def print_table(settings, totals, seconds):
    """Returns how much there is that ought not to be."""
    print(f"\n{'kind':8} {'trials':>7} {'runs':>7} {'cases':>8} " + " ".join(f"{name:>8}" for name in COUNTS))
    for kind, row in [*((kind, totals[kind]) for kind in WEIGHTS), ("all", sum(totals.values(), collections.Counter()))]:
        print(f"{kind:8} {row['trials']:7} {row['runs']:7} {row['cases']:8} " +
              " ".join(f"{row[name]:8}" for name in COUNTS))
    for kind, row in totals.items():
        if row["skipped"]:
            print(f"{kind}: {row['skipped']} trials skipped")
    print(f"seed {settings.seed}, {settings.jobs} jobs, {seconds / 60:.1f} min", flush=True)
    return sum(row[name] for row in totals.values() for name in COUNTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in ("haul", "fake", "machine", "preload"):
        parser.add_argument("--" + name, required=True, type=os.path.realpath)
    parser.add_argument("--folder", help="to work in")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=0, help="at most; 0: no bound")
    parser.add_argument("--kind", choices=WEIGHTS)
    parser.add_argument("--trial", type=int, dest="first", help="this one alone")
    parser.add_argument("--shards", type=int, default=0, help="of a merge; 0: a few")
    settings = parser.parse_args()
    if settings.first is not None:
        settings.trials = 1
    settings.first = settings.first or 0
    if settings.folder:
        os.makedirs(settings.folder, exist_ok=True)
    settings.folder = os.path.realpath(settings.folder or tempfile.mkdtemp(prefix="haul-torture-"))
    os.chmod(settings.folder, 0o755)
    settings.clean = os.path.join(settings.folder, "clean")
    if os.path.exists(settings.clean):
        os.unlink(settings.clean)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    make_clean_run(settings)
    fork = multiprocessing.get_context("fork")
    job.following = fork.Value("Q", settings.first)
    start = time.monotonic()
    totals = collections.defaultdict(collections.Counter)
    with concurrent.futures.ProcessPoolExecutor(settings.jobs, mp_context=fork) as pool:
        for part in pool.map(job, [(settings, start + 60 * settings.minutes)] * settings.jobs):
            for kind, row in part.items():
                totals[kind].update(row)
    bad = print_table(settings, totals, time.monotonic() - start)
    if not bad:
        shutil.rmtree(settings.folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
