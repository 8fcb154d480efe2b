"""How noisy is the release? The error rates of its cells, fitted to what the adversary already knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.tables.attacks.noisy import BayesAttack, CellError
from unmask.tables.background import Background, people_of
from unmask.tables.release import Table

START = 0.1
SMALLEST, LARGEST = 1e-4, 0.999


def fit_errors(
    release: Table,
    knowledge: Background,
    *,
    error: CellError | None = None,
    prior_present: float = 1.0,
    people: int = 200,
    rounds: int = 20,
) -> BayesAttack:
    """The Bayes attacker whose redraw rates make what the adversary knows most likely, one rate for each column.

    Expectation-maximization: with p(x given v) under the present rates, the new rate of a column is the expected share
    of cells that were redrawn, p(redrawn given v, x) = redraw q(v) / p(v given x), over people who are not believed
    absent. It uses no truth, and only the first `people` of the people known: shuffle them if their order means
    something.

    error  : the form of the error (jitter is kept as given); its redraw rate is where the fit starts, 0.1 by default
    rounds : steps of the fit; rates stay within 1e-4 and 0.999

    A. P. Dempster, N. M. Laird & D. B. Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977;
    W. E. Winkler, "Using the EM algorithm for weight computation in the Fellegi-Sunter model", 1988.
    """
    if people < 1 or rounds < 1:
        raise UnmaskError(f"{people} people and {rounds} rounds were asked for, expected at least 1 of each")
    known = people_of(knowledge, BayesAttack()).take(slice(0, people))
    start = error or CellError(redraw=START)
    names = {column.name for column in known.quasi_identifiers}
    rates = {column.name: start for column in release.quasi_identifiers if column.name in names}
    for _ in range(rounds):
        attack = BayesAttack(error=rates, prior_present=prior_present)
        belief = attack(release, Background(known))
        rates = {
            name: replace(rate, redraw=_redrawn(attack, belief, release, known, name)) for name, rate in rates.items()
        }
    return BayesAttack(error=rates, prior_present=prior_present)


def _redrawn(attack: BayesAttack, belief: Posterior, release: Table, known: Table, name: str) -> float:
    """Expected share of the column's cells that were redrawn, over known cells of people believed present."""
    mine, theirs = known.column(name), release.column(name)
    first = np.full(belief.n_observations, -1)
    first[belief.observation[::-1]] = np.arange(belief.n_targets)[::-1]
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    own = mine.codes[first[row]]
    responsibility = _responsibility(attack, known, release, name)[own, theirs.codes[belief.candidate]]
    weight = np.exp(belief.log_probability.astype(np.float64)) * belief.observation_weight[row]
    weight = np.where(mine.levels.open(release.missing)[own], 0.0, weight)
    total = float(weight.sum())
    return float(np.clip(weight @ responsibility / total, SMALLEST, LARGEST)) if total > 0 else SMALLEST


def _responsibility(attack: BayesAttack, known: Table, release: Table, name: str) -> NDArray[np.float64]:
    """(n_known_levels, n_released_levels) probability that a cell was redrawn, given its true and released value."""
    mine, theirs = known.column(name), release.column(name)
    total = np.exp(attack.log_table(mine, theirs, missing=release.missing))
    return np.clip(np.exp(attack.log_redrawn(mine, theirs))[:, None] / np.maximum(total, 1e-300), 0.0, 1.0)
