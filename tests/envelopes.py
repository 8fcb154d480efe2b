"""What `--json` prints, read as strictly as its JSON Schema is."""

import json
from importlib.resources import files

import jsonschema

SCHEMA = json.loads((files("unmask") / "envelope.schema.json").read_text(encoding="utf-8"))


def parsed(text):
    """The one JSON object that a command printed, held against the schema; NaN and Infinity are no JSON."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    found = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def of(found, table, **which):
    """The one row of a table with these values."""
    (row,) = [row for row in found["tables"][table] if all(row[name] == value for name, value in which.items())]
    return row
