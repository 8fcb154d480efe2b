"""One relation says which record may be which person: for criteria, adversaries, engines and every rule."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.engines import count_source, reading
from unmask import FailedError, UnmaskError, protect
from unmask.data.engine import open_engine
from unmask.measures import success_probability
from unmask.results.rows import ORIGINAL
from unmask.tables import ClassAttack, Generalize, SuppressCells, Table, criteria
from unmask.tables.attacks.relation import add_quasi_identifiers, classes_intersect, relation_of
from unmask.tables.audit import audit as audit_releases
from unmask.tables.notation import format_set

RULES = ("own", "wildcard", "excluded")
TEXTS = {"a": {"a"}, "b": {"b"}, "c": {"c"}, "{a, b}": {"a", "b"}, "{b, c}": {"b", "c"}}
NUMBERS = {"1": (1, 1), "2": (2, 2), "4": (4, 4), "[1, 2]": (1, 2), "[2, 4]": (2, 4)}


def meet(first, second, missing):
    """Return whether a row with the cell `second` fits each person whose released cell is `first`."""
    if "*" in (first, second):
        return True
    if "" in (first, second):
        return first == second or missing == "wildcard"
    if first in TEXTS:
        return TEXTS[first] <= TEXTS[second]
    return NUMBERS[second][0] <= NUMBERS[first][0] and NUMBERS[first][1] <= NUMBERS[second][1]


def brute_force(rows, values, missing):
    """Count the candidates of each complete row, and the candidates with each value."""
    used_rows = [i for i, row in enumerate(rows) if missing != "excluded" or "" not in row]
    candidates = [
        [j for j in used_rows if all(meet(x, y, missing) for x, y in zip(rows[i], rows[j], strict=True))]
        for i in used_rows
    ]
    histograms = [[[values[j] for j in met].count(value) for value in sorted(set(values))] for met in candidates]
    return np.array(list(map(len, candidates))), np.array(histograms)


def cells(vague):
    text = st.sampled_from([*"abc", "{a, b}", "{b, c}"] if vague else [*"abc"])
    number = st.sampled_from(["1", "2", "4", "[1, 2]", "[2, 4]"] if vague else ["1", "2", "4"])
    hidden = st.sampled_from(["", "*"])
    return st.tuples(st.one_of(text, hidden), st.one_of(number, hidden), st.sampled_from(["x", "y", "{x, y}", "", "*"]))


def frame(rows):
    a, b, s = zip(*rows, strict=True)
    return {"a": list(a), "b": list(b), "s": list(s)}


def read(rows, missing, **options):
    roles = {"quasi_identifiers": ["a", "b"], "sensitive": "s", "types": {"a": "text", "b": "number", "s": "text"}}
    return Table.read(frame(rows), **(roles | {"missing": missing} | options))


some_rows = st.booleans().flatmap(lambda vague: st.lists(cells(vague), min_size=1, max_size=9))


@given(some_rows, st.sampled_from(RULES))
def test_criteria_count_every_class_that_a_person_may_be_in(rows, missing):
    used_rows = [row for row in rows if missing != "excluded" or "" not in row[:2]]
    if not used_rows:
        return
    result = criteria.evaluate(read(rows, missing))
    sizes, histograms = brute_force([row[:2] for row in rows], [row[2] for row in rows], missing)
    assert (result.rows, result.k) == (len(used_rows), sizes.min())
    assert result.prosecutor_average == pytest.approx((1 / sizes).mean())
    assert result.unique_rows == (sizes == 1).sum()
    shares = histograms / sizes[:, None]
    overall = np.array(
        [[row[2] for row in used_rows].count(value) for value in sorted({row[2] for row in rows})]
    ) / len(used_rows)
    assert result.l_distinct == (histograms > 0).sum(axis=1).min()
    assert result.t_equal == pytest.approx(np.abs(shares - overall).sum(axis=1).max() / 2)
    assert result.average_privacy_risk == pytest.approx(shares.max(axis=1).mean())


@pytest.mark.parametrize(
    ("boxes", "k"),
    [
        (["20-29"] * 5 + ["25-34"] * 5, 5),  # a person of 21 years fits five rows, whatever meets their box
        (["20-29"] * 5 + ["20-39"] * 3, 3),  # who is 35 fits three
        (["20-29"] * 3 + ["20-39"] * 5, 5),  # who is 21 fits eight
    ],
)
def test_k_is_the_number_of_rows_that_fit_the_person_who_fits_the_fewest(boxes, k):
    release = Table.read({"age": boxes}, quasi_identifiers="age")
    assert criteria.evaluate(release).k == k
    belief_alone = ClassAttack()(release)
    assert belief_alone.status == "model"
    assert success_probability.per_target(belief_alone).max() == pytest.approx(1 / k)
    ages = [low for low in range(20, 40) if any(fits(low, box) for box in boxes)]
    assert k == min(sum(fits(age, box) for box in boxes) for age in ages)


def test_rows_of_a_mask_fit_the_person_whose_code_it_hides():
    """The mask fits 100 and may be 190, so that one row alone fits whoever is behind it for certain."""
    release = Table.read({"c": ["100"] + ["1**"] * 2 + ["10*"] * 3}, quasi_identifiers="c", types={"c": "code"})
    result = criteria.evaluate(release)
    assert result.k == 2
    assert result.prosecutor_average == pytest.approx((1 / 6 + 2 / 2 + 3 / 5) / 6)


def fits(age, box):
    low, high = map(int, box.split("-"))
    return low <= age <= high


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=12))
def test_an_audit_alone_understates_no_persons_risk(boxes):
    """Whoever hides behind a row, within its cell, fits at least as many rows as the audit alone takes for granted."""
    cells = [f"[{low}, {low + width}]" if width else str(low) for low, width in boxes]
    release = Table.read({"x": cells}, quasi_identifiers="x", types={"x": "number"})
    believed = success_probability.per_target(ClassAttack()(release))
    for (low, width), probability in zip(boxes, believed, strict=True):
        for value in range(low, low + width + 1):
            rows = sum(start <= value <= start + width for start, width in boxes)
            assert 1 / rows <= probability + 1e-12


def belief(rows, missing):
    table = read(rows, missing)
    if missing == "excluded":
        rows = [row for row in rows if "" not in row[:2]]
        if not rows:
            return
        table = table.take(table.complete_rows)
    belief_found = ClassAttack()(table)
    expected = [
        [
            all(meet(x, y, missing) for x, y in zip(person_row[:2], released_row[:2], strict=True))
            for released_row in rows
        ]
        for person_row in rows
    ]
    assert (belief_found.to_dense() > 0).tolist() == expected


@given(some_rows, st.sampled_from(RULES))
def test_the_adversary_believes_in_every_record_that_meets_the_person_and_in_no_other(rows, missing):
    belief(rows, missing)


def numbers(report, release):
    """Every number of a release by adversary, target and measure."""
    return {
        (row.adversary, row.target, row.measure): (row.posterior, row.prior, row.worst, row.status)
        for row in report.rows
        if row.release == release
    }


def is_equal(first, second):
    """Compare the numbers of one audit with those of another that has more."""
    assert {key[0] for key in first} <= {key[0] for key in second}
    for key, (*values, status) in first.items():
        assert second[key][:3] == pytest.approx(tuple(values), abs=1e-6, nan_ok=True), key
        assert status == second[key][3], key


def without_reference(criteria):
    return {name: value for name, value in criteria.items() if name != "reference"}


def contributions(result):
    """Contributions of the columns, without the name of the release."""
    names = ("target", "column", "shapley", "alone", "last", "error")
    return [[row[name] for name in names] for row in result.table("contributions").rows]


def itself(rows, missing, has_kept_columns, registered):
    """An audit against the same file has the numbers of an audit alone, and so has the original."""
    options = {"quasi_identifiers": ["a"], "keep": ["b"]} if has_kept_columns else {}
    if missing == "excluded" and all("" in row[: 1 if has_kept_columns else 2] for row in rows):
        return
    names = {"a": [row[0] for row in rows]}
    register = Table.read(names, quasi_identifiers="a", types={"a": "text"}, missing=missing)
    register_options = {"register": register} if registered else {}
    single = audit_releases(read(rows, missing, **options), **register_options)
    with_original = audit_releases(
        read(rows, missing, **options),
        original=read(rows, missing, **options),
        origin=np.arange(len(rows)),
        steps=True,
        **register_options,
    )
    is_equal(numbers(single, "release"), numbers(with_original, "release"))
    is_equal(numbers(with_original, ORIGINAL), numbers(with_original, "release"))
    for name in (ORIGINAL, "release"):
        assert without_reference(with_original.criteria[name]) == without_reference(single.criteria["release"])
    assert contributions(single) == contributions(with_original)
    if any(cell[:1] in "{[" for row in rows for cell in row[:2] if cell):
        return  # a coarser table is audited alone by people whose cells are coarser, too
    for step in (row for facts in with_original.facts if facts.name == "steps" for row in facts.rows):
        table = read(rows, missing, **options)
        coarser, _ = Generalize({step["column"]: step["level"]})(table.take(table.complete_rows))
        for report, success in ((single, step["success_before"]), (audit_releases(coarser), step["success"])):
            numbers_found = numbers(report, "release")["prosecutor", step["target"], "success_probability"]
            assert success == pytest.approx(numbers_found[0], abs=1e-6)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(some_rows, st.sampled_from(RULES), st.booleans(), st.booleans())
def test_an_audit_against_itself_equals_an_audit_alone(rows, missing, has_kept_columns, registered):
    itself(rows, missing, has_kept_columns, registered)


# --- examples


LONE_STAR = {"age": ["20-29"] * 10 + ["30-39"] * 10 + ["*"], "sex": ["f"] * 10 + ["m"] * 10 + ["*"]}


@pytest.mark.parametrize("missing", RULES)
def test_a_row_of_stars_is_a_candidate_of_everybody(missing):
    table = Table.read(LONE_STAR, quasi_identifiers=["age", "sex"], missing=missing)
    result = criteria.evaluate(table)
    assert (result.k, result.classes, result.prosecutor_max) == (11, 3, 1 / 11)
    single = numbers(audit_releases(table), "release")["prosecutor", "identity", "success_probability"]
    # the star hides 20-29 and f, each in half of the stated cells: 1/4 of a record that states both
    assert single[2] == pytest.approx(1 / 10.25)


def test_an_empty_cell_that_is_unique_is_unique_with_the_original_too():
    table = Table.read({"a": ["1"] * 9, "b": ["", *"xxxxyyyy"]}, quasi_identifiers=["a", "b"])
    for report in (audit_releases(table), audit_releases(table, original=table, origin=np.arange(9))):
        result = numbers(report, "release")["prosecutor", "identity", "success_probability"]
        assert result[0] == pytest.approx(1 / 3)
        assert result[2] == 1


@pytest.mark.parametrize("missing", RULES)
@pytest.mark.parametrize("cells", [["1", "2"], ["1", ""], ["1", "*"], ["1", "{1, 2}"]])
def test_an_engine_has_the_numbers_of_memory_or_refuses_with_the_next_step(tmp_path, cells, missing):
    file, roles = tmp_path / "release.parquet", {"types": {"a": "text"}, "missing": missing}
    Table.read({"a": 3 * cells, "b": 3 * ["x", "x"]}, quasi_identifiers=["a", "b"], **roles).write(file)
    table = Table.read(file, quasi_identifiers=["a", "b"], **roles)
    inside = table.take(table.complete_rows)
    with open_engine("duckdb") as engine:
        counted = count_source(engine, str(file), reading(("a", "b"), **roles)).table
        assert criteria.evaluate(counted) == criteria.evaluate(table)
        if relation_of(inside) is None:
            is_equal(
                numbers(audit_releases({"release": counted}), "release"), numbers(audit_releases(table), "release")
            )
        else:
            with pytest.raises(UnmaskError, match="leave --engine out"):
                audit_releases({"release": counted})


@given(some_rows, st.sampled_from(RULES), st.booleans())
def test_a_table_with_more_quasi_identifiers_has_the_relation_of_one_that_is_compared_afresh(
    rows, missing, known_columns
):
    table = read(rows, missing)
    if known_columns:
        classes_intersect(table)
    wider = add_quasi_identifiers(table, table.sensitive)
    afresh = read(rows, missing, quasi_identifiers=["a", "b", "s"], sensitive=())
    assert classes_intersect(wider) == classes_intersect(afresh)
    relations = [relation_of(wider), relation_of(afresh)]
    assert [relation is None for relation in relations] in ([True] * 2, [False] * 2)
    if relations[0] is not None and relations[1] is not None:
        ones = csr_array(np.ones((len(afresh.classes.sizes), 1), dtype=np.int64))
        np.testing.assert_array_equal(*(relation.sums(ones).toarray() for relation in relations))


def test_suppressed_cells_and_wildcards_are_one_column_of_a_wide_table_too(monkeypatch):
    rng = np.random.default_rng(1)
    cells = {name: rng.choice([*"abcdef", "", "*"], 80) for name in "pq"}
    for missing in RULES:
        table = Table.read(cells, quasi_identifiers=["p", "q"], missing=missing)
        table = table.take(table.complete_rows)
        expected = ClassAttack()(table).to_dense()
        with monkeypatch.context() as patch:
            patch.setattr("unmask.tables.attacks.comparisons.MIN_WIDE_PAIRS", 0)
            patch.setattr("unmask.tables.attacks.comparisons.MAX_SPARSE_SHARE", np.inf)
            assert ClassAttack()(table).to_dense() == pytest.approx(expected)


@pytest.mark.parametrize("missing", RULES)
def test_intervals_of_a_wide_column_meet_those_that_a_table_says(monkeypatch, missing):
    rng = np.random.default_rng(2)
    for width in (1, 4, 9):
        begin = rng.integers(0, 60, 90)
        ends = zip(begin.tolist(), (begin + rng.integers(0, width, 90)).tolist(), strict=True)
        cells = [str(rng.choice(["*", ""])) if rng.random() < 0.05 else f"[{low}, {high}]" for low, high in ends]
        cells[0] = "<=3"
        columns = {"a": cells, "b": rng.choice(["f", "m"], 90)}
        check_wide(monkeypatch, columns, types={"a": "number"}, missing=missing)


def check_wide(monkeypatch, columns, **reading):
    """Check that classes meet the same ones, whether columns are wide or not."""
    tables = [Table.read(columns, quasi_identifiers=["a", "b"], **reading) for _ in range(2)]
    ones = csr_array(np.ones((len(tables[0].classes.sizes), 1), dtype=np.int64))
    expected, intersect = relation_of(tables[0]), classes_intersect(tables[0])
    with monkeypatch.context() as patch:
        patch.setattr("unmask.tables.attacks.comparisons.MIN_WIDE_PAIRS", 0)
        patch.setattr("unmask.tables.attacks.comparisons.MAX_SPARSE_SHARE", np.inf)
        assert classes_intersect(tables[1]) == intersect
        relation = relation_of(tables[1])
    assert (relation is None) == (expected is None)
    if relation is not None:
        assert relation.sums(ones).toarray().tolist() == expected.sums(ones).toarray().tolist()


@pytest.mark.parametrize("missing", RULES)
def test_sets_of_a_wide_column_meet_those_that_a_table_says(monkeypatch, missing):
    rng = np.random.default_rng(3)
    for size in (1, 2, 5):
        sets = [sorted(set(rng.integers(0, 30, size).tolist())) for _ in range(90)]
        cells = [str(rng.choice(["*", ""])) if rng.random() < 0.05 else format_set(f"v{i:02}" for i in s) for s in sets]
        check_wide(monkeypatch, {"a": cells, "b": rng.choice(["f", "m"], 90)}, missing=missing)


def test_a_record_of_people_with_several_rows_counts_everybody_who_may_be_in_its_class():
    release = Table.read({"age": ["20", "20", "30", "*"]}, quasi_identifiers="age")
    result = criteria.people_in_classes(release, np.array([4, 4, 9, 7]))
    assert result == (2, 2 / 3)


def test_contributions_of_columns_with_suppressed_cells_follow_the_relation():
    release = Table.read({"a": ["1", "1", "*"], "b": ["x", "y", "y"]}, quasi_identifiers=["a", "b"])
    result = {contribution.column: contribution for contribution in criteria.contributions(release)}
    # known by a: all three meet; by b: one of one, one of two; by both: (1, x) alone, (1, y) and (*, y) meet
    assert result["a"].alone == pytest.approx(0)
    assert result["b"].alone == pytest.approx(2 / 3 - 1 / 3)
    assert result["a"].last == pytest.approx(0)


def test_protect_refuses_a_release_in_which_k_does_not_hold_and_keeps_the_promise_elsewhere():
    people = Table.read({"age": [30, 30, 30, 41, 42], "sex": list("mmmff")}, quasi_identifiers=["age", "sex"])
    with pytest.raises(FailedError, match="leaves k = 1, expected at least 3"):
        protect(people, SuppressCells(k=3, columns="sex"))
    release = protect(people, SuppressCells(k=3)).release
    assert criteria.evaluate(release).k >= 3


def test_an_origin_that_is_wrong_for_some_people_is_noticed():
    rng, n = np.random.default_rng(1), 60
    people = {"age": rng.integers(20, 26, n).tolist(), "ill": rng.choice(list("abc"), n).tolist()}
    table = Table.read(people, quasi_identifiers="age", sensitive="ill")
    origin, mistaken_people = np.arange(n), rng.choice(n, 20, replace=False)
    for age in set(people["age"]):
        mixed = mistaken_people[np.array(people["age"])[mistaken_people] == age]
        origin[mixed] = np.roll(mixed, 1)
    correct, mistaken = (audit_releases(table, original=table, origin=rows) for rows in (np.arange(n), origin))
    statuses = [
        numbers(report, "release")["insider", "identity", "realized_success"][3] for report in (correct, mistaken)
    ]
    assert statuses == ["exact", "refuted"]
    assert not any("origin" in line for line in correct.cautions)
    assert any("of the rows of release fit the person of their origin" in line for line in mistaken.cautions)
