"""Audits of channels from samples: adversaries learn from one half and are measured on the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unmask.channels._matrices import Ints
from unmask.channels.attacks.learning import FrequencyAttack, NearestNeighborAttack, Samples
from unmask.channels.audit.learned import evidence_result
from unmask.channels.audit.rows import make_row, score_belief
from unmask.channels.channel import Channel
from unmask.channels.criteria.samples import CountedInformation, counted_information
from unmask.channels.loss_model import LossModel
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import Measure, realized_error
from unmask.results import Advice, Block, Column, Result, Row, Table
from unmask.results.formats import number
from unmask.results.words import release_name
from unmask.scoring import REALIZED

FREQUENCIES, NEAREST = "frequencies", "nearest neighbor"

ADVERSARIES = {
    FREQUENCIES: "learns from half of the samples which secret gives which output",
    NEAREST: "learns from half of the samples and takes the nearest output",
}

MAX_SAMPLES, MAX_LEARNED = 10**9, 10**5
"""Samples of a system, and of each half that adversaries learn from or are judged on."""

SIGNIFICANT = 0.05
"""Largest p-value at which samples show that something leaks."""

MIN_SAMPLES_PER_OUTPUT = 10
"""Mean number of samples of an output below which the leakage is hardly known."""

RARE_OUTPUTS = (
    "{name} has {outputs:,} outputs in {samples:,} samples. Most outputs are too rare to learn from, so the upper "
    "bound on the leakage is high. Round the outputs, for example to 20 values, and audit again."
)

HELD_OUT_MEASURES = frozenset({realized_error().name, *(measure.name for measure in REALIZED)})
"""Measures of held-out samples. Announced probabilities from few samples do not describe the system."""

BIAS_NOTE = (
    "Counts of few samples show leakage even if nothing leaks. The mean leakage of random pairings is subtracted from "
    "the counted leakage."
)

COLUMNS = (
    Column("name", "System"),
    Column("samples", "Samples", "number"),
    Column("leakage_bits", "Leakage", "number", unit="bits", places=3),
    Column("low", "At least", "number", unit="bits", places=3),
    Column("high", "At most", "number", unit="bits", places=3),
    Column("counted", "Counted", "number", unit="bits", places=3),
    Column("by_chance", "By chance", "number", unit="bits", places=3),
    Column("p_value", "p-value", "number", places=3),
)


def audit_samples(
    channels: Mapping[str, Channel],
    model: LossModel,
    *,
    seed: int,
    title: str,
    assumptions: Sequence[str],
    measures: Sequence[Measure] = (),
) -> Result:
    """Estimate what channels leak from samples of them.

    The samples are divided at random into halves: adversaries learn from one and are judged on the other. Leakage is
    corrected for chance. No row is exact, and no worst case is reported.
    """
    rows: list[Row] = []
    announced = [measure for measure in measures if not measure.needs_truth]
    leakages: dict[str, CountedInformation] = {}
    unseen: dict[str, float] = {}
    for name, channel in channels.items():
        counts = _to_counts(name, channel)
        leakages[name] = counted_information(counts, rng=np.random.default_rng(seed))
        training, fresh = _halve(counts, seed)
        unseen[name] = float(fresh[:, training.sum(axis=0) == 0].sum() / fresh.sum())
        for adversary, belief, truth in _attack_held_out(channel, training, fresh):
            names: dict[str, Any] = {"release": name, "adversary": adversary}
            further = [measure for measure in measures if measure.needs_truth]
            wants = HELD_OUT_MEASURES.__contains__
            rows += score_belief(belief, model, **names, truth=truth, wants=wants, further=further)
        rows.append(_leakage_row(name, leakages[name]))
    findings = [_describe(name, leakage) for name, leakage in leakages.items()]
    table = Table.from_records(
        "samples_leakages",
        COLUMNS,
        (
            (name, item.n, item.corrected, item.low, item.high, item.counted, item.by_chance, item.p_value)
            for name, item in leakages.items()
        ),
    )
    heading = "Leakage estimated from samples"
    return evidence_result(
        title=title,
        setting="An adversary has samples of a system: they see one output of it, and estimate the secret.",
        headline=findings[0],
        evidence=_evidence_table(channels, unseen),
        reading="Each sample is a run of the system: a secret and its output.",
        rows=rows,
        unit=model.unit,
        tables=(table,),
        blocks=(Block("leakage", heading, " ".join(findings[1:]), (), (table.name,), BIAS_NOTE, open=True),),
        advice=Advice(
            "More samples narrow the interval. If the probabilities are known, audit the channel itself:",
            "unmask audit channel CHANNEL.csv --report page.html",
        ),
        adversaries=ADVERSARIES,
        sample_condition="leakage_bits.high <= 0.1",
        assumptions=(
            "Adversaries learn from a random half of the samples, and every rate is over the other half.",
            *assumptions,
        ),
        cautions=[
            RARE_OUTPUTS.format(name=release_name(name), outputs=channel.n_y, samples=leakages[name].n)
            for name, channel in channels.items()
            if leakages[name].n < MIN_SAMPLES_PER_OUTPUT * channel.n_y
        ],
        not_run=[(measure.name, "samples do not show it; it needs the channel itself") for measure in announced],
    )


def _evidence_table(channels: Mapping[str, Channel], unseen: Mapping[str, float]) -> Table:
    columns = (
        Column("name", "System"),
        Column("form", "Form"),
        Column("samples", "Samples", "number"),
        Column("secrets", "Secrets", "number"),
        Column("outputs", "Outputs", "number"),
        Column("unseen", "Outputs not learned", "share"),
        Column("chance", "Most common secret", "share"),
    )
    records = (
        (name, "samples", channel.samples, channel.n_x, channel.n_y, unseen[name], float(channel.prior.max()))
        for name, channel in channels.items()
    )
    return Table.from_records("evidence", columns, records)


def _describe(name: str, leakage: CountedInformation) -> str:
    """Return the leakage of a system in one sentence."""
    amount = f"{release_name(name)} leaks {number(leakage.corrected, 3)} bits, at most {number(leakage.high, 3)} bits"
    if leakage.p_value <= SIGNIFICANT:
        return f"{amount}, by {leakage.n:,} samples."
    return f"{amount}. The {leakage.n:,} samples do not show any leakage, which does not prove its absence."


def _to_counts(name: str, channel: Channel) -> Ints:
    if channel.samples is None:
        raise UnmaskError(f"{name} is a channel and others are samples, expected one of the two; audit them apart")
    if not 4 <= channel.samples < MAX_SAMPLES:
        raise UnmaskError(f"{name} has {channel.samples:,} samples, expected 4 to {MAX_SAMPLES:,}: half are held out")
    return np.rint(channel.dense() * channel.prior[:, None] * channel.samples).astype(np.int64)


def _halve(counts: Ints, seed: int) -> tuple[Ints, Ints]:
    """Return the counts of a random half of the samples, and of the other half."""
    rng, half = np.random.default_rng(seed), int(counts.sum()) // 2
    training = _draw(counts, min(half, MAX_LEARNED), rng)
    return training, _draw(counts - training, min(half, MAX_LEARNED), rng)


def _attack_held_out(channel: Channel, training: Ints, fresh: Ints) -> Iterator[tuple[str, Posterior, Truth]]:
    """Yield the belief of each adversary about the held-out samples, and their secrets."""
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


def _draw(counts: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return the counts of n samples drawn without replacement."""
    return rng.multivariate_hypergeometric(counts.ravel(), n, method="marginals").reshape(counts.shape)


def _leakage_row(name: str, leakage: CountedInformation) -> Row:
    terms = f"counted {leakage.counted:.3g}, by chance {leakage.by_chance:.3g}"
    return make_row(
        name, FREQUENCIES, "leakage_bits", leakage.corrected, prior=0.0, low=leakage.low, high=leakage.high,
        interval="samples", n=leakage.n, status="model", note=f"{terms}, p = {leakage.p_value:.3g} that nothing leaks",
    )  # fmt: skip
