"""Separate identities in a plan equal direct calls of the protections and attacks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.graphs import disclosed
from unmask.core.errors import UnmaskError
from unmask.data.databases import open_database
from unmask.graphs import (
    Auxiliary,
    Decoy,
    EgoPatterns,
    IdentitySeparation,
    Iterated,
    Nar09,
    SocialGraph,
    Together,
    datasets,
    select_seeds,
    split,
)
from unmask.graphs.disclosure import disclosure, discovery, separated_seeds
from unmask.studies.cells import instantiate, run_cell
from unmask.studies.reading import read_plan
from unmask.studies.results_file import RESULTS
from unmask.studies.run import run_study

PEOPLE = """
[[data]]
use = "graphs.barabasi_albert"
with = { n = 900, m = 8 }
"""

PROTECTION = '[[protections]]\nname = "basic"\nuse = "graphs.IdentitySeparation"\nwith = { adopters = 0.3 }\n'


def adversary(name="nar09", knows="", settings=""):
    return f"""
[[adversaries]]
name = "{name}"
use = "graphs.Nar09"
with = {{ theta = 0.5 }}
knows = {{ node_overlap = 0.8, edge_overlap = 0.9, seeds = "random.25", n_seeds = 40{knows} }}
{settings}
"""


@dataclass(frozen=True)
class Said:
    """A protection, and its text in a plan."""

    plan: str
    protection: Any


SAID = {
    "circles": Said(
        'use = "graphs.EgoPatterns"\nwith = { strategy = "circles", largest = 3, adopters = 0.2 }',
        EgoPatterns("circles", largest=3, adopters=0.2),
    ),
    "side by side": Said(
        """use = "graphs.Together"
        with.parts = [
            [0.34, { use = "graphs.IdentitySeparation", with = { model = "basic", adopters = 0.3 } }],
            [0.33, { use = "graphs.IdentitySeparation", with = { model = "realistic", adopters = 0.3 } }],
            [0.33, { use = "graphs.Decoy", with = { adopters = 0.3, minimum_degree = 3 } }],
        ]""",
        Together(
            (
                (0.34, IdentitySeparation("basic", adopters=0.3)),
                (0.33, IdentitySeparation("realistic", adopters=0.3)),
                (0.33, Decoy(adopters=0.3, minimum_degree=3)),
            )
        ),
    ),
} | {
    way: Said(
        f'use = "graphs.IdentitySeparation"\nwith = {{ cooperation = "{way}", adopters = 0.2, refuse_top = 0.1 }}',
        IdentitySeparation(cooperation=way, adopters=0.2, refuse_top=0.1),
    )
    for way in ("none", "local", "degree", "lta")
}


def scene(cell, protection):
    """The pair and the separated release of a cell, as the API makes them of the same random numbers."""
    people = datasets.barabasi_albert(900, 8, rng=cell.rng("dataset"))
    pair = split(people, 0.8, 0.9, cell.rng("split", 0.8, 0.9))
    rng = cell.rng("protection", cell.protection.content)
    return pair, protection(pair.target, rng=rng, eligible=pair.truth[pair.common])


def drawn(cell, pair, separated, **settings):
    return separated_seeds(pair, separated, "random.25", 40, cell.rng("seeds", "random.25", 40), **settings)


def rows_of(tmp_path, text):
    """The values of results.parquet by protection, adversary, seed and measure; the cells by the first three."""
    (tmp_path / "plan.toml").write_text(text)
    plan = read_plan(tmp_path / "plan.toml")
    run_study(plan, tmp_path / "run")
    with open_database() as connection:
        query = "select protection, adversary, seed, measure, posterior from read_parquet(?) where status = 'done'"
        result = connection.execute(query, [str(tmp_path / "run" / RESULTS)]).fetchall()
    cells = {(cell.protection.name, cell.adversary.name, cell.seed): cell for cell in plan.cells()}
    return {tuple(row[:4]): row[4] for row in result}, cells


def test_every_protection_of_a_plan_is_that_of_the_api(tmp_path):
    parts = "".join(f'[[protections]]\nname = "{name}"\n{separation.plan}\n' for name, separation in SAID.items())
    rows, cells = rows_of(tmp_path, f"seeds = 2\n{PEOPLE}{parts}{adversary()}")
    assert len(cells) == 2 * len(SAID)
    for (name, seed_owner, seed), cell in cells.items():
        pair, separated = scene(cell, SAID[name].protection)
        seeds = drawn(cell, pair, separated)
        mapping = Nar09(theta=0.5)(separated.release, Auxiliary(pair.source, seeds)).mapping
        expected = disclosure(pair, separated, mapping, seeds.source)
        assert expected.rate > 0
        assert rows[name, seed_owner, seed, "recall"] == disclosed.recall(pair, separated, mapping, seeds.source)
        assert rows[name, seed_owner, seed, "adopter_recall"] == np.mean(expected.role >= 0)
        assert rows[name, seed_owner, seed, "disclosure"] == expected.rate
    disclosures = {name: rows[name, "nar09", 0, "disclosure"] for name in SAID}
    assert len(set(disclosures.values())) == len(SAID)


def test_seeds_of_a_plan_are_those_of_the_api(tmp_path):
    shares = {"whole": 0.0, "mixed": 0.5, "adopters": 1.0}
    adversaries = "".join(adversary(share, f', who = "{share}", error = 0.1') for share in shares)
    rows, cells = rows_of(tmp_path, PEOPLE + PROTECTION + adversaries)
    assert len(cells) == 3
    for (name, seed_owner, seed), cell in cells.items():
        pair, separated = scene(cell, IdentitySeparation(adopters=0.3))
        seeds = drawn(cell, pair, separated, who=seed_owner, error=0.1)
        mapping = Nar09(theta=0.5)(separated.release, Auxiliary(pair.source, seeds)).mapping
        expected = disclosure(pair, separated, mapping, seeds.source)
        assert rows[name, seed_owner, seed, "recall"] == disclosed.recall(pair, separated, mapping, seeds.source)
        assert rows[name, seed_owner, seed, "adopter_recall"] == np.mean(expected.role >= 0)
        assert np.isin(pair.truth[seeds.source], separated.adopters).mean() == shares[seed_owner]
        assert np.mean(separated.origin[seeds.target] == pair.truth[seeds.source]) == 0.9
        assert len(np.unique(seeds.target)) == len(np.unique(seeds.source)) == 40


def test_discovery_of_a_plan_is_that_of_the_api(tmp_path):
    more = "discovery = { people = 6, runs = 3 }"
    rows, cells = rows_of(tmp_path, PEOPLE + PROTECTION + adversary(settings=more) + adversary("without"))
    cell = cells["basic", "nar09", 0]
    pair, separated = scene(cell, IdentitySeparation(adopters=0.3))
    rng = cell.rng("discovery", 6, 3)
    people = rng.permutation(np.flatnonzero(np.isin(pair.truth, separated.adopters)))[:6]
    expected = discovery(
        pair,
        separated,
        people,
        Nar09(theta=0.5),
        lambda pair_given, rng: select_seeds(pair_given, "random.25", 40, rng),
        runs=3,
        rng=rng,
    )
    values = {measure: value for (_, seed_owner, _, measure), value in rows.items() if seed_owner == "nar09"}
    assert values["discovery"] == expected.probability.mean() > 0.2
    assert values["discovery_score"] == expected.score.mean()  # equation (3.6), mean over identities
    assert values["reversed"] == expected.reversed
    assert ("basic", "without", 0, "discovery") not in rows


def test_if_no_person_separates_all_seeds_are_whole(tmp_path):
    mixed = adversary("mixed", ', who = "mixed"', "")
    rows, _ = rows_of(tmp_path, PEOPLE + adversary() + mixed)
    assert rows["none", "mixed", 0, "recall"] == rows["none", "nar09", 0, "recall"]


def test_an_attack_on_several_identities_is_made_of_another(tmp_path):
    text = (
        '\n[[adversaries]]\nuse = "graphs.Iterated"\nwith.attack = { use = "graphs.Nar09", with = { theta = 0.5 } }\n'
    )
    (tmp_path / "plan.toml").write_text(PEOPLE + text)
    (cell,) = read_plan(tmp_path / "plan.toml").cells()
    assert instantiate(cell.adversary, "attacks") == Iterated(Nar09(theta=0.5))


@pytest.mark.parametrize(
    ("protection", "knows", "settings", "message"),
    [
        ('use = "graphs.EgoPattern"', "", "", "did you mean 'graphs.EgoPatterns'"),
        ('use = "graphs.EgoPatterns"\nwith = { strategy = "circle" }', "", "", "did you mean 'circles'"),
        ('use = "graphs.EgoPatterns"\nwith = { egos = ["a"] }', "", "", "omit them to use the Facebook egos"),
        ('use = "graphs.IdentitySeparation"\nwith = { cooperation = "degre" }', "", "", "did you mean 'degree'"),
        ('use = "graphs.IdentitySeparation"\nwith = { model = "realistc" }', "", "", "did you mean 'realistic'"),
        ('use = "graphs.IdentitySeparation"\nwith = { refuse_to = 0.1 }', "", "", "did you mean 'refuse_top'"),
        ('use = "graphs.IdentitySeparation"\nwith = { refuse_top = 2 }', "", "", "expected a number from 0 to 1"),
        ('use = "graphs.Decoy"\nwith = { adopters = 1.5 }', "", "", "adopters is 1.5"),
        ('use = "graphs.Together"\nwith = { parts = [[1, { use = "graphs.Decoi" }]] }', "", "", "mean 'graphs.Decoy'"),
        (
            'use = "graphs.Together"\nwith = { parts = [[1, { use = "tables.Suppress" }]] }',
            "",
            "",
            "use is 'tables.Sup",
        ),
        (
            'use = "graphs.Together"\nwith = { parts = [[1, { use = "graphs.Decoy", wit = {} }]] }',
            "",
            "",
            "mean 'with'",
        ),
        (
            'use = "graphs.Together"\nwith = { parts = [[2, { use = "graphs.Decoy" }]] }',
            "",
            "",
            "part 1 is 2, expected",
        ),
        ('use = "graphs.Together"\nwith = { parts = [0.5] }', "", "", "0.5, expected a list"),
        ('use = "graphs.Together"\nwith.parts = [[1, { use = ["a"] }]]', "", "", r"use is \['a'\] in a part of"),
        (
            'use = "graphs.Together"\nwith.parts = [[1, { use = "graphs.Decoy", with = 3 }]]',
            "",
            "",
            "`with` is not a table",
        ),
        ('use = "none"', ', who = "mixd"', "", "did you mean 'mixed'"),
        ('use = "none"', ", error = 2.0", "", "error is 2.0, expected a number from 0 to 1"),
        ('use = "none"', ", error = nan", "", "error is nan, expected a number from 0 to 1"),
        ('use = "none"', ', whom = "mixed"', "", "did you mean 'who'"),
        ('use = "none"', "", "discovery = { persons = 5 }", "discovery has a key 'persons'"),
        ('use = "none"', "", "discovery = { people = 5, runs = 0 }", "runs is 0, expected a whole number"),
        ('use = "none"', "", "discovery = 5", "discovery is 5, expected a table"),
        ('use = "none"', ', who = "mixed"', "discovery = { people = 5 }", "remove one of them"),
    ],
)
def test_impossible_settings_are_refused_with_the_possible_ones(tmp_path, protection, knows, settings, message):
    text = f"{PEOPLE}\n[[protections]]\n{protection}\n{adversary(knows=knows, settings=settings)}"
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(UnmaskError, match=message):
        read_plan(tmp_path / "plan.toml")


def test_a_number_of_seeds_below_0_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "plan.toml").write_text(PEOPLE + adversary().replace("n_seeds = 40", "n_seeds = -1"))
    with pytest.raises(UnmaskError, match="n_seeds is -1, expected a whole number"):
        read_plan(tmp_path / "plan.toml")


def test_a_misspelled_way_of_seeding_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "plan.toml").write_text(PEOPLE + adversary().replace('"random.25"', '"randm.25"'))
    with pytest.raises(UnmaskError, match=r"the seed method is 'randm.25', did you mean 'random.25'"):
        read_plan(tmp_path / "plan.toml")


@dataclass(frozen=True)
class Halve:
    """A user-defined protection: every second edge goes, whoever it joins."""

    def __call__(self, population: SocialGraph, *, rng: np.random.Generator | None = None) -> Any:
        return population.with_edges(np.arange(0, population.n_edges, 2)), np.arange(population.n_nodes)


def test_a_protection_that_knows_nothing_of_eligible_people_is_measured(tmp_path):
    plan = tmp_path / "plan.toml"
    own_protection = f'[[protections]]\nname = "halve"\nuse = "{__name__}:Halve"\n'
    plan.write_text(PEOPLE + own_protection + adversary())
    (cell,) = read_plan(plan, allow_code=True).cells()
    result = {row.measure: row.posterior for row in run_cell(cell)}
    assert result["edges_lost"] == pytest.approx(0.5, abs=0.01)
    assert result["utility"] == 1 - max(value for name, value in result.items() if name.endswith("_lost"))
    assert result["degrees_lost"] > 0.2
    assert result["contagion_lost"] > 0.05
