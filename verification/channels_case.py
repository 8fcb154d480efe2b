"""What the parts of the verification of channels share: random channels and losses, and short ways to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from show import Verdict

from unmask.channels import Channel

Floats = NDArray[np.float64]

LOSSES = ("hamming", "absolute", "squared", "any")


def same(
    claim: str, published: str, wanted: float, ours: float, *, tolerance: float = 1e-6, required: bool = True
) -> Verdict:
    """A verdict on one number: it holds within the tolerance."""
    return Verdict(claim, published, f"{ours:.6g}", bool(abs(ours - wanted) <= tolerance), required)


def below(claim: str, published: str, excess: float, *, cases: int, tolerance: float = 1e-6) -> Verdict:
    """A verdict on an inequality: it holds when the largest excess over all cases is rounding."""
    text = f"kept in {cases:,} cases" if excess <= tolerance else f"broken by {excess:.3g} in one of {cases:,} cases"
    return Verdict(claim, published, text, bool(excess <= tolerance))


def refuted(claim: str, published: str, ours: str, example: bool) -> Verdict:
    """A claim of the paper that our example contradicts: shown as a difference, required to be a counter-example."""
    return Verdict(claim, published, ours, False, required=not example)


def random_channel(rng: np.random.Generator, n_x: int, n_y: int, *, sharpness: float = 1.0) -> Channel:
    """Rows and prior drawn from Dirichlet distributions; small `sharpness` makes rows nearly deterministic."""
    rows = rng.dirichlet(np.full(n_y, sharpness), size=n_x) + 1e-9
    return Channel(rows / rows.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(n_x)) * (1 - n_x * 1e-6) + 1e-6)


def random_loss(rng: np.random.Generator, kind: str, n: int) -> Floats:
    """(n, n) d[answer, truth] with 0 for the right answer."""
    if kind == "hamming":
        return 1.0 - np.eye(n)
    if kind == "any":
        loss = rng.random((n, n))
        np.fill_diagonal(loss, 0.0)
        return loss
    points = rng.random(n)
    away = np.abs(points[:, None] - points[None, :])
    return away if kind == "absolute" else away**2


def random_cases(seed: int, how_many: int) -> Iterator[tuple[Channel, Floats, str]]:
    """Channels of 2 to 8 secrets and outputs, with each kind of loss in turn."""
    rng = np.random.default_rng(seed)
    for i in range(how_many):
        n_x, n_y = int(rng.integers(2, 9)), int(rng.integers(2, 9))
        channel = random_channel(rng, n_x, n_y, sharpness=float(rng.choice([0.2, 1.0, 5.0])))
        yield channel, random_loss(rng, LOSSES[i % len(LOSSES)], n_x), LOSSES[i % len(LOSSES)]


def entropy_nats(p: float) -> float:
    """h(p), in nats."""
    return float(-p * np.log(p) - (1 - p) * np.log1p(-p)) if 0 < p < 1 else 0.0


def crossing(rises: Callable[[int], float], level: float, low: int, high: int) -> int:
    """The first whole number at which something has come to a level, by steps of one part in a hundred."""
    k = low
    while k < high and rises(k) <= level:
        k = max(k + 1, int(k * 1.02))
    return k
