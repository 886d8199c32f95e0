"""test_json_schema.py ROOT - the shipped scenarios are valid by schema/scenario.schema.json, mistakes
are not. Ends with 77 where Python has no jsonschema (Debian: python3-jsonschema) or tomllib."""
import json
import pathlib
import sys

try:
    import jsonschema
    import tomllib
except ImportError:
    sys.exit(77)

BLOCK = 'schema_version = 1\nname = "t"\n[[transfer]]\nname = "b"\nmethod = "ce"\nfrom.gpu = 0\nto.gpu = 1\n'
TRANSFER = 'schema_version = 1\nname = "t"\n[[transfer]]\nname = "b"\n'
MISTAKES = [
    BLOCK,
    TRANSFER + 'method = "ce"\nfrom.gpu = 0\nsize = 1',
    TRANSFER + 'method = "ce"\nto.gpu = 0\nsize = 1',
    TRANSFER + "from.gpu = 0\nto.gpu = 1\nsize = 1",
    BLOCK + "pieces = 2",
    'name = "t"',
    'schema_version = 2\nname = "t"',
    'schema_version = 1\nname = "a b"',
    BLOCK + "sise = 1",
    BLOCK + "size = 0",
    BLOCK + "size = [1, 0]",
    BLOCK + 'size = "64KB"',
    BLOCK + "size = { from = 1, to = 8 }",
    BLOCK + "size = { from = 1, to = 8, factor = 1 }",
    BLOCK + "size = { from = 1, to = 8, factor = 2, step = 1 }",
    BLOCK + 'warmup = "auto"',
    BLOCK + 'verify = ["off", "twice"]',
    BLOCK + "to.numa = 2000",
    BLOCK + '[[transfer.flow]]\ndirection = "both"',
    BLOCK + '[checks]\ngovernor = { want = "fast" }',
    BLOCK + '[measure]\nprocesses = [1, 2]',
]

root = pathlib.Path(sys.argv[1])
schema = json.loads((root / "schema/scenario.schema.json").read_text())
jsonschema.Draft4Validator.check_schema(schema)
validator = jsonschema.Draft4Validator(schema)
failures = 0
RIGHT = [
    BLOCK + "size = 1",
    BLOCK + "shape.width = 1",
    BLOCK + "pieces = 2\npiece_size = 2",
    TRANSFER + 'from_csv = "a.csv"',
    TRANSFER + '[[transfer.flow]]\nmethod = "ce"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1',
]
for text in RIGHT:
    if not validator.is_valid(tomllib.loads(text)):
        print(f"not valid, but should be:\n{text}")
        failures += 1
for path in sorted((root / "scenarios").rglob("*.toml")):
    for error in validator.iter_errors(tomllib.loads(path.read_text())):
        print(f"{path}: {list(error.absolute_path)}: {error.message}")
        failures += 1
for text in MISTAKES:
    if validator.is_valid(tomllib.loads(text)):
        print(f"valid, but should not be:\n{text}")
        failures += 1
sys.exit(1 if failures else 0)
