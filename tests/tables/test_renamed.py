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
from unmask.tables.reinterpret import find_readings

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


def replace_some(labels, share, replacement):
    """The labels, some of which are replaced at random."""
    rng = np.random.default_rng(22)
    return [replacement if rng.random() < share else label for label in labels]


NAMED = {
    "translated": lambda columns: {"sex": [{"m": "male", "w": "female", "d": "other"}[sex] for sex in columns["sex"]]},
    "swapped": lambda columns: {"sex": [{"m": "w", "w": "m", "d": "d"}[sex] for sex in columns["sex"]]},
    "codes": lambda columns: {"age": [age // 10 for age in columns["age"]]},
    "words": lambda columns: {"age": ["young" if age < 40 else "old" for age in columns["age"]]},
    "rare ones": lambda columns: {"region": ["other" if region in "xy" else region for region in columns["region"]]},
    "one in another": lambda columns: {"region": ["n" if region in "wx" else region for region in columns["region"]]},
    "groups": lambda columns: {"region": ["coast" if region in "nex" else "inland" for region in columns["region"]]},
}


def success(result, adversary, target, measure="realized_success"):
    """The mean over people."""
    (row,) = (
        row
        for row in result.rows
        if (row.release, row.adversary, row.target, row.measure) == ("release", adversary, target, measure)
    )
    return row.posterior


def audited(released, rows=None, **options):
    """An audit of a release of the people, the rows of which are theirs."""
    original, release = (Table.read(columns, **ROLES) for columns in (people(), people() | released))
    rows = np.random.default_rng(23).permutation(PEOPLE)
    options = {"origin": rows} if options.pop("traced", True) else {}
    return audit(release.take(rows), original=original, without=["order reader"], **options)


@pytest.mark.parametrize("form", NAMED)
def test_people_are_found_by_labels_of_other_names(form):
    released = NAMED[form](people())
    rows = list(zip(*(released.get(name, people()[name]) for name in ROLES["quasi_identifiers"]), strict=True))
    result = audited(released)
    assert success(result, "prosecutor", "identity") == pytest.approx(len(set(rows)) / PEOPLE, rel=1e-12)
    (caution,) = result.cautions
    assert caution.startswith(f"{next(iter(released))} was renamed or grouped in release")


def test_a_label_that_hides_values_may_be_any_of_them():
    original = people()
    released = replace_some(original["region"], 0.2, "not told")
    columns = [
        Table.read({"region": values_read}, quasi_identifiers="region")
        for values_read in (original["region"], released)
    ]
    read = find_readings(*columns, np.arange(PEOPLE))["region"].column
    assert set(read.levels.labels) == {*original["region"], "*"}
    assert [label == "not told" for label in released] == (read.codes == read.levels.labels.index("*")).tolist()


@given(st.lists(st.sampled_from("abcde"), min_size=40, max_size=80), st.permutations("abcdefgh"), st.booleans())
def test_labels_are_read_whatever_their_names(values, names, merged):
    name = dict(zip("abcde", [names[0], names[0], *names[2:5]] if merged else names[:5], strict=True))
    original, release = (
        Table.read({"q": values_read}, quasi_identifiers="q")
        for values_read in (values, [name[value] for value in values])
    )
    read = find_readings(original, release, np.arange(len(values)))
    known_column, column = original.column("q"), read["q"].column if read else release.column("q")
    fits = compatible(known_column.levels, column.levels, missing="own")[known_column.codes][:, column.codes]
    theirs = np.array([name[value] for value in values])
    if read:
        assert (fits == (theirs[:, None] == theirs)).all()
    else:  # few rows have other labels, or only those of values that occur once, which tell no rule
        is_other = theirs != np.array(values)
        assert (
            is_other.mean() <= 0.01
            or 2 * sum(values.count(value) > 1 for value in np.array(values)[is_other]) < is_other.sum()
        )


@pytest.mark.parametrize(
    "labels", [lambda rng, cells: rng.permutation(cells), lambda rng, cells: rng.choice(list("mwd"), PEOPLE)]
)
def test_nothing_is_read_into_labels_that_were_drawn(labels):
    original = people()
    drawn = labels(np.random.default_rng(24), original["sex"]).tolist()
    tables = [Table.read({"sex": values_read}, quasi_identifiers="sex") for values_read in (original["sex"], drawn)]
    assert not find_readings(*tables, np.arange(PEOPLE))


@pytest.mark.parametrize("name", ["region", "pay"])
def test_nothing_is_read_into_a_pseudonym_of_each_row(name):
    tables = [
        Table.read({name: values_read}, quasi_identifiers=name)
        for values_read in (people()[name], [f"p{index}" for index in range(PEOPLE)])
    ]
    assert not find_readings(*tables, np.arange(PEOPLE))


def test_values_outside_the_original_are_reported_without_the_origin():
    result = audited(NAMED["translated"](people()), traced=False)
    assert any(
        caution.startswith("100\u00a0% of the sex cells in release have a value that no person")
        for caution in result.cautions
    )


def test_values_outside_a_register_are_reported():
    columns = people()
    release = Table.read(
        {"region": ["north" if region == "n" else region for region in columns["region"]]}, quasi_identifiers="region"
    )
    register = Table.read({"region": columns["region"]}, quasi_identifiers="region")
    share = columns["region"].count("n") / PEOPLE
    (caution,) = audit(release, register=register, coverage=0.5).cautions
    assert caution.startswith(f"{percent(share)} of the region cells in release have a value that no person")


STATED = {
    "intervals": lambda pay: f"[{pay // 5000 * 5000}, {pay // 5000 * 5000 + 4999}]",
    "words": lambda pay: f"{pay // 5000} times five thousand",
    "down": lambda pay: pay // 5000 * 5000,
    "top-coded": lambda pay: min(pay, 20_000),
    "letters": lambda pay: "low" if pay < 15_000 else "middle" if pay < 30_000 else "high",
}


@pytest.mark.parametrize("form", STATED)
def test_a_secret_is_what_the_release_states_of_it(form):
    """The most common cell of a class is guessed, and right as often as it occurs."""
    columns = people()
    released_pay = [STATED[form](pay) for pay in columns["pay"]]
    classes = {}
    for *known_cells, cell in zip(*(columns[name] for name in ROLES["quasi_identifiers"]), released_pay, strict=True):
        classes.setdefault(tuple(known_cells), []).append(cell)
    n_right = sum(max(Counter(cells).values()) for cells in classes.values())
    result = audited({"pay": released_pay})
    assert success(result, "prosecutor", "pay") == pytest.approx(n_right / PEOPLE, rel=1e-12)
    assert success(result, "prosecutor", "pay", "success_probability") == pytest.approx(n_right / PEOPLE, rel=1e-12)
    assert any(
        "the interval or group of pay that a release states is inferred" in caution for caution in result.cautions
    )


def test_a_secret_under_another_name_is_the_same():
    pay_bands = ["low" if pay < 20_000 else "high" for pay in people()["pay"]]
    names = {"low": "gering", "high": "hoch"}
    tables = [Table.read(people() | {"pay": pay}, **ROLES) for pay in (pay_bands, [names[band] for band in pay_bands])]
    read = find_readings(*tables, np.arange(PEOPLE))["pay"].column
    assert [read.levels.labels[code] for code in read.codes] == pay_bands


@pytest.mark.parametrize("hidden", ["*", "not told"])
@pytest.mark.parametrize("rare", [False, True], ids=["any value", "any but a rare one"])
def test_a_secret_that_is_hidden_is_guessed_from_rows_that_state_theirs(hidden, rare):
    """The release has more missing cells than the original."""
    columns = people()
    illness = ["rare", *replace_some(["flu"] * (PEOPLE - 1), 0.3, "none")]
    illness_stated = [None if cell == hidden else cell for cell in replace_some(illness, 0.6, hidden)]
    illness_stated[0] = "rare" if rare else None
    roles = {"quasi_identifiers": ["age"], "sensitive": "illness"}
    original = Table.read({"age": columns["age"], "illness": illness}, **roles)
    results = [
        audit(
            Table.read(
                {"age": columns["age"], "illness": [placeholder if cell is None else cell for cell in illness_stated]},
                **roles,
            ),
            original=original,
            origin=np.arange(PEOPLE),
            without=["order reader"],
        )
        for placeholder in (None, hidden)
    ]
    of_missing, of_label = (success(result, "prosecutor", "illness") for result in results)
    assert of_label == pytest.approx(of_missing, rel=1e-12)
    assert of_label > 0.6  # the most common stated value of a class; 0 where they believe that the label is the secret


def test_overlapping_cells_of_two_releases_are_reported():
    roles = ROLES | {"quasi_identifiers": ["age"]}
    original = Table.read(people(), **roles)
    bands = [
        Table.read(people() | {"pay": [f"[{x // n * n}, {x // n * n + n - 1}]" for x in people()["pay"]]}, **roles)
        for n in (3000, 5000)
    ]
    result = audit(dict(zip(["one", "two"], bands, strict=True)), original=original, without=["order reader"])
    assert any(caution.startswith("cells of pay stand for several values and overlap") for caution in result.cautions)


def test_proximity_of_intervals_to_numbers_is_not_measured():
    pay = [f"[{1000 * index}, {1000 * index + 999}]" for index in range(1, 21)]
    table = Table.read({"q": ["a"] * 20, "pay": pay}, quasi_identifiers="q", sensitive="pay")
    assert value_proximity(table.classes, table.sensitive[0]) is None
