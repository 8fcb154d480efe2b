"""Published scores of synthetic tables, compared with loops over people and rows."""

import numpy as np
import pytest

from tests.commands import invoke
from unmask.tables import Table, criteria

ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": "pay"}


def draw(n, rng):
    """Return n rows with few combinations, and numbers or missing cells as pay."""
    pay = rng.integers(0, 8, n).astype(object)
    pay[rng.random(n) < 0.1] = None
    return {"age": rng.integers(0, 3, n), "sex": rng.choice(["f", "m"], n), "pay": pay}


def list_rows(columns):
    return [((a, s), None if p is None else float(p)) for a, s, p in zip(*columns.values(), strict=True)]


def attribute(targets, rows, tolerance):
    """Return CAP, the prior and the share of targets with rows, by their definition."""
    shares, priors, known = [], [], [value for _, value in rows if value is not None]
    targets = [target for target in targets if target[1] is not None]
    for key, value in targets:
        of_key = [other for other_key, other in rows if other_key == key and other is not None]
        priors.append(np.mean([abs(other - value) <= tolerance * value for other in known]))
        shares += [np.mean([abs(other - value) <= tolerance * value for other in of_key])] if of_key else []
    return np.mean(shares), np.mean(priors), len(shares) / len(targets)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rtol", [0, 0.25, 0.6])
def test_attribution_probabilities_are_those_of_the_definition(seed, rtol):
    rng = np.random.default_rng(seed)
    columns = draw(20, rng), draw(15, rng)
    people, release = (Table.read(side, **ROLES, types={"pay": "number"}) for side in columns)
    persons, rows = map(list_rows, columns)
    clear = []
    for key, value in rows:
        of_key = [other for other_key, other in rows if other_key == key and other is not None]
        if value is not None and np.mean([abs(other - value) <= rtol * value for other in of_key]) >= 0.7:
            clear.append((key, value))

    found = criteria.attribution_probability(release, people, "pay", rtol=rtol)
    assert tuple(found) == pytest.approx(attribute(persons, rows, rtol))
    targeted = criteria.targeted_attribution_probability(release, people, "pay", threshold=0.7, rtol=rtol)
    if clear:
        assert tuple(targeted) == pytest.approx(attribute(clear, persons, rtol), nan_ok=True)


def test_relative_tolerance_refers_to_the_target():
    people = Table.read({"q": list("ab"), "pay": [100, 200]}, quasi_identifiers="q", sensitive="pay")
    release = Table.read({"q": list("ab"), "pay": [109, 221]}, quasi_identifiers="q", sensitive="pay")
    assert criteria.attribution_probability(release, people, "pay", rtol=0.1).probability == 0.5
    assert criteria.attribution_probability(release, people, "pay").probability == 0


def closest(person, rows):
    return np.abs(rows - person).min()


def test_shares_of_closer_rows_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    values = [rng.normal(size=n).round(3) for n in (60, 50, 50)]
    release, members, holdout = (Table.read({"x": side}, quasi_identifiers="x") for side in values)
    closer = [np.sign(closest(row, values[2]) - closest(row, values[1])) / 2 + 0.5 for row in values[0]]
    share = criteria.closer_to_members(release, members, holdout, rng=np.random.default_rng(0))
    assert share == pytest.approx(np.mean(closer), abs=1e-12)
    control = criteria.identifiable_share(release.take(slice(0, 50)), holdout, members, rng=np.random.default_rng(0))
    nearer = [np.sign(closest(row, values[1]) - closest(row, values[0][:50])) / 2 + 0.5 for row in values[2]]
    assert control == pytest.approx(np.mean(nearer), abs=1e-12)


def test_copies_are_close_and_strangers_are_not():
    rng = np.random.default_rng(1)
    table = Table.read(
        {"x": rng.normal(size=900), "y": rng.normal(size=900), "c": rng.choice(list("abc"), 900)},
        quasi_identifiers=["x", "y", "c"],
    )
    members, holdout, strangers = (table.take(slice(start, start + 300)) for start in (0, 300, 600))
    assert criteria.closer_to_members(members, members, holdout, rng=rng) == 1
    assert criteria.identifiable_share(members, members, members, rng=rng) > 0.75
    assert criteria.closer_to_members(strangers, members, holdout, rng=rng) == pytest.approx(0.5, abs=0.1)
    assert criteria.identifiable_share(strangers, holdout, members, rng=rng) == pytest.approx(0.5, abs=0.1)


def test_a_study_has_the_scores_of_a_synthetic_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    for name in ("people", "others", "made"):
        rows = (f"{rng.integers(20, 60)},{rng.choice(['f', 'm'])},{rng.choice(['a', 'b'])}" for _ in range(80))
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,sex,job", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "unmask.toml").write_text(
        """
data = { file = "people.csv" }
control = { file = "others.csv" }
columns = { age = "quasi-identifier", sex = "quasi-identifier", job = "sensitive" }
protections = [{ use = "tables.file", file = "made.csv", synthetic = true }]
adversaries = [{ use = "tables.BackOff", with = { sensitive = "job" } }]
""",
        encoding="utf-8",
    )
    invoke("study", "unmask.toml", "-o", "run")
    conditions = "--policy", "closer_to_members > 1", "--policy", "identifiable_control > 1"
    chosen = invoke("choose", "run", *conditions, "--maximize", "pairs")
    assert "closer_to_members is " in chosen.stdout, chosen.output
    assert "identifiable_control is " in chosen.stdout
