"""What a study is to do: datasets x protections x adversaries x seeds, written down in a TOML file."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import numpy as np

from unmask import __version__
from unmask.errors import FailedError, UnmaskError

PLACES: Final = ("file", "hierarchies")
"""Settings that are paths; beside each stands its digest, under its name with "_sha256"."""

NOTHING: Final = "none"
"""`use` of a protection that leaves everything as it is."""

_OF_PLAN = ("title", "seeds", "measures", "datasets", "protections", "adversaries", "budget")
_OF_BUDGET = ("seconds_per_cell", "seconds", "memory_gib")
_OF_PART = ("name", "use", "with", "grid")

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A dataset, protection or adversary with one choice of parameters.

    name       : as shown; the values of its grid stand behind it
    use        : its name in the catalog, such as "tables.Mondrian"
    parameters : what the thing of that name is made with
    settings   : whatever else the plan says of it, for the wing to read
    """

    name: str
    use: str
    parameters: Settings
    settings: Settings

    @property
    def wing(self) -> str:
        """The wing it belongs to; "" for a protection that is none and fits every wing."""
        return "" if self.use == NOTHING else self.use.partition(".")[0]

    @property
    def content(self) -> dict[str, Any]:
        """All that its results depend on: neither its name nor the places of its files are, their digests are."""
        kept = {key: value for key, value in self.settings.items() if key not in PLACES}
        return {"use": self.use, "with": self.parameters, **kept}


@dataclass(frozen=True)
class Cell:
    """One protection of one dataset against one adversary, with one seed."""

    dataset: Part
    protection: Part
    adversary: Part
    seed: int
    measures: tuple[str, ...]

    @property
    def key(self) -> str:
        """20 hexadecimal digits of the content: a cell that would come out the same has the same key. The version of
        unmask is part of it: results of different versions are never mixed.
        """
        parts = (self.dataset.content, self.protection.content, self.adversary.content)
        return digest(__version__, *parts, self.seed, sorted(self.measures))[:20]

    def wants(self, measure: str) -> bool:
        """Whether the plan asks for a measure; one that names none asks for all."""
        return not self.measures or measure in self.measures

    def rng(self, *words: object) -> np.random.Generator:
        """A generator for one purpose, from the dataset, the seed and the words: other cells that give the same words
        draw the same numbers, so that protections are compared on the same people.
        """
        return np.random.default_rng(int(digest(self.dataset.content, self.seed, list(words))[:32], 16))


@dataclass(frozen=True)
class Budget:
    """What a study may use.

    seconds_per_cell : after so many a cell is stopped
    seconds          : after so many no further cell is started
    memory_gib       : for all workers together
    """

    seconds_per_cell: float | None = None
    seconds: float | None = None
    memory_gib: float | None = None


@dataclass(frozen=True)
class Plan:
    """A study: the parts, in the order of the file, and how often each combination is repeated."""

    title: str
    datasets: tuple[Part, ...]
    protections: tuple[Part, ...]
    adversaries: tuple[Part, ...]
    seeds: tuple[int, ...]
    measures: tuple[str, ...] = ()
    budget: Budget = Budget()

    def cells(self) -> tuple[Cell, ...]:
        """Every dataset with the protections and the adversaries of its wing, each once for every seed."""
        return tuple(
            Cell(dataset, protection, adversary, seed, self.measures)
            for dataset in self.datasets
            for protection in self.protections
            if protection.wing in ("", dataset.wing)
            for adversary in self.adversaries
            if adversary.wing == dataset.wing
            for seed in self.seeds
        )


def digest(*content: object) -> str:
    """SHA-256 of values of TOML, dates by their text, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def read_plan(path: Path) -> Plan:
    """The plan in a TOML file. Names are looked up, and every object made once, so that a wrong plan fails here.

    >>> import tempfile
    >>> text = '''
    ... seeds = 2
    ... [[datasets]]
    ... name = "census"
    ... use = "tables.synthetic_census"
    ... with = { n = 500 }
    ... quasi_identifiers = ["age", "sex"]
    ... [[protections]]
    ... use = "tables.Mondrian"
    ... grid = { k = [3, 10] }
    ... [[adversaries]]
    ... name = "neighbour"
    ... use = "tables.ClassAttack"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "plan.toml"
    ...     _ = file.write_text(text)
    ...     plan = read_plan(file)
    >>> [part.name for part in plan.protections], len(plan.cells())
    (['Mondrian k=3', 'Mondrian k=10'], 4)
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FailedError(f"plan {path.name!r} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"plan {path.name!r} is not UTF-8 text; expected a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise UnmaskError(f"plan {path.name!r} is not TOML: {error}") from None
    try:
        return _plan(given, path)
    except UnmaskError as error:
        raise type(error)(f"plan {path.name!r}: {error}") from None


def _plan(given: Settings, path: Path) -> Plan:
    from unmask.studies.cells import check_columns

    _only(given, _OF_PLAN, "the plan")
    parts = {kind: _parts(given, kind, path.parent) for kind in ("datasets", "protections", "adversaries")}
    plan = Plan(
        title=str(given.get("title", path.stem)),
        datasets=parts["datasets"],
        protections=parts["protections"] or (Part(NOTHING, NOTHING, {}, {}),),
        adversaries=parts["adversaries"],
        seeds=_seeds(given.get("seeds", 1)),
        measures=tuple(_strings(given.get("measures", []), "measures")),
        budget=_budget(given.get("budget", {})),
    )
    _check_measures(plan)
    check_columns(plan.datasets, (*plan.protections, *plan.adversaries))
    if not plan.cells():
        raise UnmaskError(
            "it has 0 cells: no adversary attacks what the datasets are; expected names of one wing, such as tables.*"
        )
    return plan


def _check_measures(plan: Plan) -> None:
    from unmask.studies.cells import measures_of

    known = [name for wing in dict.fromkeys(part.wing for part in plan.datasets) for name in measures_of(wing)]
    for name in plan.measures:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected some of {', '.join(dict.fromkeys(known))}"
            raise UnmaskError(f"measures has {name!r}, which nothing here takes; {hint}")


def _parts(given: Settings, kind: str, folder: Path) -> tuple[Part, ...]:
    entries = given.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UnmaskError(f"{kind} is no list of tables; expected [[{kind}]] above each of them")
    if not entries and kind != "protections":
        raise UnmaskError(f"it has no {kind}; expected at least one [[{kind}]]")
    found = [part for number, entry in enumerate(entries, 1) for part in _variants(entry, kind, number, folder)]
    names = [part.name for part in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnmaskError(f"two of the {kind} are called {twice!r}; give each a name of its own")
    return tuple(found)


def _variants(entry: Settings, kind: str, number: int, folder: Path) -> Iterator[Part]:
    """One part for every combination of the grid; each is made once, to see whether it can be."""
    from unmask.studies.cells import check_part  # the wings are imported where a plan is read, not with this module

    where = f"{kind}[{number}]"
    use = entry.get("use")
    if not isinstance(use, str):
        raise UnmaskError(f'{where} has no `use`; expected a name that `unmask list` shows, such as use = "tables.…"')
    fixed, grid = _table(entry, "with", where), _table(entry, "grid", where)
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UnmaskError(f"{where}.grid.{key} is no list of values; expected for example {key} = [1, 2, 3]")
    name = str(entry.get("name", use.rpartition(".")[2]))
    settings = {key: value for key, value in entry.items() if key not in _OF_PART}
    for choice in itertools.product(*grid.values()):
        chosen = dict(zip(grid, choice, strict=True))
        shown = " ".join([name, *(f"{key}={value}" for key, value in chosen.items())])
        part = Part(shown, use, {**fixed, **chosen}, settings)
        try:
            yield check_part(part, kind, folder)
        except UnmaskError as error:
            raise type(error)(f"{where} ({shown}): {error}") from None


def _table(entry: Settings, key: str, where: str) -> Settings:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise UnmaskError(f"{where}.{key} is no table; expected for example {key} = {{ k = 10 }}")
    return value


def _seeds(given: object) -> tuple[int, ...]:
    if type(given) is int and 1 <= given <= 1_000_000:
        return tuple(range(given))
    if isinstance(given, list) and given and all(type(seed) is int and 0 <= seed < 2**63 for seed in given):
        return tuple(dict.fromkeys(given))
    raise UnmaskError(f"seeds is {given!r}, expected how many (at least 1), or a list of whole numbers from 0 to 2^63")


def _strings(given: object, where: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise UnmaskError(f"{where} is no list of names; expected {where} = [...]")
    return given


def _budget(given: object) -> Budget:
    if not isinstance(given, dict):
        raise UnmaskError("budget is no table; expected [budget] and below it seconds_per_cell, seconds or memory_gib")
    _only(given, _OF_BUDGET, "budget")
    for key, value in given.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < math.inf:
            raise UnmaskError(f"budget.{key} is {value!r}, expected a number above 0")
    return Budget(**given)


def _only(given: Settings, known: Sequence[str], where: str) -> None:
    for key in given:
        if key not in known:
            raise UnmaskError(unknown(key, known, where))


def unknown(key: str, known: Sequence[str], where: str) -> str:
    """What is said of a key that does not exist, with the nearest one that does."""
    near = get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(known) or 'none'}"
    return f"{where} has a key {key!r} that does not exist; {hint}"
