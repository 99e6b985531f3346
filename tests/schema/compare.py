"""Validates a comparison that a program writes to the file that it is given
against the published schema, and that the schema rejects what is wrong."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

CHANGES = {
    "another schema": lambda d: d.update(schema="kmb-result"),
    "a later version": lambda d: d.update(version=2),
    "one row": lambda d: d["rows"].pop(),
    "an unknown verdict": lambda d: d["rows"][1].update(verdict="better"),
    "a ratio of 0": lambda d: d["rows"][1].update(ratio=0),
    "an interval without its end": lambda d: d["rows"][1].pop("high"),
    "a ratio without its cycles": lambda d: d["rows"][1].pop("ratios"),
    "a confidence too low":
        lambda d: d["rows"][1].update(confidence=0.95),
    "an arm with time and failure":
        lambda d: d["rows"][1]["tuning"]["arms"][0].update(
            status="ERR_NOMEM", reason="x"),
    "no results": lambda d: d.pop("document"),
}


def main():
    comparison, result, program = sys.argv[1:]
    validators = []
    for path in (comparison, result):
        schema = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        validators.append(jsonschema.Draft7Validator(schema))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out.json"
        subprocess.run([program, str(path)], check=True)
        document = json.loads(path.read_text(encoding="utf-8"))
    validators[0].validate(document)
    validators[1].validate(document["document"])
    # What the changes below take away or change is there.
    assert "high" in document["rows"][1] and document["rows"][1]["tuning"]
    for name, change in CHANGES.items():
        broken = copy.deepcopy(document)
        change(broken)
        assert not validators[0].is_valid(broken), name
    print("ok", len(CHANGES), "broken documents are rejected")


main()
