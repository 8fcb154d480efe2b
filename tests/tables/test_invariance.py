"""A release is about values: how the table that holds them is laid out changes no class and no criterion."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.tables import criteria
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.table import Table

QUASI_IDENTIFIERS = ("age", "education-num", "hours", "workclass", "sex")
SENSITIVE = ("occupation", "income")
JOBS = ("clerical", "craft", "exec", "farming", "sales", "tech")
WORK = ("gov", "private", "self", "unpaid")
PROTECTION = Mondrian(k=5, l=2)


def cells(n=300, seed=0):
    """Columns shaped like those of Adult: skewed ages, spikes of hours, few education years, rare work classes."""
    rng = np.random.default_rng(seed)
    return {
        "age": (17 + rng.gamma(2.5, 9, n)).astype(np.int64).clip(17, 90),
        "education-num": rng.choice(np.arange(1, 17), n),
        "hours": np.where(rng.random(n) < 0.5, 40, rng.integers(1, 100, n)),
        "workclass": rng.choice(WORK, n, p=[0.15, 0.7, 0.1, 0.05]),
        "sex": rng.choice(["Female", "Male"], n, p=[0.33, 0.67]),
        "occupation": rng.choice(JOBS, n),
        "income": rng.choice(["<50K", "more"], n, p=[0.76, 0.24]),
    }


def read(source, *, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE):
    return Table.read(source, quasi_identifiers=quasi_identifiers, sensitive=sensitive)


def classes(table, *, protection=PROTECTION, seed=0):
    """The classes of the release as sets of rows of the table; the generator only shuffles."""
    release, origin = protection(table, rng=np.random.default_rng(seed))
    rows = np.split(origin[np.argsort(release.classes.of_row, kind="stable")], np.cumsum(release.classes.sizes)[:-1])
    boxes = {frozenset(part.tolist()) for part in rows}
    assert len(boxes) > 5, "too few classes to tell anything"
    return boxes


def renumbered(boxes, rows):
    return {frozenset(int(rows[row]) for row in part) for part in boxes}


def criteria_of(table):
    release, _ = PROTECTION(table, rng=np.random.default_rng(0))
    return criteria.evaluate(release)


def close(a, b):
    """Equal, but for the rounding of sums that are taken in another order."""
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-12, abs=1e-12)
    return a == b


def assert_same_criteria(a, b):
    for field in dataclasses.fields(a):
        if field.name != "columns":
            assert close(getattr(a, field.name), getattr(b, field.name)), field.name
    assert set(a.columns) == set(b.columns)
    for name, column in a.columns.items():
        for field in dataclasses.fields(column):
            assert close(getattr(column, field.name), getattr(b.columns[name], field.name)), (name, field.name)


# --- rows -----------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), k=st.integers(2, 12))
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_rows_changes_no_class(seed, k):
    columns = cells(seed=seed)
    order = np.random.default_rng(seed + 1).permutation(300)
    protection = Mondrian(k=k, t=0.6)
    expected = classes(read(columns), protection=protection)
    after = classes(read({name: values[order] for name, values in columns.items()}), protection=protection, seed=9)
    assert renumbered(after, order) == expected


def test_the_index_of_a_frame_changes_no_class():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(cells())
    order = np.random.default_rng(2).permutation(300)
    rows = np.flatnonzero(frame["hours"] >= 40)
    expected = classes(read(frame))
    assert classes(read(frame.set_index(order))) == expected
    assert classes(read(frame.set_index(np.repeat(7, 300)))) == expected
    assert classes(read(frame.set_index(frame["age"].to_numpy() / 3))) == expected
    assert renumbered(classes(read(frame.iloc[order])), order) == expected
    assert classes(read(frame[frame["hours"] >= 40])) == classes(read(frame.iloc[rows].reset_index(drop=True)))
    assert classes(read(frame[frame["hours"] >= 40])) != expected


# --- labels and categories ------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_names_in_the_same_order_are_only_labels(seed):
    columns = cells(seed=seed)
    renamed = dict(columns)
    for name in ("workclass", "sex", "occupation", "income"):
        _, code = np.unique(columns[name], return_inverse=True)
        renamed[name] = np.array([f"group {index:02}" for index in range(20)])[code]
    assert classes(read(renamed)) == classes(read(columns))
    assert_same_criteria_but_names(criteria_of(read(renamed)), criteria_of(read(columns)))


def assert_same_criteria_but_names(a, b):
    for name in ("rows", "classes", "k", "l_distinct", "l_entropy", "l_recursive", "t_equal", "t_kl", "alpha"):
        assert close(getattr(a, name), getattr(b, name)), name


@given(seed=st.integers(0, 1000), naming=st.permutations(range(len(JOBS))))
@settings(max_examples=20, deadline=None)
def test_any_names_of_the_sensitive_values_leave_numeric_cuts_alone(seed, naming):
    columns = cells(seed=seed)
    _, code = np.unique(columns["occupation"], return_inverse=True)
    renamed = {**columns, "occupation": np.array([f"job {index}" for index in naming])[code]}
    numeric = ("age", "education-num", "hours")
    protection = Mondrian(k=4, l=3, t=0.5)
    tables = [read(source, quasi_identifiers=numeric, sensitive="occupation") for source in (columns, renamed)]
    assert classes(tables[1], protection=protection) == classes(tables[0], protection=protection)


def test_categories_that_no_row_uses_have_no_effect():
    pandas = pytest.importorskip("pandas")
    plain = pandas.DataFrame(cells())
    frame = plain.copy()
    frame["workclass"] = pandas.Categorical(plain["workclass"], ["unpaid", "aaa", *WORK[:3][::-1], "zzz"])
    frame["occupation"] = pandas.Categorical(plain["occupation"], ["zzz", *JOBS[::-1], "aaa"])
    frame["age"] = pandas.Categorical(plain["age"], range(150))
    assert list(frame["workclass"].cat.codes) != list(plain["workclass"].astype("category").cat.codes)
    assert classes(read(frame)) == classes(read(plain))
    assert_same_criteria(criteria_of(read(frame)), criteria_of(read(plain)))


def test_levels_that_no_row_uses_have_no_effect():
    full = read(cells())
    rows = np.flatnonzero((full.column("workclass").codes > 0) & (full.column("age").codes > 3))
    part = full.take(rows)
    again = read({name: values[rows] for name, values in cells().items()})
    assert len(part.column("workclass").levels) > len(again.column("workclass").levels)
    assert classes(part) == classes(again)
    assert_same_criteria(criteria_of(part), criteria_of(again))


# --- columns --------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 1000),
    quasi_identifiers=st.permutations(QUASI_IDENTIFIERS),
    sensitive=st.permutations(SENSITIVE),
    names=st.permutations(QUASI_IDENTIFIERS + SENSITIVE),
)
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_columns_changes_no_criterion(seed, quasi_identifiers, sensitive, names):
    columns = cells(seed=seed)
    release, _ = PROTECTION(read(columns), rng=np.random.default_rng(0))
    text = {c.name: np.array(c.levels.labels)[c.codes] for c in release.columns}
    expected = read(text)
    after = read({name: text[name] for name in names}, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    assert expected.classes.sizes.size > 5
    assert_same_criteria(criteria.evaluate(after), criteria.evaluate(expected))


def test_the_order_of_the_columns_in_the_source_changes_no_class():
    columns = cells()
    assert classes(read(dict(reversed(columns.items())))) == classes(read(columns))


# --- hash seed ------------------------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, tempfile, pathlib
import numpy as np
from unmask.tables import Mondrian, Table
rng = np.random.default_rng(3)
people = Table.read(
    {
        "age": rng.integers(17, 90, 400),
        "workclass": rng.choice(["gov", "private", "self", "unpaid", "never"], 400),
        "country": rng.choice(list("abcdefghijklmnop"), 400),
        "occupation": rng.choice(["craft", "exec", "sales", "tech"], 400),
    },
    quasi_identifiers=["age", "workclass", "country"],
    sensitive="occupation",
)
release, origin = Mondrian(k=7, l=2)(people, rng=np.random.default_rng(1))
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "release.csv"
    release.write(file)
    text = file.read_bytes()
print(hash("unmask"), hashlib.sha256(text + origin.tobytes()).hexdigest())
"""


def test_the_hash_seed_changes_no_byte_of_the_release():
    runs = []
    for seed in ("1", "2"):
        paths = os.pathsep.join(path for path in sys.path if path)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(done.stdout.split())
    assert runs[0][0] != runs[1][0], "the two programs hash alike and show nothing"
    assert runs[0][1] == runs[1][1]
