"""The propagation attacks once more, in plain Python over dictionaries, straight from their definitions."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

Adjacency = dict[int, set[int]]
TIE = 1e-9


def nar09(source: Adjacency, target: Adjacency, seeds: dict[int, int], *, theta: float, synchronous: bool):
    return _monotone(source, target, seeds, theta, synchronous, lambda d_v, d_c: 1 / math.sqrt(d_c))


def bumblebee(
    source: Adjacency, target: Adjacency, seeds: dict[int, int], *, theta: float, delta: float, synchronous: bool
):
    return _monotone(source, target, seeds, theta, synchronous, lambda d_v, d_c: min(d_v / d_c, d_c / d_v) ** delta)


def grasshopper(
    source: Adjacency, target: Adjacency, seeds: dict[int, int], *, theta: float, released: bool, max_steps: int
):
    mu, sweeps = dict(seeds), []
    while len(sweeps) < max_steps and (not sweeps or sweeps[-1]):
        omega, omega_target = _weights(source, target, mu, released)
        back = {c: v for v, c in mu.items()}
        changes = {}
        for v in source:
            c = _open_winner(v, source, target, mu, omega, omega_target, theta, released)
            if c is None or mu.get(v) == c:
                continue
            if _open_winner(c, target, source, back, omega_target, omega, theta, released) == v:
                changes[v] = c
        taken_nodes = set(changes.values())
        mu = {v: c for v, c in mu.items() if v not in changes and c not in taken_nodes} | changes
        sweeps.append(len(changes))
    return mu, sweeps


def scores(v, source: Adjacency, target: Adjacency, mu: dict[int, int], factor):
    """Score of each free candidate of v for Nar09 and Bumblebee."""
    taken_nodes, shared = set(mu.values()), defaultdict(int)
    for x in source[v]:
        if x in mu:
            for c in target[mu[x]]:
                if c not in taken_nodes:
                    shared[c] += 1
    return {c: n * factor(len(source[v]), len(target[c])) for c, n in shared.items()}


def _monotone(source, target, seeds, theta, synchronous, factor):
    mu, sweeps = dict(seeds), []
    while not sweeps or sweeps[-1]:
        previous, matches = dict(mu), 0
        for v in sorted(source):
            known_mapping = previous if synchronous else mu
            if v in known_mapping:
                continue
            c = _closed_winner(scores(v, source, target, known_mapping, factor), theta)
            if c is None:
                continue
            back = {target_node: node for node, target_node in known_mapping.items()}
            if _closed_winner(scores(c, target, source, back, factor), theta) == v:
                mu[v] = c
                matches += 1
        sweeps.append(matches)
    return mu, sweeps


def _closed_winner(score: dict[int, float], theta: float):
    if len(score) <= 1:
        return next(iter(score), None)
    return _outstanding(score, theta, statistics.stdev(score.values()))


def _open_winner(v, source, target, mu, omega, omega_target, theta, released):
    score = defaultdict(float)
    for x in source[v]:
        if x in mu:
            for c in target[mu[x]]:
                score[c] += omega[x] if released else omega_target[c]
    if len(score) <= 1:
        return None
    return _outstanding(score, theta, statistics.pstdev(score.values()))


def _outstanding(score, theta, sigma):
    (top, winner), (second, _) = sorted(((s, c) for c, s in score.items()), reverse=True)[:2]
    if top - second <= TIE * top:
        return None
    return winner if (top - second) / sigma >= theta else None


def _weights(source, target, mu, released):
    omega, omega_target = dict.fromkeys(source, 1.0), dict.fromkeys(target, 1.0)
    for v, c in mu.items():
        common = sum(1 for x in source[v] if x in mu and mu[x] in target[c])
        root = math.sqrt(max(len(source[v]), 1) * max(len(target[c]), 1))
        omega[v] = omega_target[c] = (1 + common) / root if released else 1 + common / root
    return omega, omega_target
