"""One cell of a study -> rows, by the cases of its domain."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unmask.catalog import Kind, domain_of, examples, find, is_plugin
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
"""Part of `use` behind the domain: the dataset is in the file that `file` names."""

FILES = ("control",)
"""Other settings of a dataset that name a file."""

ASIDE = ("hold_back", "control")
"""Settings of a dataset about control people; of the first two every seed makes another population, by the function
`divide` of its domain.
"""

_KIND: Mapping[str, Kind] = {"data": "datasets", "protections": "protections", "adversaries": "attacks"}


def run_cell(cell: Cell) -> list[Row]:
    """The rows of a cell, those that the plan asks for."""
    attack = made(cell.adversary, "attacks")
    rows = import_audit(cell.dataset.domain).attack(cell, _population(cell), _release(cell), attack)
    kept = [row for row in rows if cell.wants(row.measure)]
    if not kept and not any(map(cell.wants, getattr(import_audit(cell.dataset.domain), "CRITERIA", ()))):
        raise UnmaskError("none of the measures that the plan asks for can be taken of this adversary")
    return kept


def criteria_of(cell: Cell) -> list[Row]:
    """Return the criteria of a cell's release, as an audit computes them; every adversary faces the same ones."""
    cases: Any = import_audit(cell.dataset.domain)
    if not hasattr(cases, "criteria"):
        return []
    key = digest("criteria", cell.dataset.content, cell.protection.content, cell.protection.settings, cell.seed)
    found = _kept(key, lambda: cases.criteria(cell, _population(cell), _release(cell)))
    return [
        replace(cell.row(name, CRITERIA[name].unit, value, prior=math.nan, n=0, target=""), adversary=CRITERION)
        for name, value in found.items()
        if cell.wants(name)
    ]


def believed(cell: Cell) -> tuple[Posterior, Truth | None, float]:
    """What the adversary of a cell believes about whose record is whose, the truth, and the utility of the release."""
    cases = import_audit(cell.dataset.domain)
    if not hasattr(cases, "believed"):
        raise UnmaskError(f"no protection of {cell.dataset.domain} has a game yet; PublisherGame takes any belief")
    found: tuple[Posterior, Truth | None, float] = cases.believed(
        cell, _population(cell), _release(cell), made(cell.adversary, "attacks")
    )
    return found


def check_part(part: Part, kind: str, folder: Path) -> Part:
    """The part, if everything it names exists and can be made; a dataset's file is found and its digest added."""
    if kind == "protections" and part.use == NOTHING:
        return part
    if is_plugin(part.use):
        part = _of_plugin(part, kind, folder)
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
    made(part, _KIND[kind])
    return _checked(_with_attacker(part, folder))


def check_names(part: Part, kind: str, _folder: Path) -> Part:
    """Return the part if its name, parameters and settings exist; a file that it names may be missing."""
    if part.use == NOTHING or _from_file(part):
        return part
    if kind == "protections" and part.use == DESIGN:
        from unmask.channels import optimal_mechanism

        _check_names(part, optimal_mechanism, DESIGN, without=("prior", "privacy_loss", "distortion", "coordinates"))
        return part
    made(part, _KIND[kind])
    if kind == "protections":
        return part
    settings = {key: value for key, value in part.settings.items() if key != "attacker"}
    return _checked(replace(part, settings=settings))


def _protection(part: Part, folder: Path) -> Part:
    """A protection that can be made, or a release in a file, which is found and digested."""
    if not _from_file(part):
        made(part, "protections")
        return part
    if part.settings.get("synthetic") is not True:
        raise UnmaskError("a release in a file does not say whose its rows are; give synthetic = true, or protect here")
    return _with_files(part, folder)


def _dataset(part: Part, folder: Path) -> Part:
    """A dataset whose files are found and digested."""
    if len(both := [key for key in ASIDE if key in part.settings]) > 1:
        raise UnmaskError(f"{' and '.join(both)} each say who the control people are; leave one out")
    if not _from_file(part):
        _check_names(part, _found(part, "datasets"), part.use, without=("rng",))
        return _with_hierarchies(part, folder)
    check_keys(part.parameters, (), "with or grid of a file")
    part = _with_files(part, folder)
    _check_own_columns(part)
    return _with_hierarchies(part, folder)


def _checked(part: Part) -> Part:
    """Return an adversary whose settings can be carried out."""
    import_audit(part.domain).check(part)
    return part


def _of_plugin(part: Part, kind: str, folder: Path) -> Part:
    """The part with what its name does not say: its domain, and the file that its module is in."""
    thing = _found(part, _KIND[kind])
    settings = dict(part.settings)
    domain = settings.pop("domain", None) or domain_of(part.use, thing)
    if domain not in DOMAINS:
        raise UnmaskError(
            f"{part.use!r} does not say of which domain it is; annotate its first argument, such as `release: "
            'unmask.tables.Table`, or write domain = "tables" beside use'
        )
    _, sha256 = _digested(folder, inspect.getfile(inspect.unwrap(thing)))
    return replace(part, settings=settings, plugin=Plugin(domain, sha256))


def _found(part: Part, kind: Kind) -> Any:
    return find(part.use, kind, part.code)


def _from_file(part: Part) -> bool:
    return part.use == f"{part.domain}.{FILE}"


def check_columns(datasets: Sequence[Part], others: Sequence[Part]) -> None:
    """Refuse a protection or an adversary that names a column which no dataset of its domain has in that role. What the
    plan leaves to a dataset, such as the quasi-identifiers of a public set, is known only where that is made.
    """
    for part in others:
        roles = import_audit(part.domain).ROLES if part.domain else {}
        given = {**part.parameters, **part.settings.get("knows", {})}
        for key in (key for key in roles if key in given):
            said = [dataset.settings.get(roles[key]) for dataset in datasets if dataset.domain == part.domain]
            if said and all(said):
                known = dict.fromkeys(name for names in said for name in _column_names(roles[key], names))
                where = f"the {roles[key]} of the plan"
                _check_known(f"{part.name}: {key}", given[key], list(known), where)


def _check_own_columns(part: Part) -> None:
    """Refuse a dataset that names a column which its file does not have."""
    file = Path(part.settings["file"])
    known = import_audit(part.domain).columns(part)
    for key in import_audit(part.domain).COLUMNS:
        _check_known(key, part.settings.get(key, ()), known, f"file {file.name!r}")


def _check_known(key: str, given: object, known: Sequence[str], where: str) -> None:
    from unmask.tables.reading import check_columns as check_names

    try:
        check_names(known, _column_names(key, given), where=where)
    except UnmaskError as error:
        raise UnmaskError(f"{key}: {error}") from None


def _column_names(key: str, given: object) -> list[str]:
    """A column, a list of them, or a table by column."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple | dict) or not all(isinstance(name, str) for name in names):
        raise UnmaskError(f"{key} is no name of a column and no list of names; expected for example {key} = [...]")
    return list(names)


def made(part: Part, kind: Kind) -> Any:
    """The object that a part describes: the class of its name with the plan's parameters."""
    found = _found(part, kind)
    _check_names(part, found, part.use)
    try:
        return found(**{key: _made(value, part, kind) for key, value in part.parameters.items()})
    except UnmaskError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # of whatever class the plan names
        raise UnmaskError(f"{part.use} cannot be made with these parameters: {error}") from None


def _check_names(part: Part, function: Callable[..., object], use: str, *, without: tuple[str, ...] = ()) -> None:
    names = [name for name in inspect.signature(function).parameters if name not in without]
    check_keys(part.parameters, names, f"with or grid of {use}")


def _made(value: Any, part: Part, kind: Kind) -> Any:
    """A parameter: lists of TOML are tuples, and a table with `use` is what such a part would be.

    `parts = [[0.5, { use = "graphs.Decoy", with = { adopters = 0.5 } }]]`
    """
    if isinstance(value, list):
        return tuple(_made(item, part, kind) for item in value)
    if not isinstance(value, dict) or "use" not in value:
        return value
    check_keys(value, ("use", "with"), f"a part of {part.use}")
    use, parameters = value["use"], value.get("with", {})
    if not isinstance(use, str):
        raise UnmaskError(f"use is {use!r} in a part of {part.use}, expected a name that `unmask list` shows")
    inner = replace(part, use=use, parameters=parameters, settings={})
    if domain_of(use, _found(inner, kind)) not in ("", part.domain):
        raise UnmaskError(f"use is {use!r} in a part of {part.use}, which is of another domain")
    if not isinstance(parameters, dict):
        raise UnmaskError(f"`with` is no table in a part of {part.use}; expected for example with = {{ k = 10 }}")
    return made(inner, kind)


def _maker(part: Part) -> Any:
    """A protection, or the path of a release."""
    return Path(part.settings[FILE]) if _from_file(part) else made(part, "protections")


def _frozen(value: Any) -> Any:
    """Lists of TOML as the tuples that parameters are."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _with_files(part: Part, folder: Path) -> Part:
    """The places of its files and the digests of their content: a file that changes is another dataset."""
    settings = {**part.settings}
    for key in (FILE, *(key for key in FILES if key in settings)):
        if not isinstance(settings.get(key), str):
            raise UnmaskError(f'it has no `{key}`; expected {key} = "people.csv", a path beside the plan')
        settings[key], settings[f"{key}_sha256"] = _digested(folder, settings[key])
    return replace(part, settings=settings)


def _with_hierarchies(part: Part, folder: Path) -> Part:
    """Places and digests of the hierarchies of a table's columns."""
    given = part.settings.get("hierarchies")
    if given is None:
        return part
    found = {column: _digested(folder, name) for column, name in given.items()}
    paths = {column: path for column, (path, _) in found.items()}
    digests = {column: sha256 for column, (_, sha256) in found.items()}
    return replace(part, settings={**part.settings, "hierarchies": paths, "hierarchies_sha256": digests})


def _digested(folder: Path, name: str) -> tuple[str, str]:
    path = folder / name
    if not path.is_file():
        raise FailedError(f"file {name!r} does not exist or is no file; check the path")
    try:
        with path.open("rb") as file:
            return str(path.resolve()), hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FailedError(f"file {name!r} cannot be read: {error.strerror}; check the path") from None


def _with_attacker(part: Part, folder: Path) -> Part:
    """The parameters of a rational attacker in a file, in its place: a file that changes is another adversary."""
    given = part.settings.get("attacker")
    if not isinstance(given, str) or given == EMBEDDED:
        return part
    return replace(part, settings={**part.settings, "attacker": attacker_table(folder / given)})


_KEPT: dict[str, Any] = {}  # the last populations and releases, by the digest of what they are made of
_MOST_KEPT = 4


def _kept(key: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, kept from one cell to the next: neighboring cells share their population and release."""
    if key not in _KEPT:
        while len(_KEPT) >= _MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[key] = make()
    return _KEPT[key]


def _population(cell: Cell) -> Any:
    """The population of a cell's dataset; one that is drawn is drawn anew for every seed."""
    dataset = cell.dataset
    function = None if _from_file(dataset) else _found(dataset, "datasets")
    draws = function is not None and "rng" in inspect.signature(function).parameters

    def load() -> Any:
        if function is None:
            return import_audit(dataset.domain).load(dataset, Path(dataset.settings["file"]))
        given = {key: _frozen(value) for key, value in dataset.parameters.items()}
        given |= {"rng": cell.rng("dataset")} if draws else {}
        try:
            drawn = function(**given)
        except TypeError as error:
            raise UnmaskError(f"{dataset.use} cannot be made with these parameters: {error}") from None
        return import_audit(dataset.domain).load(dataset, drawn)

    whole = _kept(digest("dataset", dataset.content, cell.seed if draws else None), load)
    if "hold_back" not in dataset.settings:
        return whole
    divide, key = import_audit(dataset.domain).divide, digest("divided", dataset.content, cell.seed)
    return _kept(key, lambda: divide(dataset, whole, cell.rng("hold_back")))


def _release(cell: Cell) -> Any:
    def protect() -> Any:
        protection = None if cell.protection.use == NOTHING else _maker(cell.protection)
        rng = cell.rng("protection", cell.protection.content)
        return import_audit(cell.dataset.domain).protect(_population(cell), protection, rng)

    return _kept(digest("release", cell.dataset.content, cell.protection.content, cell.seed), protect)
