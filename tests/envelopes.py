"""Reader of `--json` output, as strict as its JSON Schema."""

import json
from importlib.resources import files

import jsonschema

SCHEMA = json.loads((files("unmask") / "envelope.schema.json").read_text(encoding="utf-8"))


def parsed(text):
    """Return the one JSON object that a command printed, validated by the schema; NaN and Infinity are refused."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    data = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    return data


def rows_of(result, table, **key):
    """The one row of a table with these values."""
    (row,) = [row for row in result["tables"][table] if all(row[name] == value for name, value in key.items())]
    return row
