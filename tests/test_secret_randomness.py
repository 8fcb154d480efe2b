"""A release gives nothing away by its order or its labels: neither a seed nor the order of the source is in it."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.cli import main
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections import Decoy, IdentitySeparation
from unmask.linkage.items import Items
from unmask.linkage.protections import PerContext, PerItem, PerPeriod, Split
from unmask.tables import Generalize, Identity, Mondrian, Suppress, SuppressCells, Table

GUESSES = 100_000
"""Seeds that an adversary tries."""

DETERMINISTIC = (
    Mondrian(k=3),
    Mondrian(k=4, l=2, t=0.8),
    Suppress(k=2),
    SuppressCells(k=3),
    Generalize(levels={"age": 10.0}),
    Identity(),
)


def people(rows: list[tuple[int, str, str, str]], *, order: np.ndarray | None = None) -> Table:
    columns = dict(zip(("note", "age", "ill", "sex"), zip(*rows, strict=True), strict=True))
    if order is not None:
        columns = {name: [values[index] for index in order] for name, values in columns.items()}
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": "ill", "keep": "note"}
    return Table.read({name: list(values) for name, values in columns.items()}, **roles)


ROW = st.tuples(
    st.sampled_from("xyz"), st.integers(20, 60), st.sampled_from(["flu", "none", ""]), st.sampled_from("fm")
)


@given(rows=st.lists(ROW, min_size=12, max_size=40), protection=st.sampled_from(DETERMINISTIC), data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_bytes_of_a_release_do_not_depend_on_the_order_of_the_rows(tmp_path_factory, rows, protection, data):
    # T1, R1
    rows += [("x", 30, "flu", "f"), ("x", 30, "none", "f")] * 2  # a class that Suppress keeps, two values for l
    order = data.draw(st.permutations(range(len(rows))))
    folder = tmp_path_factory.mktemp("releases")
    for name, table in (("one", people(rows)), ("other", people(rows, order=np.array(order)))):
        protection(table)[0].write(folder / f"{name}.csv")
    assert (folder / "one.csv").read_bytes() == (folder / "other.csv").read_bytes()


@pytest.mark.parametrize("protection", DETERMINISTIC, ids=repr)
def test_the_people_of_equal_rows_differ_from_run_to_run(protection):  # T1, R1
    table = people([("x", 30, ill, "f") for ill in ["flu", "none"] * 50])
    (first, first_origin), (second, second_origin) = protection(table), protection(table)
    assert [column.codes.tolist() for column in first.columns] == [column.codes.tolist() for column in second.columns]
    assert first_origin.tolist() != second_origin.tolist()
    assert np.mean(first_origin == second_origin) < 0.2  # each of two blocks of 50 agrees in about one row


N = 60
MOST = 14
"""The best of 10^5 guesses of a permutation has 8 to 10 places right, once in 10^6 times more than this."""


def count_right(guesses: Iterable[np.ndarray], secret: np.ndarray) -> int:
    """The most places that any guess has right."""
    return max(int(np.count_nonzero(guess == secret)) for guess in guesses)


@cache
def permutations() -> np.ndarray:
    return np.stack([np.random.default_rng(seed).permutation(N).astype(np.int8) for seed in range(GUESSES)])


def generators() -> Iterator[np.random.Generator]:
    return (np.random.default_rng(seed) for seed in range(500))


def test_no_guessable_seed_gives_the_origin_of_a_table():  # T1, R1
    table = people([("x", 30, "flu", "f")] * N)
    _, origin = Mondrian(k=10)(table)
    assert count_right(permutations(), origin) < MOST
    assert count_right((Mondrian(k=10)(table, rng=rng)[1] for rng in generators()), origin) < MOST


@pytest.mark.parametrize("protection", [IdentitySeparation(adopters=0), Decoy(adopters=0)], ids=repr)
def test_no_guessable_seed_gives_the_labels_of_a_graph(protection):  # R1
    ends = np.random.default_rng(1).integers(0, N, (2, 4 * N))
    graph = SocialGraph.from_edges(*ends[:, ends[0] != ends[1]])
    assert graph.n_nodes == N
    origin = protection(graph).origin
    assert count_right(permutations(), origin) < MOST
    assert count_right((protection(graph, rng=rng).origin for rng in generators()), origin) < MOST


@pytest.mark.parametrize("protection", [PerItem(), PerPeriod(10), PerContext(), Split(1)], ids=repr)
def test_no_guessable_seed_gives_the_pseudonyms_of_items(protection):  # R1
    columns = {"user": np.arange(N), "hour": np.zeros(N), "shop": ["a"] * N}
    population = Items.read(columns, pseudonym="user", time="hour", context="shop")

    def label_of_user(rng: np.random.Generator | None = None) -> np.ndarray:
        release, solution = protection(population, rng=rng)
        return np.asarray(release.pseudonym)[np.argsort(solution.code)]

    secret = label_of_user()
    assert count_right(permutations(), secret) < MOST
    assert count_right(map(label_of_user, generators()), secret) < MOST


@pytest.mark.parametrize("command", [["protect"], ["protect", "graph"]])
def test_a_release_has_no_seed(command, tmp_path):  # T1, R1
    (tmp_path / "people.csv").write_text("age,zip\n" + "30,1\n31,2\n" * 10)
    (tmp_path / "people.txt").write_text("1 2\n2 3\n3 1\n")
    source = tmp_path / ("people.txt" if "graph" in command else "people.csv")
    roles = [] if "graph" in command else ["-q", "age"]
    arguments = [*command, str(source), *roles, "-o", str(tmp_path / "release.csv")]
    refused = CliRunner().invoke(main, [*arguments, "--seed", "7"])
    assert refused.exit_code == 2
    assert "reverses its protection" in refused.stderr
    assert not (tmp_path / "release.csv").exists()
    done = CliRunner().invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    assert not re.search(r"\bseed\b", done.output)
    assert "--seed" not in CliRunner().invoke(main, [*command, "--help"]).output


def test_a_column_without_a_role_is_not_written(tmp_path):  # T2, U3
    (tmp_path / "people.csv").write_text("name,age,cost,ill\n" + "Ann,30,7,flu\nBob,31,8,none\n" * 10)
    arguments = ["protect", str(tmp_path / "people.csv"), "-q", "age", "-s", "ill", "--k", "2"]
    done = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "release.csv")])
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "release.csv").read_text().splitlines()[0] == "age,ill"
    assert "dropped, without a role: name, cost;" in done.stderr
    done = CliRunner().invoke(main, [*arguments, "--keep", "cost", "-o", str(tmp_path / "kept.csv")])
    assert (tmp_path / "kept.csv").read_text().splitlines()[0] == "age,cost,ill"
    assert "dropped, without a role: name;" in done.stderr
