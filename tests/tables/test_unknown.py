"""Parameters of a protection that the adversary does not know."""

from itertools import combinations, product

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.tables import PRAM, AddNoise, Background, MechanismAttack, RankSwap, Table
from unmask.tables.attacks.unknown import fitted

NAMES = ("a", "b", "c")


def _people(n: int, seed: int) -> Table:
    """Three columns that say much of one another."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, n)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 4, n))
    c = np.where(rng.random(n) < 0.9, b // 2, rng.integers(0, 2, n))
    return Table.read({"a": a, "b": b, "c": c}, quasi_identifiers=NAMES)


def _log_likelihood(keep: float, release: Table, people: Table) -> float:
    """Every released cell and pair of cells, every person, one by one."""
    rows, others = (list(zip(*(table[name] for name in NAMES), strict=True)) for table in (release, people))
    shares = [{v: sum(row[j] == v for row in rows) / len(rows) for v in {row[j] for row in rows}} for j in range(3)]
    total = 0.0
    for some in [*combinations(range(3), 1), *combinations(range(3), 2)]:
        for cells in product(*(shares[j] for j in some)):
            n = sum(all(row[j] == v for j, v in zip(some, cells, strict=True)) for row in rows)
            k = (
                np.prod([keep * (x[j] == v) + (1 - keep) * shares[j][v] for j, v in zip(some, cells, strict=True)])
                for x in others
            )
            total += n * np.log(sum(k) / len(others)) if n else 0.0
    return total


def test_what_is_fitted_is_likeliest_by_enumeration():
    people = _people(400, 0)
    release, _ = PRAM(keep=0.6)(_people(150, 1), rng=np.random.default_rng(2))
    keeps = np.linspace(0.3, 0.9, 25)
    best = keeps[np.argmax([_log_likelihood(keep, release, people) for keep in keeps])]
    assert fitted(PRAM(), release, people, ["keep"]).keep == pytest.approx(best, abs=0.025)


@pytest.mark.parametrize("keep", [0.9, 0.5])
def test_a_rate_is_found_again(keep: float):
    release, _ = PRAM(keep=keep)(_people(5000, 1), rng=np.random.default_rng(2))
    assert fitted(PRAM(), release, _people(5000, 0), ["keep"]).keep == pytest.approx(keep, abs=0.03)


def test_noise_is_found_again_column_by_column():
    rng = np.random.default_rng(0)
    ages = [rng.choice([20, 40, 60], 4000), rng.choice([20, 40, 60], 4000)]
    people, members = (Table.read({"age": one, "hours": one}, quasi_identifiers=["age", "hours"]) for one in ages)
    release, _ = AddNoise(sd={"age": 3.0, "hours": 6.0})(members, rng=rng)
    found = fitted(AddNoise(sd={"age": 1.0, "hours": 1.0}), release, people, ["sd"])
    assert found.sd == pytest.approx({"age": 3.0, "hours": 6.0}, rel=0.1)


@pytest.mark.parametrize("share", [0.15, 0.3])
def test_how_far_ranks_are_swapped_is_found_again(share: float):
    rng = np.random.default_rng(0)
    both = rng.multivariate_normal([50, 50], [[100, 80], [80, 100]], 8000).round()
    tables = (
        Table.read({"age": one[:, 0], "hours": one[:, 1]}, quasi_identifiers=["age", "hours"])
        for one in (both[:4000], both[4000:])
    )
    people, members = tables
    release, _ = RankSwap(share)(members, rng=rng)
    assert fitted(RankSwap(0.5), release, people, ["share"]).share == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("protection", "name"), [(PRAM(), "keep"), (RankSwap(), "share")])
def test_a_column_alone_tells_nothing_of_what_keeps_its_shares(protection, name):
    people = Table.read({"age": np.arange(600) % 50}, quasi_identifiers="age")
    release, _ = protection(people, rng=np.random.default_rng(2))
    with pytest.raises(UnmaskError, match=f"to tell its {name}; state it"):
        fitted(protection, release, people, [name])


@pytest.mark.parametrize(
    ("protection", "name", "of"),
    [(RankSwap(columns=("x",)), "share", ""), (PRAM(keep={"x": 0.5, "a": 0.5, "b": 0.5}), "keep", " of x")],
)
def test_what_other_columns_say_of_one_another_tells_nothing_of_one_that_says_nothing(protection, name, of):
    table = _people(1000, 0)
    columns = {**{one: table[one] for one in NAMES}, "x": np.random.default_rng(1).permutation(1000)}
    people = Table.read(columns, quasi_identifiers=(*NAMES, "x"))
    release, _ = protection(people, rng=np.random.default_rng(2))
    with pytest.raises(UnmaskError, match=f"to tell its {name}{of}; state it"):
        fitted(protection, release, people, [name])


def test_an_attack_that_fits_is_that_of_what_it_found():
    people, members = _people(1000, 0), _people(300, 1)
    release, _ = PRAM(keep=0.7)(members, rng=np.random.default_rng(2))
    known = Background(members.take(slice(0, 20)), people)
    one = MechanismAttack(PRAM(), unknown="keep")(release, known)
    other = MechanismAttack(fitted(PRAM(), release, people, ["keep"]))(release, known)
    assert np.array_equal(one.to_dense(), other.to_dense())


def test_what_cannot_be_fitted_is_said():
    people = _people(50, 0)
    release, _ = PRAM()(people, rng=np.random.default_rng(2))
    with pytest.raises(UnmaskError, match="unknown is 'kept' of PRAM"):
        MechanismAttack(PRAM(), unknown="kept")(release, Background(people, people))
    with pytest.raises(UnmaskError, match="people in general"):
        MechanismAttack(PRAM(), unknown="keep")(release, Background(people))
