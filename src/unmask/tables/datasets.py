"""Example tables: loaders of public data sets, and a synthetic census with known structure.

Files are searched in `$UNMASK_DATA/tables`, then in the user's cache (`~/.cache/unmask/tables`). UCI Adult is
downloaded if it is missing. The SHA-256 of every file is verified before it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.data import files
from unmask.ranges import check_type
from unmask.tables.reading import read_encoded
from unmask.tables.table import Table

__all__ = [
    "ADULT_COLUMNS",
    "Q5",
    "adult",
    "diagnosis_weights",
    "locate",
    "synthetic_census",
]

Q5 = ("age", "education-num", "marital-status", "race", "sex")
"""Quasi-identifiers of the comparisons on Adult: 6,072 classes and 3,187 unique rows among 30,162."""

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
"""Columns of UCI Adult, in the order of its file, which has no header."""

_ARCHIVE = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

_SHA256 = {
    "adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}


def locate(name: str) -> Path:
    """Return the path of a data file such as "adult/adult.data", after its checksum is verified. Adult is
    downloaded.
    """
    if name not in _SHA256:
        raise UnmaskError(f"data file {name!r} is unknown; expected one of {', '.join(sorted(_SHA256))}")
    return files.locate(f"tables/{name}", sha256=_SHA256[name], origin=_ARCHIVE + name)


# --- Adult --------------------------------------------------------------------------------------------------------


def adult(
    *,
    rows: Literal["complete", "all"] = "complete",
    quasi_identifiers: str | Sequence[str] = Q5,
    sensitive: str | Sequence[str] = "occupation",
) -> Table:
    """Read the training part of UCI Adult: 30,162 rows without a "?", or all 32,561, in file order.

    With rows="all", "?" is a value of its own.

    Source: B. Becker, R. Kohavi, Adult, UCI Machine Learning Repository, 1996 (CC BY 4.0).
    """
    check_type("rows", rows, Literal["complete", "all"])
    columns = read_encoded(locate("adult/adult.data"), header=ADULT_COLUMNS).columns
    is_kept = np.ones(len(next(iter(columns.values())).codes), dtype=np.bool_)
    if rows == "complete":
        for column in columns.values():
            is_kept &= np.array([text != "?" for text in column.texts])[column.codes]
    arrays = {name: np.array(column.texts, dtype=np.str_)[column.codes[is_kept]] for name, column in columns.items()}
    return Table.read(arrays, quasi_identifiers=quasi_identifiers, sensitive=sensitive, na=())


# --- a generated census -------------------------------------------------------------------------------------------

_EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master")
_MARITAL = ("single", "married", "divorced", "widowed")
_DIAGNOSIS = ("none", "asthma", "diabetes", "hypertension", "cancer", "depression")


def synthetic_census(n: int, *, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """Generate a census of n people with known structure, (n,) arrays by name; age is int64, the others are text.

    age : 16 to 95; frequencies fall slowly until 65 and faster after it. sex : female with probability 0.51.
    zip : five digits. The first is the region (4, probabilities 0.4, 0.3, 0.2, 0.1), the second the district (5,
        uniform), the last the area (10, probabilities proportional to 1 / rank).
    education : one of five. Younger people and the first regions have more education; no degree before 22.
        marital-status : depends on age and sex; no person under 18 is married, and women are widowed twice as often.
    diagnosis : depends on age and region only. Given both, it is independent of all other columns. "none" falls with
        age; hypertension, diabetes and cancer rise; asthma is twice as frequent in the region "north".

    >>> census = synthetic_census(4, rng=np.random.default_rng(1))
    >>> list(census), census["age"].shape
    (['age', 'sex', 'zip', 'education', 'marital-status', 'diagnosis'], (4,))
    """
    if n < 1:
        raise UnmaskError(f"n is {n}, expected at least 1 person")
    rng = secret_unless(rng)
    chance = np.minimum(1.0, np.exp(-(np.arange(16, 96) - 65) / 12.0)) * (1 - 0.004 * np.arange(80))
    age = rng.choice(np.arange(16, 96), size=n, p=chance / chance.sum())
    female = rng.random(n) < 0.51
    region = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    district = rng.integers(5, size=n)
    areas = 1.0 / np.arange(1, 11)
    area = rng.choice(10, size=n, p=areas / areas.sum())
    codes = 10_000 * (region + 1) + 1_000 * district + area
    return {
        "age": age.astype(np.int64),
        "sex": np.where(female, "female", "male"),
        "zip": codes.astype(np.str_),
        "education": _draw(_EDUCATION, _education(age, region), rng),
        "marital-status": _draw(_MARITAL, _marital(age, female), rng),
        "diagnosis": _draw(_DIAGNOSIS, diagnosis_weights(age, region), rng),
    }


def _education(age: Integers, region: Integers) -> Floats:
    youth = np.clip((80 - age) / 60.0, 0.1, 1.0)
    degree = np.where(age < 22, 0.0, youth) * (1.2 - 0.2 * region)
    parts = [0.3 * (1.2 - youth), 0.9 - 0.3 * youth, 0.5 * youth + 0.2, 0.6 * degree, 0.3 * degree]
    return np.stack(np.broadcast_arrays(*parts), axis=1)


def _marital(age: Integers, female: Booleans) -> Floats:
    adult_years = np.maximum(age - 17, 0) / 20.0
    single = np.exp(-1.3 * adult_years)
    widowed = np.clip((age - 50) / 60.0, 0.0, 1.0) ** 2 * np.where(female, 2.0, 1.0)
    return np.stack([single, (1 - single) * 0.75, (1 - single) * 0.2, widowed], axis=1)


def diagnosis_weights(age: Integers, region: Integers) -> Floats:
    """Return (n, 6) relative probabilities of the diagnoses in the synthetic census, given age and region (0 to 3).

    The order is none, asthma, diabetes, hypertension, cancer, depression. Rows need not sum to 1.

    >>> diagnosis_weights(np.array([20]), np.array([0])).shape
    (1, 6)
    """
    old = np.clip((age - 16) / 79.0, 0.0, 1.0)
    asthma = np.where(region == 0, 0.16, 0.08)
    return np.stack(
        [1.0 - 0.7 * old, asthma, 0.02 + 0.25 * old, 0.02 + 0.5 * old, 0.005 + 0.2 * old**2, 0.05 + 0.03 * region],
        axis=1,
    )


def _draw(values: Sequence[str], weights: Floats, rng: np.random.Generator) -> NDArray[np.str_]:
    """Draw one value per row, with probabilities proportional to the row's weights, (n, len(values))."""
    total = np.cumsum(weights, axis=1)
    spot: Integers = (rng.random(len(weights))[:, None] * total[:, -1:] >= total).sum(axis=1)
    return np.asarray(values, dtype=np.str_)[spot]
