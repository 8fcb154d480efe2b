"""Attribute inference by an estimator that is trained on the release."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_ranges
from unmask.tables.attacks.backoff import check_size
from unmask.tables.attacks.marginal_counts import bin_shares
from unmask.tables.attacks.pairing import require_rows, shared_columns
from unmask.tables.background import Background, Rng, in_general, prior_of
from unmask.tables.table import Table


@dataclass(frozen=True)
class ModelAttribute:
    """Attack that infers a sensitive value by an estimator that is trained on the release.

    Each column that is known and released becomes features from 0 to 1. A number is one feature: its position among the
    quantiles of `population`, or else of the known people. A category is one feature for each value. For a released
    cell with several values, one value is drawn for each row, with the frequencies of the population.

    With n released rows, the shares r of the values in the release and their shares q in the population, the belief is
    proportional to (n p + r) q / r. It gives no value probability 0, and corrects for values that the release contains
    too often. The status is `model`; an audit checks what the estimator announces.

    Assumes: people are like the released rows, and the rows are enough to train the estimator.

    Fails when: the estimator is overconfident, as many are. An audit then marks the belief as `refuted`.

    Parameters
    ----------
    sensitive : str
        Name of the sensitive column.
    estimator : Any, optional
        Object with `fit(X, y)`, `predict_proba(X)` and `classes_`, as in scikit-learn, which is copied; or
        "module:Class" of scikit-learn, which is created without arguments. A `random_state` that is not set becomes 0.
    bins : int, optional
        Number of quantiles of the population into which numbers are cut.

    References
    ----------
    M. Templ et al., "RAPID: risk of attribute prediction-induced disclosure in synthetic microdata", 2026.

    Examples
    --------
    >>> rows = {"job": ["smith", "baker"] * 10, "ill": ["yes", "no"] * 10}
    >>> release = Table.read(rows, quasi_identifiers="job", sensitive="ill")
    >>> known = Table.read({"job": ["baker"]}, quasi_identifiers="job")
    >>> belief = ModelAttribute("ill")(release, Background(known))
    >>> [(value.candidate, round(value.probability, 2)) for value in belief.candidates(0)]
    [('no', 0.82), ('yes', 0.18)]
    """

    sensitive: str
    estimator: Any = "sklearn.linear_model:LogisticRegression"
    bins: Annotated[int, Range(1)] = 32

    def __post_init__(self) -> None:
        check_ranges(self)
        if isinstance(self.estimator, str) and not self.estimator.startswith("sklearn."):
            default = ModelAttribute.estimator
            raise UnmaskError(f"estimator is {self.estimator!r}, expected one of scikit-learn, such as {default!r}")

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """Return the belief about the sensitive value of each known person; without people, about each row's person."""
        require_rows(release)
        background, secret = Background.of(knowledge), release.column(self.sensitive)
        people = release if background.people is None else background.people
        labels, prior, source = prior_of(secret, background.population)
        check_size(shared_columns(people, release), self.sensitive, len(labels))
        rng = secret_unless(rng or np.random.default_rng(0))  # a fixed seed, because the draws change the third digit
        rows, targets = _features(people, release, background.population, self.bins, rng)
        of_release = (np.bincount(secret.codes, minlength=len(labels)) + 0.5) / (len(rows) + 0.5 * len(labels))
        distinct, observation = np.unique(targets, axis=0, return_inverse=True)
        p = len(rows) * _predict(self._make_model(), rows, secret.codes, distinct, len(labels)) + of_release
        p *= prior / of_release
        return Posterior.from_dense(
            p / p.sum(axis=1, keepdims=True),
            prior=prior,
            observation=observation.reshape(-1).astype(np.int64),
            status="model",
            provenance={"attack": repr(self), "prior": source},
            candidate_label=labels,
        )

    def _make_model(self) -> Any:
        """Return an unfitted copy of the estimator."""
        model = _import_estimator(self.estimator)() if isinstance(self.estimator, str) else deepcopy(self.estimator)
        if lacking := [verb for verb in ("fit", "predict_proba") if not hasattr(model, verb)]:
            raise UnmaskError(f"{self.estimator!r} has no {lacking[0]}, expected fit(X, y) and predict_proba(X)")
        if getattr(model, "random_state", 0) is None:
            model.random_state = 0
        return model


def _import_estimator(text: str) -> type:
    """Return the scikit-learn class with this name.

    Other packages are not imported, because the name may come from a document.
    """
    name, _, attribute = text.partition(":")
    try:
        estimator = getattr(import_module(name), attribute)
        if inspect.isclass(estimator) and issubclass(estimator, import_module("sklearn.base").BaseEstimator):
            return estimator
    except (ModuleNotFoundError, AttributeError):
        pass
    raise UnmaskError(f"there is no estimator {text!r}; install scikit-learn, or name another of its classes")


def _features(
    people: Table, release: Table, population: Table | None, bins: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the features of the released rows, (n_rows, n_features), and of the people, (n_people, n_features)."""
    rows, targets = [], []
    for known_column, released in shared_columns(people, release):
        general = in_general(known_column, population)
        _, *share = bin_shares(general, (released, known_column), bins=bins, missing=release.missing)
        width = max(matrix.shape[1] for matrix in share)
        numeric = released.levels.kind == known_column.levels.kind == "numeric"
        value = np.linspace(0, 1, width)[:, None] if numeric else np.eye(width)
        rows.append(value[_draw_bins(share[0], released.codes, rng)])
        targets.append((share[1] @ value[: share[1].shape[1]])[known_column.codes])
    return np.concatenate(rows, axis=1), np.concatenate(targets, axis=1)


def _draw_bins(share: scipy.sparse.csr_array, codes: NDArray[np.int32], rng: np.random.Generator) -> Integers:
    """Draw a bin for each row, (n_rows,), with the shares of its level."""
    cumulative = np.cumsum(share.toarray(), axis=1)
    cumulative[:, -1] = np.inf
    return np.asarray((cumulative[codes] <= rng.random(len(codes))[:, None]).sum(axis=1), dtype=np.int64)


def _predict(estimator: Any, rows: Floats, value: NDArray[np.int32], targets: Floats, n_values: int) -> Floats:
    """Return (n_targets, n_values) predicted probabilities. A release with one value predicts it without training."""
    p = np.zeros((len(targets), n_values))
    if value.min() == value.max():
        p[:, value[0]] = 1.0
        return p
    estimator.fit(rows, value)
    p[:, np.asarray(estimator.classes_, dtype=np.int64)] = estimator.predict_proba(targets)
    return p
