import os
import shutil

import numpy as np
import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.tables import datasets

needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")


# --- loaders (counts: the data's own pages, recounted in the manifest of the data folder) ---------------------------


@needs_data
def test_row_counts():
    assert datasets.adult(rows="all").n_rows == 32_561


@needs_data
def test_adult_classes_and_uniques():
    # ARX 3.9, openmed and a separate count agree on 6,072 classes and 3,187 unique rows of Q5
    table = datasets.adult()
    assert table.n_rows == 30_162
    assert table.classes.sizes.size == 6_072
    assert int((table.classes.sizes == 1).sum()) == 3_187
    assert "?" not in {label for column in table.columns for label in column.levels.labels}


@needs_data
def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    name = "adult/adult.test"
    target = tmp_path / "tables" / name
    target.parent.mkdir(parents=True)
    shutil.copy(datasets.locate(name), target)
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    assert datasets.locate(name) == target
    target.write_text("25, Private\n")
    with pytest.raises(FailedError, match=r"has SHA-256 .* expected a2a9044bc167"):
        datasets.locate(name)


def test_without_data_the_message_says_what_to_set(tmp_path, monkeypatch):
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FailedError, match="set UNMASK_DATA"):
        datasets.locate("adult/adult.test")


def test_a_download_is_checked_and_leaves_nothing_partial(tmp_path, monkeypatch):
    path = tmp_path / "adult/adult.data"
    path.parent.mkdir()
    path.write_text("39, State-gov\n")
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets, "_ARCHIVE", tmp_path.as_uri() + "/")
    with pytest.raises(FailedError, match="has SHA-256"):
        datasets.adult()
    path.unlink()
    with pytest.raises(FailedError, match="could not be downloaded; set UNMASK_DATA"):
        datasets.adult()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@needs_data
def test_a_download_is_kept_in_the_cache(tmp_path, monkeypatch):
    archive = datasets.locate("adult/adult.data").parent.parent
    monkeypatch.setattr(datasets, "_ARCHIVE", archive.as_uri() + "/")
    monkeypatch.delenv("UNMASK_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert datasets.adult().n_rows == 30_162
    assert (tmp_path / "unmask/tables/adult/adult.data").is_file()


@pytest.mark.parametrize(
    "load",
    [
        lambda: datasets.adult(rows="some"),
        lambda: datasets.locate("adult/unknown.csv"),
        lambda: datasets.synthetic_census(0, rng=np.random.default_rng(1)),
    ],
)
def test_unknown_names_list_the_known_ones(load):
    with pytest.raises(UnmaskError, match="expected"):
        load()


# --- the generated census -------------------------------------------------------------------------------------------


def test_census_of_a_bare_seed_is_refused_in_a_sentence():
    with pytest.raises(UnmaskError, match=r"rng is of type int, expected a generator of NumPy"):
        datasets.synthetic_census(5, rng=0)


def test_census_follows_its_stated_law():
    census = datasets.synthetic_census(200_000, rng=np.random.default_rng(5))
    assert census["age"].min() == 16
    assert census["age"].max() <= 95
    assert abs(np.mean(census["sex"] == "female") - 0.51) < 0.005  # 4.5 standard errors
    region = census["zip"].astype("U1")
    assert abs(np.mean(region == "1") - 0.4) < 0.005
    assert not set(census["education"][census["age"] < 22]) & {"bachelor", "master"}
    assert set(census["marital-status"][census["age"] < 18]) == {"single"}
    for number, digit in enumerate(
        "1234"
    ):  # each diagnosis at its chance given age and region, within 5 standard errors
        chosen = (region == digit) & (census["age"] == 40)
        weights = datasets.diagnosis_weights(np.array([40]), np.array([number]))[0]
        expected = weights / weights.sum()
        names = ("none", "asthma", "diabetes", "hypertension", "cancer", "depression")
        observed = np.array([np.mean(census["diagnosis"][chosen] == name) for name in names])
        assert (np.abs(observed - expected) < 5 * np.sqrt(expected / chosen.sum())).all()


def test_census_is_seeded():
    first, second = (datasets.synthetic_census(500, rng=np.random.default_rng(3)) for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first)
