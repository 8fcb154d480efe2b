"""Read plans from documents. All parts of a plan are made once, so a wrong plan fails here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from unmask.catalog import is_plugin, list_measures
from unmask.core.errors import UnmaskError, nearest
from unmask.document import in_document, list_analyses, list_datasets, load
from unmask.domains import DOMAINS, import_audit
from unmask.measures import CRITERIA, described
from unmask.plan import NOTHING, Budget, Part, Plan, Settings
from unmask.policy.policies import parse_policy
from unmask.studies.cells import check_columns, check_names, check_part

_OF_PART = ("name", "use", "with", "grid")


def read_plan(path: Path, *, allow_code: bool = False) -> Plan:
    """Read the plan in a document, see `unmask.document`. All named parts are looked up and made once, so a wrong plan
    fails here.

    allow_code : True if "module:Class" may run a module next to the document or in Python's path

    >>> import tempfile
    >>> text = '''
    ... seeds = 2
    ... [data]
    ... name = "census"
    ... use = "tables.synthetic_census"
    ... with = { n = 500 }
    ... [columns]
    ... age = "quasi-identifier"
    ... sex = "quasi-identifier"
    ... [[protections]]
    ... use = "tables.Mondrian"
    ... grid = { k = [3, 10] }
    ... [[adversaries]]
    ... name = "neighbor"
    ... use = "tables.ClassAttack"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "unmask.toml"
    ...     _ = file.write_text(text)
    ...     plan = read_plan(file)
    >>> [part.name for part in plan.protections], len(plan.cells())
    (['Mondrian k=3', 'Mondrian k=10'], 4)
    """
    document = checked_document(path)
    with in_document(path):
        code = path.resolve().parent if allow_code else None
        return _plan({**document, "data": list(_complete_datasets(document))}, path, code)


def checked_document(path: Path) -> dict[str, Any]:
    """Read a document for any command; raise for unknown names and keys. No code runs."""
    document = load(path)
    with in_document(path):
        _check(document, path.parent)
    return document


def _check(document: Settings, folder: Path) -> None:
    list_datasets(document)
    for kind in ("protections", "adversaries"):
        for number, entry in enumerate(document.get(kind, []), 1):
            if not is_plugin(str(entry.get("use", ""))):
                list(_variants(entry, kind, number, folder, None, check_names))
    names = [requirement.require.measure for requirement in parse_policy(document, folder, title="").requirements]
    for name in (*document.get("measures", []), *names):
        if not (described(name) or name in CRITERIA):
            _check_measure(name)


def _check_measure(name: str) -> None:
    """Raise for a measure that no domain has."""
    names = [*list_measures(), *CRITERIA, *(measure for domain in DOMAINS for measure in import_audit(domain).MEASURES)]
    if name not in names:
        hint = nearest(name, names)
        hint = hint if hint.startswith("did") else "expected a name that `unmask list` shows"
        raise UnmaskError(f"{name!r} is neither a measure nor a criterion; {hint}")


def _complete_datasets(document: Settings) -> Iterator[Settings]:
    """Yield the entries of `data`: tables with the analyses of the document, the only file with its control group."""
    control, analyses, entries = document.get("control", {}), list_analyses(document), list_datasets(document)
    for entry in entries:
        has_control = "file" in control and "file" in entry and len(entries) == 1
        is_table = str(entry.get("use", "tables.")).startswith("tables.")
        added = {"control": control["file"]} if has_control else {}
        yield {**entry, **added, **({"analyses": analyses} if analyses and is_table else {})}


def _plan(document: Settings, path: Path, code: Path | None) -> Plan:
    parts = {kind: _parts(document, kind, path.parent, code) for kind in ("data", "protections", "adversaries")}
    plan = Plan(
        title=str(document.get("title", path.stem)),
        datasets=parts["data"],
        protections=parts["protections"] or (Part(NOTHING, NOTHING, {}, {}),),
        adversaries=parts["adversaries"],
        seeds=_seeds(document.get("seeds", 1)),
        measures=tuple(document.get("measures", [])),
        budget=Budget(**document.get("budget", {})),
    )
    _check_measures(plan)
    check_columns(plan.datasets, (*plan.protections, *plan.adversaries))
    if not plan.cells():
        raise UnmaskError(
            "it has 0 cells: no adversary attacks this kind of dataset; expected names of one domain, such as tables.*"
        )
    return plan


def _check_measures(plan: Plan) -> None:
    domains = dict.fromkeys(part.domain for part in plan.datasets)
    audits = list(map(import_audit, domains))
    available = [name for audit in audits for name in (*audit.MEASURES, *getattr(audit, "CRITERIA", ()))]
    for name in plan.measures:
        if name not in available:
            raise UnmaskError(f"measures has {name!r}, which no cell computes; {nearest(name, available)}")


def _parts(document: Settings, kind: str, folder: Path, code: Path | None) -> tuple[Part, ...]:
    entries = list(_name_entries(document.get(kind, [])))
    if not entries and kind != "protections":
        raise UnmaskError(f"it has no {kind}; expected at least one [[{kind}]]")
    parts = [part for number, entry in enumerate(entries, 1) for part in _variants(entry, kind, number, folder, code)]
    names = [part.name for part in parts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnmaskError(f"two of the {kind} have the name {twice!r}; give each a different name")
    return tuple(parts)


def _name_entries(entries: Sequence[Settings]) -> Iterator[Settings]:
    """Yield the entries; those of one class without a name are named by the parameters in which they differ.

    Lists and tables are too long for a name.

    >>> grid = {"use": "tables.Mondrian", "grid": {"k": [5, 20]}}
    >>> [entry.get("name") for entry in _name_entries([{"use": "tables.Mondrian", "with": {"k": 12}}, grid])]
    ['Mondrian k=12', None]
    """
    unnamed = [entry for entry in entries if "use" in entry and not entry.keys() & {"name", "file"}]
    for entry in entries:
        peers = [peer.get("with", {}) for peer in unnamed if entry in unnamed and peer["use"] == entry["use"]]
        differing = [
            f"{key}={value}"
            for key, value in entry.get("with", {}).items()
            if isinstance(value, str | int | float) and any(peer.get(key) != value for peer in peers)
        ]
        name = " ".join([str(entry.get("use", "")).rpartition(".")[2], *differing])
        yield {**entry, "name": name} if differing else entry


def _variants(
    entry: Settings,
    kind: str,
    number: int,
    folder: Path,
    code: Path | None,
    check: Callable[[Part, str, Path], Part] = check_part,
) -> Iterator[Part]:
    """Yield a part for each combination of the grid; each is made once to test it."""
    place = f"{kind}[{number}]"
    use = entry.get("use", "tables.file" if "file" in entry else None)
    if use is None:
        raise UnmaskError(f'{place} has no `use`; expected a name that `unmask list` shows, such as use = "tables.…"')
    fixed, grid = entry.get("with", {}), entry.get("grid", {})
    for key in (key for key, values in grid.items() if not values):
        raise UnmaskError(f"{place}.grid.{key} is empty; expected for example {key} = [1, 2, 3]")
    name = str(entry.get("name", Path(str(entry["file"])).stem if "file" in entry else use.rpartition(".")[2]))
    settings = {key: value for key, value in entry.items() if key not in _OF_PART}
    for choice in itertools.product(*grid.values()):
        chosen = dict(zip(grid, choice, strict=True))
        part_name = " ".join([name, *(f"{key}={value}" for key, value in chosen.items())])
        part = Part(part_name, use, {**fixed, **chosen}, settings, code=code)
        try:
            yield check(part, kind, folder)
        except UnmaskError as error:
            raise type(error)(f"{place} ({part_name}): {error}") from None


def _seeds(seeds: int | list[int]) -> tuple[int, ...]:
    """Return the seeds of a list, or the given number of seeds from 0."""
    if seeds == []:
        raise UnmaskError("seeds is empty, expected a number, or a list such as [0, 1, 2]")
    return tuple(range(seeds)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds))
