"""What do people like this one have? Anybody's estimator, trained on the release."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_ranges
from unmask.tables.attacks.backoff import BackOff
from unmask.tables.attacks.marginal_counts import shares
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.background import Background, Rng, before
from unmask.tables.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ModelAttribute:
    """What do people like this one have? An estimator is trained on the release, and asked about real people.

    Each column that is known and released is one feature, from 0 to 1, of numbers: the place among the quantiles of
    `population`, or else of the people known; of others one feature for each value. Of a released cell that holds
    several, one is drawn for each row, as the population has them. With n released rows, the release's shares r of the
    values and the population's q, the belief is proportional to (n p + r) q / r: nothing has probability 0, and a value
    that the release has too often is not believed in for that. What an estimator announces depends on it: `model`, or
    refuted.

    sensitive : the column
    estimator : an object with `fit(X, y)`, `predict_proba(X)` and `classes_`, as in scikit-learn, which is copied, or
                "module:Class" of scikit-learn, which is made without arguments; a `random_state` that is not set is 0
    bins      : into how many quantiles numbers are cut

    Assumes: real people are like the released rows, and these are enough for the estimator to learn from.

    Fails when: the estimator announces more than it knows, as many do: an audit then marks its belief `refuted`.

    >>> told = {"job": ["smith", "baker"] * 10, "ill": ["yes", "no"] * 10}
    >>> release = Table.read(told, quasi_identifiers="job", sensitive="ill")
    >>> known = Table.read({"job": ["baker"]}, quasi_identifiers="job")
    >>> belief = ModelAttribute("ill")(release, Background(known))
    >>> [(one.candidate, round(one.probability, 2)) for one in belief.candidates(0)]
    [('no', 0.82), ('yes', 0.18)]

    M. Templ et al., "RAPID: risk of attribute prediction-induced disclosure in synthetic microdata", 2026.
    """

    sensitive: str
    estimator: Any = "sklearn.linear_model:LogisticRegression"
    bins: Annotated[int, Range(1)] = 32

    def __post_init__(self) -> None:
        check_ranges(self)
        if isinstance(self.estimator, str) and not self.estimator.startswith("sklearn."):
            usual = ModelAttribute.estimator
            raise UnmaskError(f"estimator is {self.estimator!r}, expected one of scikit-learn, such as {usual!r}")

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """The belief about the sensitive value of each person known, or of everybody by their own row."""
        if why := self.refusal(release, knowledge):
            raise UnmaskError(why)
        known, secret = Background.of(knowledge), release.column(self.sensitive)
        people = release if known.people is None else known.people
        labels, prior, source = before(secret, known.population)
        rng = secret_unless(rng or np.random.default_rng(0))  # always the same: the third digit moves with the draws
        rows, asked = _features(people, release, known.population, self.bins, rng)
        of_release = (np.bincount(secret.codes, minlength=len(labels)) + 0.5) / (len(rows) + 0.5 * len(labels))
        distinct, of = np.unique(asked, axis=0, return_inverse=True)
        p = len(rows) * _predicted(self._made(), rows, secret.codes, distinct, len(labels)) + of_release
        p *= prior / of_release
        return Posterior.from_dense(
            p / p.sum(axis=1, keepdims=True),
            prior=prior,
            observation=of.reshape(-1).astype(np.int64),
            status="model",
            provenance={"attack": repr(self), "prior": source},
            candidate_label=labels,
        )

    def refusal(self, release: Table, knowledge: Background | None = None) -> str:
        """Why nothing is learned from a release about the people known; "" where it is."""
        return BackOff(self.sensitive).refusal(release, knowledge)

    def _made(self) -> Any:
        """A copy of the estimator, not yet fitted."""
        made = _of_scikit_learn(self.estimator)() if isinstance(self.estimator, str) else deepcopy(self.estimator)
        if lacking := [verb for verb in ("fit", "predict_proba") if not hasattr(made, verb)]:
            raise UnmaskError(f"{self.estimator!r} has no {lacking[0]}, expected fit(X, y) and predict_proba(X)")
        if getattr(made, "random_state", 0) is None:
            made.random_state = 0
        return made


def _of_scikit_learn(text: str) -> type:
    """Return the class that a text names. No other package is imported: a document may hold the text."""
    name, _, attribute = text.partition(":")
    try:
        found = getattr(import_module(name), attribute)
        if inspect.isclass(found) and issubclass(found, import_module("sklearn.base").BaseEstimator):
            return found
    except (ModuleNotFoundError, AttributeError):
        pass
    raise UnmaskError(f"there is no estimator {text!r}; pip install scikit-learn, or name another class of it")


def _features(
    people: Table, release: Table, population: Table | None, bins: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """(n_rows, n_features) of the released rows, and (n_people, n_features) of the people."""
    rows, asked = [], []
    for known, released in shared_columns(people, release):
        there = population is not None and known.name in population.names
        general = population.column(known.name) if population is not None and there else known
        _, *share = shares(general, (released, known), bins=bins, missing=release.missing)
        width = max(one.shape[1] for one in share)
        numeric = released.levels.kind == known.levels.kind == "numeric"
        value = np.linspace(0, 1, width)[:, None] if numeric else np.eye(width)
        rows.append(value[_drawn(share[0], released.codes, rng)])
        asked.append((share[1] @ value[: share[1].shape[1]])[known.codes])
    return np.concatenate(rows, axis=1), np.concatenate(asked, axis=1)


def _drawn(share: csr_array, codes: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int64]:
    """(n_rows,) a bin of each row, drawn by the shares of its level."""
    reached = np.cumsum(share.toarray(), axis=1)
    reached[:, -1] = np.inf
    return np.asarray((reached[codes] <= rng.random(len(codes))[:, None]).sum(axis=1), dtype=np.int64)


def _predicted(estimator: Any, rows: Floats, value: NDArray[np.int32], asked: Floats, n_values: int) -> Floats:
    """(n_asked, n_values) what the estimator predicts; a release with one value has nothing to be trained on."""
    p = np.zeros((len(asked), n_values))
    if value.min() == value.max():
        p[:, value[0]] = 1.0
        return p
    estimator.fit(rows, value)
    p[:, np.asarray(estimator.classes_, dtype=np.int64)] = estimator.predict_proba(asked)
    return p
