"""Tables to try things on: loaders of public sets by name, and a generated census with known structure.

Files are looked for in `$UNMASK_DATA/tables`, then in the user's cache (`~/.cache/unmask/tables`). UCI Adult is
downloaded there when it is in neither. Every file is checked against its SHA-256 before it is read.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from unmask import files
from unmask.core.errors import UnmaskError
from unmask.tables.census import census_hierarchies, diagnosis_weights, synthetic_census
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.reading import read_encoded
from unmask.tables.table import Table

__all__ = [
    "ADULT_COLUMNS",
    "Q5",
    "adult",
    "adult_control",
    "adult_cut",
    "adult_hierarchies",
    "adult_release",
    "adult_synthetic",
    "census_hierarchies",
    "diagnosis_weights",
    "fertility1980",
    "linkage",
    "locate",
    "nist_national2019",
    "sdcmicro",
    "synthetic_census",
    "voter_register",
    "zip_demography",
]

Q5 = ("age", "education-num", "marital-status", "race", "sex")
"""The quasi-identifiers of the Adult comparisons: 6,072 classes and 3,187 unique rows among 30,162."""

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
"""The columns of UCI Adult, in the order of its file, which does not name them."""

_ORIGIN = {
    "adult/adult.data": "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
    "adult/adult.test": "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
}

_SHA256 = {
    "adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "adult/hierarchies/age.csv": "463f35372e8b1ad31fc624eb73c5da9297878a044ae5d61038eaf7b431ac55ca",
    "adult/hierarchies/education.csv": "f22e5ee519c28b05538d4e5ddea0fbee5f0017fefb3abab3fa02272325bf9ce5",
    "adult/hierarchies/marital-status.csv": "3e7ba2c4a5cd4fec059b4e3a2c57fce6e7c34a20daee1e624990ddd7beba85e5",
    "adult/hierarchies/native-country.csv": "696d3b53973311c096b33f98bb56e526016910b1a1cd5a1e904cb799d1077023",
    "adult/hierarchies/occupation.csv": "16dc420d5d7f8ab4d1e6144eb1d19ab8314ef42523fe8c4ee202372db1c98126",
    "adult/hierarchies/race.csv": "df11abf41fa0669455adc9c9f9fa88663afa0cee8327684ecca861cd32dc4209",
    "adult/hierarchies/salary-class.csv": "404895b3fcfb615813efab7ae0d2c50c8b127cec651f9b37d44a648646f86345",
    "adult/hierarchies/sex.csv": "537d23f7b6969b916b5a5490eb1b32c273fefdc62ca050a7a813e23bbf3b78b2",
    "adult/hierarchies/workclass.csv": "106f420349bf0071dbb25371795a78799edf24a64c3424619d563c3990ee8d02",
    "adult/adult_complete_rows.csv.gz": "83b32cc69faece06c627794038d66d8ffe9e80fcd56e39986a4abd83a1239000",
    "adult/releases/adult_k3.csv.gz": "a9fac83ec23ce00697fea05590921ef1675dc18770bf02fdfe9ef269a22de3b2",
    "adult/releases/adult_k10.csv.gz": "95e8aace322795791709b345303c68a7b20b4d7996071e39dc16ffa3c4a7adc2",
    "adult/releases/adult_k20.csv.gz": "f8ee74014c8e8ae4f802518c120c30ca8687be156777ec47d1c44f3cb5dcaef5",
    "adult/synthetic/control.csv.gz": "328c24f4743773bee9ca4229b3dcfba92a61bf69815ab8388e51ae36bb31a1fe",
    "adult/synthetic/synthetic_ctgan.csv.gz": "a420e6afde9978993847ab2a71d0e5edd351841658b6862a4cf57fcde3418c14",
    "nist/national2019.csv.gz": "681f62968d147ed605276131ec8c8374732b3786201989f138844d343e8bd309",
    "sdcmicro/testdata.csv.gz": "29c10e34383d30c6e94d886a928dc9974f075afa5cc28d95b1ffc9e770acc421",
    "sdcmicro/free1.csv.gz": "c86c31d7aa614b46e6101186864ce2a0212f40aacd20a2962e9e37a4037d3221",
    "sdcmicro/EIA.csv.gz": "b741852729ae4a91a5ee8d3eee4c3143c07c48792f942314bfafd101e3cf98a5",
    "sdcmicro/Tarragona.csv.gz": "0e2fca70d78f42f47cc247fff33027174ba26a9074519b8afcd54d7b29850549",
    "sdcmicro/CASCrefmicrodata.csv.gz": "3dfd0a9bb1799b3b532b2e14688df9bff01e43a9446510c0dbd60d02a786b116",
    "register/wake_nc_2010_demographics.csv.gz": "ce8b8fd36c0f0821689504e9a7bd5b7cbf68ef19fa63005f83a6e52b8aff4230",
    "register/zip_demography_2000.csv.gz": "e92cb62b84de8df71c5c57374c9739a50459f1c6bd96f97e45639cbfffcabfb1",
    "register/zip_geography.csv.gz": "0c6b24183786a72ad9027f5f51d1d92b1e31db9202449dda86a08e51daf7278c",
    "fertility1980.parquet": "cf0887ac9a80219c3d42569cba2324c4c2f3e7937f1e20df8872aec4a714ba46",
    "linkage/febrl_dataset1.csv.gz": "79d0856eda1dfc90528574bc1348d472673d5ff3f908634ac296bd0d5f2c9863",
    "linkage/febrl_dataset2.csv.gz": "9eba40504ec0dbf2055c3a658ff1d6b664821c8851226dcfa36dae32af527fa0",
    "linkage/febrl_dataset3.csv.gz": "6b7d6b938041f23ed720e7dd8d89e54f0ea8e4e0363442e16a1612a37fb76121",
    "linkage/febrl_dataset4a.csv.gz": "009f02fad73681e48d730ebdd69147f8e74193218a71f52fcca54dfe01304ca4",
    "linkage/febrl_dataset4b.csv.gz": "22ffe18dfab61aa78c28dd4cc6ee5ccfbda1ba19d92290d55227c1197b803de9",
    "linkage/splink_fake_1000.csv.gz": "7a6c45da4e81f9fb5930940c007592cb722e45a2ae54b830d26ab5018b69d6f7",
    "linkage/splink_fake_1000_labels.csv.gz": "35b203079e8c81a9f6e8f433fb89197307ec042ba3dd8e1c4ceaab74c307bbee",
}


def locate(name: str) -> Path:
    """The path of a data file such as "adult/adult.data", its checksum verified; Adult is downloaded when missing."""
    if name not in _SHA256:
        raise UnmaskError(f"data file {name!r} is unknown; expected one of {', '.join(sorted(_SHA256))}")
    return files.locate(f"tables/{name}", sha256=_SHA256[name], origin=_ORIGIN.get(name))


def _header(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [name.strip() for name in lines.readline().split(",")]


# --- Adult --------------------------------------------------------------------------------------------------------


_T = TypeVar("_T")


def _used(meaning: Mapping[str, _T], *roles: str | Sequence[str]) -> dict[str, _T]:
    """What is said of the columns that have a role; the others are not read."""
    used = {name for names in roles for name in ((names,) if isinstance(names, str) else names)}
    return {name: said for name, said in meaning.items() if name in used}


def adult(
    *,
    rows: Literal["complete", "all"] = "complete",
    quasi_identifiers: str | Sequence[str] = Q5,
    sensitive: str | Sequence[str] = "occupation",
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Table:
    """UCI Adult, training part: 30,162 rows without a "?", or all 32,561, in file order.

    With "all" the "?" stays a value of its own. No hierarchy is used unless it is given (see `adult_hierarchies`).

    Source: B. Becker, R. Kohavi, Adult, UCI Machine Learning Repository, 1996 (CC BY 4.0).
    """
    if rows not in ("complete", "all"):
        raise UnmaskError(f"rows is {rows!r}, expected 'complete' or 'all'")
    columns = read_encoded(locate("adult/adult.data"), header=ADULT_COLUMNS).columns
    kept = np.ones(len(next(iter(columns.values())).codes), dtype=np.bool_)
    if rows == "complete":
        for column in columns.values():
            kept &= np.array([text != "?" for text in column.texts])[column.codes]
    arrays = {name: np.array(column.texts, dtype=np.str_)[column.codes[kept]] for name, column in columns.items()}
    trees = _used(hierarchies or {}, quasi_identifiers, sensitive)
    return Table.read(arrays, quasi_identifiers=quasi_identifiers, sensitive=sensitive, hierarchies=trees, na=())


def adult_cut(
    *,
    quasi_identifiers: str | Sequence[str] = ("sex", "age", "race", "marital-status", "education"),
    sensitive: str | Sequence[str] = "occupation",
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Table:
    """The nine-column cut of Adult that its hierarchies belong to: 30,162 complete rows (ARX example data)."""
    path = locate("adult/adult_complete_rows.csv.gz")
    trees = _used(hierarchies or {}, quasi_identifiers, sensitive)
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, hierarchies=trees)


def adult_hierarchies() -> dict[str, Hierarchy]:
    """The nine generalization hierarchies of Adult by column name (ARX example data, Apache-2.0)."""
    names = sorted(name for name in _SHA256 if name.startswith("adult/hierarchies/"))
    return {Path(name).stem: Hierarchy.read(locate(name)) for name in names}


def adult_release(k: int) -> Table:
    """A published k-anonymous release of Adult, k = 3, 10 or 20: 18,203, 7,303 or 2,428 rows in 2,837, 462, 89 classes.

    Quasi-identifiers: all columns but the sensitive salary-class (pyCANON example data, Apache-2.0).
    """
    if k not in (3, 10, 20):
        raise UnmaskError(f"k is {k}, expected 3, 10 or 20: the published releases of Adult")
    quasi_identifiers = ("age", "education", "occupation", "relationship", "sex", "native-country")
    path = locate(f"adult/releases/adult_k{k}.csv.gz")
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive="salary-class")


_ANONYMETER = ("age", "education_num", "marital", "race", "sex")


def adult_synthetic(
    *, quasi_identifiers: str | Sequence[str] = _ANONYMETER, sensitive: str | Sequence[str] = "occupation"
) -> Table:
    """39,040 synthetic records made by CTGAN from Adult (Anonymeter example data, BSD-3-Clause-Clear)."""
    path = locate("adult/synthetic/synthetic_ctgan.csv.gz")
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, na=())


def adult_control(
    *, quasi_identifiers: str | Sequence[str] = _ANONYMETER, sensitive: str | Sequence[str] = "occupation"
) -> Table:
    """9,758 Adult records the synthesizer of `adult_synthetic` never saw: the control of an attack on it."""
    path = locate("adult/synthetic/control.csv.gz")
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, na=())


# --- official statistics ------------------------------------------------------------------------------------------


def nist_national2019(
    *,
    quasi_identifiers: str | Sequence[str] = ("PUMA", "AGEP", "SEX", "RAC1P", "MSP"),
    sensitive: str | Sequence[str] = "INDP_CAT",
    weight: str | None = None,
) -> Table:
    """27,253 persons in 20 areas of the US, 2019; the text "N" is a missing cell (NIST excerpt of the ACS PUMS)."""
    path = locate("nist/national2019.csv.gz")
    types = _used(dict.fromkeys(("SEX", "RAC1P", "MSP", "INDP_CAT"), "text"), quasi_identifiers, sensitive)
    return Table.read(
        path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, weight=weight, types=types, na="N"
    )


_CODED = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "REGION", "SEX", "MARSTAT", "UTILITYID")

_SDCMICRO: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], str | None]] = {
    "testdata": (
        ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"),
        ("income",),
        "sampling_weight",
    ),
    "free1": (("REGION", "SEX", "AGE", "MARSTAT"), ("INCOME",), "WEIGHT"),
    "EIA": (("STATE", "YEAR", "MONTH", "UTILITYID"), ("TOTREVENUE",), None),
    "Tarragona": (("FIXED.ASSETS", "CURRENT.ASSETS", "SALES"), ("NET.PROFIT",), None),
    "CASCrefmicrodata": (("AGI", "EMCONTRB", "FEDTAX"), ("TAXINC",), None),
}


def sdcmicro(name: str) -> Table:
    """A test file of statistical disclosure control: "testdata", "free1", "EIA", "Tarragona" or "CASCrefmicrodata".

    4,580, 4,000, 4,092, 834 and 1,080 rows; sampling weights are used where the file has them (sdcMicro, GPL-2).
    """
    if name not in _SDCMICRO:
        raise UnmaskError(f"test file {name!r} is unknown; expected one of {', '.join(_SDCMICRO)}")
    quasi_identifiers, sensitive, weight = _SDCMICRO[name]
    path = locate(f"sdcmicro/{name}.csv.gz")
    types = _used(dict.fromkeys(_CODED, "text"), quasi_identifiers)
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, weight=weight, types=types)


def fertility1980(
    *,
    quasi_identifiers: str | Sequence[str] = ("age", "morekids", "gender1", "gender2", "afam", "hispanic", "other"),
    sensitive: str | Sequence[str] = "work",
) -> Table:
    """254,654 married women aged 21-35 with two children or more, US Census 1980 (Angrist and Evans 1998, via AER)."""
    return Table.read(locate("fertility1980.parquet"), quasi_identifiers=quasi_identifiers, sensitive=sensitive)


def voter_register(*, quasi_identifiers: str | Sequence[str] = ("age", "gender", "race", "zip")) -> Table:
    """10,000 rows of age, gender, race and ZIP from a county's voter register, 2010: a stand-in for what is public."""
    path = locate("register/wake_nc_2010_demographics.csv.gz")
    return Table.read(path, quasi_identifiers=quasi_identifiers, types={"zip": "code"})


def zip_demography() -> Table:
    """Population by ZIP code area, US Census 2000: 42,741 ZIPs, of them 29,604 with a known population.

    The quasi-identifier is ZIP; the 43 counts, ages and incomes are kept as numeric columns, missing where unknown.
    """
    path = locate("register/zip_demography_2000.csv.gz")
    types = {name: "code" if name == "ZIP" else "number" for name in _header(path)}
    keep = tuple(name for name in types if name != "ZIP")
    return Table.read(path, quasi_identifiers="ZIP", keep=keep, types=types)


def linkage(name: str) -> Table:
    """Persons with known duplicates: "febrl_dataset1" ... "febrl_dataset4b" (also "febrl1" ...) or "splink_fake_1000".

    The truth is kept: the entity number inside `rec_id` (rec-<entity>-org, rec-<entity>-dup-<n>), or `cluster`.
    All attributes of a person are quasi-identifiers and categorical.
    """
    full = f"febrl_dataset{name.removeprefix('febrl')}" if name.startswith("febrl") and "_" not in name else name
    known = [Path(path).name.removesuffix(".csv.gz") for path in _SHA256 if path.startswith("linkage/")]
    persons = [entry for entry in known if not entry.endswith("_labels")]
    if full not in persons:
        raise UnmaskError(f"linkage set {name!r} is unknown; expected one of {', '.join(persons)}")
    path = locate(f"linkage/{full}.csv.gz")
    header = _header(path)
    truth = [column for column in header if column in ("rec_id", "unique_id", "cluster")]
    names = [column for column in header if column not in truth]
    return Table.read(path, quasi_identifiers=names, keep=truth, types=dict.fromkeys(names, "text"))
