"""Badges: everybody wears a color. A domain as small as one can be, which nothing of the package knows."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask import Posterior

N_COLORS = 3


@dataclass(frozen=True, eq=False)
class Badges:
    """What people wear: (n_people,) the number of a color."""

    color: np.ndarray

    @classmethod
    def read(cls, path: Path) -> "Badges":
        """A file with a number a line."""
        return cls(np.loadtxt(path, dtype=np.int64, ndmin=1))


@dataclass(frozen=True)
class Repaint:
    """Some people, drawn at random, wear any color."""

    share: float = 0.5

    def __call__(self, population: Badges, *, rng=None) -> Badges:
        """The colors that are shown."""
        rng = np.random.default_rng() if rng is None else rng
        drawn = rng.random(len(population.color)) < self.share
        return Badges(np.where(drawn, rng.integers(0, N_COLORS, len(drawn)), population.color))


@dataclass(frozen=True)
class Look:
    """The color that is shown is a person's own, but for so many who were repainted."""

    trust: float = 0.9

    def __call__(self, release: Badges, knowledge: None = None, *, rng=None) -> Posterior:
        """A belief about each person's own color."""
        others = (1 - self.trust) / (N_COLORS - 1)
        belief = np.full((len(release.color), N_COLORS), others)
        belief[np.arange(len(release.color)), release.color] = self.trust
        return Posterior.from_dense(belief, prior=np.full(N_COLORS, 1 / N_COLORS))


def crowd(n: int = 200, *, rng: np.random.Generator) -> Badges:
    """People of any colors."""
    return Badges(rng.integers(0, N_COLORS, n))
