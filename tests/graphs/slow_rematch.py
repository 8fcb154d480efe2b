"""`Rematch` once more, in plain Python over dictionaries, straight from its definition."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

Adjacency = dict[int, set[int]]
GRID = 65536  # weights of witnesses are whole multiples of 1 / 65536
TIE = 1e-3


@dataclass
class Given:
    """Both graphs, the seeds and the mapping; the score that a similarity adds to a pair, and its proposals."""

    source: Adjacency
    target: Adjacency
    seeds: dict[int, int]
    mu: dict[int, int]
    ratio: dict[tuple[int, int], float] = field(default_factory=dict)
    similar: Adjacency = field(default_factory=dict)


def rematch(source, target, seeds, *, margin, floor, steps, greedy, reach, n_listed, alike=({}, {})):
    mu, sweeps = dict(seeds), []
    while len(sweeps) < steps and (not sweeps or sweeps[-1]):
        table = keep_best(scores(Given(source, target, seeds, mu, *alike), reach), floor - margin, n_listed)
        new = dict(seeds) | assigned(table, max(margin, TIE), floor, greedy)
        sweeps.append(sum(mu.get(v) != new.get(v) for v in source))
        mu = new
    return mu, sweeps


def keep_best(score, low, n_listed):
    """Return the best candidates of each node, without ties across the limit and without scores far below the best."""
    table = {}
    for u, candidates_of in score.items():
        ranked = sorted((v for v in candidates_of.values() if v >= low), reverse=True)
        least_score = ranked[0] - 40 if ranked else math.inf
        if len(ranked) > n_listed:
            least_score = max(least_score, math.nextafter(ranked[n_listed] + TIE, math.inf))
        table[u] = {c: v for c, v in candidates_of.items() if v >= max(low, least_score)}
    return table


def assigned(table, margin, floor, greedy):
    mu = {}
    while True:
        taken_nodes = set(mu.values())
        open_scores = {
            u: {c: v for c, v in candidates_of.items() if c not in taken_nodes}
            for u, candidates_of in table.items()
            if u not in mu
        }
        rivals = defaultdict(dict)
        for u, candidates_of in open_scores.items():
            for c, v in candidates_of.items():
                rivals[c][u] = v
        result = {}
        for u, candidates_of in open_scores.items():
            for c, v in candidates_of.items():
                other_scores = [w for d, w in candidates_of.items() if d != c] + [
                    w for x, w in rivals[c].items() if x != u
                ]
                if v >= floor and all(v - w >= margin for w in other_scores):
                    result[u] = c
        mu |= result
        if not result or not greedy:
            return mu


def scores(state, reach):
    """Log-odds of the candidates of every node that is no seed."""
    read = model(state)
    return {
        u: {c: log_odds(u, c, state, read) for c in candidates(u, state, reach) if c not in state.seeds.values()}
        for u in state.source
        if u not in state.seeds
    }


def candidates(u, state, reach):
    images = sorted((state.mu[x] for x in state.source[u] if x in state.mu), key=lambda y: len(state.target[y]))
    proposed = set(state.similar.get(u, ()))
    for y in images:
        degree = len(state.target[y])
        total = sum(len(state.target[z]) for z in images if len(state.target[z]) <= degree)
        if total <= reach or degree == len(state.target[images[0]]):
            proposed |= state.target[y]
    return proposed


def model(state):
    """s, s', b and phi."""
    source, target, mu = state.source, state.target, state.mu
    images = set(mu.values())
    ends = [(x, z) for x in mu for z in source[x] if z in mu]
    ends_there = [(y, z) for y in images for z in target[y] if z in images]
    common = sum(mu[z] in target[mu[x]] for x, z in ends) + 1
    unmapped_degree = {x: len(source[x] - mu.keys()) for x in mu}
    left_there = {x: len(target[mu[x]] - images) for x in mu}
    b = (sum(left_there.values()) + 1) / (sum(unmapped_degree.values()) + 1)
    squares = sum((left_there[x] - b * unmapped_degree[x]) ** 2 for x in mu)
    spread = squares / sum(b * unmapped_degree[x] + left_there[x] + 1 for x in mu)
    s, s_there = common / (len(ends) + 2), common / (len(ends_there) + 2)
    return min(max(s, 0.05), 0.95), min(max(s_there, 0.05), 0.95), b, min(max(spread, 0.1), 10.0)


def log_odds(u, c, state, read):
    source, target, mu = state.source, state.target, state.mu
    s, s_there, b, phi = read
    mapped_contacts, known_there = [x for x in source[u] if x in mu], target[c] & set(mu.values())
    witnesses = [mu[x] for x in mapped_contacts if mu[x] in target[c]]
    edges = sum(len(near) for near in target.values())
    total = 0.0
    for y in witnesses:
        surprise = math.log(s * edges / len(target[y])) - math.log(1 - s) - math.log(1 - s_there)
        total += round(surprise * GRID) / GRID - math.log(len(target[c]))
    total += len(mapped_contacts) * math.log(1 - s) + len(known_there) * math.log(1 - s_there)
    r_u, r_c = b * (len(source[u]) - len(mapped_contacts)), len(target[c]) - len(known_there)
    variance = phi * (r_u + r_c + 1)
    density = -0.5 * ((r_c - r_u) ** 2 / variance + math.log(2 * math.pi * variance))
    degrees = Counter(max(len(near), 1) for near in target.values())
    share = degrees[max(len(target[c]), 1)] / len(target)
    return total + density - math.log(share) - math.log(len(target)) + state.ratio.get((u, c), 0.0)
