#!/usr/bin/env python3
"""Lines and branches of the product that tests execute, by folder, counted by gcov: see README.md."""
import argparse
import collections
import concurrent.futures
import difflib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import tree


def folder_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] != "schema" and len(parts) > 2 else parts[0]


def gcov(folder, files, source):
    """(file, line, branch counts, line count) of everything that gcov says of these files."""
    said = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *files], cwd=folder,
                          capture_output=True, text=True, check=True).stdout
    for text in said.splitlines():
        for file in json.loads(text)["files"]:
            path = pathlib.Path(file["file"])
            if path.is_relative_to(source):
                for line in file["lines"]:
                    branches = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                    yield str(path.relative_to(source)), line["line_number"], branches, line["count"]


class Counts:
    """lines[file][number] = [indices of tests that execute it, whether each branch was taken]."""

    def __init__(self, built):
        self.built = built
        self.tests = {}
        self.lines = collections.defaultdict(dict)
        self.lock = threading.Lock()
        notes = [str(path) for path in built.build.rglob("*.gcno")]
        for entry in gcov(built.build, notes, built.source):
            self.add(*entry, None)

    def add(self, file, number, branches, count, test):
        line = self.lines[file].setdefault(number, [[], []])
        if count and test not in line[0]:
            line[0].append(test)
        taken = line[1] + [False] * (len(branches) - len(line[1]))
        line[1] = [bool(old or index < len(branches) and branches[index]) for index, old in enumerate(taken)]

    def measure(self, name, test):
        """Run a test and count what it executes."""
        counts = pathlib.Path(tempfile.mkdtemp(prefix="coverage-", dir=self.built.build))
        result, seconds = self.built.run(test, 3600, GCOV_PREFIX=str(counts))
        files = list(counts.rglob("*.gcda"))
        for path in files:
            note = pathlib.Path("/", path.relative_to(counts)).with_suffix(".gcno")
            path.with_suffix(".gcno").symlink_to(note)
        with self.lock:
            for entry in gcov(counts, [str(path) for path in files], self.built.source) if files else []:
                self.add(*entry, len(self.tests))
            self.tests[name] = [result, round(seconds, 2)]
            print(f"{len(self.tests)} {name} {result} {seconds:.1f} s", file=sys.stderr, flush=True)
        shutil.rmtree(counts)

    def write(self, path):
        """The file that mutate.py and `coverage.py compare` read."""
        said = {"tests": self.tests, "files": {}}
        for file, lines in sorted(self.lines.items()):
            text = (self.built.source / file).read_text().split("\n")
            said["files"][file] = [[number, text[number - 1], tests, branches]
                                   for number, (tests, branches) in sorted(lines.items())]
        path.write_text(json.dumps(said))


def by_folder(counts):
    """[lines, executed, branches, taken] of each folder and of all."""
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file, lines in counts["files"].items():
        for _, _, tests, branches in lines:
            for folder in (folder_of(file), "all"):
                folders[folder][0] += 1
                folders[folder][1] += bool(tests)
                folders[folder][2] += len(branches)
                folders[folder][3] += sum(branches)
    return folders


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def show(counts):
    print(f"{'folder':20} {'lines':>6} {'executed':>9} {'branches':>9} {'taken':>7}")
    for folder, (lines, executed, branches, taken) in sorted(by_folder(counts).items()):
        print(f"{folder:20} {lines:6} {percent(executed, lines):7.2f} % {branches:9} {percent(taken, branches):5.2f} %")
    for name, (result, _) in counts["tests"].items():
        if result not in ("passed", "skipped"):
            print(f"{name} {result}: what it executes is counted")


def compare(before, after):
    """The table of both, then lines that stand in both and are executed in the first alone."""
    first, second = by_folder(before), by_folder(after)
    print(f"{'folder':20} {'lines before':>12} {'after':>8} {'change':>7} {'branches before':>15} {'after':>8} {'change':>7}")
    for folder in sorted(first.keys() | second.keys()):
        old, new = first[folder], second[folder]
        cells = [percent(old[1], old[0]), percent(new[1], new[0]), percent(old[3], old[2]), percent(new[3], new[2])]
        print(f"{folder:20} {cells[0]:10.2f} % {cells[1]:6.2f} % {cells[1] - cells[0]:+7.2f} "
              f"{cells[2]:13.2f} % {cells[3]:6.2f} % {cells[3] - cells[2]:+7.2f}")
    for file in sorted(before["files"].keys() & after["files"].keys()):
        old, new = before["files"][file], after["files"][file]
        same = difflib.SequenceMatcher(None, [line[1] for line in old], [line[1] for line in new], autojunk=False)
        for block in same.get_matching_blocks():
            for (_, text, tests, taken), (number, _, tests_now, taken_now) in zip(
                    old[block.a:block.a + block.size], new[block.b:block.b + block.size]):
                if tests and not tests_now:
                    print(f"{file}:{number}: no longer executed: {text.strip()}")
                elif sum(taken_now) < sum(taken):
                    print(f"{file}:{number}: {sum(taken)} branches before, {sum(taken_now)} now: {text.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=tree.HERE.parent.parent, help="the tree (this one)")
    parser.add_argument("--work", type=pathlib.Path, help="folder of the copy and its build (ROOT/build-mutation)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="tests at once (1)")
    parser.add_argument("--only", default="", help="tests with this in their name")
    parser.add_argument("--compare", nargs=2, type=pathlib.Path, metavar=("BEFORE", "AFTER"),
                        help="measure nothing: compare two files coverage.json")
    arguments = parser.parse_args()
    if arguments.compare:
        compare(*[json.loads(path.read_text()) for path in arguments.compare])
        return
    root = arguments.root.resolve()
    work = (arguments.work or root / "build-mutation").resolve()
    built = tree.Tree(root, work, "coverage", arguments.jobs,
                      f"-DCMAKE_PROJECT_haul_INCLUDE={tree.HERE / 'coverage.cmake'}")
    built.build_all()
    counts = Counts(built)
    tests = {name: test for name, test in built.tests().items() if arguments.only in name}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda item: counts.measure(*item), tests.items()))
    counts.write(work / "coverage.json")
    show(json.loads((work / "coverage.json").read_text()))
    print(f"wrote {os.path.relpath(work / 'coverage.json')}")


if __name__ == "__main__":
    main()
