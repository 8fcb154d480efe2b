"""Calibration of adversaries: predicted success compared with actual success."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from unmask.findings.row_words import format_target
from unmask.measures import realized_success, success_probability
from unmask.measures.interval import wilson
from unmask.measures.truth_positions import locate_each, locate_truth
from unmask.results import Block, Chart, Column, Table
from unmask.results.formats import percent
from unmask.results.names import IDENTITY
from unmask.tables.audit.attack_run import AttackRun

BIN_ENDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Ends of the bins of predicted success; a bin includes its upper end."""


class CalibrationBin(NamedTuple):
    """Predicted and actual success for people of about the same predicted success.

    Parameters
    ----------
    release, adversary, target : str
        Release, adversary, and "identity" or a sensitive column.
    announced, realized : float
        Mean predicted success, and share of people for which the adversary is right.
    low, high : float
        95 % interval of `realized` (Wilson), as if people were independent.
    people : int
        Number of people in the bin whose truth is known.
    """

    release: str
    adversary: str
    target: str
    announced: float
    realized: float
    low: float
    high: float
    people: int


def calibration_bins(run: AttackRun) -> Iterator[CalibrationBin]:
    """Yield the bins of a belief; none if no truth is known, or if the belief has only scores or picks."""
    if run.truth is None or run.picked is not None or run.belief.status == "scores" or not run.truth.judged.any():
        return
    assert realized_success.of_positions is not None
    locate = locate_truth if run.person is None else locate_each
    positions = locate(run.belief, run.truth)
    judged_observations = np.flatnonzero(positions.truth.judged)
    announced = success_probability.per_target(positions.posterior)[judged_observations]
    realized = realized_success.of_positions(positions)[judged_observations]
    bins = np.maximum(np.searchsorted(BIN_ENDS, np.round(announced, 9), side="left") - 1, 0)
    names = run.release, run.adversary, run.target
    weight, people = positions.posterior.weight[judged_observations], positions.n_targets[judged_observations]
    for number in np.unique(bins).tolist():
        inside = bins == number
        predicted, actual = (
            float(np.average(values[inside], weights=weight[inside])) for values in (announced, realized)
        )
        n_people = (
            int(people[inside].sum()) if run.person is None else len(np.unique(run.person[judged_observations[inside]]))
        )
        yield CalibrationBin(*names, predicted, actual, *wilson(actual, n_people), n_people)


# --- findings --------------------------------------------------------------------------------------------------------

EXPLANATION = (
    "People whose truth is known are grouped by predicted success. On the dotted line, predictions are right. Above "
    "it, the adversary is right more often than predicted; below it, less often. Thin lines are 95\u00a0% intervals. "
    "A belief is refuted if predicted and actual success differ by more than chance explains, over all people or over "
    "a tenth of them; a belief that is not exact must also differ by more than 3 points."
)

COLUMNS = (
    Column("release"), Column("adversary"), Column("target"), Column("announced", "Predicted success", "share"),
    Column("realized", "Actual success", "share"), Column("low", kind="share"), Column("high", kind="share"),
    Column("people", "People", "group", exact=True),
)  # fmt: skip


def calibration_table(bins: Iterable[CalibrationBin]) -> Table:
    """Return the table of the bins of all releases."""
    return Table.from_records("promises", COLUMNS, bins)


def calibration_block(table: Table) -> Block:
    """Return a chart for each release and target, and the largest gap."""
    groups = dict.fromkeys((row["release"], row["target"]) for row in table.rows)
    several = len({release for release, _ in groups}) > 1
    charts = tuple(_chart(release, target, several=several) for release, target in groups)
    heading = "Can the numbers be trusted? Predicted and actual success"
    return Block("promises", heading, largest_gap, charts, introduction=EXPLANATION, is_finding=False)


def _chart(release: str, target: str, *, several: bool) -> Chart:
    return Chart(
        "points", "promises", "announced", "realized", "adversary", low="low", high="high", log="xy",
        title=f"{format_target(target)}{f', {release}' if several else ''}", label="Actual against predicted success",
        diagonal="as predicted", where={"release": release, "target": target},
    )  # fmt: skip


def largest_gap(tables: Mapping[str, Table]) -> str:
    """Return the bin whose predicted and actual success differ most."""
    rows = tables["promises"].rows
    if not rows:
        return ""
    row = max(rows, key=lambda row: abs(row["announced"] - row["realized"]))
    about = "their record" if row["target"] == IDENTITY else row["target"]
    rates = f"predicted {percent(row['announced'])}, actual {percent(row['realized'])}"
    return f"Largest calibration gap: {rates} ({about}, {row['people']:,} people)."
