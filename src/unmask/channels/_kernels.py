"""Compiled loops: likeliest paths of a hidden Markov chain, and swaps of matchings. Import this in the caller."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@allocating
def find_paths(
    outputs: Ints, log_initial: Floats, log_emission: Floats, start: Ints, source: Ints, log_step: Floats
) -> tuple[Ints, int, int]:
    """Return (users, steps) the likeliest paths, and the first user and step that no state explains, or -1.

    start, source, log_step : log transition probabilities by arrival, as CSC arrays; of equal ones the first is taken
    """
    (users, steps), n = outputs.shape, len(log_initial)
    path, previous = np.empty((users, steps), dtype=np.int64), np.zeros((steps, n), dtype=np.int32)
    score, following = np.empty(n), np.empty(n)
    for user in range(users):
        for t in range(steps):
            top = -np.inf
            for state in range(n):
                arrival = log_initial[state] if t == 0 else -np.inf
                for k in range(start[state] if t > 0 else 0, start[state + 1] if t > 0 else 0):
                    value = score[source[k]] + log_step[k]
                    if value > arrival:
                        arrival, previous[t, state] = value, source[k]
                following[state] = arrival + log_emission[outputs[user, t], state]
                top = max(top, following[state])
            if top == -np.inf:
                return path, user, t
            for state in range(n):
                score[state] = following[state] - top
        path[user, -1] = np.argmax(score)
        for t in range(steps - 1, 0, -1):
            path[user, t - 1] = previous[t, path[user, t]]
    return path, -1, -1


@compiled
def swap_candidates(W: Floats, match: Ints, first: Ints, second: Ints, draw: Floats, every: int, count: Floats) -> None:
    """Propose a swap for each pair of targets, and count the matching after each `every` proposals.

    match : (n,) candidate of each target, changed in place
    first, second, draw : (n_proposals,) targets, and numbers in [0, 1) by which a swap is accepted
    count : (n, n), to which the matchings are added
    """
    for step in range(len(first)):
        i, k = first[step], second[step]
        a, b = match[i], match[k]
        if draw[step] * W[i, a] * W[k, b] < W[i, b] * W[k, a]:
            match[i], match[k] = b, a
        if (step + 1) % every == 0:
            for row in range(len(match)):
                count[row, match[row]] += 1.0
