"""The compiled engine: per node, one dense array of scores and a list of the entries that were touched."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._kernels import TIE, Rule, Side

Function = TypeVar("Function", bound=Callable[..., object])

numba: Any = importlib.import_module("numba") if find_spec("numba") else None


def compiled(function: Function) -> Function:
    """The function, compiled when it is first called; kept on disk for the next time where a folder is writable."""
    if numba is None:
        return function
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "no locator available": neither this folder nor the home can be written to
        return cast(Function, numba.njit(nogil=True)(function))


@compiled
def winners(nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule) -> tuple[NDArray[np.int32], int]:
    """The candidate that stands out for each node, -1 where none does; and the candidates visited."""
    n_there = len(there.image)
    score, touched = np.zeros(n_there), np.empty(n_there, dtype=np.int32)
    winner, visits = np.empty(len(nodes), dtype=np.int32), 0
    for i in range(len(nodes)):
        winner[i], seen = _winner(nodes[i], here, there, rule, score, touched)
        visits += seen
    return winner, visits


@compiled
def sweep(nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule) -> tuple[int, int]:
    """One pass that writes each match into both images at once; the matches made and the candidates visited."""
    n = max(len(source.image), len(target.image))
    score, touched = np.zeros(n), np.empty(n, dtype=np.int32)
    matches, visits = 0, 0
    for v in nodes:
        if source.image[v] >= 0:
            continue
        c, seen = _winner(v, source, target, rule, score, touched)
        visits += seen
        if c < 0:
            continue
        back, seen = _winner(c, target, source, rule, score, touched)
        visits += seen
        if back == v:
            source.image[v] = c
            target.image[c] = v
            matches += 1
    return matches, visits


@compiled
def best(
    nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, width: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `width` best candidates of each node, best first, -1 where there are fewer; and their scores."""
    n_there = len(there.image)
    score, touched = np.zeros(n_there), np.empty(n_there, dtype=np.int32)
    candidate, value = np.full((len(nodes), width), -1, dtype=np.int32), np.zeros((len(nodes), width))
    for i in range(len(nodes)):
        n, _ = _fill(nodes[i], here, there, rule, score, touched)
        for t in range(n):
            c = touched[t]
            _insert(c, score[c], candidate[i], value[i])
            score[c] = 0.0
    return candidate, value


@compiled
def _insert(c: int, score: float, candidate: NDArray[np.int32], value: NDArray[np.float64]) -> None:
    at = len(value)
    while at > 0 and score > value[at - 1]:
        at -= 1
    for i in range(len(value) - 1, at, -1):
        candidate[i], value[i] = candidate[i - 1], value[i - 1]
    if at < len(value):
        candidate[at], value[at] = c, score


@compiled
def _winner(
    v: int, here: Side, there: Side, rule: Rule, score: NDArray[np.float64], touched: NDArray[np.int32]
) -> tuple[int, int]:
    n, visits = _fill(v, here, there, rule, score, touched)
    chosen = _standing_out(n, rule, score, touched)
    for t in range(n):
        score[touched[t]] = 0.0
    return chosen, visits


@compiled
def _fill(
    v: int, here: Side, there: Side, rule: Rule, score: NDArray[np.float64], touched: NDArray[np.int32]
) -> tuple[int, int]:
    """Write the score of each candidate and list the candidates; the number of them, and of visits."""
    n, visits = 0, 0
    for i in range(here.indptr[v], here.indptr[v + 1]):
        x = here.neighbour[i]
        y = here.image[x]
        if y < 0:
            continue
        weight = here.weight[x]
        visits += there.indptr[y + 1] - there.indptr[y]
        for j in range(there.indptr[y], there.indptr[y + 1]):
            c = there.neighbour[j]
            if not rule.revise and there.image[c] >= 0:
                continue
            if score[c] == 0.0:
                touched[n] = c
                n += 1
            score[c] += weight
    for t in range(n):
        c = touched[t]
        if rule.ratio:
            score[c] *= min(here.size[v] / there.size[c], there.size[c] / here.size[v])
        else:
            score[c] /= there.size[c]
    return n, visits


@compiled
def _standing_out(n: int, rule: Rule, score: NDArray[np.float64], touched: NDArray[np.int32]) -> int:
    if n == 0 or (n == 1 and rule.revise):
        return -1
    if n == 1:
        return int(touched[0])
    chosen, top, second, total = -1, 0.0, 0.0, 0.0
    for t in range(n):
        s = score[touched[t]]
        total += s
        if s > top:
            chosen, top, second = touched[t], s, top
        elif s > second:
            second = s
    if top - second <= TIE * top:
        return -1
    mean, squares = total / n, 0.0
    for t in range(n):
        deviation = score[touched[t]] - mean
        squares += deviation * deviation
    sigma = np.sqrt(squares / (n if rule.revise else n - 1))
    return chosen if top - second >= rule.theta * sigma else -1
