"""The generalization lattice: classes that are rolled up, a search that equals enumeration, the rules it prunes by."""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.core import grouping
from unmask.core.errors import FailedError, UnmaskError
from unmask.tables import (
    Generalize,
    Hierarchy,
    Lattice,
    SuppressCells,
    Table,
    utility,
)
from unmask.tables.attacks.comparisons import compare_levels
from unmask.tables.attacks.pairing import find_compatible_pairs, pair
from unmask.tables.protections import constraints, lattice_levels
from unmask.tables.protections.bound_constraints import find_satisfying_classes
from unmask.tables.protections.constraints import Constraint, KAnonymity

CITIES = Hierarchy.from_paths(
    [("lyon", "france", "*"), ("paris", "france", "*"), ("rome", "italy", "*"), ("pisa", "italy", "*")]
)
LEVELS = {"age": [0, 5, 20, "*"], "city": [0, 1, 2], "day": [0, "month", "year"]}


@cache
def people(n=60, *, gaps=0.1):
    rng = np.random.default_rng(0)
    gap = rng.random(n) < gaps
    cells = {
        "age": [None if is_missing else str(age) for is_missing, age in zip(gap, rng.integers(20, 40, n), strict=True)],
        "city": rng.choice(CITIES.leaves, n),
        "day": [f"202{year}-0{month}-01" for year, month in rng.integers(1, 4, (n, 2))],
        "ill": rng.choice(["asthma", "flu", "gout"], n, p=[0.2, 0.5, 0.3]),
    }
    return Table.read(
        cells, quasi_identifiers=["age", "city", "day"], sensitive="ill", types={"age": "number"},
        hierarchies={"city": CITIES},
    )  # fmt: skip


@cache
def generalized(table, node):
    levels = {name: levels[index] for (name, levels), index in zip(LEVELS.items(), node, strict=True)}
    settings = {name: level for name, level in levels.items() if level != 0}
    return Generalize(settings)(table, rng=np.random.default_rng(0))


def released(table, node, protection):
    """The release at a node as other protections make it: generalized, then without the classes that violate."""
    release, origin = generalized(table, node)
    asked = [*protection.constraints]
    asked += [] if protection.l is None else [constraints.DistinctL(protection.l)]
    asked += [] if protection.t is None else [constraints.TCloseness(protection.t)]
    good = find_satisfying_classes(release, protection.k, asked)[release.classes.of_row]
    return release.take(good), origin[good]


def by_enumeration(table, protection):
    """The least loss of all nodes, by the package's own measures of what is released; None where no node satisfies."""
    choices = []
    for node in product(*(range(len(labels)) for labels in LEVELS.values())):
        release, origin = released(table, node, protection)
        if not release.n_rows or table.n_rows - release.n_rows > protection.suppression * table.n_rows + 1e-9:
            continue
        risk = len(release.classes.sizes) / release.n_rows
        if protection.average_risk is not None and risk > protection.average_risk * (1 + 1e-9):
            continue
        penalty = utility.evaluate(table, release, origin, queries=1)
        weights = [protection.weights.get(name, 1) for name in LEVELS]
        gcp = float(np.average(list(penalty.ncp.values()), weights=weights))
        choices.append(gcp if protection.loss == "gcp" else penalty.discernibility)
    return min(choices, default=None)


@dataclass(frozen=True)
class Own(Constraint):
    """A user-defined constraint, which a union of good classes may violate."""

    most: int
    comparison = constraints.Comparison("rows modulo 7", "at most", lambda view, _, _paths: view.sizes % 7)


ASKED = [
    Lattice(k=2),
    Lattice(k=5),
    Lattice(k=4, suppression=0.1),
    Lattice(k=4, suppression=0.3, weights={"age": 5, "day": 0}),
    Lattice(k=3, l=3),
    Lattice(k=3, l=2, suppression=0.2),
    Lattice(k=2, t=0.3),
    Lattice(k=2, t=0.25, suppression=0.2),
    Lattice(k=2, suppression=0.15, constraints=[constraints.EntropyL(2.0)]),
    Lattice(k=1, average_risk=0.15),
    Lattice(k=2, average_risk=0.15, suppression=0.2),
    Lattice(k=3, loss="discernibility"),
    Lattice(k=3, loss="discernibility", suppression=0.1),
    Lattice(k=2, constraints=[Own(most=4)], suppression=0.1),
    Lattice(k=2, constraints=[Own(most=3)]),
]


@pytest.mark.parametrize("options", ASKED, ids=repr)
def test_the_choice_is_that_of_enumeration(options):
    table = people()
    options = Lattice(**{**vars(options), "levels": LEVELS})
    wanted = by_enumeration(table, options)
    if wanted is None:
        with pytest.raises(FailedError, match="none of the 36 nodes"):
            options.choose(table)
        return
    choice = options.choose(table)
    assert choice.loss == pytest.approx(wanted, abs=1e-12)
    assert choice.nodes == 36
    assert choice.n_counted <= 36
    release, origin = options(table, rng=np.random.default_rng(0))
    assert table.n_rows - release.n_rows == choice.suppressed
    penalty = utility.evaluate(table, release, origin, queries=1)
    if options.loss == "discernibility":
        assert penalty.discernibility == choice.loss
    elif not options.weights:
        assert penalty.gcp == pytest.approx(choice.loss, abs=1e-12)


ROUNDS = [
    Lattice(k=4, rounds=3),
    Lattice(k=3, l=2, t=0.45, rounds=4, suppression=0.05),
    Lattice(k=2, average_risk=0.3, rounds=3),
    Lattice(k=4, rounds=3, loss="discernibility"),
    Lattice(k=5, rounds=2, weights={"age": 5, "day": 0}),
]


@cache
def uneven(n=150):
    """Many who are alike, and some who are not."""
    rng = np.random.default_rng(1)
    cells = {
        "age": 20 + np.minimum(rng.geometric(0.3, n), 19),
        "city": rng.choice(CITIES.leaves, n, p=[0.7, 0.1, 0.1, 0.1]),
        "day": np.where(rng.random(n) < 0.7, "2021-01-01", rng.choice(["2022-02-01", "2023-03-01"], n)),
        "ill": rng.choice(["asthma", "flu", "gout"], n, p=[0.2, 0.5, 0.3]),
    }
    return Table.read(cells, quasi_identifiers=list(LEVELS), sensitive="ill", hierarchies={"city": CITIES})


@pytest.mark.parametrize("options", ROUNDS, ids=repr)
def test_rounds_lose_less_and_every_class_satisfies_what_is_asked(options):
    table = uneven()
    options = Lattice(**{**vars(options), "levels": LEVELS})
    rounds, full = options.choose(table), Lattice(**{**vars(options), "rounds": 1}).choose(table)
    release, origin = options(table, rng=np.random.default_rng(0))
    assert rounds.next_round is not None
    assert rounds.loss < full.loss
    assert table.n_rows - release.n_rows == rounds.suppressed <= options.suppression * table.n_rows
    assert len(np.unique(origin)) == len(origin)
    assert len(release.classes.sizes) <= (options.average_risk or 1) * release.n_rows
    demands = [
        *([constraints.DistinctL(options.l)] if options.l else []),
        *([constraints.TCloseness(options.t)] if options.t else []),
    ]
    assert find_satisfying_classes(release, options.k, demands, reference=table).all()
    penalty = utility.evaluate(table, release, origin, queries=1)
    if options.loss == "discernibility":
        assert penalty.discernibility == rounds.loss
    else:
        weights = [options.weights.get(name, 1) for name in LEVELS]
        assert np.average(list(penalty.ncp.values()), weights=weights) == pytest.approx(rounds.loss, abs=1e-12)
    places = [
        [LEVELS[name].index(level) for name, level in choice.levels.items()] for choice in (rounds, rounds.next_round)
    ]
    assert np.all(np.less_equal(*places))


def test_the_adversary_who_knows_the_rounds_finds_the_one_class_of_every_person():
    table = uneven()
    protection = Lattice(k=4, levels=LEVELS, rounds=4)
    release, origin = protection(table, rng=np.random.default_rng(0))
    pairing = pair(table, release)
    row, klass = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=release.missing))
    is_allowed = protection.allowed_pairs(release, pairing, row, klass)
    assert not is_allowed.all()  # somebody is also within a coarser class
    of_row = dict(zip(row[is_allowed].tolist(), klass[is_allowed].tolist(), strict=True))
    assert len(of_row) == is_allowed.sum() == len(pairing.observed)
    assert [of_row[index] for index in pairing.observation[origin].tolist()] == pairing.klass.tolist()


@pytest.mark.parametrize("protection", [Lattice(k=2, rounds=3), SuppressCells(k=2)], ids=["rounds", "suppressed"])
def test_if_a_missing_cell_is_any_value_the_rule_leaves_every_person_their_row(protection):
    cells = {"city": list("baccaaaa"), "sex": ["m", "m", "m", "f", None, None, "m", "f"]}
    table = Table.read(cells, quasi_identifiers=["city", "sex"], missing="wildcard")
    release, origin = protection(table, rng=np.random.default_rng(0))
    pairing = pair(table, release)
    row, klass = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=release.missing))
    is_allowed = protection.allowed_pairs(release, pairing, row, klass)
    pairs = set(zip(row[is_allowed].tolist(), klass[is_allowed].tolist(), strict=True))
    assert pairs >= set(zip(pairing.observation[origin].tolist(), pairing.klass.tolist(), strict=True))


@pytest.mark.parametrize("limit", [2**63 - 1, 50])
def test_classes_are_rolled_up_to_those_of_the_generalized_rows(monkeypatch, limit):
    table = people()
    lattice = lattice_levels.LevelLattice.of(table, LEVELS, [table.classes.counts(table.column("ill")).to_scipy()])
    finer = {}
    for node in product(*map(range, lattice.shape)):
        finer_nodes = [tuple(np.subtract(node, step)) for step in np.eye(3, dtype=int)]
        with monkeypatch.context() as keys:
            keys.setattr(grouping, "KEY_LIMIT", limit)
            counted = finer[node] = lattice.count_classes(
                node, next((finer[finer_node] for finer_node in finer_nodes if finer_node in finer), None)
            )
        release, _ = released(table, node, Lattice(k=1))
        assert sorted(counted.sizes) == sorted(release.classes.sizes)
        (histogram,) = (histogram.toarray() for histogram in counted.histograms)
        wanted = release.classes.counts(release.column("ill")).to_scipy().toarray()
        assert sorted(map(tuple, histogram)) == sorted(map(tuple, wanted))
        penalty = lattice.penalty(node, counted.first, np.full(3, 1 / 3)) @ counted.sizes / table.n_rows
        assert penalty == pytest.approx(lattice.minimum_penalty(np.full(3, 1 / 3))[node], abs=1e-12)


EVERY = [
    KAnonymity(4), constraints.DistinctL(2), constraints.EntropyL(1.7),
    constraints.RecursiveL(c=1.5, l=2), constraints.AlphaK(0.6), constraints.TCloseness(0.3),
    constraints.TCloseness(0.2, distance="ordered"), constraints.TCloseness(0.3, distance="kl"),
    constraints.TCloseness(0.2, distance="hierarchical"), constraints.DeltaDisclosure(0.9),
    constraints.BetaLikeness(1.0),
]  # fmt: skip
PATHS = np.array([[0, 1, 2, 3], [0, 0, 1, 1]], dtype=np.int32)


def test_every_constraint_is_tried():
    constraint_types = {
        member for member in vars(constraints).values() if isinstance(member, type) and issubclass(member, Constraint)
    }
    assert {type(constraint) for constraint in EVERY} == constraint_types - {Constraint}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), min_size=4, max_size=4), min_size=2, max_size=12), st.sampled_from(EVERY))
def test_a_constraint_of_two_classes_holds_for_their_union(rows, constraint):
    classes = np.array(rows)
    overall = classes.sum(axis=0) + 1
    good = classes[constraint.allows(classes, overall, paths=PATHS)]
    pairs = (good[:, None] + good[None]).reshape(-1, 4)
    assert constraint.allows(pairs, overall, paths=PATHS).all()
    if isinstance(constraint, (KAnonymity, constraints.DistinctL)):
        anything = (good[:, None] + classes[None]).reshape(-1, 4)
        assert constraint.allows(anything, overall, paths=PATHS).all()


def test_with_a_limit_neither_closeness_nor_the_average_risk_is_monotone():
    """Why rules 2 and 3 ask for a limit of 0: a coarser node may violate what a finer one satisfies."""
    cells = {"a": list("xxxxyy"), "ill": ["flu", "gout"] * 2 + ["gout", "gout"]}
    table = Table.read(cells, quasi_identifiers="a", sensitive="ill")
    finest, top = (Lattice(k=1, t=0.17, suppression=1 / 3, levels={"a": [level]}) for level in (0, "*"))
    assert finest.choose(table).suppressed == 2
    assert top.choose(table).suppressed == 0
    lone = Table.read({"a": [1, 1, 1, 1, 1, 1, 2, 3, 4, 5]}, quasi_identifiers="a")
    risky = {level: Lattice(k=2, average_risk=0.2, suppression=0.4, levels={"a": [level]}) for level in (0, 2)}
    assert risky[0].choose(lone).suppressed == 4  # one class of six is left
    with pytest.raises(FailedError):
        risky[2].choose(lone)  # classes of two come back


def test_pruning_sees_few_nodes_of_many():
    table = people(400)
    choice = Lattice(k=20, levels={**LEVELS, "age": [0, 1, 2, 4, 8, 16, 32, "*"]}).choose(table)
    assert choice.nodes == 72
    assert choice.n_counted < 36


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"suppression": 1.5}, "suppression is 1.5"),
        ({"average_risk": 0.0}, "average_risk is 0.0"),
        ({"loss": "utility"}, "loss is"),
        ({"weights": {"age": -1}}, "a weight of a column"),
        ({"weights": {"ages": 1}}, "'ages'"),
        ({"levels": {"city": []}}, "expected a list"),
        ({"levels": {"age": [0, 5, 7]}}, "level 7 of column 'age' splits a cell of level 5"),
        ({"levels": {"age": list(range(1))}, "k": 61}, "none of the .* nodes"),
        ({"levels": {"city": [0, 4]}}, "level of column 'city' is 4"),
        ({"rounds": 0}, "rounds is 0"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(UnmaskError, match=message):
        Lattice(**settings)(people())


def test_a_lattice_of_too_many_nodes_is_refused(monkeypatch):
    monkeypatch.setattr(lattice_levels, "MAX_NODES", 35)
    with pytest.raises(UnmaskError, match="36 nodes, expected at most 35"):
        Lattice(k=1, levels=LEVELS).choose(people())
