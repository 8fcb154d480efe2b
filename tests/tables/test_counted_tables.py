"""Attacks on a counted table are those on its rows, or they are refused in one sentence."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.catalog import examples
from unmask.measures import delta_up, evaluate, shannon_entropy_bits, success_probability
from unmask.tables import AttributeInference, Background, Table

ATTACKS = {name: attack for name, attack in examples("attacks").items() if name.startswith("tables.")}
MEASURED = (success_probability, shannon_entropy_bits, delta_up)


def read(rows):
    age, zip_code, ill = map(list, zip(*rows, strict=True))
    columns = {"age": age, "zip": zip_code, "diagnosis": ill}
    return Table.read(columns, quasi_identifiers=["age", "zip"], sensitive="diagnosis")


def count_rows(rows):
    """Return the table of distinct rows."""
    counts = Counter(rows)
    table, row_counts = read(sorted(counts)), np.array([counts[row] for row in sorted(counts)])
    roles = ("quasi_identifiers", "sensitive")
    return replace(
        table, **{role: tuple(replace(c, row_counts=row_counts) for c in getattr(table, role)) for role in roles}
    )


def draw_rows(n=400):
    rng = np.random.default_rng(0)
    columns = rng.integers(20, 26, n), rng.integers(0, 4, n), rng.choice(["flu", "none", "hiv"], n)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("people", [None, 7], ids=["of its records", "of people"])
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_a_counted_table_is_that_on_its_rows_or_refused(name, people):
    rows = draw_rows()
    counted = count_rows(rows)
    knowledge = Background() if people is None else Background(read(rows[::people]), read(rows[3::5]))
    measured = []
    for release in (counted, read(rows)):
        try:
            belief = ATTACKS[name](release, knowledge, rng=np.random.default_rng(1))
            measured.append([evaluate(measure, belief).posterior for measure in MEASURED])
        except UnmaskError as error:
            assert "\n" not in str(error)  # noqa: PT017  # a belief is as good
            return
    assert measured[0] == pytest.approx(measured[1])


def test_a_counted_population_has_the_shares_of_its_rows():
    people = [("30", "1", "flu")] * 98 + [("30", "1", "hiv"), ("41", "1", "hiv")]
    attack, release = AttributeInference("diagnosis"), read([("30", "1", "flu"), ("30", "1", "hiv")])
    counted, rows = (
        attack(release, Background(population=population)) for population in (count_rows(people), read(people))
    )
    assert np.exp(rows.log_prior) == pytest.approx([0.98, 0.02])
    assert counted.log_prior == pytest.approx(rows.log_prior)
