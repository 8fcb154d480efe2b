"""`unmask.toml`: one document for all verbs. Data and the roles of its columns, releases, adversaries, protections, and
the policy that says what is acceptable.

Options of the command line say the same things, and win over the document.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from unmask import protection_specs
from unmask.core.errors import UnmaskError, nearest
from unmask.data.files import read_text, read_toml
from unmask.domains import DOMAINS
from unmask.plan import NOTHING, check_keys
from unmask.policy import Policy
from unmask.toml_text import format_document, format_key

KEYS: Final = (
    "title", "data", "columns", "releases", "register", "control", "linkability", "audit", "protections", "adversaries",
    "policy", "certificate", "seeds", "measures", "budget", "publisher", "attackers",
)  # fmt: skip
"""What a document may say, besides a table for each domain."""

ROLES: Final[Mapping[str, str]] = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "keep": "keep",
    "identifier": "identifiers",
    "weight": "weight",
    "drop": "",
}
"""Role of a column -> the parameter of `Table.read` that lists such columns; a column to drop is in none."""

MEANINGS: Final[Mapping[str, str]] = {"type": "types", "order": "orders", "hierarchy": "hierarchies"}
"""What else a document says of a column -> the parameter of `Table.read` that takes it by column."""

READING: Final = ("person", "missing", "na", "decimal", "delimiter", "header", "encoding", "cells")
"""What `data` says of the file of a table, as `Table.read` takes it."""

OF_TABLE: Final = (
    "file", "use", "name", "columns", "hold_back", *READING, *filter(None, ROLES.values()), *MEANINGS.values()
)  # fmt: skip
"""What `data` says of a table in a file."""

USUAL: Final[Mapping[str, tuple[object, ...]]] = {
    "missing": ("own",), "cells": ("any",), "coverage": (1.0,), "hold_back": (0.0,), "seed": (0,), "levels": ({},),
    "without": ((),), "together": (False,),
}  # fmt: skip
"""What holds of a table where nothing is said."""

AUDITED: Final = ("targets", "attacker", "seed", "without", "together")
"""What `audit` says of the audit of a table, besides what is about its files."""

OUTSIDE: Final[Mapping[str, tuple[str, ...]]] = {"register": (), "control": (), "attacker": ("case-study",)}
"""Options of an audit whose values are files beside the document -> values that are none."""

BESIDES: Final[Mapping[str, tuple[str, ...]]] = {
    "register": ("file", "coverage"), "control": ("file",), "linkability": ("parts",), "audit": AUDITED
}  # fmt: skip
"""What a document says besides the data and the releases, for the audit of a table."""

HELD: Final = frozenset(
    {"releases", "data", "original", "origins", "register", "control", "coverage", "parts", "policies", "protection"}
    | {"hold_back", "synthetic", "k", "l_", "t", "relaxed", "levels", *READING, *ROLES.values(), *MEANINGS.values()}
)
"""Options of `unmask audit` and `unmask protect` that a document says, besides those of `AUDITED`."""

_PART: Final = {"name": str, "use": str, "with": dict, "grid": dict, "knows": dict, "domain": str}

TYPES: Final[Mapping[str, Any]] = {
    "title": str,
    "data": [
        _PART
        | {"file": str, "columns": dict, "person": str}
        | dict.fromkeys(("missing", "decimal", "delimiter", "encoding", "cells"), str)
        | dict.fromkeys(MEANINGS.values(), dict)
    ],
    "releases": [{"file": str, "origin": str, "synthetic": bool, "protection": str}],
    "protections": [_PART],
    "adversaries": [_PART],
    "policy": [{}],
    "attackers": [{"name": str, "adversary": str}],
    "seeds": object,
    "measures": [str],
}
"""Key of a document -> the type of its value: a table with the types of its keys, a list of one type, or a type. Any
other key is a table.
"""

_EXAMPLES: Final = {
    dict: ("table", "{ ... }"), list: ("list", "[...]"), str: ("text", '"..."'), bool: ("truth value", "true"),
}  # fmt: skip

Settings = Mapping[str, Any]


def load(path: Path) -> dict[str, Any]:
    """What a document says, as it stands there; every key is known.

    Raises `FailedError` for a file that cannot be read, `UnmaskError` for one that is no document.
    """
    given = read_toml(path, "document")
    known = (*KEYS, *(name if one.word is None else one.word for name, one in DOMAINS.items()))
    with in_document(path):
        check_keys(given, known, "it")
    for key in given:
        entries = [given[key]] if key == "data" and isinstance(given[key], dict) else given[key]
        _check_types(entries, TYPES.get(key, {}), key, f"document {path.name!r}:")
    return given


@contextmanager
def in_document(path: Path) -> Iterator[None]:
    """Add to an error the name of a document, and the line of the first name that the error quotes."""
    try:
        yield
    except UnmaskError as error:
        lines = [line for line in enumerate(read_text(path).splitlines(), 1) if not line[1].lstrip().startswith("#")]
        quoted = re.findall("'([^']+)'", str(error))
        places = (f", line {at}" for name in quoted for at, line in lines if re.search(_word(name), line))
        raise type(error)(f"document {path.name!r}{next(places, '')}: {error}") from None


def _word(name: str) -> str:
    """Return a pattern of a name that is no part of a longer one."""
    return rf"(?<!\w){re.escape(name)}(?!\w)"


def _check_types(given: Any, expected: Any, place: str, where: str) -> None:
    """Raise an error for a value that is not of the type of its place. expected : in the form of `TYPES`"""
    kind: Any = expected if isinstance(expected, type) else type(expected)
    if not isinstance(given, kind):
        of_tables, key = isinstance(expected, list) and expected[0] is not str, place.rpartition(".")[2]
        example = f"[[{key}]] above each of them" if of_tables else f"{key} = {_EXAMPLES[kind][1]}"
        name = _EXAMPLES[kind][0] + " of tables" * of_tables
        raise UnmaskError(f"{where} {place} is not a {name}; expected {example}")
    if isinstance(expected, dict):
        for key in given.keys() & expected.keys():
            _check_types(given[key], expected[key], f"{place}.{key}", where)
    elif isinstance(expected, list):
        for at, entry in enumerate(given, 1):
            _check_types(entry, expected[0], f"{place}[{at}]", where)


def populations(given: Settings) -> list[dict[str, Any]]:
    """The entries of `data`, one table or a list of them, each with the roles of its columns as `Table.read` has them.

    `columns` stands beside `data`, or inside each where there are several; one without `use` is a table in a file.

    >>> populations({"data": {"file": "people.csv"}, "columns": {"age": "quasi-identifier"}})
    [{'use': 'tables.file', 'file': 'people.csv', 'quasi_identifiers': ['age']}]
    """
    return [_population(entry, given.get("columns", {})) for entry in _listed(given.get("data", []))]


def _listed(data: Any) -> list[dict[str, Any]]:
    """Return the entries of `data`, one table or a list of them."""
    return [data] if isinstance(data, dict) else data


def _population(entry: Settings, columns: Any) -> dict[str, Any]:
    found = {"use": "tables.file", **entry} if "file" in entry else dict(entry)
    own = found.pop("columns", columns)
    found = {key: value for key, value in found.items() if value not in USUAL.get(key, ())}
    if not str(found.get("use", "")).startswith("tables."):
        return found
    return found | by_role(own)


def by_role(columns: Any) -> dict[str, Any]:
    """Columns by role, and what is said of their cells, as `Table.read` takes them.

    >>> by_role({"id": "drop", "birth": {"role": "quasi-identifier", "type": "date"}, "ill": "sensitive"})
    {'quasi_identifiers': ['birth'], 'sensitive': ['ill'], 'types': {'birth': 'date'}}
    """
    said = {name: {"role": given} if isinstance(given, str) else given for name, given in columns.items()}
    for name, given in said.items():
        _check_column(name, given)
    lists = {option: [name for name, one in said.items() if one["role"] == role] for role, option in ROLES.items()}
    if len(lists["weight"]) > 1:
        raise UnmaskError(f"columns {' and '.join(lists['weight'])} are weights, expected at most one")
    meanings = {to: {name: one[key] for name, one in said.items() if key in one} for key, to in MEANINGS.items()}
    found: dict[str, Any] = {option: names for option, names in {**lists, **meanings}.items() if option and names}
    if "weight" in found:
        found["weight"] = found["weight"][0]
    return found


def _check_column(name: str, given: Any) -> None:
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise UnmaskError(f'column {name!r} has no role; expected for example {format_key(name)} = "quasi-identifier"')
    if given["role"] not in ROLES:
        raise UnmaskError(f"the role of column {name!r} is {given['role']!r}; {nearest(given['role'], list(ROLES))}")
    check_keys(given, ("role", *MEANINGS), f"column {name!r}")


def certificate_of(given: Settings) -> dict[str, str]:
    """What the owner says of the release: by whom, to whom, what for."""
    from unmask.reports.certificate import ASKED

    said = given.get("certificate", {})
    check_keys(said, tuple(ASKED), "certificate")
    return {key: str(value) for key, value in said.items()}


# --- what a document says to one command ------------------------------------------------------------------------------


def for_audit(given: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """The releases to attack, and options of `unmask audit`: without releases the table of `data` is the release."""
    check_tables(given, folder)
    data = _table(given)
    releases = given.get("releases", [])
    if not releases:
        return [_file(data, folder)], _reading(data, folder) | _outside(given, folder)
    files = [_place(folder, _text(one, "file", "releases")) for one in releases]
    options = _reading(data, folder) | _outside(given, folder) | _tried(given)
    if "file" in data:
        options |= {"original": _file(data, folder), **_aside(data)}
    if origins := [_place(folder, one["origin"]) for one in releases if "origin" in one]:
        options["origins"] = origins
    if makers := protection_specs.find_release_specs(releases, _protecting(given)):
        options["protection"] = makers
    if any(synthetic := [one.get("synthetic", False) for one in releases]):
        if not all(synthetic):
            raise UnmaskError("some releases are synthetic and others people's; give each kind a document of its own")
        options["synthetic"] = True
    return files, options


def for_protect(given: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """The table to protect, and options of `unmask protect`: those of the one protection that the document has."""
    data, found = _table(given), _protecting(given)
    if len(found) > 1 or any("grid" in one for one in found):
        raise UnmaskError("the document has several protections; keep the one that unmask choose took, without a grid")
    options = _reading(data, folder) | _aside(data)
    return [_file(data, folder)], options | (protection_specs.to_options(found[0]) if found else {})


def _protecting(given: Settings) -> list[Settings]:
    """The protections of a document."""
    return [one for one in given.get("protections", []) if one.get("use") != NOTHING]


def _tried(given: Settings) -> dict[str, Any]:
    """The levels of the one protection, which an audit keeps where it tries others."""
    found = _protecting(given)
    levels = found[0].get("with", {}).get("levels") if len(found) == 1 else None
    return {"levels": protection_specs.format_levels(levels)} if levels else {}


def for_columns(given: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """The table, and how it is read, for commands about its columns."""
    data = _table(given)
    return [_file(data, folder)], _reading(data, folder)


def for_domain(
    given: Settings, folder: Path, word: str, known: Sequence[str], files: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What `unmask audit WORD` is asked, by the names of its options.

    files : options whose values lie beside the document -> values that are no files

    >>> files = {"release": ()}
    >>> for_domain({"graph": {"release": "g.txt", "runs": 2}}, Path("here"), "graph", ["release", "runs"], files)
    {'release': 'here/g.txt', 'runs': 2}
    """
    said = given.get(word)
    if not isinstance(said, dict):
        raise UnmaskError(f"the document has no [{word}]; expected it, and below it options of unmask audit {word}")
    check_keys(said, known, f"[{word}]")
    placed = {key for key, value in said.items() if key in files and value not in files[key]}
    return {key: _placed(folder, value) if key in placed else value for key, value in said.items()}


def _placed(folder: Path, value: Any) -> Any:
    return [_place(folder, one) for one in value] if isinstance(value, list) else _place(folder, value)


def _table(given: Settings) -> dict[str, Any]:
    """The one table of a document; it has no file where only releases are at hand."""
    found = populations({"data": {}, **given})
    if len(found) != 1 or found[0].get("use", "tables.file") != "tables.file":
        raise UnmaskError('the document has no file of a table; expected [data] and below it file = "people.csv"')
    check_keys(found[0], OF_TABLE, "data")
    return found[0] | ({} if "use" in found[0] else by_role(given.get("columns", {})))


def _file(data: Settings, folder: Path) -> str:
    return _place(folder, _text(data, "file", "data"))


def _aside(data: Settings) -> dict[str, Any]:
    """The share of people who are held back from a release."""
    return {"hold_back": data["hold_back"]} if "hold_back" in data else {}


def _reading(data: Settings, folder: Path) -> dict[str, Any]:
    """How the table is read, in the form of options."""
    types = {"types": [f"{name}={of}" for name, of in data.get("types", {}).items()]}
    orders = {"orders": [f"{name}={_ordered(name, values)}" for name, values in data.get("orders", {}).items()]}
    trees = {"hierarchies": [f"{name}={_place(folder, at)}" for name, at in data.get("hierarchies", {}).items()]}
    plain = {key: data[key] for key in (*READING, *ROLES.values()) if key in data}
    return plain | types | orders | trees


def _ordered(name: str, values: Any) -> str:
    """The values of an ordinal column, as they are typed."""
    if not isinstance(values, list):
        raise UnmaskError(f"the order of column {name!r} is {values!r}, expected a list of values, the lowest first")
    texts = list(map(str, values))
    if any("," in text for text in texts):
        raise UnmaskError(f"the order of column {name!r} has a comma in a value; call the value something else")
    return ",".join(texts)


RELEASED: Final = ("file", "origin", "synthetic", "protection")
"""What a document says of a release."""


def check_tables(given: Settings, folder: Path) -> None:
    """Raise an error for a key that does not exist in what a document says of releases and of their audit."""
    for entry in (entry for entry in _listed(given.get("data", [])) if "use" not in entry):
        check_keys(entry, (*OF_TABLE, "control"), "data")
    populations(given)
    _outside(given, folder)
    certificate_of(given)
    for entry in given.get("releases", []):
        check_keys(entry, RELEASED, "releases")


def _outside(given: Settings, folder: Path) -> dict[str, Any]:
    """The register and the control people of an audit, and what else it is asked."""
    found: dict[str, Any] = {}
    for name, known in BESIDES.items():
        said = given.get(name, {})
        check_keys(said, known, name)
        found |= {name if key == "file" else key: value for key, value in said.items()}
    return {
        key: _place(folder, value) if value not in OUTSIDE.get(key, (value,)) else value for key, value in found.items()
    }


def _place(folder: Path, name: Any) -> str:
    """A path of the document, which is beside it."""
    if not isinstance(name, str) or "\0" in name:
        raise UnmaskError(f"the document names a file {name!r}, expected a path")
    return str(folder / name)


def _text(entry: Settings, key: str, where: str) -> str:
    if not isinstance(entry.get(key), str):
        raise UnmaskError(f"{where} has no {key}; expected a text")
    return str(entry[key])


# --- writing ----------------------------------------------------------------------------------------------------------


def of_options(options: Settings) -> str:
    """The document that says what the options of `unmask audit` or `unmask protect` do."""
    releases, origins = list(options.get("releases", ())), list(options.get("origins", ()))
    source = options.get("data") or options.get("original") or (releases.pop() if len(releases) == 1 else None)
    data = {"file": source, "hold_back": options.get("hold_back"), **{key: options[key] for key in READING}}
    makers = [one.use for one in options.get("protection") or ()]
    makers = makers * len(releases) if len(makers) == 1 else makers
    published = [
        {"file": file, "origin": origin, "synthetic": options.get("synthetic") or None, "protection": maker}
        for file, origin, maker in itertools.zip_longest(map(str, releases), map(str, origins), makers)
    ]
    lists = {"protections": list(protection_specs.list_entries(options)), "releases": list(map(_said, published))}
    outside = {
        "register": {"file": options.get("register"), "coverage": options.get("coverage")},
        "control": {"file": options.get("control")},
        "linkability": {"parts": options.get("parts")},
        "audit": {key: options.get(key) for key in AUDITED},
    }
    sections = {
        "data": _said(data),
        "columns": _roles(options),
        **{name: kept for name, said in outside.items() if (kept := _said(said))},
        **{key: entries for key, entries in lists.items() if entries},
        **list_requirements(options.get("policies", ())),
    }
    return format_document({"title": "Release of a table", **sections})


def list_requirements(policies: Iterable[Policy]) -> dict[str, list[dict[str, str]]]:
    """Return policies as the [[policy]] of a document."""
    requirements = [requirement for policy in policies for requirement in policy.requirements]
    entries = [{name: str(value) for name, value in vars(one).items() if value} for one in requirements]
    return {"policy": entries} if entries else {}


def _roles(options: Settings) -> dict[str, Any]:
    """Columns with their roles, and what is said of their cells."""
    given = {option: options[option] or () for option in ROLES.values() if option}
    named = {option: (names,) if isinstance(names, str) else names for option, names in given.items()}
    found: dict[str, Any] = {name: role for role, option in ROLES.items() for name in named.get(option, ())}
    for key, option in MEANINGS.items():
        for name, meaning in options[option].items():
            if name not in found:
                raise UnmaskError(f"the {key} of column {name!r} was given, and no role; say what the column is, too")
            own = found[name] if isinstance(found[name], dict) else {"role": found[name]}
            found[name] = {**own, key: list(meaning) if isinstance(meaning, tuple) else meaning}
    return found


def _said(options: Settings) -> dict[str, Any]:
    """What was said: options that are left out, and those that say what holds anyway, are not."""
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in options.items()}
    return {key: value for key, value in plain.items() if value is not None and value not in USUAL.get(key, ())}
