"""Linkage and membership attack of an adversary who knows the protection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import segment_max, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.inference import from_likelihood
from unmask.core.posterior import Posterior
from unmask.core.randomness import secret_unless
from unmask.ranges import check_types
from unmask.tables.attacks.comparisons import compare_levels
from unmask.tables.attacks.membership import belief_from_scores
from unmask.tables.attacks.pairing import Pairing, find_compatible_pairs, pair
from unmask.tables.attacks.product_sums import Kernel, density, fit_mixture_share, list_likeliest
from unmask.tables.attacks.reprotection import find_nearest, learn_weights, log_class_probabilities
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.column import Column, classes_of
from unmask.tables.table import Table

MAX_DROPPED = 1e-4
"""Largest total probability of the candidates of a person that are not listed."""


class Evidence(NamedTuple):
    """Evidence of the release about each person: likelihood ratios of the listed rows.

    indptr, candidate : observation i has the rows candidate[indptr[i]:indptr[i + 1]]
    log_ratio  : (n_entries,) log K(r given x) - log out(r)
    left_out   : (n_observations,) share of the probability mass that is not listed
    provenance : origin of the estimate of out
    is_uniform : True if all rows that are listed for one observation are equal
    """

    indptr: Integers
    candidate: NDArray[np.int32]
    log_ratio: Floats
    left_out: Floats
    provenance: dict[str, Any]
    is_uniform: bool = False


@dataclass(frozen=True)
class MechanismAttack:
    """Linkage or membership attack of an adversary who knows the protection, except for its random numbers.

    K(r given x) is the probability that the protection turns a person x into the released row r. out(r) = sum_x f(x)
    K(r given x) is the density of released rows of people in general, with distribution f. By Bayes' rule,

        p(row i belongs to x) is proportional to K(r_i given x) / out(r_i),
        p(release given x is in) / p(release given x is not in) = (1 / n) sum_i K(r_i given x) / out(r_i).

    A row that many people explain is thus less likely to belong to one of them. The formula is exact if rows are
    protected independently and all other people are drawn from f.

    People in general are `population` without the targets. If the population is the table before protection, as in a
    study, the adversary knows all other people in it. Without a population, the released rows are protected once more.
    out is estimated by applying K to people in general. It is mixed with independent columns of the released margins;
    the weight of the mixture maximizes the likelihood of the release.

    A protection provides K in one of three ways. `row_kernel` returns a kernel for each column. `allowed_pairs` returns
    the rows that may belong to a person; K is then constant over these rows. `coordinates` returns positions, if the
    protection groups similar people: p(row i belongs to x) is then a conditional logit on the distances of the 15
    nearest classes, learned by protecting people in general three more times. Positions do not show membership. For
    protections without these methods, `ShadowMembership` runs the protection again.

    A sensitive value is inferred from the row of a person with `AttributeInference(link=...)`.

    The least likely records, with a total probability of 1e-4, are not listed. The status is `model`, because out is an
    estimate; it is `exact` if all rows that may belong to a person are equal. Each target is attacked separately: the
    same row may be the best guess for two people.

    Assumes: the adversary knows the protection and its parameters. The other people are like people in general.

    Fails when: the parameters differ, people in general are few or unlike the released ones, or rows depend on each
        other.

    Parameters
    ----------
    protection : Any, optional
        Protection of the release, such as `tables.PRAM()`. In a study, the default is the protection of the cell.
    asks : Literal["identity", "membership"], optional
        "identity": the candidates are the released rows. "membership": scores of "in" and "out", which
        `ShadowMembership(scores=...)` and `tables.control.membership.cross_fit` calibrate.

    References
    ----------
    G. Paass, "Disclosure risk and disclosure avoidance for microdata", Journal of Business & Economic Statistics 6(4),
    1988; J. P. Reiter, "Estimating risks of identification disclosure in microdata", JASA 100, 2005, for intruders who
    know the parameters.

    Examples
    --------
    >>> from unmask.tables import PRAM
    >>> release = Table.read({"age": [30, 31, 52], "car": ["a", "a", "b"]}, quasi_identifiers=["age", "car"])
    >>> known = Table.read({"age": [30], "car": ["a"]}, quasi_identifiers=["age", "car"])
    >>> belief = MechanismAttack(PRAM(keep=0.9))(release, Background(known))
    >>> belief.candidates(0)[0].candidate, round(belief.candidates(0)[0].probability, 2)
    (0, 0.96)
    """

    protection: Any = None
    asks: Literal["identity", "membership"] = "identity"

    def __post_init__(self) -> None:
        check_types(type(self), {"asks": self.asks})

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """Return the belief about each known person."""
        people, population = people_of(knowledge, self), Background.of(knowledge).in_general
        pairing, protection = pair(people, release), self.protection
        if hasattr(protection, "row_kernel"):
            evidence = _evidence_by_kernel(protection, pairing, population, secret_unless(rng))
        elif hasattr(protection, "allowed_pairs"):
            evidence = _evidence_by_rule(protection, pairing, people, population, release)
        elif hasattr(protection, "coordinates"):
            if population is None:
                raise UnmaskError(f"{self!r} needs people in general; give Background(people, population)")
            if self.asks == "membership":
                raise UnmaskError(f"{self!r}: groups do not show membership; use ShadowMembership")
            evidence = _evidence_by_distance(protection, pairing, population, secret_unless(rng))
        else:
            raise UnmaskError(
                f"{self.protection!r} does not provide its probabilities (row_kernel, allowed_pairs or coordinates); "
                "use ShadowMembership, which runs the protection again"
            )
        evidence.provenance.update(attack=repr(self), missing=release.missing)
        return self._membership(evidence, pairing) if self.asks == "membership" else self._identity(evidence, pairing)

    def with_protection(self, protection: Any) -> Self:
        """Return this attack with the protection of the release, unless it has one."""
        return replace(self, protection=protection) if self.protection is None else self

    def _identity(self, evidence: Evidence, pairing: Pairing) -> Posterior:
        belief = from_likelihood(
            evidence.indptr,
            evidence.candidate,
            evidence.log_ratio,
            n_candidates=pairing.n_candidates,
            observation=pairing.observation.astype(np.int64),
            status="exact" if evidence.is_uniform else "model",
            provenance=evidence.provenance,
        )
        return _spread_left_out(belief, evidence.left_out)

    def _membership(self, evidence: Evidence, pairing: Pairing) -> Posterior:
        row = np.repeat(np.arange(len(pairing.observed)), np.diff(evidence.indptr))
        top = segment_max(evidence.log_ratio, evidence.indptr, empty=-MAX_LOG_ODDS)
        total = segment_sum(np.exp(evidence.log_ratio - top[row]), evidence.indptr) / pairing.n_candidates
        score = top + np.log(np.where(total > 0, total, 1.0)) - np.log1p(-evidence.left_out)
        return belief_from_scores(
            np.clip(score, -MAX_LOG_ODDS, MAX_LOG_ODDS), pairing.observation, attack_name=repr(self)
        )


MAX_LOG_ODDS = 700.0
"""Largest absolute log-odds of membership."""


def _spread_left_out(belief: Posterior, left_out: Floats) -> Posterior:
    """Return the belief with the left-out mass spread evenly over the unlisted rows."""
    shares = (left_out > 0) & (belief.row_length < belief.n_candidates)
    mass = np.where(shares, left_out, 0.0)
    return replace(
        belief,
        log_probability=belief.log_probability + np.log1p(-mass)[belief.row].astype(belief.log_probability.dtype),
        unlisted=belief.unlisted + mass,
        n_unlisted=np.where(shares, belief.n_candidates - belief.row_length, 0),
    )


def _evidence_by_kernel(
    protection: Any, pairing: Pairing, population: Table | None, rng: np.random.Generator
) -> Evidence:
    """Return the evidence about a protection that treats rows and columns independently."""
    seeds = rng.integers(2**63, size=len(pairing.columns)).tolist()  # every call of row_kernel simulates the same
    kernels = _kernels(protection, [known_column for known_column, _ in pairing.columns], pairing, seeds)
    released_cells = np.stack([kernel.released[pairing.classes[:, j]] for j, kernel in enumerate(kernels)], axis=1)
    margins = []
    for kernel, (_, released) in zip(kernels, pairing.columns, strict=True):
        shares = np.bincount(kernel.released[released.codes], minlength=kernel.log_k.shape[1]) / pairing.n_candidates
        margins.append(np.log(np.maximum(shares, 0.5 / pairing.n_candidates)))
    independent = np.exp(_sum(margins, released_cells))
    by_people = _density_of_people(protection, pairing, population, released_cells, seeds)
    share = fit_mixture_share(by_people, independent, pairing.sizes.astype(np.float64))
    log_out = np.log(share * by_people + (1 - share) * independent)
    tables = [  # an unknown cell is no evidence
        np.where(known_column.levels.unknown[:, None], margin, kernel.log_k[kernel.true])
        for (known_column, _), kernel, margin in zip(pairing.columns, kernels, margins, strict=True)
    ]
    candidates = list_likeliest(tables, pairing.observed, released_cells, -log_out, pairing.klass, drop=MAX_DROPPED)
    return Evidence(*candidates, {"out": "release" if population is None else "population", "share": share})


def _kernels(protection: Any, people: list[Column], pairing: Pairing, seeds: list[int]) -> list[Kernel]:
    """Return the kernel of each released column for the given true columns."""
    triples = zip(people, pairing.columns, seeds, strict=True)
    return [
        protection.row_kernel(true, released_column, rng=np.random.default_rng(seed))
        for true, (_, released_column), seed in triples
    ]


def _density_of_people(
    protection: Any, pairing: Pairing, population: Table | None, released_cells: NDArray[np.int32], seeds: list[int]
) -> Floats:
    """Return (J,) the density of each class of released rows under the protection of people in general.

    Without a population, the released rows are protected once more, and each row is left out of its own density.
    """
    people = [released if population is None else population.column(released.name) for _, released in pairing.columns]
    kernels, is_uniform = _kernels(protection, people, pairing, seeds), classes_of(people)
    true = np.stack([kernel.true[is_uniform.levels[:, j]] for j, kernel in enumerate(kernels)], axis=1)
    tables, n = [np.exp(kernel.log_k) for kernel in kernels], int(is_uniform.sizes.sum())
    total = density(tables, is_uniform.sizes.astype(np.float64), true, released_cells)
    if population is not None:
        return total / n
    own_density = np.prod([table[true[:, j], released_cells[:, j]] for j, table in enumerate(tables)], axis=0)
    return np.asarray(np.maximum(total - own_density, 0.0) / max(n - 1, 1))


def _sum(tables: list[Floats], codes: NDArray[np.int32]) -> Floats:
    """Return (n_rows,) sums over columns of one number per code."""
    return np.asarray(np.sum([table[codes[:, j]] for j, table in enumerate(tables)], axis=0))


def _evidence_by_rule(
    protection: Any, pairing: Pairing, people: Table, population: Table | None, release: Table
) -> Evidence:
    """Return the evidence about a protection whose method `allowed_pairs` selects the possible rows of a person."""
    row, klass = _find_fitting_pairs(protection, pairing, release)
    general = people if population is None else population
    population_pairing = pairing if population is None else pair(population, release)
    names = [released.name for _, released in pairing.columns]
    if [released.name for _, released in population_pairing.columns] != names:
        population_pairing = pair(general.known_by(map(general.column, names)), release)
    population_row, population_class = _find_fitting_pairs(protection, population_pairing, release)
    n_people = np.bincount(
        population_class, np.bincount(population_pairing.observation)[population_row], minlength=len(pairing.sizes)
    )
    share = (n_people + pairing.sizes) / (general.n_rows + pairing.n_candidates)  # the rows of a class fit the class
    provenance = {"out": "people" if population is None else "population"}
    is_uniform = bool(np.bincount(row, minlength=1).max() <= 1)
    return Evidence(
        *pairing.expand(row, klass, -np.log(share[klass])), np.zeros(len(pairing.observed)), provenance, is_uniform
    )


def _find_fitting_pairs(protection: Any, pairing: Pairing, release: Table) -> tuple[Integers, Integers]:
    row, klass = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=release.missing))
    is_fitting = protection.allowed_pairs(release, pairing, row, klass)
    return row[is_fitting], klass[is_fitting]


def _evidence_by_distance(protection: Any, pairing: Pairing, population: Table, rng: np.random.Generator) -> Evidence:
    """Return the evidence about a protection that groups similar people; log_ratio is log p(row)."""
    gaps = [known_column.levels.unknown[pairing.observed[:, j]] for j, (known_column, _) in enumerate(pairing.columns)]
    unknown = np.stack(gaps, axis=1)
    weights, miss_rate = learn_weights(protection, pairing, unknown[pairing.observation], population, rng)
    near = find_nearest(protection, pairing, pairing.observed, unknown, population)
    row, place = np.nonzero(near.possible)
    log_p = (log_class_probabilities(near, weights) - near.log_size)[row, place]
    has_more = near.possible.all(axis=1) & (near.klass.shape[1] < len(pairing.sizes))
    provenance = {"weights": weights.tolist(), "shadow_rows": min(pairing.n_candidates, population.n_rows)}
    return Evidence(*pairing.expand(row, near.klass[row, place], log_p), np.where(has_more, miss_rate, 0.0), provenance)
