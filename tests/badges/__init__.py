"""Badges: each person wears a color. The smallest possible domain, unknown to the package."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask import Posterior

N_COLORS = 3


@dataclass(frozen=True, eq=False)
class Badges:
    """Colors of people: (n_people,) numbers of colors."""

    color: np.ndarray

    @classmethod
    def read(cls, path: Path) -> "Badges":
        """Read a file with one number in each line."""
        return cls(np.loadtxt(path, dtype=np.int64, ndmin=1))


@dataclass(frozen=True)
class Repaint:
    """Protection that gives random people a random color."""

    share: float = 0.5

    def __call__(self, population: Badges, *, rng=None) -> Badges:
        """Return the shown colors."""
        rng = np.random.default_rng() if rng is None else rng
        drawn = rng.random(len(population.color)) < self.share
        return Badges(np.where(drawn, rng.integers(0, N_COLORS, len(drawn)), population.color))


@dataclass(frozen=True)
class Look:
    """Attack that trusts the shown color of a share of the people."""

    trust: float = 0.9

    def __call__(self, release: Badges, knowledge: None = None, *, rng=None) -> Posterior:
        """Return a belief about each person's own color."""
        p_other = (1 - self.trust) / (N_COLORS - 1)
        belief = np.full((len(release.color), N_COLORS), p_other)
        belief[np.arange(len(release.color)), release.color] = self.trust
        return Posterior.from_dense(belief, prior=np.full(N_COLORS, 1 / N_COLORS))


def crowd(n: int = 200, *, rng: np.random.Generator) -> Badges:
    """Return people with random colors."""
    return Badges(rng.integers(0, N_COLORS, n))
