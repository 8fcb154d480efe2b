"""Audits of channels from samples: adversaries learn from one half and are measured on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.audit import REALIZED
from unmask.cases.stakes import Stakes
from unmask.channels import Channel
from unmask.channels.attacks.learning import FrequencyAttack, NearestNeighborAttack, Samples
from unmask.channels.criteria.samples import CountedInformation, counted_information
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import realized_error
from unmask.reports import ReportData
from unmask.reports.facts.channel import SampledLeakage, SampledRisk
from unmask.results import Row

FREQUENCIES, NEAREST = "frequencies", "nearest neighbor"

ADVERSARIES = {
    FREQUENCIES: "learns from half of the samples which secret gives which output",
    NEAREST: "learns from half of the samples and takes the nearest output",
}

MAX_SAMPLES, MAX_LEARNED = 10**9, 10**5
"""Samples of a system, and of each half that adversaries learn from or are judged on."""

HELD_OUT_MEASURES = frozenset({realized_error().name, *(measure.name for measure in REALIZED)})
"""Measures of held-out samples. Announced probabilities from few samples do not describe the system."""

RunCase = Callable[..., tuple[Row, ...]]


def audit_samples(
    channels: Mapping[str, Channel], stakes: Stakes, run_case: RunCase, *, title: str, assumptions: Sequence[str]
) -> ReportData:
    """Estimate what channels leak from samples of them.

    The samples are divided at random into halves: adversaries learn from one and are judged on the other. Leakage is
    corrected for chance. No row is exact, and no worst case is reported.
    """
    rows: list[Row] = []
    leakages: list[SampledLeakage] = []
    for name, channel in channels.items():
        counts = _to_counts(name, channel)
        leakage = counted_information(counts, rng=np.random.default_rng(0))
        for adversary, belief, truth in _attack_held_out(channel, counts):
            labels = {"release": name, "adversary": adversary, "truth": truth}
            rows += run_case(belief, stakes, wants=HELD_OUT_MEASURES.__contains__, **labels)
        rows.append(_leakage_row(rows[-1], leakage, channel.n_y))
        estimate = {key: value for key, value in leakage._asdict().items() if key not in ("corrected", "n")}
        leakages.append(SampledLeakage(name, leakage.n, leakage.corrected, **estimate))
    return ReportData(
        title=title,
        who="An adversary has samples of a system: they see one output of it, and estimate the secret.",
        rows=tuple(rows),
        assumptions=(
            "Adversaries learn from a random half of the samples, and every rate is over the other half.",
            "Other adversaries, or more samples, may learn more: errors are those of the adversaries named here.",
            *assumptions,
        ),
        not_run=(("epsilon, worst cases and bounds", "samples do not show them; they need the channel itself"),),
        adversaries=ADVERSARIES,
        success=("realized_success",),
        subjects=(SampledRisk(next(iter(channels.values())).n_x, tuple(leakages)),),
    )


def _to_counts(name: str, channel: Channel) -> NDArray[np.int64]:
    if channel.samples is None:
        raise UnmaskError(f"{name} is a channel and others are samples, expected one of the two; audit them apart")
    if not 4 <= channel.samples < MAX_SAMPLES:
        raise UnmaskError(f"{name} has {channel.samples:,} samples, expected 4 to {MAX_SAMPLES:,}: half are held out")
    return np.rint(channel.dense() * channel.prior[:, None] * channel.samples).astype(np.int64)


def _attack_held_out(channel: Channel, counts: NDArray[np.int64]) -> Iterator[tuple[str, Posterior, Truth]]:
    """Yield the belief of each adversary about the held-out samples, and their secrets."""
    rng, half = np.random.default_rng(0), int(counts.sum()) // 2
    training = _draw(counts, min(half, MAX_LEARNED), rng)
    fresh = _draw(counts - training, min(half, MAX_LEARNED), rng)
    (x, y), (secret, output) = (
        [np.repeat(axis, half_counts[half_counts > 0]) for axis in np.nonzero(half_counts)]
        for half_counts in (training, fresh)
    )
    truth, sizes = Truth(secret), {"n_x": channel.n_x, "n_y": channel.n_y}
    yield FREQUENCIES, FrequencyAttack()(output, Samples(x, y, **sizes)), truth
    try:
        point = np.array(channel.y_labels or (), dtype=np.float64)
    except ValueError:
        return
    if len(point) and np.isfinite(point).all():
        yield NEAREST, NearestNeighborAttack()(point[output], Samples(x, point[y], n_x=channel.n_x)), truth


def _draw(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the counts of n samples drawn without replacement."""
    return rng.multivariate_hypergeometric(counts.ravel(), n, method="marginals").reshape(counts.shape)


def _leakage_row(row: Row, leakage: CountedInformation, n_outputs: int) -> Row:
    value = leakage.corrected
    return replace(
        row, adversary=FREQUENCIES, measure="leakage_bits", unit="bits", direction="high", prior=0.0, posterior=value,
        gain=value, low=leakage.low, high=leakage.high, interval="samples", n=leakage.n, n_observations=n_outputs,
        worst=value, quantiles=(value,) * 5, status="model", note=f"p = {leakage.p_value:.3g} that nothing leaks",
    )  # fmt: skip
