"""Adversary who finds the records that fit the tables of an area, and infers the sensitive values of its people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.area_attacks import (
    AreaAttack,
    AttackRun,
    Question,
    explain_contradiction,
    make_questions,
)
from unmask.aggregates.attacks.belief import infer_counts
from unmask.aggregates.attacks.population import fit_population
from unmask.aggregates.attacks.reconstruction import (
    MAX_SOLUTIONS,
    Reconstruction,
    bound_certain_cells,
    find_possible_values,
    reconstruct,
)
from unmask.aggregates.attacks.systems import list_systems
from unmask.aggregates.release import AggregateRelease
from unmask.core.posterior import Posterior
from unmask.ranges import CheckedParameters, Range


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """Knowledge about people: the area and the known columns of each.

    Parameters
    ----------
    question : Question
        Sensitive column, known columns, and their codes.
    area, profile : (n_people,) int arrays
        Area, and combination of known values, of each person.
    """

    question: Question
    area: NDArray[np.int64]
    profile: NDArray[np.int64]


@dataclass(frozen=True)
class Reconstructor(CheckedParameters):
    """Find all records that fit the tables of an area, and infer sensitive values by their mean.

    Assumes: the rules of the tables are as stated, and people of an area are independent draws from the population.

    Fails when: noise without bounds hides the counts.

    Parameters
    ----------
    max_solutions : int
        Solutions of an area that are listed; beyond, they are sampled.

    Examples
    --------
    >>> from unmask.aggregates import AggregateRelease, Domain, Rule, tabulate
    >>> records = {"sex": ["f", "m", "m"], "ill": ["no", "yes", "yes"]}
    >>> domain = Domain({"sex": ("f", "m"), "ill": ("no", "yes")})
    >>> release = AggregateRelease(domain, tuple(tabulate(records, [name], Rule(), domain) for name in records))
    >>> run = Reconstructor().run(release, ["ill"], ["sex"], rng=np.random.default_rng(0))
    >>> run.areas[0].reconstruction.solutions.tolist()
    [[0, 1, 1, 1], [1, 0, 0, 2]]

    References
    ----------
    S. Garfinkel, J. Abowd, C. Martindale, "Understanding database reconstruction attacks on public data",
    Communications of the ACM 2019.
    """

    max_solutions: Annotated[int, Range(1)] = MAX_SOLUTIONS

    def __call__(
        self, release: AggregateRelease, knowledge: KnownPeople, *, rng: np.random.Generator | None = None
    ) -> Posterior:
        """Return the belief about the sensitive value of each known person."""
        question = knowledge.question
        run = self.run(release, [question.sensitive], question.knows, rng=rng or np.random.default_rng(0))
        return infer_values(run, knowledge)[0]

    def run(
        self, release: AggregateRelease, sensitive: Sequence[str], knows: Sequence[str], *, rng: np.random.Generator
    ) -> AttackRun:
        """Reconstruct each area, and infer its counts and the sensitive values of its people.

        Parameters
        ----------
        release : AggregateRelease
            Published tables.
        sensitive, knows : sequences of str
            See `make_questions`.
        rng : Generator
            Source of random objectives and of chains.

        Returns
        -------
        AttackRun
        """
        questions, population = make_questions(release, sensitive, knows), fit_population(release)
        results = [reconstruct(system, rng=rng, max_solutions=self.max_solutions) for system in list_systems(release)]
        beliefs = infer_counts(release, results, population, rng=rng)
        areas = []
        for result, belief in zip(results, beliefs, strict=True):
            if belief.method == "chain":  # draws fit the counts, and show what is possible without a program
                solutions = np.vstack([result.solutions, belief.draws])
                solutions = solutions[result.system.is_possible(solutions)]
                is_reached = np.asarray((belief.mean > 0).any(axis=0) & (not result.system.groups))
                result = replace(result, solutions=solutions, is_reached=is_reached)
            cells, low, high = bound_certain_cells(result)
            values = tuple(_find_certain_values(result, question, rng) for question in questions)
            areas.append(AreaAttack(result, belief, result.system.cells[cells], low, high, values))
        contradicted = next((area for area, result in enumerate(results) if result.status == "contradiction"), None)
        contradicting = [] if contradicted is None else explain_contradiction(release, contradicted)
        return AttackRun(release, questions, population, areas, contradicting)


def _find_certain_values(result: Reconstruction, question: Question, rng: np.random.Generator) -> dict[int, int]:
    """Return the profiles with one possible value."""
    if result.status == "contradiction":
        return {}
    cells = result.system.cells
    possible = find_possible_values(result, question.profile[cells], question.value[cells], rng=rng)
    return {
        profile: int(np.argmax(states == 1))
        for profile, states in possible.items()
        if np.count_nonzero(states == 1) == 1 and not (states == -1).any()
    }


def infer_values(run: AttackRun, people: KnownPeople) -> tuple[Posterior, Posterior]:
    """Return the beliefs about the sensitive values of people, with the tables of their area and without them.

    p(s | F) = E[x(F, s)] / E[x(F)] for a person of an area with known values F. It is the probability for a random
    person of the area with these values.

    Without the tables of the area, the expectation is over the population of all areas. If there is one area only, the
    baseline is the share of each value among all people.
    """
    question = people.question
    n_values, n_profiles = int(question.value.max()) + 1, int(question.profile.max()) + 1
    keys = people.area * n_profiles + people.profile
    distinct, observation = np.unique(keys, return_inverse=True)
    area_of, profile_of = np.divmod(distinct, n_profiles)
    pairs = question.profile * n_values + question.value
    table = np.bincount(pairs, run.population, minlength=n_profiles * n_values).reshape(n_profiles, n_values)
    marginal = table.sum(axis=0)
    shares = table / table.sum(axis=1, keepdims=True) if run.release.geography else np.tile(marginal, (n_profiles, 1))
    baseline = shares[profile_of]
    belief = table[profile_of] / table[profile_of].sum(axis=1, keepdims=True)
    column = run.release.columns.index(question.sensitive)
    start = np.searchsorted(area_of, np.arange(len(run.areas) + 1))
    for number, attack in enumerate(run.areas):
        rows = slice(start[number], start[number + 1])
        if not len(attack.belief.draws):
            continue
        cells = attack.reconstruction.system.cells
        mean = np.bincount(pairs[cells], attack.belief.mean[column], minlength=table.size).reshape(table.shape)
        mean = mean[profile_of[rows]]
        sums = mean.sum(axis=1, keepdims=True)
        belief[rows] = np.where(sums > 0, mean / np.maximum(sums, 1e-300), belief[rows])
    labels = tuple(run.release.domain.categories[question.sensitive])
    is_exact = all(attack.reconstruction.status == "one" for attack in run.areas)
    options: dict[str, Any] = {
        "prior": marginal / marginal.sum(),
        "observation": observation,
        "candidate_label": labels,
    }
    return (
        Posterior.from_dense(belief, status="exact" if is_exact else "model", **options),
        Posterior.from_dense(baseline, status="model", **options),
    )
