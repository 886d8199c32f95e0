#!/usr/bin/env python3
"""test_outputs.py HAUL SOURCE BUILD [--update | --texts | --one-format]: what verbs print about recorded results, in every format.

tests/data/outputs.xz has the output of every command below, on the databases of tests/data, on plans of machines of
tests/machines, and of two runs of the fake driver. JSON, JSON lines and CSV must be equal value for value; of a run
that is measured now, keys. Texts, Markdown and pages may change: --texts shows how they did. --update
records all anew; what changes for programs is then a line of CHANGELOG.md. --one-format asks each command once, in the
formats in turn: for builds with sanitizers, which look for faults in C and take three times as long.
"""
import csv, difflib, html, io, json, lzma, math, os, re, shutil, sqlite3, subprocess, sys, tempfile

try:
    import jsonschema
except ImportError:  # ./bootstrap setup test
    jsonschema = None
    print("python3-jsonschema is missing: JSON is not validated")
haul, source, build = sys.argv[1:4]
RECORDED = os.path.join(source, "tests/data/outputs.xz")
TEXT, ROWS = ["table", "md"], ["json", "jsonl", "csv"]
ALL = TEXT + ROWS
SAVED = """arithmetic-latency baselines block-trend cases checks curves drivers energy environment fingerprint fingerprint-samples
  distributions fleets gpus hardware link-rates models node-differences nodes not-measured pairs run-blocks run-flows run-result
  run-summary runs skipped spread stream trials um-access""".split()
# Databases: name, and the commands asked of each, with their formats.
OWN = [("diff tag:before tag:after", ALL), ("diff -v tag:before tag:after", ALL), ("diff --by driver_version", ALL),
       ("diff tag:before tag:after --only down/gpu0*", ALL), ("diff tag:before tag:after --method rank", ALL),
       ("diff tag:few-a tag:few-b", ALL), ("diff tag:pairs-a tag:pairs-b", ALL), ("diff tag:odd tag:fine", ALL),
       ("diff -v tag:pairs-a tag:pairs-b", TEXT), ("diff tag:fleet0 tag:later", ALL), ("diff --a-a=4 tag:series", ALL),
       ("check tag:before tag:after", ALL + ["junit", "ctrf"]), ("check tag:few-a tag:few-b --strict", ALL),
       ("check tag:few-a tag:few-b", ["table"]),
       ("check baseline:good --where scenario=gpu", ALL), ("check --expect tag:fine", ALL + ["junit", "ctrf"]),
       ("check --expect tag:nv", ALL + ["junit", "ctrf"]), ("history down/gpu0*/4MiB", ALL),
       ("history -v down", ALL), ("outliers tag:before", ALL), ("outliers -v tag:pairs-b", ALL),
       ("outliers --all --where fleet=later", ALL), ("outliers --all --where scenario=fleet", ALL),
       ("outliers tag:odd", ALL), ("explain tag:odd", ALL), ("explain tag:before down*", ALL), ("explain -v tag:nv", ALL),
       ("show --result tag:odd", ALL), ("show --result --sum tag:nv", ALL), ("show --result tag:fine", ALL),
       ("show --result tag:before", ALL), ("show tag:odd", ["table"]), ("env --run tag:odd", ALL + ["svg"]),
       ("list runs", ALL), ("list cases --run tag:fine", ALL), ("identify", ALL), ("identify --confusion", ALL),
       ("identify --features", ALL), ("baseline list", ALL), ("expect learn tag:fine", ["table"]),
       ("export --to prometheus tag:odd", ["table"]), ("export --to haul tag:fine", ["table"]),
       ("report PAGE tag:before", [""]), ("report PAGE tag:odd", [""]), ("report PAGE tag:nv", [""]),
       ("report PAGE tag:after --against tag:before", [""]), ("report PAGE --history", [""]),
       ("report PAGE tag:pairs-b --against tag:pairs-a", [""]),
       ("report --fleet PAGE tag:later --against tag:fleet0", [""]), ("report --site SITE", [""]),
       ("check --fleet tag:later --fail-on missing,slow", ALL)]
OWN += [(f"query --saved {name} --param run=tag:odd", ALL) for name in SAVED]
OLD = [("diff tag:before tag:after", ALL), ("list runs", ALL), ("show --result tag:after", ALL), ("explain", ALL),
       ("outliers tag:after", ALL), ("history up", ALL), ("report PAGE tag:after --against tag:before", [""])]
MACHINES = ["h200x4", "h100x8-nvlink", "gh200", "l40sx4-pcie"]
ALONE = [("list scenarios", ALL), ("list queries", ALL), ("expect list", ALL), ("expect show H200", ALL),
         ("explain --rules", ALL), ("show quick", ["table"])]
ALONE += [(f"{verb} --machine {source}/tests/machines/{machine}.toml", ALL)
          for machine in MACHINES for verb in ("plan quick", "plan -v health", "env", "explain")]
LIVE = ["run quick", "run health --only *latency*"]
PROGRAMS = ("json", "jsonl", "csv", "ctrf")

scratch = tempfile.mkdtemp()
environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": scratch, "XDG_DATA_HOME": scratch, "TZ": "UTC",
               "HAUL_LOCKS": scratch + "/locks"}
for name in ("HAUL_DB", "HAUL_EXPECT", "NO_COLOR", "COLUMNS"):
    environment.pop(name, None)


def database(name):
    """From the rows or the dump in tests/data, migrated, at a path that outputs name."""
    path = os.path.join(scratch, name + ".db")
    made = sqlite3.connect(path)
    if name == "outputs":
        for migration in ("1002_first", "1003_marks"):
            with open(f"{source}/schema/results/migrations/{migration}.sql", encoding="utf-8") as file:
                made.executescript(file.read())
        with lzma.open(f"{source}/tests/data/outputs.sql.xz", "rt", encoding="utf-8") as file:
            made.executescript("BEGIN;" + file.read() + "COMMIT;")
    else:
        with open(f"{source}/tests/data/{name}.sql", encoding="utf-8") as file:
            made.executescript(file.read())
    made.close()
    for words in ("set now latest", "remove now"):  # what writes migrates
        subprocess.run([haul, "baseline", *words.split(), "--db", path, "-q"], env=environment, check=True)
    return name + ".db"


def ask(command, form, extra):
    """What a command prints, with its exit code; without what differs from build to build."""
    page = "page.html" if "PAGE" in command else "site/index.html" if "SITE" in command else None
    words = [haul] + [{"PAGE": page, "SITE": "site"}.get(word, word) for word in command.split()] + extra
    result = subprocess.run(words + (["--format", form] if form else []), env=environment, cwd=scratch,
                            stdin=subprocess.DEVNULL, capture_output=True, check=False)
    text = result.stdout.decode()
    if page:
        with open(os.path.join(scratch, page), encoding="utf-8") as file:
            text += file.read()
    text = text.replace(source + "/", "").replace(scratch, "SCRATCH")
    text = re.sub(r"\b0\.\d+\.\d+ \([0-9a-f]{7,}[^)]*\)|\b0\.\d+\.\d+-[0-9a-f]{7,}\S*", "VERSION", text)
    if command in LIVE and result.returncode:  # what was measured now must be well, and say why it was not
        print(command, result.stderr.decode(), *re.findall(r'"(?:status|reason)":"[^"]*"', text), sep="\n")
    if result.returncode > 4:
        sys.exit(f"{command} --format {form}: exit code {result.returncode}: {result.stderr.decode()}")
    return {"code": result.returncode, "out": text}


def values(form, text):
    if form == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text or "null")


def closed(schema):
    """A schema that allows the keys it names alone: what is printed must be described."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if schema.get("properties"):
            schema.setdefault("additionalProperties", False)
    return [closed(part) for part in schema] if isinstance(schema, list) else schema


SCHEMAS = {}


def validator(verb):
    """Of what `haul schema VERB` prints, or None without python3-jsonschema."""
    if jsonschema and verb not in SCHEMAS:
        printed = subprocess.run([haul, "schema", verb], env=environment, capture_output=True, check=True).stdout
        kind = jsonschema.Draft202012Validator
        kind.check_schema(json.loads(printed))
        SCHEMAS[verb] = kind(closed(json.loads(printed)))
    return SCHEMAS.get(verb)


def broken_contract(key, text):
    """Why JSON is not what a verb promises: an object that names its schema first, and is valid by it; its rows have
    equal keys, and its times a zone."""
    command = key.split(": ", 1)[-1]
    verb = command.split()[0]
    if not text:
        return None
    document = json.loads(text)
    name = "haul.%s/1" % ("diff" if verb == "check" and "--expect" not in command else verb)
    if not isinstance(document, dict) or next(iter(document.items())) != ("schema", name):
        return f"{key}: does not begin with {name}"
    if len({tuple(row) for row in document.get("rows", [])}) > 1:
        return f"{key}: rows with different keys"
    if re.search(r'"\d{4}-\d\d-\d\dT[\d:.]*"', text):
        return f"{key}: a time without Z"
    synonym = re.search(r'"(host|driver|limit|\w*_pct)":', text)  # of host_name, driver_version, limited_by, ..._percent
    if synonym:
        return f"{key}: {synonym[0]} has another name elsewhere"
    schema = validator(name[len("haul."):-len("/1")])
    for error in schema.iter_errors(document) if schema else []:
        error = jsonschema.exceptions.best_match([error])
        return f"{key}: {error.json_path}: {error.message[:300]}"
    return None


def shape(value):
    """Of what is measured now: keys."""
    if isinstance(value, dict):
        return {key: shape(of) for key, of in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "value"


def differences(before, after, path="$"):
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            if key in before and key in after:
                yield from differences(before[key], after[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: {'new' if key in after else 'gone'}"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, pair in enumerate(zip(before, after)):
            yield from differences(*pair, f"{path}[{i}]")
    elif isinstance(before, float) and isinstance(after, float):
        if not math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{path}: {before!r} -> {after!r}"
    elif before != after:
        yield f"{path}: {str(before)[:200]!r} -> {str(after)[:200]!r}"


def asked(commands):
    """Each command with each of its formats, or with one of them."""
    for number, (command, forms) in enumerate(commands):
        for form in [forms[number % len(forms)]] if "--one-format" in sys.argv else forms:
            yield command, form


def main():
    found, live = {}, {}
    for name, commands in (("outputs", OWN), ("results-1002", OLD), ("results-1003", OLD)):
        db = ["--db", database(name)]
        for command, form in asked(commands):
            found[f"{name}: {command} | {form}"] = ask(command, form, db)
    for command, form in asked(ALONE):
        found[f"{command.replace(source + '/', '')} | {form}"] = ask(command, form, ["--db", "none.db"])
    fake = os.path.join(build, "tests/fake_cuda")
    environment.update(LD_LIBRARY_PATH=fake, HAUL_FAKE_MACHINE=f"{source}/tests/machines/gh200.toml")
    for command in LIVE:
        options = ["--db", "live.db", "--set", "measure.max_time=1ms", "--set", "measure.trials.max=2", "--set",
                   "measure.trials.min=2", "--set", "measure.telemetry=off"]
        answer = ask(command, "json", options)
        live[f"{command} | json"] = answer
        found[f"{command} | json"] = {"code": answer["code"], "out": json.dumps(shape(values("json", answer["out"])))}
    broken = filter(None, (broken_contract(key, answer["out"]) for key, answer in {**found, **live}.items()
                           if key.endswith("| json")))
    failures = sorted(broken)
    if "--update" in sys.argv and not failures:
        with lzma.open(RECORDED, "wt", encoding="utf-8", preset=9) as file:
            json.dump(found, file, indent=0)
        print(f"{len(found)} outputs recorded")
        return 0
    with lzma.open(RECORDED, "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    if "--one-format" in sys.argv:
        recorded = {key: recorded[key] for key in found.keys() & recorded.keys()}
    failures += [f"{key}: {'new' if key in found else 'gone'}" for key in found.keys() ^ recorded.keys()]
    for key in found.keys() & recorded.keys():
        form, before, after = key.split(" | ")[-1], recorded[key], found[key]
        if before["code"] != after["code"]:
            failures.append(f"{key}: exit code {before['code']} -> {after['code']}")
        if form in PROGRAMS:
            unequal = list(differences(values(form, before["out"]), values(form, after["out"])))
            failures += sorted({f"{key}: " + re.sub(r"\[\d+\]", "[*]", line) for line in unequal})[:8]
        elif bool(before["out"]) != bool(after["out"]):
            failures.append(f"{key}: {len(before['out'])} -> {len(after['out'])} characters")
        elif "--texts" in sys.argv:
            sys.stdout.writelines(line + "\n" for line in difflib.unified_diff(
                before["out"].splitlines(), after["out"].splitlines(), key, "now", lineterm="", n=0))
    print(*sorted(failures), f"{len(failures)} of {len(found)} outputs differ", sep="\n")
    return 1 if failures else 0


try:
    code = main()
finally:
    shutil.rmtree(scratch)
sys.exit(code)
