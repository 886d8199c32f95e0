#!/usr/bin/env python3
"""Results of the sources on present GPUs, as pages made from databases.

make.py HAUL [OUT]              make all pages from the databases in data/, in OUT (default: beside this file)
make.py HAUL --keep MACHINE DB...  keep runs: data/MACHINE-SET.db.xz for each SET that DB... have scenarios of

Kept databases have single trials and samples of telemetry of the scenario energy alone; pages need no others. All text
and numbers of a page come from saved queries of haul, so that the same data make the same bytes.
"""
import csv, io, lzma, os, shutil, sqlite3, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
KEPT_MAX = 2 << 20
# SET: scenarios, as globs.
SETS = {
    "nvbandwidth": ["nvbandwidth"],
    "memory-bandwidth": ["grid-sweep"],
    "comm-scope": ["comm-scope-*"],
    "microbenchmarking": ["shared-memory-latency", "arithmetic-latency", "memory-hierarchy", "stream", "fingerprint",
                          "shared-cache-scaling"],
    "coherence": ["um-coherence"],
    "beyond": ["cache-bandwidth", "loaded-latency", "energy", "um-access"],
}
# Page: set, title, the source in query reference, query of claims, and sections: heading, saved query or verb with an
# option, parameters, whether a table, whether figures.
PAGES = [
    ("nvbandwidth", "nvbandwidth", "nvbandwidth", None, [
        ("All tests", "run-blocks", {}, True, False)]),
    ("memory-bandwidth", "Memory bandwidth by grid", "memory bandwidth", "microbenchmark-claims", [
        ("Table of grids", "grid-sweep", {}, True, True)]),
    ("comm-scope", "Comm|Scope", "Comm|Scope", "comm-scope-claims", [
        ("Table 1: the microbenchmarks at 64 MiB", "comm-scope-table1", {}, True, False)] + [
        (f"Figure {n}: {what}", "comm-scope-figure", {"figure": str(n)}, False, True) for n, what in (
            (2, "flushed caches"), (6, "pageable to GPU and its two phases"), (7, "both ways at once"),
            (9, "zero-copy against the copy engine"), (10, "pages on demand"),
            (11, "prefetch against pinned copies"))]),
    ("microbenchmarking", "Microbenchmarking NVIDIA GPUs", "microbenchmarking", "microbenchmark-claims", [
        ("Table I, figures 1 and 2: shared memory and caches by threads and stride", "shared-memory-latency", {}, True,
         True),
        ("Table II: bank conflicts", "shared-memory-conflicts", {}, True, False),
        ("Figures 3 and 4: cache scaling", "shared-cache-scaling", {}, False, True),
        ("Figures 5 and 6: latency of instructions", "arithmetic-latency", {}, True, False),
        ("Figure 7: STREAM", "stream", {}, False, True),
        ("Figures 8 to 10: how often the right GPU is named, by what is compared", "identify --features", {}, True,
         False),
        ("Section V: the order of the kernels", "stream-sequence", {}, False, True),
        ("Figure 11: latency over footprint and stride", "memory-hierarchy", {}, False, True),
        ("Figure 11: capacities", "memory-capacity", {}, True, False)]),
    ("coherence", "Coherence of unified memory", "coherence", None, [
        ("Benchmarks by size", "um-coherence", {}, True, True)]),
    ("beyond", "What the sources could not have", None, None, [
        ("L1 and L2 caches and memory over the footprint", "cache-bandwidth", {}, True, True),
        ("The two parts of the L2 cache", "l2-parts", {}, True, False),
        ("Latency and bandwidth beside a load", "loaded-latency", {}, False, True),
        ("Joules per GB: copy engine, SM, bulk copies", "energy", {}, True, False),
        ("Unified memory by access", "um-access", {}, False, True)]),
]


def ask(haul, db, *words):
    asked = subprocess.run([haul, *words, "--db", db, "-q"], capture_output=True, text=True,
                           env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1"})
    if asked.returncode != 0:
        sys.exit(f"haul {' '.join(words)} --db {db}: {asked.stderr}")
    return asked.stdout


def rows(haul, db, *words):
    return list(csv.DictReader(io.StringIO(ask(haul, db, *words, "--format", "csv"))))


def saved(query, params):
    if " " in query:
        return query.split()
    return ["query", "--saved", query] + [word for name, value in params.items() for word in ("--param", f"{name}={value}")]


def table(heads, lines):
    cells = [[str(cell).replace("|", "\\|") for cell in line] for line in [heads, *lines]]
    return "\n".join(["| " + " | ".join(cells[0]) + " |", "|" + "---|" * len(heads)]
                     + ["| " + " | ".join(line) + " |" for line in cells[1:]]) + "\n"


def number(text):
    return "" if text == "" else f"{float(text):.4g}"


def keep(haul, machine, found, scratch):
    """The runs of each set in one database, without what pages do not need."""
    merged = os.path.join(scratch, "merged.db")
    subprocess.run([haul, "merge", merged, *found], check=True, stdout=subprocess.DEVNULL)
    # A database of haul is made by haul; only rows that no page reads are taken out of it.
    connection = sqlite3.connect(merged)
    with connection:
        connection.execute("DELETE FROM flow_trial")
        connection.execute("DELETE FROM trial WHERE case_run NOT IN (SELECT c.id FROM case_run c JOIN v_run r"
                           " ON r.run = c.run WHERE r.scenario = 'energy')")
        connection.execute("DELETE FROM telemetry WHERE run NOT IN (SELECT run FROM v_run WHERE scenario = 'energy')")
    connection.close()
    for name, scenarios in SETS.items():
        wanted = " OR ".join(f"scenario GLOB '{glob}'" for glob in scenarios)
        runs = rows(haul, merged, "query", f"SELECT run FROM v_run WHERE {wanted}")
        others = rows(haul, merged, "query", f"SELECT run_uuid FROM v_run WHERE NOT ({wanted})")
        if not runs:
            continue
        kept = os.path.join(scratch, name + ".db")
        shutil.copy(merged, kept)
        if others:
            subprocess.run([haul, "delete", *("run:" + run["run_uuid"] for run in others), "--db", kept, "--yes", "-q"],
                           check=True, stdout=subprocess.DEVNULL)
        connection = sqlite3.connect(kept)
        connection.execute("VACUUM")
        connection.close()
        with open(kept, "rb") as whole:
            packed = lzma.compress(whole.read(), preset=9 | lzma.PRESET_EXTREME)
        if len(packed) > KEPT_MAX:
            sys.exit(f"{name}: {len(packed)} bytes, more than {KEPT_MAX}")
        path = os.path.join(here, "data", f"{machine}-{name}.db.xz")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(packed)
        print(f"{path}: {len(runs)} runs, {len(packed)} bytes")


class Results:
    def __init__(self, haul, out, scratch):
        self.haul, self.out = haul, out
        data = os.path.join(here, "data")
        self.machines = sorted({name.split("-")[0] for name in os.listdir(data) if name.endswith(".db.xz")})
        self.databases = {}
        for machine in self.machines:
            for name in SETS:
                path = os.path.join(data, f"{machine}-{name}.db.xz")
                if os.path.exists(path):
                    self.databases[machine, name] = os.path.join(scratch, f"{machine}-{name}.db")
                    with lzma.open(path) as packed, open(self.databases[machine, name], "wb") as whole:
                        shutil.copyfileobj(packed, whole)

    def having(self, name):
        return [(machine, self.databases[machine, name]) for machine in self.machines
                if (machine, name) in self.databases]

    def write(self, name, text):
        with open(os.path.join(self.out, name), "w", encoding="utf-8") as page:
            page.write("<!-- Made by docs/results/make.py HAUL from docs/results/data. -->\n" + text)

    def runs(self, name):
        """What was measured, when, in how many processes."""
        return table(["machine", "scenario", "processes", "largest size", "date", "ended", "seconds"], [
            [machine.upper(), *row.values()] for machine, db in self.having(name) for row in rows(self.haul, db, "query", """
                SELECT r.scenario, r.processes, CASE WHEN max(c.size_bytes) > 0 THEN printf('%.6g MiB', max(c.size_bytes) / 1048576.0) END AS largest,
                  date(r.started_at) AS date, r.status, round(r.duration_s, 1)
                FROM v_run r LEFT JOIN v_run_case c ON c.run = r.run AND c.status = 'ok'
                GROUP BY r.run ORDER BY r.scenario, r.started_at""")])

    def reference(self, name, source):
        """Item by item: the source's number, and those of each machine."""
        cells, heads = {}, []
        for machine, db in self.having(name):
            heads.append(machine.upper())
            for row in rows(self.haul, db, *saved("reference", {"source": source.replace("[", "[[]")})):
                line = cells.setdefault((row["section"], row["what"], row["unit"], number(row["reported"])), {})
                line[machine.upper()] = number(row["here"])
        return table(["section", "item", "unit", "source", *heads],
                     [[*item, *(line.get(head, "") for head in heads)] for item, line in cells.items()])

    def claims(self, name, query, source):
        """Claim by claim: verdict and numbers on each machine."""
        told, heads = {}, []
        for machine, db in self.having(name):
            heads.append(machine.upper())
            for row in rows(self.haul, db, *saved(query, {})):
                if row.get("source", source) == source and row["verdict"] != "not measured":
                    told.setdefault((row["section"], row["claim"]), {})[machine.upper()] = row
        return heads, told

    def figures(self, machine, db, query, params):
        picture = "-".join([machine, query, *params.values()]) + ".svg"
        drawn = ask(self.haul, db, *saved(query, params), "--plot", "--format", "svg")
        os.makedirs(os.path.join(self.out, "figures"), exist_ok=True)
        with open(os.path.join(self.out, "figures", picture), "w", encoding="utf-8") as out:
            out.write(drawn)
        return f"![{query} on {machine.upper()}](figures/{picture})\n"

    def duplicates(self, db):
        """The blocks that run-blocks leaves out: all their cases are duplicates of others."""
        blocks = [row["block"] for row in rows(self.haul, db, "query", """
            SELECT block FROM v_place GROUP BY block HAVING count(same_as) = count(*) ORDER BY min(listed)""")]
        return [f"{len(blocks)} more blocks are duplicates here, measured once: {', '.join(blocks)}.\n"] if blocks else []

    def page(self, name, title, source, claims, sections):
        text = [f"# {title}\n"]
        for machine, db in self.having(name):
            machine_row = rows(self.haul, db, "query", "SELECT DISTINCT gpu_name, driver_version FROM v_run ORDER BY 1, 2")
            text.append(f"{machine.upper()}: " + "; ".join(
                f"{row['gpu_name']}, driver {row['driver_version']}" for row in machine_row) + ".\n")
        text.append(self.runs(name))
        if source is not None:
            text += ["## Numbers of the source and of these machines\n", self.reference(name, source)]
        if claims is not None:
            heads, told = self.claims(name, claims, source)
            text += ["## Claims\n", table(["section", "claim", *heads], [
                [section, claim, *(f"**{by[head]['verdict']}**: {by[head]['numbers']}" if head in by else ""
                                   for head in heads)] for (section, claim), by in told.items()])]
        for heading, query, params, has_table, has_figure in sections:
            text.append(f"## {heading}\n")
            for machine, db in self.having(name):
                found = rows(self.haul, db, *saved(query, params))
                if all(row.get("samples") == "0" for row in found):  # identify: one run of a GPU tells nothing
                    text.append(f"{machine.upper()}: not measured.\n")
                    continue
                if has_figure:
                    text.append(self.figures(machine, db, query, params))
                if has_table:
                    text += [f"{machine.upper()}:\n", ask(self.haul, db, *saved(query, params), "--format", "md")]
                if query == "run-blocks":
                    text += self.duplicates(db)
        self.write(name + ".md", "\n".join(text))

    def front(self):
        text = ["# What the sources measured, on present GPUs\n",
                "Each page is made by `docs/results/make.py HAUL` from the databases in `data`: every number is what a "
                "saved query\nof `haul` answers. [SOURCES.md](../SOURCES.md) says how haul measures what a source "
                "measured, and where it differs.\n"]
        flipped = []
        for name, title, source, claims, _ in PAGES:
            if claims is None:
                continue
            heads, told = self.claims(name, claims, source)
            for (section, claim), by in told.items():
                if any(row["verdict"] == "does not hold" for row in by.values()):
                    flipped.append([title, section, claim, *(
                        f"{by[head]['verdict']}: {by[head]['numbers']}" if head in by else "" for head in heads)])
        machines = [machine.upper() for machine in self.machines]
        text += ["## Claims that no longer hold\n", table(["source", "section", "claim", *machines], flipped)]
        text += ["## Pages\n", "\n".join(f"- [{title}]({name}.md)" for name, title, *_ in PAGES if self.having(name))]
        self.write("README.md", "\n".join(text) + "\n")

    def make(self):
        for name, title, source, claims, sections in PAGES:
            if self.having(name):
                self.page(name, title, source, claims, sections)
        self.front()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        if len(sys.argv) > 4 and sys.argv[2] == "--keep":
            keep(os.path.abspath(sys.argv[1]), sys.argv[3], sys.argv[4:], scratch)
        elif len(sys.argv) in (2, 3):
            out = sys.argv[2] if len(sys.argv) == 3 else here
            os.makedirs(out, exist_ok=True)
            Results(os.path.abspath(sys.argv[1]), out, scratch).make()
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
