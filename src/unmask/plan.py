"""The plan of a study: datasets x protections x adversaries x seeds, from a TOML file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from unmask.core.errors import UnmaskError, explain_unknown
from unmask.ranges import FINITE
from unmask.results.names import NO_ATTACK
from unmask.version import __version__

if TYPE_CHECKING:
    import numpy as np

    from unmask.results import Row

PLACES: Final = ("file", "hierarchies", "control")
"""Settings that are paths; the digest of each has its name with "_sha256"."""

NOTHING: Final = "none"
"""`use` of a protection that leaves everything as it is."""

DESIGN: Final = "channels.optimal_mechanism"
"""`use` of a protection that `unmask design` computes: its parameters are those of the function of that name."""

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Plugin:
    """A class outside this package: its domain, and the digest of its file, since a changed plug-in is another one."""

    domain: str
    sha256: str


@dataclass(frozen=True)
class Part:
    """A dataset, protection or adversary with one choice of parameters.

    name       : as shown; the values of its grid stand behind it
    use        : its name in the catalog, such as "tables.Mondrian", or "module:Class"
    parameters : arguments of the class or function
    settings   : further keys of the plan, which the domain reads
    plugin     : domain and digest, for a class outside this package
    code       : folder whose modules it may run, see `catalog.find`; None for none
    """

    name: str
    use: str
    parameters: Settings
    settings: Settings
    plugin: Plugin | None = None
    code: Path | None = None

    @property
    def domain(self) -> str:
        """The domain; "" for the protection `none`, which fits every domain."""
        if self.plugin is not None:
            return self.plugin.domain
        return "" if self.use == NOTHING else self.use.partition(".")[0]

    @property
    def content(self) -> dict[str, Any]:
        """The values that its results depend on: digests of files, but neither its name nor their places."""
        settings = {key: value for key, value in self.settings.items() if key not in PLACES}
        module = {} if self.plugin is None else {"module_sha256": self.plugin.sha256}
        return {"use": self.use, "with": self.parameters, **settings, **module}


@dataclass(frozen=True)
class Cell:
    """One protection of one dataset against one adversary, with one seed.

    kept : folder of the study where a game finds what the adversary believes; None where no game asks
    """

    dataset: Part
    protection: Part
    adversary: Part
    seed: int
    measures: tuple[str, ...]
    kept: Path | None = None

    @cached_property  # the queue, the worker, the journal and the results ask for it
    def key(self) -> str:
        """20 hexadecimal digits of the content: a cell that would come out the same has the same key. The version of
        unmask is part of it: results of different versions are never mixed.
        """
        parts = (self.dataset.content, self.protection.content, self.adversary.content)
        return digest(__version__, *parts, self.seed, sorted(self.measures))[:20]

    def wants(self, measure: str) -> bool:
        """Return whether the plan asks for a measure; a plan without measures asks for all."""
        return not self.measures or measure in self.measures

    def rng(self, *words: object) -> np.random.Generator:
        """Return a generator for one purpose, from the dataset, the seed and the words.

        Other cells that give the same words draw the same numbers: protections are compared on the same people.
        """
        import numpy as np

        return np.random.default_rng(int(digest(self.dataset.content, self.seed, list(words))[:32], 16))

    def row(
        self,
        measure: str,
        unit: str,
        value: float,
        *,
        prior: float,
        n: int,
        note: str = "",
        target: str = NO_ATTACK,
    ) -> Row:
        """Return a row of this cell for a number that describes the release and has no distribution over people."""
        from unmask.results import Row  # here: the command line shows its help without results

        return Row.of_number(
            value, release=self.protection.name, adversary=self.adversary.name, target=target, measure=measure,
            unit=unit, prior=prior, n=n, note=note,
        )  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """The limits of a study.

    seconds_per_cell : time after which a cell is stopped
    seconds          : time after which no further cell is started
    memory_gib       : for all workers together
    """

    seconds_per_cell: Annotated[float, FINITE] | None = None
    seconds: Annotated[float, FINITE] | None = None
    memory_gib: Annotated[float, FINITE] | None = None


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
        """Every dataset with the protections and the adversaries of its domain, each once for every seed."""
        return tuple(
            Cell(dataset, protection, adversary, seed, self.measures)
            for dataset in self.datasets
            for protection in self.protections
            if protection.domain in ("", dataset.domain)
            for adversary in self.adversaries
            if adversary.domain == dataset.domain
            for seed in self.seeds
        )


def digest(*content: object) -> str:
    """SHA-256 of values of TOML, dates by their text, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def check_keys(keys: Iterable[str], names: Sequence[str], place: str) -> None:
    """Raise an error for a key that does not exist."""
    for key in keys:
        if key not in names:
            raise UnmaskError(explain_unknown(key, names, place))
