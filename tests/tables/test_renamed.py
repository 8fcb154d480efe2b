"""Labels that a release has and the original has not: what they stand for is what an adversary reads."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.results.formats import percent
from unmask.tables import Table
from unmask.tables.audit import audit
from unmask.tables.criteria import value_proximity
from unmask.tables.matching import compatible
from unmask.tables.reinterpret import read_coarse

PEOPLE = 600
ROLES = {"quasi_identifiers": ["age", "sex", "region"], "sensitive": "pay"}


def people():
    """Decades of age, sexes, regions and pay of people, the first alone in theirs."""
    rng = np.random.default_rng(21)
    return {
        "age": [110, *rng.integers(2, 9, PEOPLE - 1) * 10],
        "sex": ["d", *rng.choice(["m", "w"], PEOPLE - 1)],
        "region": rng.choice(["n", "e", "s", "w", "x", "y"], PEOPLE, p=[0.3, 0.3, 0.2, 0.1, 0.06, 0.04]).tolist(),
        "pay": rng.lognormal(10, 0.4, PEOPLE).round(-1).astype(int).tolist(),
    }


def some(labels, share, other):
    """The labels, some of which are replaced at random."""
    rng = np.random.default_rng(22)
    return [other if rng.random() < share else label for label in labels]


NAMED = {
    "translated": lambda one: {"sex": [{"m": "male", "w": "female", "d": "other"}[sex] for sex in one["sex"]]},
    "swapped": lambda one: {"sex": [{"m": "w", "w": "m", "d": "d"}[sex] for sex in one["sex"]]},
    "codes": lambda one: {"age": [age // 10 for age in one["age"]]},
    "words": lambda one: {"age": ["young" if age < 40 else "old" for age in one["age"]]},
    "rare ones": lambda one: {"region": ["other" if region in "xy" else region for region in one["region"]]},
    "one in another": lambda one: {"region": ["n" if region in "wx" else region for region in one["region"]]},
    "groups": lambda one: {"region": ["coast" if region in "nex" else "inland" for region in one["region"]]},
}


def success(found, adversary, target, measure="realized_success"):
    """The mean over people."""
    (row,) = (
        row
        for row in found.rows
        if (row.release, row.adversary, row.target, row.measure) == ("release", adversary, target, measure)
    )
    return row.posterior


def audited(released, rows=None, **given):
    """An audit of a release of the people, the rows of which are theirs."""
    original, release = (Table.read(one, **ROLES) for one in (people(), people() | released))
    rows = np.random.default_rng(23).permutation(PEOPLE)
    given = {"origin": rows} if given.pop("traced", True) else {}
    return audit(release.take(rows), original=original, without=["order"], **given)


@pytest.mark.parametrize("how", NAMED)
def test_people_are_found_by_labels_of_other_names(how):
    released = NAMED[how](people())
    rows = list(zip(*(released.get(name, people()[name]) for name in ROLES["quasi_identifiers"]), strict=True))
    found = audited(released)
    assert success(found, "prosecutor", "identity") == pytest.approx(len(set(rows)) / PEOPLE, rel=1e-12)
    (said,) = found.cautions
    assert said.startswith(f"{next(iter(released))} was renamed or grouped in release")


def test_a_label_that_hides_values_may_be_any_of_them():
    original = people()
    released = some(original["region"], 0.2, "not told")
    columns = [Table.read({"region": one}, quasi_identifiers="region") for one in (original["region"], released)]
    read = read_coarse(*columns, np.arange(PEOPLE))["region"].column
    assert set(read.levels.labels) == {*original["region"], "*"}
    assert [label == "not told" for label in released] == (read.codes == read.levels.labels.index("*")).tolist()


@given(st.lists(st.sampled_from("abcde"), min_size=40, max_size=80), st.permutations("abcdefgh"), st.booleans())
def test_whatever_the_names_are(values, names, merged):
    name = dict(zip("abcde", [names[0], names[0], *names[2:5]] if merged else names[:5], strict=True))
    original, release = (
        Table.read({"q": one}, quasi_identifiers="q") for one in (values, [name[value] for value in values])
    )
    read = read_coarse(original, release, np.arange(len(values)))
    known, column = original.column("q"), read["q"].column if read else release.column("q")
    fits = compatible(known.levels, column.levels, missing="own")[known.codes][:, column.codes]
    theirs = np.array([name[value] for value in values])
    if read:
        assert (fits == (theirs[:, None] == theirs)).all()
    else:  # few rows have other labels, or only those of values that occur once, which tell no rule
        other = theirs != np.array(values)
        assert (
            other.mean() <= 0.01 or 2 * sum(values.count(value) > 1 for value in np.array(values)[other]) < other.sum()
        )


@pytest.mark.parametrize(
    "labels", [lambda rng, one: rng.permutation(one), lambda rng, one: rng.choice(list("mwd"), PEOPLE)]
)
def test_nothing_is_read_into_labels_that_were_drawn(labels):
    original = people()
    drawn = labels(np.random.default_rng(24), original["sex"]).tolist()
    tables = [Table.read({"sex": one}, quasi_identifiers="sex") for one in (original["sex"], drawn)]
    assert not read_coarse(*tables, np.arange(PEOPLE))


@pytest.mark.parametrize("name", ["region", "pay"])
def test_nothing_is_read_into_a_pseudonym_of_each_row(name):
    tables = [
        Table.read({name: one}, quasi_identifiers=name) for one in (people()[name], [f"p{at}" for at in range(PEOPLE)])
    ]
    assert not read_coarse(*tables, np.arange(PEOPLE))


def test_values_that_nobody_has_are_told_without_the_origin():
    found = audited(NAMED["translated"](people()), traced=False)
    assert any(
        said.startswith("100\u00a0% of the sex cells in release have a value that no person") for said in found.cautions
    )


def test_values_that_nobody_of_a_register_has_are_told():
    one = people()
    release = Table.read(
        {"region": ["north" if region == "n" else region for region in one["region"]]}, quasi_identifiers="region"
    )
    register = Table.read({"region": one["region"]}, quasi_identifiers="region")
    share = one["region"].count("n") / PEOPLE
    (said,) = audit(release, register=register, coverage=0.5).cautions
    assert said.startswith(f"{percent(share)} of the region cells in release have a value that no person")


STATED = {
    "intervals": lambda pay: f"[{pay // 5000 * 5000}, {pay // 5000 * 5000 + 4999}]",
    "words": lambda pay: f"{pay // 5000} times five thousand",
    "down": lambda pay: pay // 5000 * 5000,
    "top-coded": lambda pay: min(pay, 20_000),
    "letters": lambda pay: "low" if pay < 15_000 else "middle" if pay < 30_000 else "high",
}


@pytest.mark.parametrize("how", STATED)
def test_a_secret_is_what_the_release_states_of_it(how):
    """The commonest cell of a class is guessed, and right as often as it occurs."""
    columns = people()
    stated = [STATED[how](pay) for pay in columns["pay"]]
    classes = {}
    for *known, cell in zip(*(columns[name] for name in ROLES["quasi_identifiers"]), stated, strict=True):
        classes.setdefault(tuple(known), []).append(cell)
    right = sum(max(Counter(cells).values()) for cells in classes.values())
    found = audited({"pay": stated})
    assert success(found, "prosecutor", "pay") == pytest.approx(right / PEOPLE, rel=1e-12)
    assert success(found, "prosecutor", "pay", "success_probability") == pytest.approx(right / PEOPLE, rel=1e-12)
    assert any("the interval or group of pay that a release states is inferred" in said for said in found.cautions)


def test_a_secret_under_another_name_is_the_same():
    few = ["low" if pay < 20_000 else "high" for pay in people()["pay"]]
    names = {"low": "gering", "high": "hoch"}
    tables = [Table.read(people() | {"pay": pay}, **ROLES) for pay in (few, [names[one] for one in few])]
    read = read_coarse(*tables, np.arange(PEOPLE))["pay"].column
    assert [read.levels.labels[code] for code in read.codes] == few


@pytest.mark.parametrize("hidden", ["*", "not told"])
@pytest.mark.parametrize("rare", [False, True], ids=["any value", "any but a rare one"])
def test_a_secret_that_is_hidden_is_guessed_from_rows_that_state_theirs(hidden, rare):
    """As beside missing cells, of which a release has more than the original."""
    one = people()
    illness = ["rare", *some(["flu"] * (PEOPLE - 1), 0.3, "none")]
    told = [None if cell == hidden else cell for cell in some(illness, 0.6, hidden)]
    told[0] = "rare" if rare else None
    roles = {"quasi_identifiers": ["age"], "sensitive": "illness"}
    original = Table.read({"age": one["age"], "illness": illness}, **roles)
    found = [
        audit(
            Table.read({"age": one["age"], "illness": [other if cell is None else cell for cell in told]}, **roles),
            original=original,
            origin=np.arange(PEOPLE),
            without=["order"],
        )
        for other in (None, hidden)
    ]
    of_missing, of_label = (success(each, "prosecutor", "illness") for each in found)
    assert of_label == pytest.approx(of_missing, rel=1e-12)
    assert of_label > 0.6  # the commonest stated value of a class; 0 where they believe that the label is the secret


def test_cells_of_two_releases_that_overlap_are_told():
    roles = ROLES | {"quasi_identifiers": ["age"]}
    original = Table.read(people(), **roles)
    bands = [
        Table.read(people() | {"pay": [f"[{x // n * n}, {x // n * n + n - 1}]" for x in people()["pay"]]}, **roles)
        for n in (3000, 5000)
    ]
    found = audit(dict(zip(["one", "two"], bands, strict=True)), original=original, without=["order"])
    assert any(said.startswith("cells of pay stand for several values and overlap") for said in found.cautions)


def test_how_nearly_an_interval_tells_a_number_is_not_asked():
    pay = [f"[{1000 * at}, {1000 * at + 999}]" for at in range(1, 21)]
    table = Table.read({"q": ["a"] * 20, "pay": pay}, quasi_identifiers="q", sensitive="pay")
    assert value_proximity(table, table.sensitive[0]) is None
