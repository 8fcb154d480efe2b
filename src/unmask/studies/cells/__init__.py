"""Cells of a study: each is one protection against one adversary, computed by the audit of its domain."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unmask.catalog import Kind, check_parameters, domain_of, examples, find, instantiate, is_plugin, list_parameters
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.document import part_type
from unmask.domains import DOMAINS, import_audit
from unmask.economics.profile import EMBEDDED, attacker_table
from unmask.measures import CRITERIA
from unmask.plan import DESIGN, NOTHING, Cell, Part, Plugin, check_keys, digest
from unmask.policy.verdict import CRITERION
from unmask.results import Row
from unmask.schema import check

FILE = "file"
"""Suffix of `use` after the domain: the setting `file` names the file of the dataset."""

FILES = ("control",)
"""Other settings of a dataset that name a file."""

CONTROL_SETTINGS = ("hold_back", "control")
"""Settings of a dataset for the control group. With these, `divide` of the domain makes another population for each
seed.
"""

_KIND: Mapping[str, Kind] = {"data": "datasets", "protections": "protections", "adversaries": "attacks"}


def run_cell(cell: Cell) -> list[Row]:
    """Return the rows of a cell for the measures that the plan requests."""
    attack = instantiate(cell.adversary, "attacks")
    rows = import_audit(cell.dataset.domain).attack(cell, _population(cell), _release(cell), attack)
    wanted_rows = [row for row in rows if cell.wants(row.measure)]
    if not wanted_rows and not any(map(cell.wants, getattr(import_audit(cell.dataset.domain), "CRITERIA", ()))):
        raise UnmaskError("none of the requested measures applies to this adversary; request others")
    return wanted_rows


def criteria_of(cell: Cell) -> list[Row]:
    """Return the criteria of a cell's release, as an audit computes them; they do not depend on the adversary."""
    cases: Any = import_audit(cell.dataset.domain)
    if not hasattr(cases, "criteria"):
        return []
    key = digest("criteria", cell.dataset.content, cell.protection.content, cell.protection.settings, cell.seed)
    values = _cached(key, lambda: cases.criteria(cell, _population(cell), _release(cell)))
    return [
        replace(cell.row(name, CRITERIA[quantity].unit, value, prior=math.nan, n=0, target=""), adversary=CRITERION)
        for name, value in values.items()
        for quantity in [name.partition(" ")[0]]  # a suffix in brackets names a column
        if cell.wants(quantity)
    ]


def believed(cell: Cell) -> tuple[Posterior, Truth | None, float]:
    """Return the belief of a cell's adversary, the truth, and the utility of the release."""
    cases = import_audit(cell.dataset.domain)
    if not hasattr(cases, "believed"):
        raise UnmaskError(f"no protection of {cell.dataset.domain} has a game yet; PublisherGame takes any belief")
    belief: tuple[Posterior, Truth | None, float] = cases.believed(
        cell, _population(cell), _release(cell), instantiate(cell.adversary, "attacks")
    )
    return belief


def check_part(part: Part, kind: str, folder: Path) -> Part:
    """Return the part if all its names exist and it can be made; add the digest of a dataset's file."""
    if kind == "protections" and part.use == NOTHING:
        return part
    if is_plugin(part.use):
        part = _with_plugin(part, kind, folder)
    if part.domain not in DOMAINS:
        example = next(iter(examples(_KIND[kind])))
        raise UnmaskError(
            f"use is {part.use!r}, expected a name that `unmask list` shows, such as {example}, or module:Class"
        )
    check(part.settings, part_type(kind, part.domain), "it")
    if kind == "data":
        return _dataset(part, folder)
    if kind == "protections":
        return _protection(part, folder)
    instantiate(part, _KIND[kind])
    return _check_adversary(_with_attacker(part, folder))


def check_names(part: Part, kind: str, _folder: Path) -> Part:
    """Return the part if its name, parameters and settings exist; its files may be missing."""
    if part.use == NOTHING or _from_file(part):
        return part
    if kind == "protections" and part.use == DESIGN:
        from unmask.channels import optimal_mechanism

        check_parameters(
            part, optimal_mechanism, DESIGN, excluded=("prior", "privacy_loss", "distortion", "coordinates")
        )
        return part
    instantiate(part, _KIND[kind])
    if kind == "protections":
        return part
    settings = {key: value for key, value in part.settings.items() if key != "attacker"}
    return _check_adversary(replace(part, settings=settings))


def _protection(part: Part, folder: Path) -> Part:
    """Return a protection that can be made, or a release file with its digest."""
    if not _from_file(part):
        instantiate(part, "protections")
        return part
    if part.settings.get("synthetic") is not True:
        raise UnmaskError("a release in a file has no known row owners; add synthetic = true, or let the plan protect")
    return _with_files(part, folder)


def _dataset(part: Part, folder: Path) -> Part:
    """Return a dataset with the paths and digests of its files."""
    if len(control_settings := [key for key in CONTROL_SETTINGS if key in part.settings]) > 1:
        raise UnmaskError(f"{' and '.join(control_settings)} both set the control group; remove one")
    if not _from_file(part):
        check_parameters(part, find(part.use, "datasets", part.code), part.use, excluded=("rng",))
        return _with_hierarchies(part, folder)
    check_keys(part.parameters, (), "with or grid of a file")
    part = _with_files(part, folder)
    _check_own_columns(part)
    return _with_hierarchies(part, folder)


def _check_adversary(part: Part) -> Part:
    """Return an adversary with consistent settings."""
    import_audit(part.domain).check(part)
    return part


def _with_plugin(part: Part, kind: str, folder: Path) -> Part:
    """Return the part with the domain of a plug-in, and the digest of its module file."""
    thing = find(part.use, _KIND[kind], part.code)
    settings = dict(part.settings)
    domain = settings.pop("domain", None) or domain_of(part.use, thing)
    if domain not in DOMAINS:
        raise UnmaskError(
            f"the domain of {part.use!r} is unknown; annotate its first argument, such as `release: "
            'unmask.tables.Table`, or write domain = "tables" beside use'
        )
    _, sha256 = _digested(folder, inspect.getfile(inspect.unwrap(thing)))
    return replace(part, settings=settings, plugin=Plugin(domain, sha256))


def _from_file(part: Part) -> bool:
    return part.use == f"{part.domain}.{FILE}"


def check_columns(datasets: Sequence[Part], parts: Sequence[Part]) -> None:
    """Raise for a protection or adversary that names a column that no dataset of its domain has in this role.

    Columns that the plan leaves to a dataset, such as the quasi-identifiers of a public set, are checked when it is
    made.
    """
    for part in parts:
        roles = import_audit(part.domain).ROLES if part.domain else {}
        settings = {**part.parameters, **part.settings.get("knows", {})}
        for key in (key for key in roles if key in settings and not isinstance(settings[key], int)):
            roles_in_data = [dataset.settings.get(roles[key]) for dataset in datasets if dataset.domain == part.domain]
            if roles_in_data and all(roles_in_data):
                available = dict.fromkeys(name for names in roles_in_data for name in _column_names(roles[key], names))
                source = f"the {roles[key]} of the plan"
                _check_known(f"{part.name}: {key}", settings[key], list(available), source)


def _check_own_columns(part: Part) -> None:
    """Raise for a dataset that names a column that its file does not have."""
    file = Path(part.settings["file"])
    available = import_audit(part.domain).columns(part)
    for key in import_audit(part.domain).COLUMNS:
        _check_known(key, part.settings.get(key, ()), available, f"file {file.name!r}")


def _check_known(key: str, value: object, available: Sequence[str], source: str) -> None:
    from unmask.tables.reading import check_columns as check_names

    try:
        check_names(available, _column_names(key, value), place=source)
    except UnmaskError as error:
        raise UnmaskError(f"{key}: {error}") from None


def _column_names(key: str, value: object) -> list[str]:
    """Return the names in a setting: one column, a list of columns, or a table by column."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple | dict) or not all(isinstance(name, str) for name in names):
        raise UnmaskError(f"{key} is neither a column name nor a list of names; expected for example {key} = [...]")
    return list(names)


def _to_tuples(value: Any) -> Any:
    """Convert TOML lists to tuples, recursively."""
    return tuple(_to_tuples(item) for item in value) if isinstance(value, list) else value


def _with_files(part: Part, folder: Path) -> Part:
    """Return a part with the paths and digests of its files; a changed file makes another dataset."""
    settings = {**part.settings}
    for key in (FILE, *(key for key in FILES if key in settings)):
        if not isinstance(settings.get(key), str):
            raise UnmaskError(f'it has no `{key}`; expected {key} = "people.csv", a path relative to the plan')
        settings[key], settings[f"{key}_sha256"] = _digested(folder, settings[key])
    return replace(part, settings=settings)


def _with_hierarchies(part: Part, folder: Path) -> Part:
    """Return a dataset with the paths and digests of the hierarchies of its columns."""
    hierarchies = part.settings.get("hierarchies")
    if hierarchies is None:
        return part
    digested = {column: _digested(folder, name) for column, name in hierarchies.items()}
    paths = {column: path for column, (path, _) in digested.items()}
    digests = {column: sha256 for column, (_, sha256) in digested.items()}
    return replace(part, settings={**part.settings, "hierarchies": paths, "hierarchies_sha256": digests})


def _digested(folder: Path, name: str) -> tuple[str, str]:
    path = folder / name
    if not path.is_file():
        raise FailedError(f"file {name!r} does not exist or is not a file; check the path")
    try:
        with path.open("rb") as file:
            return str(path.resolve()), hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FailedError(f"file {name!r} cannot be read: {error.strerror}; check the path") from None


def _with_attacker(part: Part, folder: Path) -> Part:
    """Return an adversary with the parameters of its attacker file; a changed file makes another adversary."""
    attacker = part.settings.get("attacker")
    if not isinstance(attacker, str) or attacker == EMBEDDED:
        return part
    return replace(part, settings={**part.settings, "attacker": attacker_table(folder / attacker)})


_CACHE: dict[str, Any] = {}  # recent populations and releases, by digest of their inputs
_MAX_CACHED = 4


def _cached(key: str, make: Callable[[], Any]) -> Any:
    """Return the result of `make`, cached because consecutive cells share their population and release."""
    if key not in _CACHE:
        while len(_CACHE) >= _MAX_CACHED:
            _CACHE.pop(next(iter(_CACHE)))
        _CACHE[key] = make()
    return _CACHE[key]


def _population(cell: Cell) -> Any:
    """Return the population of a cell's dataset; a random dataset is drawn for each seed."""
    dataset = cell.dataset
    function = None if _from_file(dataset) else find(dataset.use, "datasets", dataset.code)
    draws = function is not None and "rng" in list_parameters(function)

    def load() -> Any:
        if function is None:
            return import_audit(dataset.domain).load(dataset, Path(dataset.settings["file"]))
        arguments = {key: _to_tuples(value) for key, value in dataset.parameters.items()}
        arguments |= {"rng": cell.rng("dataset")} if draws else {}
        try:
            drawn = function(**arguments)
        except TypeError as error:
            raise UnmaskError(f"{dataset.use} cannot be made with these parameters: {error}") from None
        return import_audit(dataset.domain).load(dataset, drawn)

    population = _cached(digest("dataset", dataset.content, cell.seed if draws else None), load)
    if "hold_back" not in dataset.settings:
        return population
    divide, key = import_audit(dataset.domain).divide, digest("divided", dataset.content, cell.seed)
    return _cached(key, lambda: divide(dataset, population, cell.rng("hold_back")))


def _release(cell: Cell) -> Any:
    def protect() -> Any:
        part, rng = cell.protection, cell.rng("protection", cell.protection.content)
        release = Path(part.settings[FILE]) if _from_file(part) else None
        protection = release or (None if part.use == NOTHING else instantiate(part, "protections"))
        return import_audit(cell.dataset.domain).protect(_population(cell), protection, rng)

    return _cached(digest("release", cell.dataset.content, cell.protection.content, cell.seed), protect)
