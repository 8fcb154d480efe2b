"""Reader of `--json` output, as strict as its JSON Schema."""

import json
from importlib.resources import files

import fastjsonschema

SCHEMA = json.loads((files("unmask") / "envelope.schema.json").read_text(encoding="utf-8"))

_validate = fastjsonschema.compile(SCHEMA)  # a tenth of the time of jsonschema, which test_envelope.py uses


def parsed(text):
    """Return the one JSON object that a command printed, validated by the schema; NaN and Infinity are refused."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return _validate(json.loads(text, parse_constant=refuse))


def rows_of(result, table, **key):
    """The one row of a table with these values."""
    (row,) = [row for row in result["tables"][table] if all(row[name] == value for name, value in key.items())]
    return row
