"""A generated census with known structure: for demonstrations and tests that need no files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.hierarchy import Hierarchy

_REGIONS = {"north": "1", "east": "2", "south": "3", "west": "4"}
_EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master")
_MARITAL = ("single", "married", "divorced", "widowed")
_DIAGNOSIS = ("none", "asthma", "diabetes", "hypertension", "cancer", "depression")


def synthetic_census(n: int, *, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """A generated census of n people with known structure; needs no file.

    age : 16 to 95, falling slowly to 65 and faster beyond. sex : female with probability 0.51.
    zip : region (4, chances 0.4, 0.3, 0.2, 0.1), district (5, equal), area (10, chances falling as 1 / rank): five
        digits, the first the region, the second the district, the last the area (see `census_hierarchies`).
    education : one of five; more education for the younger and in the first regions; no degree before 22.
    marital-status : by age and sex; nobody is married before 18, women are widowed twice as often.
    diagnosis : depends on age and region only: given both it is independent of all other columns. "none" falls with
        age, hypertension, diabetes and cancer rise, asthma is twice as frequent in the region "north".

    Returns columns by name, each (n,): age int64, the others text.

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
        "education": _drawn(_EDUCATION, _education(age, region), rng),
        "marital-status": _drawn(_MARITAL, _marital(age, female), rng),
        "diagnosis": _drawn(_DIAGNOSIS, diagnosis_weights(age, region), rng),
    }


def census_hierarchies() -> dict[str, Hierarchy]:
    """Hierarchies of the generated census: zip (area, district, region, *) and age (1, 5, 10, 20 years, *).

    >>> census_hierarchies()["zip"]
    Hierarchy(200 leaves, 4 levels)
    """
    places = [
        (f"{digit}{district}00{area}", f"{name} {district}", name, "*")
        for name, digit in _REGIONS.items()
        for district in range(5)
        for area in range(10)
    ]
    widths = (5, 10, 20)
    ages = [
        (str(age), *(f"{age // width * width}-{age // width * width + width - 1}" for width in widths), "*")
        for age in range(120)
    ]
    return {"age": Hierarchy.from_paths(ages), "zip": Hierarchy.from_paths(places)}


def _education(age: NDArray[np.int64], region: NDArray[np.int64]) -> NDArray[np.float64]:
    youth = np.clip((80 - age) / 60.0, 0.1, 1.0)
    degree = np.where(age < 22, 0.0, youth) * (1.2 - 0.2 * region)
    parts = [0.3 * (1.2 - youth), 0.9 - 0.3 * youth, 0.5 * youth + 0.2, 0.6 * degree, 0.3 * degree]
    return np.stack(np.broadcast_arrays(*parts), axis=1)


def _marital(age: NDArray[np.int64], female: NDArray[np.bool_]) -> NDArray[np.float64]:
    adult_years = np.maximum(age - 17, 0) / 20.0
    single = np.exp(-1.3 * adult_years)
    widowed = np.clip((age - 50) / 60.0, 0.0, 1.0) ** 2 * np.where(female, 2.0, 1.0)
    return np.stack([single, (1 - single) * 0.75, (1 - single) * 0.2, widowed], axis=1)


def diagnosis_weights(age: NDArray[np.int64], region: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 6) relative chances of each diagnosis given age and region (number 0 to 3): the known law of the census.

    In the order none, asthma, diabetes, hypertension, cancer, depression; rows need not sum to 1.

    >>> diagnosis_weights(np.array([20]), np.array([0])).shape
    (1, 6)
    """
    old = np.clip((age - 16) / 79.0, 0.0, 1.0)
    asthma = np.where(region == 0, 0.16, 0.08)
    return np.stack(
        [1.0 - 0.7 * old, asthma, 0.02 + 0.25 * old, 0.02 + 0.5 * old, 0.005 + 0.2 * old**2, 0.05 + 0.03 * region],
        axis=1,
    )


def _drawn(values: Sequence[str], weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.str_]:
    """One value per row, with chances proportional to the row's weights (n, len(values))."""
    total = np.cumsum(weights, axis=1)
    spot: NDArray[np.int64] = (rng.random(len(weights))[:, None] * total[:, -1:] >= total).sum(axis=1)
    assert spot.shape == (len(weights),)
    drawn: NDArray[np.str_] = np.asarray(values, dtype=np.str_)[spot]
    return drawn
