"""From what an attack computes to its belief: entries and a mapping, or scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import equal_weights
from unmask.graphs.attacks._kernels import best
from unmask.graphs.attacks._sides import TIE, Arcs, Rule, Side
from unmask.graphs.attacks.matching import Matching

Entries = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]
"""Rows, candidates, and the log-probability of each, none twice."""


def matching_of(
    mapping: NDArray[np.int32],
    entries: Entries,
    *,
    n_target: int,
    sweeps: Sequence[int],
    visits: int,
    attack: str,
    unlisted: NDArray[np.float64] | None = None,
) -> Matching:
    """The belief that lists these entries; a row without entries keeps the prior.

    unlisted : (n_source,) what the target nodes that a row does not list share; None: what the row lacks to 1
    """
    row, candidate, log_p = entries
    n_source = len(mapping)
    order = np.argsort(row * np.int64(n_target) + candidate)
    candidate, log_p = candidate[order], np.minimum(log_p[order], 0.0)
    if unlisted is None:
        held = np.bincount(row[order], weights=np.exp(log_p), minlength=n_source)
        unlisted = np.maximum(1.0 - held, 0.0)
        unlisted[unlisted < 1e-9] = 0.0
    indptr = np.zeros(n_source + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n_source), out=indptr[1:])
    del entries, row, order  # of millions of nodes
    return Matching(
        indptr=indptr,
        candidate=candidate.astype(np.int32, copy=False),
        log_probability=np.maximum(log_p, np.log(np.finfo(np.float32).tiny)).astype(np.float32, copy=False),
        unlisted=unlisted,
        n_unlisted=np.where(unlisted > 0, n_target - np.diff(indptr), 0),
        observation=np.arange(n_source),
        weight=equal_weights(n_source),
        n_candidates=n_target,
        log_prior=-float(np.log(n_target)),
        status="scores",
        provenance={"attack": attack},
        mapping=mapping,
        sweeps=np.array(sweeps, dtype=np.int64),
        visits=visits,
    )


def softmax_of(
    nodes: NDArray[np.int32],
    image: NDArray[np.int32],
    leaders: tuple[NDArray[np.int32], NDArray[np.float64]],
    *,
    n_target: int,
    sweeps: Sequence[int],
    visits: int,
    attack: str,
) -> Matching:
    """The belief that scores amount to, see `Matching`: whoever is not listed counts as a score of 0.

    nodes   : the free nodes; image: (n_source,) of the mapped ones, who are held for certain
    leaders : (n_nodes, listed + 1) the best candidates of each free node and their scores, best first. Those that tie
              with the last are left out together: position never decides who is listed.
    """
    candidate, score = leaders
    kept = score > score[:, -1:] * (1.0 + TIE)
    top = np.where(kept[:, 0], score[:, 0], 0.0)  # scores are above 0, so the top one is above that of the unlisted
    shifted = np.where(kept, score - top[:, None], -np.inf)
    rest = (n_target - kept.sum(axis=1)) * np.exp(-top)
    evidence = np.exp(shifted).sum(axis=1) + rest
    row, rank = np.nonzero(kept)
    mapped, unlisted = np.flatnonzero(image >= 0).astype(np.int32), np.zeros(len(image))
    unlisted[nodes] = rest / evidence
    log_p = (shifted[row, rank] - np.log(evidence)[row]).astype(np.float32)
    return matching_of(
        image,
        (
            np.concatenate((nodes[row], mapped)),
            np.concatenate((candidate[row, rank], image[mapped])),
            np.concatenate((log_p, np.zeros(len(mapped), dtype=np.float32))),
        ),
        n_target=n_target,
        sweeps=sweeps,
        visits=visits,
        attack=attack,
        unlisted=unlisted,
    )


def believe(
    source: Side | Arcs,
    target: Side | Arcs,
    rule: Rule,
    *,
    listed: int,
    sweeps: Sequence[int],
    visits: int,
    attack: str,
    threads: int = 1,
) -> Matching:
    """The belief after the last pass, see `Matching`; of an unmapped node it lists at most `listed` candidates."""
    free = np.flatnonzero(source.image < 0).astype(np.int32)
    leaders = best(free, source, target, rule, width=listed + 1, threads=threads)
    return softmax_of(
        free, source.image, leaders, n_target=len(target.image), sweeps=sweeps, visits=visits, attack=attack
    )
