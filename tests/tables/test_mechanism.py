"""The adversary who knows how a release was made: against enumeration, and against those who do not."""

from dataclasses import dataclass, replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from unmask import Truth, UnmaskError, audit
from unmask.core.posterior import log_odds
from unmask.measures import log_loss_bits, realized_success, success_probability
from unmask.tables import (
    PRAM,
    AddNoise,
    Background,
    BayesAttack,
    ClassAttack,
    Generalize,
    Identity,
    Knowledge,
    MechanismAttack,
    Microaggregate,
    Mondrian,
    NearestNeighbor,
    RankSwap,
    ShadowMembership,
    Suppress,
    SuppressCells,
    Table,
    datasets,
)
from unmask.tables.attacks import CellError
from unmask.tables.attacks.product_sums import Kernel, density, fit_mixture_share, list_likeliest
from unmask.tables.column import Column


def numbers(a, b):
    return Table.read({"a": a, "b": b}, quasi_identifiers=("a", "b"), types={"a": "number", "b": "number"})


# --- the law, by enumeration -----------------------------------------------------------------------------------------

RELEASED = numbers([0, 1, 1], [0, 1, 0])
GENERAL = numbers([0, 0, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0, 1])
ASKED = numbers([0, 1, 0, 1], [0, 0, 1, 1])


@dataclass(frozen=True)
class Anything:
    """Each cell as some matrix says."""

    def row_kernel(self, true: Column, released: Column, *, rng: np.random.Generator) -> Kernel:
        return Kernel.of(np.array([[0.6, 0.4], [0.05, 0.95]] if true.name == "a" else [[0.3, 0.7], [0.9, 0.1]]))


def kernel_of(protection, true):
    """(n_people, n_released_rows) K, by the product over columns."""
    result = 1.0
    for column, released in zip(true.quasi_identifiers, RELEASED.quasi_identifiers, strict=True):
        kernel = protection.row_kernel(column, released, rng=np.random.default_rng(0))
        result = result * np.exp(kernel.log_k)[np.ix_(column.codes, released.codes)]
    return result


def enumerated(protection, share):
    """For each person asked, p(row i is theirs), and p(release given they are in) / p(release given they are not).

    Over who of the three made which row, and what made each row of the others: a person of GENERAL, or chance.
    """
    margins = np.prod([column.counts[column.codes] / 3 for column in RELEASED.quasi_identifiers], axis=0)
    of_general = kernel_of(protection, GENERAL)
    sources = [(share / len(of_general), row) for row in of_general] + [(1 - share, margins)]
    identity, ratio = [], []
    for kernel in kernel_of(protection, ASKED):
        likelihoods, outsider = np.zeros(3), 0.0
        for order in permutations(range(3)):
            for first, second in product(sources, repeat=2):
                remainder = first[0] * first[1][order[1]] * second[0] * second[1][order[2]]
                likelihoods[order[0]] += kernel[order[0]] * remainder / 6
                outsider += sum(weight * row[order[0]] for weight, row in sources) * remainder / 6
        identity.append(likelihoods / likelihoods.sum())
        ratio.append(likelihoods.sum() / outsider)
    return np.array(identity), np.array(ratio)


MECHANISMS = (
    PRAM(keep=0.7),
    PRAM(keep={"a": 0.4}, matrices={"b": {"0": {"0": 0.7, "1": 0.3}, "1": {"1": 0.6, "0": 0.4}}}),
    AddNoise(sd={"a": 0.8, "b": 1.5}),
    Anything(),
)


@pytest.mark.parametrize("protection", MECHANISMS, ids=repr)
def test_the_law_is_enumeration(protection):
    background = Background(ASKED, GENERAL)
    belief = MechanismAttack(protection)(RELEASED, background)
    identity, ratio = enumerated(protection, belief.provenance["share"])
    assert np.abs(belief.to_dense() - identity).max() < 1e-12
    membership = MechanismAttack(protection, asks="membership")(RELEASED, background)
    assert np.abs(log_odds(membership) - np.log(ratio)).max() < 1e-12


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_density_is_the_sum_over_people(d):
    rng = np.random.default_rng(d)
    tables = [rng.random((3 + j, 4)) for j in range(d)]
    true = np.stack([rng.integers(0, 3 + j, 40) for j in range(d)], axis=1).astype(np.int32)
    released, weight = rng.integers(0, 4, (30, d)).astype(np.int32), rng.random(40)
    likelihoods = np.prod([table[true[:, j]][:, released[:, j]] for j, table in enumerate(tables)], axis=0)
    assert np.allclose(density(tables, weight, true, released), weight @ likelihoods, rtol=1e-12)


def test_the_weight_of_people_in_general_is_where_the_release_is_most_likely():
    rng = np.random.default_rng(0)
    first, second, rows = rng.random(20), rng.random(20), rng.integers(1, 5, 20).astype(float)
    shares = np.linspace(0, 1, 10_001)
    likelihood = np.log(shares[:, None] * first + (1 - shares[:, None]) * second) @ rows
    assert abs(fit_mixture_share(first, second, rows, steps=10_000) - shares[likelihood.argmax()]) < 1e-3


def test_no_more_mass_is_left_out_than_may_be():
    rng = np.random.default_rng(1)
    table, codes = np.log(rng.dirichlet(np.full(50, 0.05), size=20) + 1e-12), np.arange(20, dtype=np.int32)[:, None]
    owner = np.repeat(np.arange(50, dtype=np.int32), 3)
    indptr, candidate, value, left_out = list_likeliest(
        [table], codes, np.arange(50, dtype=np.int32)[:, None], np.zeros(50), owner, drop=1e-2
    )
    total = 3 * np.exp(table).sum(axis=1)
    listed_mass = np.add.reduceat(np.exp(value), indptr[:-1])
    assert np.allclose(1 - listed_mass / total, left_out, atol=1e-9)
    assert left_out.max() <= 1e-2
    assert left_out.any()
    assert all((np.diff(candidate[a:b]) > 0).all() for a, b in pairwise(indptr))


# --- what is known without a model -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    census = datasets.synthetic_census(3000, rng=np.random.default_rng(0))
    roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": "diagnosis"}
    return Table.read(census, **roles, types={"zip": "number"})


@pytest.fixture(scope="module")
def general():
    census = datasets.synthetic_census(3000, rng=np.random.default_rng(1))
    roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": "diagnosis"}
    return Table.read(census, **roles, types={"zip": "number"})


def known_of(people, origin, n=1000):
    return Knowledge(targets=n)(people, origin, rng=np.random.default_rng(2))


@pytest.mark.parametrize("protection", [Identity(), Generalize(), PRAM(keep=1.0), AddNoise()], ids=repr)
def test_of_an_unprotected_table_everybody_is_one_of_their_copies(people, general, protection):
    knowledge = known_of(people, np.arange(people.n_rows))
    belief = MechanismAttack(protection)(people, Background(knowledge.people, general))
    copies = people.classes.sizes[people.classes.of_row[knowledge.person]]
    assert np.allclose(success_probability.per_target(belief, knowledge.truth), 1 / copies)
    assert np.allclose(realized_success.per_target(belief, knowledge.truth), 1 / copies)


def test_a_protection_that_ignores_the_people_says_nothing(people, general):
    release, origin = PRAM(keep=0.0)(people, rng=np.random.default_rng(3))
    background = Background(known_of(people, origin).people, general)
    belief = MechanismAttack(PRAM(keep=0.0))(release, background)
    assert np.allclose(belief.to_dense(), 1 / people.n_rows)
    assert np.allclose(log_odds(MechanismAttack(PRAM(keep=0.0), asks="membership")(release, background)), 0)


def test_suppressed_cells_tell_who_was_rare(people, general):
    """Everybody's row is among those that the rule leaves, so belief is exact."""
    for protection in (SuppressCells(k=5), SuppressCells(k=5, rate=0.1), SuppressCells(k=3, columns="age")):
        release, origin = protection(people, rng=np.random.default_rng(3))
        knowledge = known_of(people, origin, n=None)
        belief = MechanismAttack(protection)(release, Background(knowledge.people, general))
        size = release.classes.sizes[release.classes.of_row[knowledge.truth.candidate]]
        assert belief.status == "exact"
        assert np.allclose(realized_success.per_target(belief, knowledge.truth), 1 / size)
        naive = ClassAttack()(release, Background(knowledge.people))
        assert success_probability(belief, knowledge.truth) > success_probability(naive, knowledge.truth)


def test_a_person_known_in_part_may_be_in_any_fitting_row(people, general):
    release, origin = SuppressCells(k=5)(people, rng=np.random.default_rng(3))
    knowledge = Knowledge(targets=300, missing=0.3)(people, origin, rng=np.random.default_rng(2))
    belief = MechanismAttack(SuppressCells(k=5))(release, Background(knowledge.people, general))
    assert np.isfinite(log_loss_bits(belief, knowledge.truth))
    partly = Knowledge(targets=300, columns=("age",))(people, origin, rng=np.random.default_rng(2))
    belief = MechanismAttack(SuppressCells(k=5))(release, Background(partly.people, general))
    assert np.isfinite(log_loss_bits(belief, partly.truth))


# --- against those who do not know -----------------------------------------------------------------------------------

PAIRS = (
    (PRAM(keep=0.8), BayesAttack(CellError(redraw=0.2))),
    (PRAM(keep=0.5), BayesAttack(CellError(redraw=0.5))),
    (AddNoise(sd={"age": 2.0}), BayesAttack({"age": CellError(jitter=0.8, width=3)})),
    (RankSwap(share=0.05, columns="age"), BayesAttack({"age": CellError(jitter=0.9, width=8)})),
    (SuppressCells(k=5), ClassAttack()),
    (Mondrian(k=5), ClassAttack()),
    (Mondrian(k=5, strict=False), ClassAttack()),
    (Suppress(k=3), ClassAttack()),
    (Microaggregate(k=3), NearestNeighbor()),
)


@pytest.mark.parametrize(("protection", "naive"), PAIRS, ids=lambda protection: repr(protection)[:40])
def test_to_know_the_mechanism_never_hurts(people, general, protection, naive):
    release, origin = protection(people, rng=np.random.default_rng(3))
    knowledge = known_of(people, origin)
    background = Background(knowledge.people, general)
    belief = MechanismAttack(protection)(release, background, rng=np.random.default_rng(4))
    losses = [
        log_loss_bits.per_target(belief_form, knowledge.truth) for belief_form in (belief, naive(release, background))
    ]
    assert np.isfinite(losses[0]).all()
    gain = np.nan_to_num(losses[0] - losses[1], neginf=-50.0)
    assert gain.mean() <= 2 * gain.std() / np.sqrt(len(gain)) + 1e-12
    result = audit(belief, knowledge.truth, drawn_from=np.inf)
    row, announced = result.row("realized_success"), result.row("success_probability").posterior
    assert row.low - 0.03 <= announced <= row.high + 0.03


def test_without_people_in_general_the_released_rows_stand_in():
    """They tell what goes together; BayesAttack takes columns as independent."""
    x = np.random.default_rng(0).integers(0, 40, 600)
    table = numbers(x, 2 * x)
    release, origin = PRAM(keep=0.6)(table, rng=np.random.default_rng(3))
    knowledge = known_of(table, origin, n=300)
    belief = MechanismAttack(PRAM(keep=0.6))(release, Background(knowledge.people))
    naive = BayesAttack(CellError(redraw=0.4))(release, Background(knowledge.people))
    assert belief.provenance["out"] == "release"
    assert log_loss_bits(belief, knowledge.truth) < log_loss_bits(naive, knowledge.truth) - 0.1


def test_members_are_distinguished_from_others(people, general):
    release, _ = PRAM(keep=0.9)(people, rng=np.random.default_rng(3))
    members = Background(people.take(slice(0, 500)), general.take(slice(1000, 3000)))
    outsiders = Background(general.take(slice(0, 500)), general.take(slice(1000, 3000)))
    ours, theirs = (
        log_odds(MechanismAttack(PRAM(keep=0.9), asks="membership")(release, targets))
        for targets in (members, outsiders)
    )
    assert np.mean(ours[:, None] > theirs) + np.mean(ours[:, None] == theirs) / 2 > 0.53


def test_shadow_runs_make_its_scores_a_belief(people, general):
    members = people.take(slice(0, 500))
    release, _ = PRAM(keep=0.95)(members, rng=np.random.default_rng(3))
    targets = Table.read({c: np.concatenate([members[c][:50], people[c][500:550]]) for c in ("age", "sex", "zip")},
                       quasi_identifiers=["age", "sex", "zip"], like=people)  # fmt: skip
    attack = ShadowMembership(PRAM(0.95), scores=(MechanismAttack(PRAM(0.95), asks="membership"),), shadows=60)
    belief = attack(release, Background(targets, general), rng=np.random.default_rng(4))
    truth = Truth(np.repeat([0, 1], 50))
    assert belief.candidate_label == ("in", "out")
    assert abs(success_probability(belief, truth) - realized_success(belief, truth)) < 0.15


# --- the protections -------------------------------------------------------------------------------------------------


def test_cells_are_kept_as_often_as_specified(people):
    release, origin = PRAM(keep={"age": 0.7})(people, rng=np.random.default_rng(3))
    share = np.mean(release["age"] == people["age"][origin])
    q = np.bincount(people.column("age").codes) / people.n_rows
    expected = 0.7 + 0.3 * (q @ q)
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / people.n_rows)
    assert (release["sex"] == people["sex"][origin]).all()


def test_a_stated_matrix_is_followed(people):
    matrix = {"female": {"female": 0.5, "male": 0.2, "other": 0.3}}
    release, origin = PRAM(matrices={"sex": matrix}, keep=1.0)(people, rng=np.random.default_rng(3))
    true = people["sex"][origin]
    assert (release["sex"][true == "male"] == "male").all()
    n, drawn = np.sum(true == "female"), release["sex"][true == "female"]
    for value, p in matrix["female"].items():
        assert abs(np.mean(drawn == value) - p) < 4 * np.sqrt(p * (1 - p) / n)


MATRIX = {"x": {"x": 0.8, "y": 0.2}, "y": {"x": 0.1, "y": 0.7, "z": 0.2}, "z": {"z": 0.6, "x": 0.4}}
COUNTS = {"x": 5000, "y": 500, "z": 400}


def make_invariant_literally():
    """Return R of each pair of values: draw v from P, then a true value that became v, by Bayes' rule."""
    became = {v: sum(COUNTS[x] * MATRIX[x].get(v, 0) for x in COUNTS) for v in COUNTS}
    return {
        (x, r): sum(p * MATRIX[r].get(v, 0) * COUNTS[r] / became[v] for v, p in MATRIX[x].items())
        for x in COUNTS
        for r in COUNTS
    }


def test_invariant_matrix_keeps_the_margins_and_is_the_kernel():
    table = Table.read({"a": [value for value in COUNTS for _ in range(COUNTS[value])]}, quasi_identifiers="a")
    protection, expected = PRAM(matrices={"a": MATRIX}, invariant="a"), make_invariant_literally()
    kernel = np.exp(protection.row_kernel(table.column("a"), table.column("a"), rng=None).log_k)
    assert np.allclose(kernel, [[expected[x, r] for r in COUNTS] for x in COUNTS])
    assert np.allclose(np.array(list(COUNTS.values())) @ kernel, list(COUNTS.values()))

    release, origin = protection(table, rng=np.random.default_rng(0))
    true = table["a"][origin]
    for (x, r), p in expected.items():
        assert abs(np.mean(release["a"][true == x] == r) - p) < 4 * np.sqrt(p * (1 - p) / COUNTS[x])
    plain, _ = PRAM(matrices={"a": MATRIX})(table, rng=np.random.default_rng(0))
    changed, kept = (abs(np.sum(side["a"] == "x") - 5000) for side in (plain, release))
    assert changed > 500 > 150 > kept


def test_swapped_cells_keep_the_counts_exactly_and_follow_the_kernel(people, general):
    protection = PRAM(keep=0.6, invariant=("sex", "zip"))
    release, origin = protection(people, rng=np.random.default_rng(3))
    for name in ("sex", "zip"):
        assert (np.sort(release.column(name).codes) == np.sort(people.column(name).codes)).all()
    assert (np.sort(release.column("age").codes) != np.sort(people.column("age").codes)).any()
    kernel = np.exp(protection.row_kernel(people.column("sex"), release.column("sex"), rng=None).log_k)
    true, released = people.column("sex").codes[origin], release.column("sex").codes
    for x, r in np.ndindex(kernel.shape):
        n = np.sum(true == x)
        assert abs(np.mean(released[true == x] == r) - kernel[x, r]) < 4 * np.sqrt(kernel[x, r] / n)
    knowledge = known_of(people, origin)
    belief = MechanismAttack(protection)(release, Background(knowledge.people, general))
    realized = realized_success.per_target(belief, knowledge.truth)
    error = realized.std() / np.sqrt(len(realized))
    assert abs(success_probability(belief, knowledge.truth) - realized.mean()) < 3 * error


@pytest.mark.parametrize("invariant", ["", "sex"])
def test_adversary_uses_the_matrix(people, general, invariant):
    matrix = {"female": {"female": 0.7, "male": 0.3}, "male": {"male": 0.9, "female": 0.1}}
    protection = PRAM(keep={"age": 0.9}, matrices={"sex": matrix}, invariant=invariant or ())
    release, origin = protection(people, rng=np.random.default_rng(3))
    knowledge = known_of(people, origin)
    belief = MechanismAttack(protection)(release, Background(knowledge.people, general))
    realized = realized_success.per_target(belief, knowledge.truth)
    error = realized.std() / np.sqrt(len(realized))
    assert abs(success_probability(belief, knowledge.truth) - realized.mean()) < 3 * error
    unaware = MechanismAttack(PRAM(keep={"age": 0.9, "sex": 0.5}))(release, Background(knowledge.people, general))
    assert log_loss_bits(belief, knowledge.truth) < log_loss_bits(unaware, knowledge.truth)


@pytest.mark.parametrize("protection", [AddNoise(sd={"a": 0.8, "b": 3.0}, base={"a": 0.5, "b": 2.0}), RankSwap(0.2)])
def test_released_cells_are_as_frequent_as_the_kernel_says(protection):
    rng = np.random.default_rng(0)
    table = numbers(np.round(rng.normal(0, 2, 4000)), rng.integers(0, 30, 4000))
    release, origin = protection(table, rng=np.random.default_rng(1))
    for true, released in zip(table.quasi_identifiers, release.quasi_identifiers, strict=True):
        log_k, row, column = protection.row_kernel(true, released, rng=np.random.default_rng(2))
        kernel, counts = np.exp(log_k), np.zeros(log_k.shape)
        np.add.at(counts, (row[true.codes[origin]], column[released.codes]), 1)
        expected = kernel * counts.sum(axis=1, keepdims=True)
        away = (counts - expected) / np.sqrt(np.maximum(expected, 1))
        assert np.abs(away).max() < 6
        assert np.allclose(kernel.sum(axis=1)[3:-3], 1, atol=0.02)  # beyond the ends nothing was released


def test_swapped_ranks_stay_near_and_margins_stay():
    rng = np.random.default_rng(0)
    table = numbers(rng.permutation(500), rng.permutation(500))
    release, origin = RankSwap(share=0.1)(table, rng=np.random.default_rng(1))
    for true, released in zip(table.quasi_identifiers, release.quasi_identifiers, strict=True):
        away = np.abs(released.codes - true.codes[origin])
        assert 0 < away.max() <= 50
        assert (np.sort(released.codes) == np.sort(true.codes)).all()
        assert np.mean(away == 0) < 0.05


def test_missing_cells_are_left_alone():
    table = Table.read({"a": [1, 2, None, 4, None, 6]}, quasi_identifiers="a", types={"a": "number"})
    for protection in (AddNoise(sd={"a": 1.0}), RankSwap(share=0.5)):
        release, origin = protection(table, rng=np.random.default_rng(0))
        assert [cell is None for cell in release["a"]] == [cell is None for cell in table["a"][origin]]
        belief = MechanismAttack(protection)(release, Background(table, table), rng=np.random.default_rng(0))
        assert np.isfinite(log_loss_bits(belief, Truth(np.argsort(origin))))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PRAM(keep=1.2), "keep is 1.2"),
        (lambda: PRAM(matrices={"sex": {"f": {"f": 0.5}}}), "sum to 1"),
        (lambda: AddNoise(sd={"age": -1.0}), "sd is age -1.0"),
        (lambda: AddNoise(base={"age": 0}), "base is age 0"),
        (lambda: RankSwap(share=0), "share is 0"),
        (lambda: MechanismAttack(PRAM(), asks="name"), "asks is 'name', expected one of identity, membership"),
    ],
)
def test_impossible_mechanisms_are_refused(make, message):
    with pytest.raises(UnmaskError, match=message):
        make()


def test_a_protection_that_says_nothing_of_itself_is_refused(people):
    with pytest.raises(UnmaskError, match="row_kernel"):
        MechanismAttack()(people, Background(people))
    with pytest.raises(UnmaskError, match="not exact numbers"):
        AddNoise(sd={"sex": 1.0})(people)
    with pytest.raises(UnmaskError, match="no order"):
        RankSwap(columns="sex")(people)
    with pytest.raises(UnmaskError, match="sxe"):
        PRAM(invariant="sxe")(people)
    with pytest.raises(UnmaskError, match="column 'sex' has no value 'femle'"):
        PRAM(matrices={"sex": {"femle": {"male": 1.0}}})(people)
    assert replace(MechanismAttack(), protection=PRAM()) == MechanismAttack(PRAM())
