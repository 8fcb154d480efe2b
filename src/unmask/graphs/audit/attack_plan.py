"""Parse attacks, protections and seeding methods in text form: `Bumblebee:theta=0.5`, `KDegree:k=10`, `random:100`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unmask.catalog import make
from unmask.core.errors import UnmaskError
from unmask.graphs import Attack, Ensemble, SocialGraph, examples
from unmask.graphs.audit.identity_search import Discovery
from unmask.protection_specs import Spec

ATTACKS: Mapping[str, Any] = {type(attack).__name__: type(attack) for attack in examples.ATTACKS}

DIRECTED = "Nar09:directed=true"
"""Additional attack for networks with directed edges."""

SEVERAL_IDENTITIES = "Iterated:attack=Climb"
"""Additional attack if people have several identities; it searches further ones."""

STANDARD = tuple(name for name in ATTACKS if name not in ("DegreeMatching", "Iterated"))

DEFAULT = ("Rematch:forced=true", *STANDARD)
"""Default attacks, because the strongest one depends on the networks. The first is fast."""


def default_attacks(*graphs: SocialGraph | None, several: bool = False) -> tuple[str, ...]:
    """Return `DEFAULT`, and the additional attacks for directions and for several identities."""
    directed = all(graph is None or graph.way is not None for graph in graphs)
    return (*DEFAULT, *([DIRECTED] if directed else []), *([SEVERAL_IDENTITIES] if several else []))


@dataclass(frozen=True)
class Plan:
    """Attacks on every pair of networks.

    Parameters
    ----------
    attacks : mapping
        Name -> attack.
    seeds : str
        Seeding method, see `select_seeds`; or "match_profiles", "match_top" or "match_cliques", which need no truth.
    n_seeds, runs : int
        Number of seeds, and number of runs with other seeds or other networks.
    transition : tuple of int
        Other numbers of seeds, tried on the first pair.
    other_seeds : tuple of (str, int)
        Other methods and their numbers of seeds, tried on the first pair.
    seed : int
        Random seed of all draws.
    time_limit : float, optional
        Seconds after which no further run starts. The first run is always complete.
    checkpoint : Path, optional
        Folder for the cached rounds of `Ensemble`.
    """

    attacks: Mapping[str, Attack]
    seeds: str = "random.25"
    n_seeds: int = 100
    runs: int = 4
    transition: tuple[int, ...] = ()
    other_seeds: tuple[tuple[str, int], ...] = ()
    discovery: Discovery | None = None
    seed: int = 0
    time_limit: float | None = None
    checkpoint: Path | None = None

    def __post_init__(self) -> None:
        if not self.attacks:
            raise UnmaskError("0 attacks were given, expected at least 1; Nar09 or Rematch, for example")
        if self.runs < 1 or min((self.n_seeds, *self.transition)) < 1:
            requested = f"{self.runs} runs from {min((self.n_seeds, *self.transition))} seeds"
            raise UnmaskError(f"{requested} were requested, expected at least 1 of each: an attack starts somewhere")
        methods = [self.seeds, *(method for method, _ in self.other_seeds)]
        if repeated := next((method for method in methods if methods.count(method) > 1), None):
            raise UnmaskError(f"`seeds` {repeated} is given twice; give other numbers of seeds as `transition` 5,25")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UnmaskError(f"time_limit is {self.time_limit:g}, expected seconds above 0")
        if self.checkpoint is not None and not any(isinstance(attack, Ensemble) for attack in self.attacks.values()):
            raise UnmaskError("a checkpoint stores rounds of Ensemble; add this attack, or remove the checkpoint")

    def by_method(self) -> Iterator[Plan]:
        """Yield the plan for each method that chooses seeds."""
        for method, n_seeds in ((self.seeds, self.n_seeds), *self.other_seeds):
            yield replace(self, seeds=method, n_seeds=n_seeds, other_seeds=())

    def rng(self, *names: object) -> np.random.Generator:
        """Return the random generator of a role. Draws of one role do not depend on the attacks or seed counts of
        others.
        """
        return np.random.default_rng([self.seed, zlib.crc32("/".join(map(str, names)).encode())])


def parse_seeds(text: str) -> tuple[str, int]:
    """Split METHOD:COUNT into method and number.

    >>> parse_seeds("random.25:1000")
    ('random.25', 1000)
    """
    method, _, count = text.rpartition(":")
    if not method or not is_count(count):
        raise UnmaskError(f"expected METHOD:COUNT such as random.25:1000, at least 1 of them, given {text!r}")
    return method, int(count)


def parse_methods(seeds: str | Iterable[str] | None, n_people: int) -> list[tuple[str, int]]:
    """Return each method with its number of seeds; the default without any.

    >>> parse_methods(["random:5", "top:5"], 100), parse_methods((), 340)
    ([('random', 5), ('top', 5)], [('random.25', 17)])
    """
    texts = [seeds] if isinstance(seeds, str) else list(seeds or ())
    return [parse_seeds(text) for text in texts or [default_seeds(n_people)]]


def default_seeds(n_people: int) -> str:
    """Return the default seeds: 5 % of the people, at most 100, from the quarter of highest degree.

    >>> default_seeds(75_879), default_seeds(340), default_seeds(5)
    ('random.25:100', 'random.25:17', 'random.25:1')
    """
    return f"{Plan.seeds}:{min(Plan.n_seeds, max(1, n_people // 20))}"


def is_count(text: str) -> bool:
    """Return True if a text is a whole number of at least 1."""
    return text.isdecimal() and len(text) < 10 and int(text) > 0


def parse_attacks(texts: Iterable[str], code: Path | None = None) -> dict[str, Attack]:
    """Return name -> attack for attacks in text form, without repetitions; modules in the folder `code` may run.

    >>> parse_attacks(["Nar09", "Bumblebee:theta=0.5"])["Bumblebee:theta=0.5"].theta
    0.5
    """
    attacks = {text: make(Spec.parse(text), "attacks", "graphs", code) for text in texts}
    if not attacks:
        raise UnmaskError(f"0 attacks were given, expected at least 1 of {', '.join(ATTACKS)}")
    return attacks


def parse_protection(text: str, code: Path | None = None) -> Any:
    """Return a protection in text form; modules in the folder `code` may run.

    >>> parse_protection("IdentitySeparation:identities=3:adopters=50").adopters, parse_protection("KDegree")
    (50, KDegree(k=5))
    """
    return make(Spec.parse(text), "protections", "graphs", code)
