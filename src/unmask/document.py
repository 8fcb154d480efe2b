"""`unmask.toml`, the document of all commands: data, roles of columns, releases, adversaries, protections, policy.

Options on the command line replace those of the document.
"""

from __future__ import annotations

import itertools
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from unmask import protection_specs
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.files import read_text, read_toml
from unmask.domains import DOMAINS, import_audit
from unmask.plan import NOTHING
from unmask.ranges import Range
from unmask.schema import Either, Table, check, declared_options, defaults, dict_of, json_schema, list_of, parameters
from unmask.toml_text import format_document

if TYPE_CHECKING:
    from unmask.policy import Policy

AUDIT: Final = "unmask.tables.audit:audit_files"
"""The audit of tables in files; its parameters are keys of a document."""

ROLES: Final[Mapping[str, str]] = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "keep": "keep",
    "identifier": "identifiers",
    "weight": "weight",
    "drop": "",
}
"""Role of a column -> parameter of `Table.read` that lists such columns. Dropped columns have no parameter."""

MEANINGS: Final[Mapping[str, str]] = {"type": "types", "order": "orders", "hierarchy": "hierarchies"}
"""Further key of a column -> the parameter of `Table.read` that takes it by column."""

KNOWLEDGE: Final = ("register", "control", "linkability", "audit")
"""Sections of the audit of a table, besides its data, its columns and its releases."""

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
    "protections": list_of(Table({**_PART, **_FILE}, is_open=True)),
    "adversaries": list_of(Table(_PART, is_open=True)),
    "seeds": Annotated[int, Range(1, MAX_SEEDS)] | list[Annotated[int, Range(0, 2**63 - 1)]],
    "measures": list_of(str),
    "analysis": list_of(Table({"compute": str}, ("compute",))),
    "budget": Table(parameters("unmask.plan:Budget")),
}
"""Section -> its type."""

ENDS: Final = Table({"from": float, "to": float}, ("from", "to"))
"""Range of a number that is not known."""


@cache
def list_table_keys() -> Mapping[str, tuple[str, str]]:
    """Return the section and the key that store each option of an audit of a table, as its parameters declare them."""
    declared = declared_options(AUDIT).items()
    return {name: (section, key) for name, item in declared for section, _, key in [item.key.partition(".")] if key}


@cache
def list_reading_keys() -> tuple[str, ...]:
    """Return the parameters of `Table.read` about the whole file, which are keys of [data]."""
    by_column = {*ROLES.values(), *MEANINGS.values(), "source", "like"}
    return tuple(name for name in parameters("unmask.tables:Table.read") if name not in by_column)


def _knowledge(section: str) -> Table:
    """Return the type of a section of `KNOWLEDGE`; lists of columns may be a text, as it is typed."""
    hints, keys = parameters(AUDIT), list_table_keys().items()
    kinds = {key: hints[name] for name, (place, key) in keys if place == section}
    return Table({key: Either((str, kind)) if kind == list_of(list_of(str)) else kind for key, kind in kinds.items()})


def _publisher() -> Table:
    numbers = {name: _or_range(hint) for name, hint in parameters("unmask.economics:Publisher").items()}
    terms = dict.fromkeys(("prices", "fines", "audits"), list_of(float))
    return Table({**numbers, **terms, "largest_k": Annotated[int, Range(2)]}, ("benefit", "loss"))


def _attacker() -> Any:
    numbers = {name: _or_range(hint) for name, hint in parameters("unmask.economics:Attacker").items()}
    chances = Either((float, list_of(float), ENDS))
    further = {"name": str, "adversary": str, "attacker": Either((str, dict_of(Any))), "number": _or_range(float)}
    unlimited = {"max_fines": Either((float, str, ENDS))}
    return list_of(Table({**numbers, **further, **unlimited, "detection": chances, "believed_detection": chances}))


def _or_range(hint: Any) -> Any:
    """Return the type of a number, or of a range of numbers; of a union of which one is a number, too."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    is_number = any(kind in (int, float) or get_origin(kind) is Annotated for kind in kinds)
    return Either((hint, ENDS)) if is_number else hint


def _policy() -> Any:
    from unmask.policy.policies import ENTRIES

    return ENTRIES


def _certificate() -> Table:
    from unmask.results.names import CERTIFICATE_TEXTS

    return Table(dict.fromkeys(CERTIFICATE_TEXTS, Any))


IMPORTED: Final[Mapping[str, Callable[[], Any]]] = {
    **{section: partial(_knowledge, section) for section in KNOWLEDGE},
    "policy": _policy,
    "certificate": _certificate,
    "publisher": _publisher,
    "attackers": _attacker,
}
"""Section -> function that returns its type, by parameters of functions that take a while to import."""


def list_domain_words() -> dict[str, str]:
    """Return the section of each domain but that of tables, which is also the word after `unmask audit`."""
    return {name: entry.word or name for name, entry in DOMAINS.items() if entry.word != ""}


def _domain(word: str) -> Any:
    """Return the type of the section of a domain: the parameters of its `audit_files` that TOML can hold."""
    domain = next(name for name, section in list_domain_words().items() if section == word)
    hints = parameters(f"{DOMAINS[domain].audit}:audit_files")
    return Table({name: _one_or_several(hint) for name, hint in hints.items() if hint is not Any})


def _one_or_several(kind: Any) -> Any:
    """Return a type whose lists may be single values, as options are typed; a mapping may be a list of KEY=VALUE."""
    kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    if any(get_origin(item) is list for item in kinds):
        return Either((*(get_args(item)[0] for item in kinds if get_origin(item) is list), *kinds))
    if any(get_origin(item) is dict for item in kinds):
        return Either((str, list_of(str), *kinds))
    return kind


def section_type(key: str) -> Any:
    """Return the type of a section."""
    return SECTIONS[key] if key in SECTIONS else IMPORTED[key]() if key in IMPORTED else _domain(key)


def list_sections() -> tuple[str, ...]:
    """Return the keys of a document: its sections, and one for each domain."""
    return (*SECTIONS, *IMPORTED, *list_domain_words().values())


def load(path: Path) -> dict[str, Any]:
    """Return the values of a document whose sections have their keys, types and ranges.

    Raises `FailedError` for a file that cannot be read, `UnmaskError` for values that are not as expected.
    """
    if not path.exists():
        raise FailedError(f"document {path.name!r} does not exist; check the path, or write one: unmask init TABLE")
    document = read_toml(path, "document")
    with in_document(path):
        check_sections(document)
    return document


def check_sections(document: Settings) -> None:
    """Raise an error for a key, a type or a range of a document that is not as expected."""
    check(document, Table(dict.fromkeys(list_sections(), Any)), "")
    for key, value in document.items():
        check(value, section_type(key), key)
    for kind in PARTS.keys() & document.keys():
        for i, entry in enumerate(_list_entries(document[kind]), 1):
            domain = entry.get("domain", entry.get("use", "tables.").partition(".")[0])
            if domain in DOMAINS:  # a plug-in without it is checked once it is imported
                check(entry, part_type(kind, domain), kind if isinstance(document[kind], dict) else f"{kind}[{i}]")


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
        words = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in names]  # not as a part of a longer name
        places = (f", line {number}" for word in words for number, line in lines if re.search(word, line))
        raise type(error)(f"document {path.name!r}{next(places, '')}: {error}") from None


def list_datasets(document: Settings) -> list[dict[str, Any]]:
    """Return the entries of `data`, one table or a list of them, with the roles of columns as `Table.read` has them.

    `columns` is next to `data`, or inside each of several; an entry without `use` is a table in a file.

    >>> list_datasets({"data": {"file": "people.csv"}, "columns": {"age": "quasi-identifier"}})
    [{'use': 'tables.file', 'file': 'people.csv', 'quasi_identifiers': ['age']}]
    """
    return [_read_dataset(entry, document.get("columns", {})) for entry in _list_entries(document.get("data", []))]


def _list_entries(data: Any) -> list[dict[str, Any]]:
    """Return the entries of `data`, one table or a list of them."""
    return [data] if isinstance(data, dict) else data


def _read_dataset(entry: Settings, columns: Any) -> dict[str, Any]:
    dataset = {"use": "tables.file", **entry} if "file" in entry else dict(entry)
    columns = dataset.pop("columns", columns)
    dataset = _drop_defaults(dataset)
    is_table = str(dataset.get("use", "")).startswith("tables.")
    return dataset | group_by_role(columns) if is_table else dataset


def group_by_role(columns: Any) -> dict[str, Any]:
    """Return the columns of each role, and the meaning of their cells, as `Table.read` takes them.

    >>> group_by_role({"id": "drop", "birth": {"role": "quasi-identifier", "type": "date"}, "ill": "sensitive"})
    {'quasi_identifiers': ['birth'], 'sensitive': ['ill'], 'types': {'birth': 'date'}}
    """
    entries = {name: {"role": entry} if isinstance(entry, str) else entry for name, entry in columns.items()}
    by_role = {
        option: [name for name, entry in entries.items() if entry["role"] == role]
        for role, option in ROLES.items()
        if option
    }
    if len(by_role["weight"]) > 1:
        raise UnmaskError(f"columns {' and '.join(by_role['weight'])} are weights, expected at most one")
    meanings = {
        option: {name: entry[key] for name, entry in entries.items() if key in entry}
        for key, option in MEANINGS.items()
    }
    options: dict[str, Any] = {option: names for option, names in {**by_role, **meanings}.items() if names}
    return options | ({"weight": options["weight"][0]} if "weight" in options else {})


def protect_kept(columns: Any) -> dict[str, Any]:
    """Return the columns with the kept ones as quasi-identifiers.

    >>> protect_kept({"age": "quasi-identifier", "city": "keep", "visit": {"role": "keep", "type": "date"}})
    {'age': 'quasi-identifier', 'city': 'quasi-identifier', 'visit': {'role': 'quasi-identifier', 'type': 'date'}}
    """
    role = "quasi-identifier"
    entries = {name: columns[name] for name in group_by_role(columns).get("keep", ())}
    protected = {name: role if isinstance(entry, str) else {**entry, "role": role} for name, entry in entries.items()}
    return {**columns, **protected}


def list_analyses(document: Settings) -> list[str]:
    """Return the texts of the published analyses."""
    return [entry["compute"] for entry in document.get("analysis", [])]


def read_certificate(document: Settings) -> dict[str, str]:
    """Return the notes of the owner about the release: its author, recipient and purpose."""
    return {key: str(value) for key, value in document.get("certificate", {}).items()}


def list_audits(document: Settings) -> list[str]:
    """Return the words of the audits that a document describes; "" is the audit of a table.

    >>> list_audits({"data": {"file": "people.csv"}, "graph": {"release": "friends.txt"}})
    ['', 'graph']
    """
    uses = [str(dataset.get("use", "tables.")) for dataset in list_datasets(document)]
    has_table = "releases" in document or any(use.startswith("tables.") for use in uses)
    return [""] * has_table + [word for word in list_domain_words().values() if word in document]


def stored_options() -> frozenset[str]:
    """Return the options of `unmask audit` and `unmask protect` that a document stores."""
    reading = {*list_reading_keys(), *ROLES.values(), *MEANINGS.values()}
    protecting = {"data", "protection", *protection_specs.MONDRIAN}
    return frozenset(
        reading | protecting | {"releases", "origins", "synthetic", "policies", "analyses"} | {*list_table_keys()}
    )


# --- options of commands ----------------------------------------------------------------------------------------------


def derive_audit_options(document: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the releases and the options of `unmask audit`; without releases the table of `data` is the release."""
    table = _find_table(document)
    options = _derive_reading(table, folder) | _derive_knowledge(document, folder)
    releases = document.get("releases", [])
    if not releases:
        return [_locate_data(table, folder)], options
    options |= _find_levels(document)
    if analyses := list_analyses(document):
        options["analyses"] = analyses
    if "file" in table:
        options |= {"original": _locate_data(table, folder), **_derive_hold_back(table)}
    if origins := [_locate(folder, release["origin"]) for release in releases if "origin" in release]:
        options["origins"] = origins
    if specs := protection_specs.find_release_specs(releases, _list_protections(document)):
        options["protection"] = specs
    synthetic = [release.get("synthetic", False) for release in releases]
    if any(synthetic) and not all(synthetic):
        raise UnmaskError("some releases are synthetic and others people's; give each kind a document of its own")
    if any(synthetic):
        options["synthetic"] = True
    return [_locate(folder, release["file"]) for release in releases], options


def derive_protect_options(document: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the table and the options of `unmask protect`: those of the only protection of the document."""
    table, protections = _find_table(document), _list_protections(document)
    if len(protections) > 1 or any("grid" in protection for protection in protections):
        raise UnmaskError("the document has several protections; keep the one that unmask choose took, without a grid")
    options = _derive_reading(table, folder) | _derive_hold_back(table)
    return [_locate_data(table, folder)], options | (protection_specs.to_options(protections[0]) if protections else {})


def derive_table_options(document: Settings, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the table and how it is read, for commands about its columns."""
    table = _find_table(document)
    return [_locate_data(table, folder)], _derive_reading(table, folder)


def derive_domain_options(
    document: Settings, folder: Path, word: str, available: Sequence[str], files: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the options of `unmask audit WORD`.

    files : options whose values are next to the document -> values that are not files

    >>> files = {"release": ()}
    >>> document = {"graph": {"release": "g.txt", "runs": 2}}
    >>> derive_domain_options(document, Path("here"), "graph", ["release", "runs"], files)
    {'release': 'here/g.txt', 'runs': 2}
    """
    section = document.get(word)
    if not isinstance(section, dict):
        raise UnmaskError(f"the document has no [{word}]; expected it, and below it options of unmask audit {word}")
    check(section, Table(dict.fromkeys(available, Any)), f"[{word}]")
    is_file = {key: key in files and value not in files[key] for key, value in section.items()}
    return {key: _locate_files(folder, value) if is_file[key] else value for key, value in section.items()}


def _list_protections(document: Settings) -> list[Settings]:
    return [protection for protection in document.get("protections", []) if protection.get("use") != NOTHING]


def _find_levels(document: Settings) -> dict[str, Any]:
    """Return the levels of the only protection, which an audit keeps when it tries others."""
    protections = _list_protections(document)
    levels = protections[0].get("with", {}).get("levels") if len(protections) == 1 else None
    return {"levels": protection_specs.format_levels(levels)} if levels else {}


def _find_table(document: Settings) -> dict[str, Any]:
    """Return the only table of a document; it has no file if only releases are available."""
    datasets = list_datasets({"data": {}, **document})
    if len(datasets) != 1 or datasets[0].get("use", "tables.file") != "tables.file":
        raise UnmaskError('the document has no file of a table; expected [data] and below it file = "people.csv"')
    return datasets[0] | ({} if "use" in datasets[0] else group_by_role(document.get("columns", {})))


def _derive_hold_back(table: Settings) -> dict[str, Any]:
    return {"hold_back": table["hold_back"]} if "hold_back" in table else {}


def _derive_reading(table: Settings, folder: Path) -> dict[str, Any]:
    """Return how the table is read, as texts of options."""
    types = {"types": [f"{name}={kind}" for name, kind in table.get("types", {}).items()]}
    orders = {"orders": [f"{name}={_format_order(name, values)}" for name, values in table.get("orders", {}).items()]}
    files = {"hierarchies": [f"{name}={_locate(folder, file)}" for name, file in table.get("hierarchies", {}).items()]}
    plain = {key: table[key] for key in (*list_reading_keys(), *ROLES.values()) if key in table}
    return plain | types | orders | files


def _format_order(name: str, values: Any) -> str:
    """Return the values of an ordinal column as they are typed."""
    texts = list(map(str, values))
    if any("," in text for text in texts):
        raise UnmaskError(f"the order of column {name!r} has a comma in a value; call the value something else")
    return ",".join(texts)


def _derive_knowledge(document: Settings, folder: Path) -> dict[str, Any]:
    """Return the options of an audit about its register, its control group and itself."""
    declared, options = declared_options(AUDIT), {}
    for name, (section, key) in list_table_keys().items():
        if section in KNOWLEDGE and key in document.get(section, {}):
            value, values = document[section][key], declared[name].names
            is_file = value not in values if values else key == "file"
            options[name] = _locate(folder, value) if is_file else value
    return options


def _locate_data(table: Settings, folder: Path) -> str:
    if "file" not in table:
        raise UnmaskError('data has no file; expected file = "people.csv"')
    return _locate(folder, table["file"])


def _locate_files(folder: Path, value: Any) -> Any:
    check(value, Either((str, list_of(str))), "a file of the document")
    return [_locate(folder, name) for name in value] if isinstance(value, list) else _locate(folder, value)


def _locate(folder: Path, name: str) -> str:
    """Return the path of a file next to the document."""
    if "\0" in name:
        raise UnmaskError(f"the document names a file {name!r}, expected a path")
    return str(folder / name)


# --- writing ----------------------------------------------------------------------------------------------------------


def format_options(options: Settings) -> str:
    """Return the document that stores the options of `unmask audit` or `unmask protect`."""
    releases, origins = list(options.get("releases", ())), list(options.get("origins", ()))
    source = options.get("data") or options.get("original") or (releases.pop() if len(releases) == 1 else None)
    specs = [spec.use for spec in options.get("protection") or ()]
    specs = specs * len(releases) if len(specs) == 1 else specs
    published = [
        {"file": file, "origin": origin, "synthetic": options.get("synthetic") or None, "protection": spec}
        for file, origin, spec in itertools.zip_longest(map(str, releases), map(str, origins), specs)
    ]
    tables: dict[str, dict[str, Any]] = {section: {} for section in ("data", *KNOWLEDGE)}
    for name, (section, key) in list_table_keys().items():
        tables[section][key] = options.get(name)
    tables["data"] |= {"file": source, **{key: options[key] for key in list_reading_keys()}}
    stored = {name: _drop_defaults(table) for name, table in tables.items()}
    lists = {
        "protections": list(protection_specs.list_entries(options)),
        "releases": list(map(_drop_defaults, published)),
        "analysis": [{"compute": text} for text in options.get("analyses", ())],
    }
    sections = {
        "data": stored.pop("data"),
        "columns": _format_roles(options),
        **{name: table for name, table in {**stored, **lists}.items() if table},
        **list_requirements(options.get("policies", ())),
    }
    return format_document({"title": "Release of a table", **sections})


def list_requirements(policies: Iterable[Policy]) -> dict[str, list[dict[str, str]]]:
    """Return policies as the [[policy]] of a document."""
    requirements = [requirement for policy in policies for requirement in policy.requirements]
    entries = [{name: str(value) for name, value in vars(item).items() if value} for item in requirements]
    return {"policy": entries} if entries else {}


def _format_roles(options: Settings) -> dict[str, Any]:
    """Return columns with their roles, and the meaning of their cells."""
    names = {option: options[option] or () for option in ROLES.values() if option}
    names = {option: (value,) if isinstance(value, str) else value for option, value in names.items()}
    columns: dict[str, Any] = {name: role for role, option in ROLES.items() for name in names.get(option, ())}
    for key, option in MEANINGS.items():
        for name, meaning in options[option].items():
            if name not in columns:
                raise UnmaskError(f"the {key} of column {name!r} was given, and no role; say what the column is, too")
            entry = columns[name] if isinstance(columns[name], dict) else {"role": columns[name]}
            columns[name] = {**entry, key: list(meaning) if isinstance(meaning, tuple) else meaning}
    return columns


def _drop_defaults(options: Settings) -> dict[str, Any]:
    """Return the options that are not left out and differ from their defaults."""
    plain = {key: _format_option(value) for key, value in options.items()}
    usual = defaults(AUDIT)
    return {key: value for key, value in plain.items() if value is not None and value != usual.get(key)}


def _format_option(value: Any) -> Any:
    """Return the value of an option as a document has it; names of attacks as they are typed."""
    if isinstance(value, tuple) and value and all(isinstance(item, protection_specs.Spec) for item in value):
        return list(map(str, value))
    return str(value) if isinstance(value, Path) else value
