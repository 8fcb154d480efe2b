"""`unmask.toml`: one document for all verbs. Data and the roles of its columns, releases, adversaries, protections, and
the policy that says what is acceptable.

Options of the command line say the same things, and win over the document.
"""

from __future__ import annotations

import itertools
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from unmask import protection_specs
from unmask.core.errors import UnmaskError
from unmask.data.files import read_text, read_toml
from unmask.domains import DOMAINS, import_audit
from unmask.plan import NOTHING
from unmask.ranges import Range
from unmask.schema import Either, Table, check, dict_of, json_schema, list_of, parameters
from unmask.toml_text import format_document

if TYPE_CHECKING:
    from unmask.policy import Policy

AUDIT: Final = "unmask.tables.audit:audit"
"""The audit of tables; its keywords are options of a document."""

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
"""Other keys of a column -> the parameter of `Table.read` that takes them by column."""

READING: Final = ("person", "missing", "na", "decimal", "delimiter", "header", "encoding", "cells")
"""Parameters of `Table.read` about the whole file."""

DEFAULTS: Final[Mapping[str, tuple[object, ...]]] = {
    "missing": ("own",), "cells": ("any",), "coverage": (1.0,), "hold_back": (0.0,), "seed": (0,), "levels": ({},),
    "without": ((),), "together": (False,),
}  # fmt: skip
"""Values that mean the same as no value."""

OUTSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "register": ("file", "coverage"),
    "control": ("file",),
    "linkability": ("parts",),
    "audit": ("targets", "attacker", "seed", "without", "together"),
}
"""Section -> options of the audit of a table in it, besides those of its data and its releases."""

FILES: Final[Mapping[str, tuple[str, ...]]] = {"register": (), "control": (), "attacker": ("case-study",)}
"""Options of such an audit that name files next to the document -> values that name none."""

MAX_SEEDS: Final = 1_000_000

Settings = Mapping[str, Any]


# --- structure --------------------------------------------------------------------------------------------------------

_ROLE: Final = Literal["quasi-identifier", "sensitive", "keep", "identifier", "weight", "drop"]

_COLUMN: Final = Either(
    (_ROLE, Table({"role": _ROLE, "type": str, "order": list_of(Any), "hierarchy": str}, required=("role",)))
)

_PART: Final[Mapping[str, Any]] = {
    "name": str, "use": str, "with": dict_of(Any), "grid": dict_of(list_of(Any)), "knows": dict_of(Any), "domain": str,
}  # fmt: skip
"""Keys of each part of a study; its domain decides on others."""

_FILE: Final = {"file": str, "columns": dict_of(_COLUMN)}
"""Keys of a part that is a file."""

PARTS: Final[Mapping[str, str]] = {"data": "DATASET", "protections": "PROTECTION", "adversaries": "ADVERSARY"}
"""Section of a study -> the name in the cases of a domain of the other keys of its parts."""

SECTIONS: Final[Mapping[str, Any]] = {
    "title": str,
    "data": Either((Table({**_PART, **_FILE}, is_open=True), list_of(Table({**_PART, **_FILE}, is_open=True)))),
    "columns": dict_of(_COLUMN),
    "releases": list_of(Table({"file": str, "origin": str, "synthetic": bool, "protection": str}, ("file",))),
    "control": Table({"file": str}),
    "linkability": Table({"parts": Either((str, list_of(list_of(str))))}),
    "protections": list_of(Table({**_PART, **_FILE}, is_open=True)),
    "adversaries": list_of(Table(_PART, is_open=True)),
    "seeds": Annotated[int, Range(1, MAX_SEEDS)] | list[Annotated[int, Range(0, 2**63 - 1)]],
    "measures": list_of(str),
    "budget": Table(parameters("unmask.plan:Budget")),
}
"""Section -> its type."""

_ENDS: Final = Table({"from": float, "to": float}, ("from", "to"))
"""Range of a number that is not known."""


def _register() -> Table:
    return Table({"file": str, **parameters(AUDIT, "coverage")})


def _publisher() -> Table:
    numbers = {name: _or_range(hint) for name, hint in parameters("unmask.economics:Publisher").items()}
    return Table({**numbers, **dict.fromkeys(("prices", "fines", "audits"), list_of(float))}, ("benefit", "loss"))


def _attacker() -> Any:
    numbers = {name: _or_range(hint) for name, hint in parameters("unmask.economics:Attacker").items()}
    chances = Either((float, list_of(float), _ENDS))
    own = {"name": str, "adversary": str, "attacker": Either((str, dict_of(Any))), "number": _or_range(float)}
    unlimited = {"max_fines": Either((float, str, _ENDS))}
    return list_of(Table({**numbers, **own, **unlimited, "detection": chances, "believed_detection": chances}))


def _or_range(hint: Any) -> Any:
    """Return the type of a number, or of a range of numbers; of a union of which one is a number, too."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    is_number = any(kind in (int, float) or get_origin(kind) is Annotated for kind in kinds)
    return Either((hint, _ENDS)) if is_number else hint


def _policy() -> Any:
    from unmask.policy.policies import ENTRIES

    return ENTRIES


def _certificate() -> Table:
    from unmask.reports.certificate import ASKED

    return Table(dict.fromkeys(ASKED, Any))


IMPORTED: Final[Mapping[str, Callable[[], Any]]] = {
    "register": _register,
    "audit": lambda: Table(parameters(AUDIT, *OUTSIDE["audit"])),
    "policy": _policy,
    "certificate": _certificate,
    "publisher": _publisher,
    "attackers": _attacker,
}
"""Section -> function that returns its type, by parameters of functions that take a while to import."""


def section_type(key: str) -> Any:
    """Return the type of a section; a command checks the options of its domain."""
    return SECTIONS[key] if key in SECTIONS else IMPORTED[key]() if key in IMPORTED else dict_of(Any)


def list_sections() -> tuple[str, ...]:
    """Return the keys of a document: its sections, and one for each domain."""
    words = (one.word or name for name, one in DOMAINS.items() if one.word != "")
    return (*SECTIONS, *IMPORTED, *words)


def load(path: Path) -> dict[str, Any]:
    """Return the values of a document whose sections have their keys, types and ranges.

    Raises `FailedError` for a file that cannot be read, `UnmaskError` for values that are not as expected.
    """
    given = read_toml(path, "document")
    with in_document(path):
        check_sections(given)
    return given


def check_sections(given: Settings) -> None:
    """Raise an error for a key, a type or a range of a document that is not as expected."""
    check(given, Table(dict.fromkeys(list_sections(), Any)), "")
    for key, value in given.items():
        check(value, section_type(key), key)
    for kind in PARTS.keys() & given.keys():
        for at, entry in enumerate(_listed(given[kind]), 1):
            domain = entry.get("domain", entry.get("use", "tables.").partition(".")[0])
            if domain in DOMAINS:  # a plug-in without it is checked once it is imported
                check(entry, part_type(kind, domain), kind if isinstance(given[kind], dict) else f"{kind}[{at}]")


def part_type(kind: str, domain: str) -> Table:
    """Return the type of a part of a study. kind : its section"""
    return Table({**_PART, **_FILE, **getattr(import_audit(domain), PARTS[kind], {})})


def build_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a document, for editors; it is `document.schema.json`."""
    parts = {kind: Table(_merge_keys(kind), is_open=True) for kind in PARTS}
    lists = {kind: Either((part, list_of(part))) if kind == "data" else list_of(part) for kind, part in parts.items()}
    return json_schema(Table({key: section_type(key) for key in list_sections()} | lists))


def _merge_keys(kind: str) -> dict[str, Any]:
    """Return the keys of a part in any domain; one of several types takes any value."""
    keys: dict[str, Any] = {}
    for domain in DOMAINS:
        for key, hint in part_type(kind, domain).keys.items():
            keys[key] = hint if keys.get(key, hint) == hint else Any
    return keys


@contextmanager
def in_document(path: Path) -> Iterator[None]:
    """Add to an error the name of a document, and the line of the first name that the error quotes or begins with."""
    try:
        yield
    except UnmaskError as error:
        lines = [line for line in enumerate(read_text(path).splitlines(), 1) if not line[1].lstrip().startswith("#")]
        names = [first or second for first, second in re.findall(r"'([^']+)'|^[\w.\[\]]+\.(\w+) is ", str(error))]
        places = (f", line {at}" for name in names for at, line in lines if re.search(_word(name), line))
        raise type(error)(f"document {path.name!r}{next(places, '')}: {error}") from None


def _word(name: str) -> str:
    """Return a pattern of a name that is no part of a longer one."""
    return rf"(?<!\w){re.escape(name)}(?!\w)"


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
    found = {key: value for key, value in found.items() if value not in DEFAULTS.get(key, ())}
    if not str(found.get("use", "")).startswith("tables."):
        return found
    return found | by_role(own)


def by_role(columns: Any) -> dict[str, Any]:
    """Columns by role, and what is said of their cells, as `Table.read` takes them.

    >>> by_role({"id": "drop", "birth": {"role": "quasi-identifier", "type": "date"}, "ill": "sensitive"})
    {'quasi_identifiers': ['birth'], 'sensitive': ['ill'], 'types': {'birth': 'date'}}
    """
    said = {name: {"role": given} if isinstance(given, str) else given for name, given in columns.items()}
    lists = {option: [name for name, one in said.items() if one["role"] == role] for role, option in ROLES.items()}
    if len(lists["weight"]) > 1:
        raise UnmaskError(f"columns {' and '.join(lists['weight'])} are weights, expected at most one")
    meanings = {to: {name: one[key] for name, one in said.items() if key in one} for key, to in MEANINGS.items()}
    found: dict[str, Any] = {option: names for option, names in {**lists, **meanings}.items() if option and names}
    if "weight" in found:
        found["weight"] = found["weight"][0]
    return found


def certificate_of(given: Settings) -> dict[str, str]:
    """Return what the owner wrote about the release: by whom, to whom, what for."""
    return {key: str(value) for key, value in given.get("certificate", {}).items()}


def stored_options(command: str) -> frozenset[str]:
    """Return the options of `unmask audit` or `unmask protect` that a document stores."""
    reading = {*READING, *ROLES.values(), *MEANINGS.values()}
    protecting = {"data", "hold_back", "protection", "k", "l_", "t", "relaxed", "levels"}
    auditing = {"releases", "original", "origins", "synthetic", "policies", "register", "control", "coverage", "parts"}
    return frozenset(reading | protecting | auditing | {*(OUTSIDE["audit"] if command == "audit" else ())})


# --- what a document says to one command ------------------------------------------------------------------------------


def for_audit(given: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """The releases to attack, and options of `unmask audit`: without releases the table of `data` is the release."""
    data = _table(given)
    releases = given.get("releases", [])
    if not releases:
        return [_file(data, folder)], _reading(data, folder) | _outside(given, folder)
    files = [_place(folder, one["file"]) for one in releases]
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
    check(said, Table(dict.fromkeys(known, Any)), f"[{word}]")
    placed = {key for key, value in said.items() if key in files and value not in files[key]}
    return {key: _placed(folder, value) if key in placed else value for key, value in said.items()}


def _placed(folder: Path, value: Any) -> Any:
    check(value, Either((str, list_of(str))), "a file of the document")
    return [_place(folder, one) for one in value] if isinstance(value, list) else _place(folder, value)


def _table(given: Settings) -> dict[str, Any]:
    """The one table of a document; it has no file where only releases are at hand."""
    found = populations({"data": {}, **given})
    if len(found) != 1 or found[0].get("use", "tables.file") != "tables.file":
        raise UnmaskError('the document has no file of a table; expected [data] and below it file = "people.csv"')
    return found[0] | ({} if "use" in found[0] else by_role(given.get("columns", {})))


def _file(data: Settings, folder: Path) -> str:
    if "file" not in data:
        raise UnmaskError('data has no file; expected file = "people.csv"')
    return _place(folder, data["file"])


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
    texts = list(map(str, values))
    if any("," in text for text in texts):
        raise UnmaskError(f"the order of column {name!r} has a comma in a value; call the value something else")
    return ",".join(texts)


def _outside(given: Settings, folder: Path) -> dict[str, Any]:
    """Return the options of an audit about its register, its control people and itself."""
    options = {
        section if key == "file" else key: value
        for section in OUTSIDE.keys() & given.keys()
        for key, value in given[section].items()
    }
    return {
        key: _place(folder, value) if value not in FILES.get(key, (value,)) else value for key, value in options.items()
    }


def _place(folder: Path, name: str) -> str:
    """Return the path of a file next to the document."""
    if "\0" in name:
        raise UnmaskError(f"the document names a file {name!r}, expected a path")
    return str(folder / name)


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
        "audit": {key: options.get(key) for key in OUTSIDE["audit"]},
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
    return {key: value for key, value in plain.items() if value is not None and value not in DEFAULTS.get(key, ())}
