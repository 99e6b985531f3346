"""Validates what the library writes against its published schema."""
import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def output(program, what):
    return subprocess.run([program, what], check=True, text=True,
                          encoding="utf-8", stdout=subprocess.PIPE).stdout


def broken(document):
    """Documents that the schema must reject, by what is wrong with them."""
    changes = {
        "negative time": lambda r: r.update(time_ns=-1),
        "time as text": lambda r: r.update(time_ns="1"),
        "negative count": lambda r: r.update(samples=-1),
        "large count as number": lambda r: r.update(flops=2**53 + 1),
        "count with a point": lambda r: r.update(flops=1.5),
        "number as name": lambda r: r.update(name=1),
        "no samples": lambda r: r.pop("samples_ns"),
        "no findings": lambda r: r.pop("findings"),
        "negative sample": lambda r: r.update(samples_ns=[-1]),
        "unknown severity": lambda r: r["findings"][0].update(severity="bad"),
        "axis without value": lambda r: r["axes"][0].pop("value"),
        "operation of no kind": lambda r: r["ops"][0].pop("kind"),
        "operation with a negative start":
            lambda r: r["ops"][0].update(start_ns=-1),
        "rank without a median":
            lambda r: r["ranks"][0].pop("median_ns"),
        "rank with a negative count":
            lambda r: r["ranks"][1].update(slowest=-1),
        "kernel without a grid": lambda r: r["code"][0].pop("grid"),
        "kernel with two sizes": lambda r: r["code"][0]["block"].pop(),
        "short hash": lambda r: r["code"][0].update(sha256="00ff"),
        "file elsewhere": lambda r: r["code"][0].update(file="../x.cubin"),
        "file without a hash": lambda r: r["code"][0].pop("sha256"),
        "some attributes": lambda r: r["code"][0].pop("local_bytes"),
        "metadata as number": lambda r: r["metadata"].update(a=1),
        "null": lambda r: r.update(time_ns=None),
    }
    for name, change in changes.items():
        result = copy.deepcopy(document)
        change(result["results"][0])
        yield name, result
    for key, value in (("schema", "other"), ("version", 2)):
        yield key, {**document, key: value}


def main():
    schema_path, program = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for what in ("empty", "values", "absent", "sample"):
        validator.validate(json.loads(output(program, what)))
        print("ok", what)
    known = schema["definitions"]["result"]["properties"]
    keys = output(program, "keys").split()
    missing = [key for key in keys if key not in known]
    extra = set(known) - set(keys) - {
        "axes", "absent", "findings", "ops", "ranks", "code", "samples_ns",
        "metadata", "metadata_absent"}
    if missing or extra:
        sys.exit(f"schema lacks {missing}, has {sorted(extra)} too many")
    print("ok every value is in the schema")
    for name, document in broken(json.loads(output(program, "sample"))):
        if validator.is_valid(document):
            sys.exit(f"the schema accepts a document with {name}")
        print("ok rejected:", name)


main()
