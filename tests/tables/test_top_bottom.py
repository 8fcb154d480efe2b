"""Top and bottom coding."""

import numpy as np
import pytest

from tests.commands import check_one_sentence, invoke
from unmask.core.errors import FailedError, UnmaskError
from unmask.tables import ClassAttack, Table, TopBottomCode


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("ends", ["both", "top", "bottom"])
def test_tails_of_random_columns_are_the_smallest_with_enough_rows(seed, ends):
    rng = np.random.default_rng(seed)
    values, k = rng.integers(0, 30, 60), int(rng.integers(1, 12))
    release, origin = TopBottomCode(k=k, ends=ends)(Table.read({"age": values}, quasi_identifiers="age"), rng=rng)

    top = max(value for value in values if np.sum(values >= value) >= k)
    bottom = min(value for value in values if np.sum(values <= value) >= k)
    expected = [
        f">={top}" if ends != "bottom" and value >= top else f"<={bottom}" if ends != "top" and value <= bottom
        else str(value)
        for value in values[origin]
    ]  # fmt: skip
    assert release["age"].tolist() == expected


def test_other_columns_and_missing_cells_stay_and_every_person_is_in_their_class():
    columns = {"age": [1, 2, 3, 4, 5, 6, None, 7], "sex": list("fmfmfmfm"), "born": list("abababab")}
    table = Table.read(columns, quasi_identifiers=["age", "sex"], keep="born")
    release, origin = TopBottomCode(k=2)(table, rng=np.random.default_rng(0))

    assert sorted(release["age"].tolist(), key=str) == ["3", "4", "5", "<=2", "<=2", ">=6", ">=6", None]
    assert release["sex"].tolist() == table["sex"][origin].tolist()
    belief = ClassAttack()(release).to_dense()
    assert (belief[np.arange(8), np.arange(8)] > 0).all()


@pytest.mark.parametrize(
    ("protection", "error", "message"),
    [
        (lambda: TopBottomCode(k=0), UnmaskError, "k is 0, expected a whole number at least 1"),
        (lambda: TopBottomCode(ends="left"), UnmaskError, "ends is 'left', expected one of both, top, bottom"),
        (lambda: TopBottomCode(k=5), FailedError, "column 'age' has too few rows for tails of 5"),
        (lambda: TopBottomCode(columns="sex"), UnmaskError, "column 'sex' has cells that are not exact numbers"),
        (lambda: TopBottomCode(columns="agee"), UnmaskError, "column 'agee' is not in the table; did you mean 'age'"),
    ],
)
def test_what_cannot_be_coded_is_refused(protection, error, message):
    table = Table.read({"age": [1, 2, 3, 4], "sex": list("fmfm")}, quasi_identifiers=["age", "sex"])

    with pytest.raises(error, match=message):
        protection()(table)


def test_a_table_without_numbers_is_refused():
    with pytest.raises(UnmaskError, match="no quasi-identifier is a number"):
        TopBottomCode()(Table.read({"sex": list("fmfm")}, quasi_identifiers="sex"))


def test_protect_codes_tails_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Table.read({"age": [*range(40)], "sex": ["f", "m"] * 20}, quasi_identifiers=["age", "sex"]).write("people.csv")

    done = invoke("protect", "people.csv", "-q", "age,sex", "--with", "tables.TopBottomCode:k=5:ends=top", "-o", "-")

    assert done.exit_code == 0, done.stderr
    assert done.stdout.count(">=35") == 5
    check_one_sentence(
        invoke("protect", "people.csv", "-q", "age,sex", "--with", "tables.TopBottomCode:k=30", "-o", "r.csv"),
        "too few rows for tails of 30",
    )
