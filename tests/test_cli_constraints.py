"""Options of `unmask protect` that constrain the sensitive values of every class."""

import csv
import json
import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.cli import main
from unmask.core.errors import FailedError
from unmask.tables.protections import Lattice, Mondrian, Suppress
from unmask.tables.table import Table


def entropy_l(values, _table):
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def recursive_ratio(values, _table, rank=2):
    counts = sorted(Counter(values).values(), reverse=True)
    rest = sum(counts[rank - 1 :])
    return Fraction(counts[0], rest) if rest else math.inf


def log_ratio(values, table):
    shares, overall = Counter(values), Counter(table)
    if len(shares) < len(overall):
        return math.inf
    ratios = (Fraction(shares[v] * len(table), len(values) * overall[v]) for v in overall)
    return max(abs(math.log(ratio)) for ratio in ratios)


def exceeds_likeness(values, table, beta):
    shares, overall = Counter(values), Counter(table)
    for value, count in shares.items():
        p, q = count / len(values), overall[value] / len(table)
        if p > (1 + min(beta, -math.log(q))) * q + 1e-9:
            return True
    return False


def largest_share(values, _table):
    return max(Counter(values).values()) / len(values)


def divergence(values, table):
    shares, overall = Counter(values), Counter(table)
    return sum(c / len(values) * math.log(c * len(table) / len(values) / overall[v]) for v, c in shares.items())


RULES = {
    "l-entropy": ("2", {"l_entropy": 2.0}, lambda values, table: entropy_l(values, table) >= 2 - 1e-9),
    "l-recursive": ("3:2", {"l_recursive": (3.0, 2)}, lambda values, table: recursive_ratio(values, table) < 3),
    "delta": ("1.1", {"delta": 1.1}, lambda values, table: log_ratio(values, table) < 1.1),
    "beta": ("1.5", {"beta": 1.5}, lambda values, table: not exceeds_likeness(values, table, 1.5)),
    "alpha": ("0.6", {"alpha": 0.6}, lambda values, table: largest_share(values, table) <= 0.6 + 1e-9),
}
"""Option -> its value, the parameter of a protection, and the definition on the values of a class and of the table."""


def draw_people(rng, n=60):
    return [(rng.randint(20, 40), rng.choice("fm"), rng.choice("aaaabbbccd")) for _ in range(n)]


def group_values(rows):
    classes = defaultdict(list)
    for *known, value in rows:
        classes[tuple(known)].append(value)
    return classes.values()


def release_rows(protection, people):
    columns = dict(zip(("age", "sex", "ill"), zip(*people, strict=True), strict=True))
    table = Table.read(columns, quasi_identifiers=["age", "sex"], sensitive="ill")
    release, _ = protection(table, rng=np.random.default_rng(1))
    return list(zip(*(release[name].tolist() for name in ("age", "sex", "ill")), strict=True))


@cache
def release_unconstrained(kind, seed):
    """Return the release of the table of a seed without a rule, with which each rule is compared."""
    return release_rows(kind(k=2, **SETTINGS.get(kind, {})), draw_people(random.Random(seed)))


SETTINGS = {Lattice: {"levels": {"age": [0, 5, 10, "*"]}}}


@pytest.mark.parametrize("option", RULES)
@pytest.mark.parametrize(("kind", "n_tables"), [(Mondrian, 50), (Lattice, 10), (Suppress, 20)])
def test_every_class_satisfies_the_definition(option, kind, n_tables):
    """Definitions are computed here from lists."""
    _, parameters, holds = RULES[option]
    n_violations, n_released = 0, 0
    for seed in range(n_tables):
        people = draw_people(random.Random(seed))
        values = [person[-1] for person in people]
        try:
            released = release_rows(kind(k=2, **parameters, **SETTINGS.get(kind, {})), people)
        except FailedError:  # of Suppress, if no class remains
            continue
        n_released += 1
        assert all(holds(part, values) for part in group_values(released)), seed
        n_violations += any(not holds(part, values) for part in group_values(release_unconstrained(kind, seed)))
    assert n_released == n_tables or kind is Suppress
    assert n_violations > 0 or n_released == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Path("people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "ill"), *draw_people(random.Random(1), 300)])
    return tmp_path


def read_rows(path):
    return list(csv.reader(Path(path).read_text().splitlines()))[1:]


def protect(*arguments):
    return CliRunner().invoke(main, ["protect", "people.csv", "-q", "age,sex", "-s", "ill", "--k", "2", *arguments])


@pytest.mark.parametrize("option", RULES)
def test_option_constrains_the_release_and_is_stored(folder, option):
    text, parameters, holds = RULES[option]
    done = protect(f"--{option}", text, "-o", "release.csv", "--json")
    assert done.exit_code == 0, done.output
    values = [row[-1] for row in read_rows("people.csv")]
    assert all(holds(part, values) for part in group_values(read_rows("release.csv")))
    assert json.loads(done.stdout)["results"][0]["gcp_of_k_alone"] <= json.loads(done.stdout)["results"][0]["gcp"]

    Path("unmask.toml").write_text(protect(f"--{option}", text, "--as-plan", "-o", "x.csv").stdout)
    again = CliRunner().invoke(main, ["protect", "unmask.toml", "-o", "again.csv"])
    assert again.exit_code == 0, again.output
    assert Path("again.csv").read_text() == Path("release.csv").read_text()
    ((name, value),) = parameters.items()
    spec = f"tables.Mondrian:k=2:{name}={list(value) if isinstance(value, tuple) else value}"
    named = CliRunner().invoke(
        main, ["protect", "people.csv", "-q", "age,sex", "-s", "ill", "--with", spec, "-o", "named.csv"]
    )
    assert named.exit_code == 0, named.output
    assert Path("named.csv").read_text() == Path("release.csv").read_text()


def test_distance_of_closeness_is_a_choice(folder):
    assert protect("--t", "0.2", "--t-distance", "kl", "-o", "release.csv").exit_code == 0
    rows = read_rows("release.csv")
    values = [row[-1] for row in rows]
    assert all(divergence(part, values) <= 0.2 + 1e-9 for part in group_values(rows))
    refused = protect("--t", "0.2", "--t-distance", "ordered", "-o", "ordered.csv")
    assert refused.exit_code == 2
    assert "'ill' has no order" in refused.output
    assert not (folder / "ordered.csv").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("l-entropy", "0.5"), ("l-entropy", "nan"), ("l-entropy", "inf"), ("l-entropy", "two"), ("l-entropy", "50"),
        ("l-recursive", "3"), ("l-recursive", "3:2:1"), ("l-recursive", "a:2"), ("l-recursive", "3:1.5"),
        ("l-recursive", "0:2"), ("l-recursive", "-1:2"), ("l-recursive", "3:0"), ("l-recursive", "nan:2"),
        ("delta", "0"), ("delta", "-1"), ("delta", "inf"), ("delta", "x"),
        ("beta", "-0.1"), ("beta", "nan"), ("beta", ""),
        ("alpha", "0"), ("alpha", "1.1"), ("alpha", "nan"), ("alpha", "0.001"),
        ("t-distance", "other"),
    ],
)  # fmt: skip
def test_malformed_value_is_one_sentence(folder, option, value):
    refused = protect(f"--{option}", value, "-o", "release.csv")
    assert refused.exit_code in (1, 2), refused.output
    assert isinstance(refused.exception, SystemExit)
    message = refused.stderr.strip().splitlines()[-1]
    assert message.startswith("Error: ")
    assert len(message) < 250
    assert not (folder / "release.csv").exists()


def test_constraint_and_named_protection_exclude_each_other(folder):
    refused = protect("--beta", "1", "--with", "tables.Suppress:k=2", "-o", "release.csv")
    assert refused.exit_code == 2
    assert "give --with its parameters after colons" in refused.output
