"""Attribute inference: beliefs about sensitive values, through beliefs about records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CsrRows, segment_sum
from unmask.core.errors import NotRunError
from unmask.core.inference import compose
from unmask.core.posterior import Posterior
from unmask.tables.attacks.backoff import BackOff
from unmask.tables.attacks.classes import ClassAttack
from unmask.tables.background import Attack, Background, Rng, hidden_values, prior_of
from unmask.tables.column import Column
from unmask.tables.table import Table


@dataclass(frozen=True)
class AttributeInference:
    """Attack that infers a sensitive value from the belief about a person's record.

        p(s given y) = sum over records x of p(x given y) [x has value s]

    The belief about the record comes from `link`, any attack whose candidates are released records. Within an
    equivalence class the result is the histogram of the class. It is exact if the adversary cannot distinguish the
    people of a class. An adversary who predicts values from other columns may do better (Kifer 2009).

    If a target has no compatible record, the attack uses `outside`, which learns from all rows about similar people.
    Otherwise the effect of a person's own record would seem larger than it is.

    A sensitive cell counts as suppressed if the release has more missing cells than the population explains
    (`hidden_values`). Its value is then inferred from rows of similar people by `BackOff`, adjusted towards the values
    that the release contains too rarely. Without a population, a missing cell is a value of its own.

    The prior is the histogram of `population`, for example of the table before protection or of people outside the
    release. Suppression and sampling do not change it. A released value that does not occur in the population counts as
    half a person. Without a population, the prior is the histogram of the release. `provenance["prior"]` is
    "population" or "release".

    Assumes: what `link` assumes. Sensitive cells are released unchanged or suppressed.

    Fails when: the people of a class can be distinguished, or rows do not belong to people, as in a synthetic release.
        In that case `BackOff` learns from all rows.

    Parameters
    ----------
    sensitive : str
        Name of the sensitive column.
    link : Attack, optional
        Attack that finds the record of the target.
    outside : BackOff | None, optional
        Attack on people without a compatible record. The default is `BackOff(sensitive)`.

    References
    ----------
    Rebollo-Monedero et al. 2012, section V-A1 (l-diversity) and V-B1 (t-closeness). D. Kifer, "Attacks on privacy and
    deFinetti's theorem", SIGMOD 2009.

    Examples
    --------
    >>> rows = {"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "ill": ["flu", "none", "flu"]}
    >>> release = Table.read(rows, quasi_identifiers="age", sensitive="ill")
    >>> known = Table.read({"age": [24]}, quasi_identifiers="age")
    >>> belief = AttributeInference("ill")(release, Background(known))
    >>> [(value.candidate, value.probability) for value in belief.candidates(0)]
    [('flu', 0.5), ('none', 0.5)]
    """

    sensitive: str
    link: Attack = field(default_factory=ClassAttack)
    outside: BackOff | None = field(default=None, repr=False)

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """Return the belief about the sensitive value of each known person."""
        return self.infer_from_link(self.link(release, knowledge, rng=rng), release, knowledge)

    def with_protection(self, protection: Any) -> Self:
        """Return this attack with a link that knows the protection, if the link uses it."""
        return (
            replace(self, link=self.link.with_protection(protection)) if hasattr(self.link, "with_protection") else self
        )

    def infer_from_link(
        self, link: Posterior, release: Table, knowledge: Background | None = None, *, learned: Posterior | None = None
    ) -> Posterior:
        """Return the belief about the sensitive value that follows from a belief about records.

        link    : belief about the record of each target
        learned : belief of `outside` about the same targets, if it is computed already
        """
        column = release.column(self.sensitive)
        counts = release.totals_of(column)
        background = Background.of(knowledge)
        labels, prior, source = prior_of(column, background.population)
        provenance = {"attack": repr(self), "prior": source}
        record_values, means = self._values_of_records(release, column, counts, background.population)
        targets_classes = background.people is None and isinstance(self.link, ClassAttack) and not len(link.candidate)
        if release.counts is not None or targets_classes:
            parts = {"weight": link.weight, "provenance": provenance, "candidate_label": labels}
            belief = _from_histograms(release, record_values, means, prior, **parts)
        else:
            outside = self._infer_without_record(link, release, background, prior, learned)
            belief = compose(
                link, record_values, labels=labels, means=means, prior=prior, outside=outside, provenance=provenance
            )
        return belief if means is None or belief.status != "exact" else replace(belief, status="model")

    def _values_of_records(
        self, release: Table, column: Column, counts: Integers, population: Table | None
    ) -> tuple[NDArray[np.int32], scipy.sparse.csr_array | None]:
        """Return (n_rows,) the sensitive value of each row, and the meaning of these values.

        A row with a suppressed value has a value of its own, with a distribution over the real values. The meaning is
        the matrix of these distributions, see `inference.compose`; None if no value is suppressed.
        """
        share, hidden = hidden_values(column, counts, population)
        if not share:
            return column.codes, None
        beliefs = BackOff(self.sensitive).infer_rows(release, hidden, population)
        belief_of_row, p = beliefs or (np.zeros(len(column.codes), dtype=np.int64), hidden[None])
        m, missing = len(hidden), np.zeros_like(hidden)
        missing[column.levels.missing] = 1 - share
        means = scipy.sparse.csr_array(
            scipy.sparse.vstack([scipy.sparse.eye_array(m), scipy.sparse.csr_array(missing + share * p)])
        )
        record_values = (m + belief_of_row).astype(np.int32)
        return np.where(column.codes == column.levels.missing, record_values, column.codes), means

    def _infer_without_record(
        self, link: Posterior, release: Table, background: Background, prior: Floats, learned: Posterior | None
    ) -> Floats | None:
        """Return (n_observations, n_values) beliefs about people without a compatible record; None if all have one."""
        has_no_record = (link.row_length == 0) & (link.n_unlisted == 0)
        outside = self.outside or BackOff(self.sensitive)
        if background.people is None or not has_no_record[link.used_rows].any():
            return None
        rows_without_record, first = np.unique(link.observation[has_no_record[link.observation]], return_index=True)
        targets = np.flatnonzero(has_no_record[link.observation])[first]
        if learned is None:
            background = replace(background, people=background.people.take(targets))
            try:
                learned, targets = outside(release, background), np.arange(len(targets))
            except NotRunError:
                return None
        probability = np.tile(prior, (link.n_observations, 1))
        probability[rows_without_record] = learned.take(targets).to_dense()
        return probability


def _from_histograms(
    release: Table,
    values_of_records: NDArray[np.int32],
    means: scipy.sparse.csr_array | None,
    prior: Floats,
    **parts: Any,
) -> Posterior:
    """Return the belief about a sensitive column for each class: the histogram of the class.

    values_of_records : (n,) value of each combination, see `AttributeInference`
    means : meaning of these values, as in `inference.compose`; None if no value is suppressed
    prior : (n_values,)
    parts : further arguments of the posterior
    """
    kinds = release.classes.kinds(
        values_of_records, len(prior) if means is None else means.shape[0], weight=release.counts
    )
    counts, sizes = kinds.counts, segment_sum(kinds.counts.data.astype(np.float64), kinds.counts.indptr)
    if means is not None:
        product = scipy.sparse.csr_array(counts.to_scipy() @ means).sorted_indices()
        counts = CsrRows(product.data, product.indices, product.indptr, product.shape)
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    return Posterior.from_entries(
        counts.indptr,
        counts.indices,
        np.log(counts.data / np.repeat(sizes, np.diff(counts.indptr))),
        observation=kinds.of_class,
        n_candidates=len(prior),
        log_prior=log_prior,
        **parts,
    )
