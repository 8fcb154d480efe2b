"""The report says what the rows say, in one file, the same every time."""

from __future__ import annotations

import dataclasses
import math
import re
from html.parser import HTMLParser

import pytest

from unmask.errors import UnmaskError
from unmask.reports import ClassRisk, ColumnRisk, Distribution, ReportData, plots, render
from unmask.results import Row

N = 30162
RELEASES = ("k=3", "k=10", "k=20", "k=50", "k=100")
# Adult, strict Mondrian: success of an adversary who knows the class, measured once; prior of occupation likewise.
NAMED = (0.0281, 0.0162, 0.0116, 0.0072, 0.0051)
INFERRED = (0.293, 0.286, 0.283, 0.279, 0.276)
OCCUPATION_PRIOR = 0.1339
CLASSES = (846, 489, 351, 218, 155)
LOST = (0.024, 0.041, 0.056, 0.083, 0.117)
ALL, TWO = "knows all quasi-identifiers", "knows age and postcode, and holds a register"
EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
NBSP = "\u00a0"
VOID = {"meta", "br", "path", "line", "circle", "rect", "link", "hr", "img"}


def row(release="k=3", adversary=ALL, target="identity", measure="success_probability", **changes) -> Row:
    values = {
        "unit": "probability",
        "direction": "high",
        "prior": 1 / N,
        "posterior": 0.0281,
        "low": None,
        "high": None,
        "interval": "none",
        "n": N,
        "n_observations": 846,
        "worst": 1 / 3,
        "worst_observation": 17,
        "quantiles": (0.004, 0.009, 0.021, 0.04, 0.1),
        "status": "exact",
        "note": "",
    } | changes
    values.setdefault("gain", values["posterior"] - values["prior"])
    return Row(release=release, adversary=adversary, target=target, measure=measure, **values)


def wilson(share: float, n: int) -> dict[str, object]:
    centre = (share + 1.92 / n) / (1 + 3.84 / n)
    half = 1.96 / (1 + 3.84 / n) * math.sqrt(share * (1 - share) / n + 0.96 / n**2)
    low, high = centre - half, centre + half
    return {
        "posterior": share,
        "low": low,
        "high": high,
        "interval": "targets (Wilson, clustered by observation)",
        "n": n,
    }


def release_rows(i: int, adversary: str, strength: float) -> list[Row]:
    name, k = RELEASES[i], int(RELEASES[i][2:])
    named, inferred = NAMED[i] * strength, OCCUPATION_PRIOR + (INFERRED[i] - OCCUPATION_PRIOR) * strength
    same = {"release": name, "adversary": adversary}
    value = same | {"target": "occupation", "prior": OCCUPATION_PRIOR, "quantiles": (0.15, 0.2, inferred, 0.36, 0.55)}
    bits = math.log2(N) + math.log2(named) - 0.6
    spread = tuple(named * factor for factor in (0.2, 0.4, 0.8, 1.5, 3.0))
    return [
        row(**same, posterior=named, worst=1 / k, quantiles=spread),
        row(**same, measure="realised_success", worst=1.0, **wilson(named * 1.04, 2000)),
        row(**same, measure="information_gain_bits", unit="bits", prior=0.0, posterior=bits, worst=math.log2(N / k)),
        row(**value, posterior=inferred, worst=max(0.85, 1 - i / 20)),
        row(**value, measure="realised_success", worst=1.0, **wilson(inferred - 0.004, 2000)),
        row(**value, measure="delta_down", unit="nats")
        if False
        else row(
            **same,
            target="occupation",
            measure="delta_down",
            unit="nats",
            prior=0.0,
            posterior=math.inf,
            worst=math.inf,
        ),
    ]


def class_risk(i: int) -> tuple[ClassRisk, ...]:
    k = int(RELEASES[i][2:])
    return tuple(
        ClassRisk(
            number=(37 * j + 11 * i) % CLASSES[i],
            rows=k + j,
            identity=1 / (k + j),
            attribute={"occupation": 1 - j / 20},
        )
        for j in range(10)
    )


def sample() -> ReportData:
    """Five releases of one table, two adversaries, two targets; every section has data."""
    rows = [r for i in range(5) for a, s in ((ALL, 1.0), (TWO, 0.35)) for r in release_rows(i, a, s)]
    shares = {
        "identity": [(0.31, 0.27, 0.29, 0.09, 0.033, 0.007, 0.0), (0.52, 0.24, 0.2, 0.04, 0.0, 0.0, 0.0)]
        + [
            (0.62, 0.25, 0.13, 0.0, 0.0, 0.0, 0.0),
            (0.79, 0.21, 0.0, 0.0, 0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        ],
        "occupation": [(0.0, 0.0, 0.0, 0.01, 0.22, 0.69, 0.08)] * 2 + [(0.0, 0.0, 0.0, 0.0, 0.23, 0.7, 0.0696)] * 3,
    }
    columns = {"age": 0.55, "education": 0.3, "marital status": 0.22, "race": 0.04, "sex": 0.09}
    return ReportData(
        title="Adult census extract: what an adversary learns from five releases",
        who="Two adversaries attack a k-anonymous extract of 30,162 people, who are known to be in it: one knows all five "
        "quasi-identifiers of his target, the other two of them, and both want to name the target or infer the occupation.",
        rows=tuple(rows),
        adversaries={ALL: "knows all five quasi-identifiers", TWO: "knows age and postcode and holds a register"},
        criteria={
            name: {
                "rows": N,
                "classes": CLASSES[i],
                "missing": "own",
                "k": int(name[2:]),
                "l_distinct (occupation)": (1, 1, 2, 3, 4)[i],
                "l_entropy (occupation)": (1.0, 1.0, 1.34, 1.56, 1.71)[i],
                "t_equal (occupation)": (0.935, 0.866, 0.803, 0.769, 0.712)[i],
                "t_hierarchical (occupation)": None,
                "delta_disclosure (occupation)": math.inf,
                "alpha (occupation)": (1.0, 1.0, 0.93, 0.9, 0.85)[i],
                "unique_rows": 0,
                "prosecutor_average": NAMED[i],
            }
            for i, name in enumerate(RELEASES)
        },
        utility={name: {"gcp": LOST[i], "average_class_size": N / CLASSES[i]} for i, name in enumerate(RELEASES)},
        class_risk={name: class_risk(i) for i, name in enumerate(RELEASES)},
        column_risk=tuple(
            ColumnRisk(name, target, column, success, success - (success - base) * share)
            for target, values, base in (("identity", NAMED, 1 / N), ("occupation", INFERRED, OCCUPATION_PRIOR))
            for name, success in zip(RELEASES, values, strict=True)
            for column, share in columns.items()
        ),
        distribution=tuple(
            Distribution(name, adversary, target, EDGES, shares[target][i])
            for adversary in (ALL, TWO)
            for target in ("identity", "occupation")
            for i, name in enumerate(RELEASES)
        ),
        assumptions=(
            "Every target is in the release, and the adversary knows it.",
            "What the adversary knows of a target is true and as exact as in the original table.",
            "People are independent of each other; households are not modelled.",
        ),
        not_run=(
            ("t, hierarchical", "no hierarchy was given for occupation"),
            ("an adversary who combines several releases", "the releases were attacked one by one"),
            ("realised success on the original table", "failed: the disk was full after 12 minutes"),
        ),
        reproduce={
            "Command": "unmask audit k3.csv k10.csv k20.csv k50.csv k100.csv --original adult.csv --seed 7 --report report.html",
            "Seed": 7,
            "Version": "unmask 0.1.0",
            "Missing cells": "own: a missing cell is compatible only with a missing cell",
            "Digest of adult.csv": "sha256 9d7f0a4e2c5b1f38a6e0c4d2b7395e81f0aa6c3d4be8172915c06d3f2e8b7a44",
        },
    )


def single() -> ReportData:
    return ReportData(title="One release", who="An adversary attacks one release.", rows=(row(),))


class Page(HTMLParser):
    """Collects text, ids and sections, and fails on tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.said = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.said += data

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", self.said)
