"""The boxes of a release in which people are: whose guesses share their luck."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior


def boxes_of(link: Posterior) -> NDArray[np.int64]:
    """(n_targets,) the box of the release that each target is in, by its first record; 0 for none."""
    first = np.zeros(link.n_observations, dtype=np.int64)
    held = link.row_length > 0
    first[held] = link.candidate[link.indptr[:-1][held]] + 1
    return np.asarray(first[link.observation], dtype=np.int64)


def together(link: Posterior, *, after: int = 0) -> NDArray[np.int64]:
    """(n_targets,) whose guesses share their luck: those of a box of the release; of people in none, who are believed
    to be as all rows say, those who are known by the same cells. after : numbers of such that other people have
    """
    boxes = boxes_of(link)
    return np.where(boxes > 0, boxes, 1 + link.n_candidates + after + link.observation)
