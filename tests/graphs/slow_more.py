"""Further attacks on graphs in plain Python over dictionaries, straight from their definitions."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict

Adjacency = dict[int, set[int]]
TIE = 1e-9


# --- witnesses ------------------------------------------------------------------------------------------------------


def korula_lattanzi(source: Adjacency, target: Adjacency, seeds: dict[int, int], *, witnesses: int):
    mu, sweeps = dict(seeds), []
    highest = min(max(map(len, source.values())), max(map(len, target.values())))
    while not sweeps or sweeps[-1]:
        sweeps.append(0)
        bucket = math.floor(math.log2(highest)) if highest else -1
        while bucket >= math.floor(math.log2(witnesses)):
            new = _mutually_best(source, target, mu, 2**bucket, witnesses)
            mu |= new
            sweeps[-1] += len(new)
            bucket -= 1
    return mu, sweeps


def _mutually_best(source, target, mu, least_degree, witnesses):
    free = [u for u in source if u not in mu and len(source[u]) >= least_degree]
    other_candidates = [c for c in target if c not in set(mu.values()) and len(target[c]) >= least_degree]
    count = {
        (u, c): sum(1 for x in source[u] if x in mu and mu[x] in target[c]) for u in free for c in other_candidates
    }
    new = {}
    for (u, c), n in count.items():
        rivals = [count[u, d] for d in other_candidates if d != c] + [count[v, c] for v in free if v != u]
        if n >= witnesses and all(n > rival for rival in rivals):
            new[u] = c
    return new


# --- iterative repair -----------------------------------------------------------------------------------------------


def irma(source: Adjacency, target: Adjacency, seeds: dict[int, int]):
    mu, sweeps = dict(seeds), []
    expanded: set[tuple[int, int]] = set()
    for again in (True, False):
        while True:
            new = _greedy(source, target, marks(source, target, set(mu.items()) | expanded), mu, 2)
            mu |= new
            sweeps.append(len(new))
            if not new:
                break
        if again:
            taken_nodes = set(mu.values())
            all_marks = marks(source, target, set(mu.items()))
            expanded = {(u, c) for u, c in all_marks if u not in mu and c not in taken_nodes}
            if not expanded:
                sweeps.append(0)
                break
    repairs, n_kept, n_kept_before = 0, _count_kept_edges(source, target, mu), 0
    while repairs < 4 or n_kept > 1.02 * n_kept_before:
        mu = _repaired(source, target, seeds, mu, 2, sweeps)
        repairs, n_kept, n_kept_before = repairs + 1, _count_kept_edges(source, target, mu), n_kept
    for least_marks in (1, 2, 2, 2, 2):
        mu = _repaired(source, target, seeds, mu, least_marks, sweeps)
    return mu, sweeps


def marks(source: Adjacency, target: Adjacency, pairs):
    """Marks of all pairs of nodes that have one."""
    return Counter((u, c) for x, y in pairs for u in source[x] for c in target[y])


def _repaired(source, target, seeds, mu, least_marks, sweeps):
    new = seeds | _greedy(source, target, marks(source, target, set(mu.items())), seeds, least_marks)
    sweeps.append(sum(1 for u in source if mu.get(u) != new.get(u)))
    return new


def _greedy(source, target, marked, mu, least_marks):
    """Return the pairs that the greedy choice adds to a mapping."""
    classes = defaultdict(list)
    for (u, c), n in marked.items():
        if n >= least_marks:
            gap = abs(len(source[u]) - len(target[c]))
            classes[-n, gap].append((u, c))
    closed, closed_target, new = set(mu), set(mu.values()), {}
    for _, pairs in sorted(classes.items()):
        alive = [(u, c) for u, c in pairs if u not in closed and c not in closed_target]
        claims, claims_target = Counter(u for u, _ in alive), Counter(c for _, c in alive)
        new |= {u: c for u, c in alive if claims[u] == 1 and claims_target[c] == 1}
        closed |= set(claims)
        closed_target |= set(claims_target)
    return new


def _count_kept_edges(source, target, mu):
    return sum(1 for u in mu for v in source[u] if u < v and v in mu and mu[v] in target[mu[u]])


# --- directed -------------------------------------------------------------------------------------------------------

Links = set[tuple[int, int]]


def directed_nar09(source: Links, target: Links, sizes: tuple[int, int], seeds: dict[int, int], *, theta: float):
    mu, sweeps = dict(seeds), []
    while not sweeps or sweeps[-1]:
        new, back = {}, {y: x for x, y in mu.items()}
        for v in set(range(sizes[0])) - mu.keys():
            c = _standing_out(directed_scores(source, target, mu, v), theta)
            if c is not None and _standing_out(directed_scores(target, source, back, c), theta) == v:
                new[v] = c
        mu |= new
        sweeps.append(len(new))
    return mu, sweeps


def directed_scores(source_links: Links, target_links: Links, mu: dict[int, int], node: int):
    into, out_degree = Counter(b for _, b in target_links), Counter(a for a, _ in target_links)
    score: dict[int, float] = defaultdict(float)
    for a, b in source_links:
        if b == node and a in mu:
            for start, c in target_links:
                if start == mu[a] and c not in set(mu.values()):
                    score[c] += 1 / math.sqrt(into[c])
        if a == node and b in mu:
            for c, end in target_links:
                if end == mu[b] and c not in set(mu.values()):
                    score[c] += 1 / math.sqrt(out_degree[c])
    return score


def _standing_out(score, theta):
    if len(score) <= 1:
        return next(iter(score), None)
    (top, winner), (second, _) = sorted(((s, c) for c, s in score.items()), reverse=True)[:2]
    if top - second <= TIE * top:
        return None
    return winner if (top - second) / statistics.stdev(score.values()) >= theta else None
