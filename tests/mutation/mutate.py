#!/usr/bin/env python3
"""Random one-line mutations of the product, and which test notices each: see README.md."""
import argparse
import collections
import csv
import hashlib
import json
import pathlib
import re
import time

import tree

FOLDERS = "runner/analysis runner/plan runner/record engine/trial engine/workload"
SWAPS = {
    " < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "], " >= ": [" > "], " == ": [" != "],
    " != ": [" == "], " && ": [" || "], " || ": [" && "], " + ": [" - "], " - ": [" + "], " * ": [" / "],
    " / ": [" * "], " % ": [" / "], " += ": [" -= "], " -= ": [" += "], "++": ["--"], "--": ["++"],
    " & ": [" | "], " | ": [" & "], " << ": [" >> "], " >> ": [" << "],
}
CONSTANTS = {"true": ["false"], "false": ["true"], "0": ["1"], "1": ["0", "2"]}
SWAP = re.compile("|".join(re.escape(word.rstrip()) + (r"(?=\s|$)" if word.endswith(" ") else "") for word in
                           sorted(SWAPS, key=len, reverse=True)))
CONSTANT = re.compile(r"(?<![\w.])(true|false|\d+\.\d+|\d+)(?=[uUlL]*(?![\w.]))")
# A whole statement on one line that is no declaration.
STATEMENT = re.compile(r"(\(void\))?\*?[a-z_][\w.>\[\]()*-]*(\(.*\)| [-+*/|&]?= .*|\+\+|--);|(break|continue|goto \w+);")

Mutant = collections.namedtuple("Mutant", "file number occurrence kind before after")
COLUMNS = ("verdict", "by", "seconds", *Mutant._fields)


def masked(text):
    """The text with blanks for comments, strings, characters and lines of the preprocessor."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def closing(text, start):
    """Index behind the parenthesis that closes the one at start, or None."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return None


def changes(code, previous):
    """(kind, start, end, replacement) of every mutation of a masked line; previous is the line of code before it."""
    for match in SWAP.finditer(code):
        word = match.group() + (" " if match.group().startswith(" ") else "")
        loop = word in ("++", "--") and code.strip().startswith("for (") # mostly without an end
        for other in [] if loop else SWAPS[word]:
            yield "operator", match.start(), match.end(), other.rstrip() if word.endswith(" ") else other
    for match in CONSTANT.finditer(code):
        word = match.group()
        around = code[:match.start()][-1:] + code[match.end():][:1]
        size = around == "[]" and word not in "01" or around == "{}"
        others = CONSTANTS.get(word) or [str(int(word) + 1) if word.isdigit() else str(2 * float(word) or 1.0)]
        for other in [] if size else others:
            yield "constant", match.start(), match.end(), other
    for match in re.finditer(r"\b(if|while) \(", code):
        end = closing(code, match.end() - 1)
        if end:
            for other in ("(true)", "(false)", f"(!{code[match.end() - 1:end]})"):
                if match.group(1) == "if" or other == "(false)":
                    yield "condition", match.end() - 1, end, other
    stripped = code.strip()
    if STATEMENT.fullmatch(stripped) and re.search(r"[;{}:)]$|\belse$|^$", previous) and \
            closing("(" + stripped + ")", 0) == len(stripped) + 2:
        yield "statement", code.index(stripped), len(code.rstrip()), ";"


def mutants_of(file, text):
    lines = text.split("\n")
    seen = collections.Counter()
    previous = ""
    for number, (line, code) in enumerate(zip(lines, masked(text).split("\n")), 1):
        occurrence = seen[line]
        seen[line] += 1
        for kind, start, end, other in changes(code, previous):
            # What stands in the line, and not its blanks, where a condition is negated.
            other = f"(!{line[start:end]})" if other.startswith("(!") else other
            yield Mutant(file, number, occurrence, kind, line, line[:start] + other + line[end:])
        previous = code.strip() or previous


def drawn(mutants, seed):
    """All mutants in the order of this seed, one for each line: a line that stays keeps its place."""
    order = lambda mutant: hashlib.sha256("\0".join(
        [str(seed), mutant.file, str(mutant.occurrence), mutant.before, mutant.after]).encode()).digest()
    lines = set()
    for mutant in sorted(mutants, key=order):
        if (mutant.file, mutant.number) not in lines:
            lines.add((mutant.file, mutant.number))
            yield mutant


def key(row):
    return row["file"], row["before"], int(row["occurrence"]), row["after"]


class Trial:
    """Mutants of one tree, built and tested one after the other."""

    def __init__(self, built, covered, budget_s, first):
        self.built = built
        self.covered = covered
        self.budget_s = budget_s
        self.first = first
        self.tests = {name: test for name, test in built.tests().items()
                      if covered["tests"].get(name, [""])[0] == "passed"}
        self.targets = {name: built.targets(test) for name, test in self.tests.items()}
        commands = json.loads((built.build / "compile_commands.json").read_text())
        self.objects = {entry["file"]: re.search(r" -o (\S+)", entry["command"]).group(1) for entry in commands}

    def seconds(self, name):
        return self.covered["tests"][name][1]

    def tests_of(self, mutant):
        """Tests that execute the line, those of its folder first, the fastest first. Of a line that gcov does not
        count (a table, the second line of an expression): of the next one above without a blank line between,
        or of the whole file."""
        text = (self.built.source / mutant.file).read_text().split("\n")
        lines = {number: tests for number, _, tests, _ in self.covered["files"].get(mutant.file, [])}
        number = mutant.number
        while number not in lines and number > 0 and text[number - 1].strip():
            number -= 1
        indices = lines.get(number)
        if indices is None:
            indices = {index for tests in lines.values() for index in tests}
        names = list(self.covered["tests"])
        found = [names[index] for index in indices if names[index] in self.tests]
        folder = mutant.file.rpartition("/")[0]
        first = self.first.get(key(mutant._asdict()))
        return sorted(found, key=lambda name: (name != first, name.rpartition("/")[0] != folder, self.seconds(name)))

    def judge(self, mutant):
        """(verdict, test that noticed or what was not tried)."""
        path = self.built.source / mutant.file
        original = path.read_text()
        binary = self.objects.get(str(path))
        if binary is None:
            return "not built", ""
        if not self.built.ninja(binary):
            raise SystemExit(self.built.log)
        before = (self.built.build / binary).read_bytes()
        lines = original.split("\n")
        lines[mutant.number - 1] = mutant.after
        try:
            path.write_text("\n".join(lines))
            if not self.built.ninja(binary):
                return "did not compile", ""
            if (self.built.build / binary).read_bytes() == before:
                return "same code", ""
            return self.test(mutant)
        finally:
            path.write_text(original)

    def test(self, mutant):
        names = self.tests_of(mutant)
        if not names:
            return "survived", "no test executes it"
        spent = 0
        current = set()
        for position, name in enumerate(names):
            if spent + self.seconds(name) > self.budget_s and position > 0:
                return "survived", f"{len(names) - position} of {len(names)} tests not run"
            if not current.issuperset(self.targets[name]):
                # Programs of one folder are linked together.
                group = [other for other in names if other.rpartition("/")[0] == name.rpartition("/")[0]]
                current.update(target for other in group for target in self.targets[other])
                if not self.built.ninja(*sorted(current)):
                    return "did not compile", ""
            spent += self.seconds(name)
            result = self.run(name)
            if result == "failed":
                result = self.run(name)  # once may be the load of this machine
            if result in ("failed", "timed out"):
                return result.replace("failed", "noticed"), name
        return "survived", f"{len(names)} tests"

    def failing(self, names):
        """Those that fail without a mutation too."""
        targets = {target for name in names for target in self.targets[name]}
        if not self.built.ninja(*sorted(targets)):
            raise SystemExit(self.built.log)
        return [name for name in names if self.run(name) in ("failed", "timed out")]

    def run(self, name):
        return self.built.run(self.tests[name], 30 + 6 * self.seconds(name))[0]


def summary(rows):
    print(f"\n{'folder':20} {'mutants':>7} {'noticed':>8} {'timed out':>10} {'survived':>9}")
    for folder in sorted({row["file"].rpartition("/")[0] for row in rows}) + ["all"]:
        counts = collections.Counter(row["verdict"] for row in rows
                                     if folder in ("all", row["file"].rpartition("/")[0]))
        print(f"{folder:20} {sum(counts.values()):7} {counts['noticed']:8} {counts['timed out']:10} "
              f"{counts['survived']:9}")


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, dialect="excel-tab"))


def compare(before, after):
    """Mutants that stand in both files."""
    first = {key(row): row for row in before}
    second = {key(row): row for row in after}
    both = [name for name in first if name in second]
    found = lambda rows: sum(rows[name]["verdict"] != "survived" for name in both)
    print(f"{len(both)} mutants stand in both; noticed before {found(first)}, after {found(second)}")
    for name in both:
        old, new = first[name], second[name]
        if (old["verdict"] == "survived") != (new["verdict"] == "survived"):
            print(f"{new['file']}:{new['number']}: {old['verdict']} ({old['by']}) before, {new['verdict']} "
                  f"({new['by']}) after\n-{new['before']}\n+{new['after']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=tree.HERE.parent.parent, help="the tree (this one)")
    parser.add_argument("--work", type=pathlib.Path, help="folder of the copy and its build (ROOT/build-mutation)")
    parser.add_argument("--folders", nargs="+", default=FOLDERS.split(), help=f"what is mutated ({FOLDERS})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=100, help="how many (100)")
    parser.add_argument("--of", type=pathlib.Path, metavar="FILE", help="the mutants of this result that still exist")
    parser.add_argument("--budget", type=float, default=120, metavar="SECONDS", help="of tests for a mutant (120)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="jobs of the build (1)")
    parser.add_argument("--list", action="store_true", help="print the mutants, and build nothing")
    parser.add_argument("--compare", nargs=2, type=pathlib.Path, metavar=("BEFORE", "AFTER"),
                        help="only compare two results")
    arguments = parser.parse_args()
    if arguments.compare:
        compare(*map(read, arguments.compare))
        return
    root = arguments.root.resolve()
    work = (arguments.work or root / "build-mutation").resolve()
    files = sorted(path for folder in arguments.folders for path in (root / folder).glob("*.c"))
    mutants = [mutant for path in files for mutant in mutants_of(str(path.relative_to(root)), path.read_text())]
    wanted = {}
    if arguments.of:
        wanted = {key(row): row["by"] for row in read(arguments.of)}
        mutants = [mutant for mutant in mutants if key(mutant._asdict()) in wanted]
        arguments.mutants = len(mutants)
    mutants = drawn(mutants, arguments.seed)
    if arguments.list:
        for mutant, _ in zip(mutants, range(arguments.mutants)):
            print(f"{mutant.file}:{mutant.number}: {mutant.kind}\n-{mutant.before}\n+{mutant.after}")
        return
    covered = work / "coverage.json"
    if not covered.exists():
        raise SystemExit(f"{covered} is missing: run coverage.py first, for it says which tests execute which line")
    trial = Trial(tree.Tree(root, work, "mutants", arguments.jobs), json.loads(covered.read_text()), arguments.budget,
                  wanted)
    rows = []
    left_out = collections.Counter()
    with open(work / "mutants.tsv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, dialect="excel-tab")
        writer.writeheader()
        for mutant in mutants:
            if len(rows) == arguments.mutants:
                break
            start = time.monotonic()
            verdict, by = trial.judge(mutant)
            if verdict not in ("noticed", "survived", "timed out"):
                left_out[verdict] += 1
                continue
            rows.append({"verdict": verdict, "by": by, "seconds": round(time.monotonic() - start, 1),
                         **mutant._asdict()})
            writer.writerow(rows[-1])
            file.flush()
            print(f"{len(rows)} {mutant.file}:{mutant.number}: {mutant.kind} {verdict}, {by}\n"
                  f"-{mutant.before}\n+{mutant.after}", flush=True)
    summary(rows)
    print("drawn again: " + ", ".join(f"{count} {why}" for why, count in left_out.items()))
    for name in trial.failing(sorted({row["by"] for row in rows if row["verdict"] != "survived"})):
        print(f"{name} fails without a mutation too: what it noticed here does not count")


if __name__ == "__main__":
    main()
