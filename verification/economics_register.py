"""A stand-in for the records that is not calibrated: Adult, ZIP codes by the census, shares of cells."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from economics_case import POPULATION, Floats, Records

RACES: Final = {
    "White": ("White",),
    "Black": ("BlackorAfricanAmerican",),
    "Asian-Pac-Islander": ("Asian", "NativeHawaiianandOtherPacificIslander"),
    "Amer-Indian-Eskimo": ("AmericanIndianandAlaskaNative",),
    "Other": ("Someotherrace", "Twoormoreraces"),
}
"""The races of Adult as columns of the census."""

OLDEST: Final = 120


def read_census(*, seed: int = 2015) -> Records | None:
    """Return records of Adult, each with a random ZIP code of North Carolina; None without `UNMASK_DATA`.

    ZIP codes are drawn by race and sex. The probability of a cell (age, race, sex, ZIP) is the share of the race in the
    ZIP, Census 2000, times the share of the sex there, times the share of the age among 10,000 voters of Wake County,
    mean of five years. The paper used the census of 2010, ages by ZIP, and the voter register itself.
    """
    if "UNMASK_DATA" not in os.environ:
        return None
    folder = Path(os.environ["UNMASK_DATA"]) / "tables"
    race_share, male_share = _zips(folder / "register")
    with (folder / "adult" / "adult.data").open(newline="") as file:
        people = [row for row in csv.reader(file, skipinitialspace=True) if row]
    age = np.array([int(row[0]) for row in people])
    race = np.array([list(RACES).index(row[8]) for row in people])
    male = np.array([row[9] == "Male" for row in people])
    rng = np.random.default_rng(seed)
    zip_code = np.zeros(len(people), dtype=np.int64)
    for number in range(len(RACES)):
        for sex in (False, True):
            weight = race_share[number] * (male_share if sex else 1 - male_share)
            members = np.flatnonzero((race == number) & (male == sex))
            zip_code[members] = rng.choice(len(weight), len(members), p=weight / weight.sum())
    of_sex = np.where(male, male_share[zip_code], 1 - male_share[zip_code])
    p = race_share[race, zip_code] * of_sex * _ages(folder / "register")[age]
    return Records(rng.binomial(POPULATION, p), p)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def _zips(folder: Path) -> tuple[Floats, Floats]:
    """Return (races, ZIPs) shares of the state's population, and (ZIPs,) shares of men."""
    zips = {row["ZIP"] for row in _rows(folder / "zip_geography.csv.gz") if row["State"] == "North Carolina"}
    places = [
        row for row in _rows(folder / "zip_demography_2000.csv.gz") if row["ZIP"] in zips and row["Totalpopulation"]
    ]

    def column(name: str) -> Floats:
        return np.array([float(row[name] or 0) for row in places])

    people = np.stack([np.sum([column(name) for name in names], axis=0) for names in RACES.values()])
    return people / people.sum(), column("Male") / (column("Male") + column("Female"))


def _ages(folder: Path) -> Floats:
    """Return (121,) shares of the ages among the voters of Wake County."""
    ages = [int(row["age"]) for row in _rows(folder / "wake_nc_2010_demographics.csv.gz") if row["age"]]
    share = np.convolve(np.bincount(ages, minlength=OLDEST + 1), np.ones(5) / 5, "same")[: OLDEST + 1]
    return np.asarray(share / share.sum())
