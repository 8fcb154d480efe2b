"""Every attack, protection, data set, measure and utility of `unmask list` comes out of a command.

Criteria, and measures of a belief, are in `test_listed_names.py`.
"""

import json
import os
import shlex
from contextlib import chdir
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from docs.papers import read_papers
from tests.test_papers import folder as paper_files  # noqa: F401  # a fixture
from unmask.catalog import examples
from unmask.cli import main
from unmask.measures import Measure
from unmask.measures.registry import MEASURES, UTILITIES

GOLDEN = Path(__file__).parents[1] / "verification" / "golden.jsonl"

# --- attacks and protections in studies ---

WITH = {
    "tables.RegisterAttack": {"coverage": 0.8},
    "tables.AttributeInference": {"sensitive": "diagnosis"},
    "tables.BackOff": {"sensitive": "diagnosis"},
    "tables.ModelAttribute": {"sensitive": "diagnosis"},
    "tables.ShadowMembership": {"shadows": 8},
    "tables.Linkability": {"parts": [["age"], ["zip"]]},
    "tables.SinglingOut": {"guesses": 50, "tries": 500},
    "tables.Generalize": {"levels": {"age": 10}},
    "tables.Suppress": {"k": 1},
    "tables.AddNoise": {"sd": {"age": 1.0}},
    "tables.NoisyMarginals": {"bounds": {"age": [0, 100], "zip": [0, 99_999]}},
    "linkage.ExactMatch": {"features": ["place"]},
    "linkage.Threshold": {"distance": 0.3, "features": ["x0", "x1"]},
    "linkage.FeatureClustering": {"n_clusters": 12, "features": ["x0", "x1"]},
    "linkage.RecordLinkage": {"blocks": [["place"], ["x0"]]},
    "linkage.SplinkLinkage": {"blocks": [["place"], ["x0"]]},
    "linkage.PerPeriod": {"length": 0.5},
    "channels.RandomizedResponse": {"epsilon": 1.0, "n": 4},
    "channels.Geometric": {"epsilon": 1.0, "n": 4},
    "channels.Generalize": {"labels": ["low", "low", "high", "high"]},
    "channels.Crowds": {"n": 4, "submit": 0.5},
    "channels.PoolMix": {"batch": 2, "pool": 1},
    "channels.Shrink": {"sigma": 1000.0, "spread": 3000.0},
    "channels.PlanarLaplace": {"epsilon": 0.001},
    "channels.PlanarGaussian": {"sigma": 1000.0},
    "channels.Coin": {"keep": 0.5},
    "graphs.Together": {"parts": [[0.5, {"use": "graphs.IdentitySeparation", "with": {"adopters": 0.5}}]]},
    "graphs.Iterated": {"attack": {"use": "graphs.Nar09"}},
}
"""Name -> parameters without a default, or that keep the attack short."""

SETTINGS = {"tables.ShadowMembership": {"knows": {"targets": 60}}}
"""Attack -> further settings."""

KNOWS = {
    "graphs": {"node_overlap": 0.9, "edge_overlap": 0.9, "seeds": "random", "n_seeds": 10},
    "tables": {},
    "linkage": {},
    "channels": {},
}

DATA = {
    "tables": {"use": "tables.synthetic_census", "with": {"n": 600}, "hold_back": 0.6},
    "linkage": {"use": "linkage.synthetic_traces", "with": {"n_users": 12, "n_items": 12}},
    "channels": {"use": "channels.alphabet", "with": {"n": 4}},
    "graphs": {"use": "graphs.barabasi_albert", "with": {"n": 80, "m": 4}},
}
GRID = {"use": "channels.grid", "with": {"n": 3, "m": 3, "size": 500.0}}

OF_LOGS = {
    "channels.MatchingAttack": ("messages", "matchings"),
    "channels.HiddenMarkovAttack": ("traces", "whole trace"),
    "channels.FrequencyAttack": ("sender measures", "frequencies"),
    "channels.NearestNeighborAttack": ("numeric samples", "nearest neighbor"),
    "channels.StatisticalDisclosure": ("rounds", "averages"),
    "channels.LeastSquaresDisclosure": ("rounds", "least squares"),
    "channels.RoundDisclosure": ("rounds", "one-to-one rounds"),
}
"""Attack on logs, which no study draws -> the command of a paper, or of this file, and its adversary there."""

NEEDS_EXTRAS = {
    "linkage.SplinkLinkage": "splink",
    "linkage.FeatureClustering": "sklearn",
    "tables.ModelAttribute": "sklearn",
}
NEEDS_DATA = {"graphs.EgoPatterns", "tables.adult",
              "channels.gowalla", "graphs.network", "graphs.pair"}  # fmt: skip


def list_names(kind, domain):
    """Return the names of a kind that are installed here, and whose data are."""
    names = [name for name in examples(kind) if name.startswith(f"{domain}.") and name not in OF_LOGS]
    names = [name for name in names if find_spec(NEEDS_EXTRAS.get(name, "numpy"))]
    return [name for name in names if "UNMASK_DATA" in os.environ or name not in NEEDS_DATA]


def part(name, **settings):
    return {"name": name, "use": name, **({"with": WITH[name]} if name in WITH else {}), **settings}


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def run_study(tmp_path, data, protections, adversaries):
    """Return the pairs of protection and adversary that have rows, and the reasons of the others."""
    from unmask.toml_text import format_document

    document = {"data": data, "protections": protections, "adversaries": adversaries}
    if data["use"] == "tables.synthetic_census":
        roles = dict.fromkeys(("age", "sex", "zip"), "quasi-identifier") | {"diagnosis": "sensitive"}
        document["columns"] = roles
    (tmp_path / "plan.toml").write_text(format_document(document))
    done = run("study", tmp_path / "plan.toml", "-o", tmp_path / "run")
    printed = run("report", tmp_path / "run", "--json")
    assert printed.exit_code == 0, done.output + printed.output
    rows = json.loads(printed.stdout)
    return {(row["protection"], row["adversary"]) for row in rows["results"]}, done.output + str(rows["not_run"])


FIRST = {
    "tables": ("tables.Identity", "tables.BackOff"),
    "linkage": ("linkage.PerItem", "linkage.Threshold"),
    "channels": ("channels.RandomizedResponse", "channels.BayesChannelAttack"),
    "graphs": ("graphs.SwitchEdges", "graphs.Nar09"),
}


@pytest.mark.parametrize("domain", DATA)
def test_every_attack_has_rows_in_a_study(domain, tmp_path):
    protection, _ = FIRST[domain]
    names = [name for name in list_names("attacks", domain) if name != "tables.SeveralRows"]
    knows = {"knows": KNOWS[domain]} if KNOWS[domain] else {}
    adversaries = [part(name, **(SETTINGS.get(name) or knows)) for name in names]
    pairs, reasons = run_study(tmp_path, DATA[domain], [part(protection)], adversaries)
    assert {name for _, name in pairs} >= set(names), reasons


def test_attack_on_several_rows_has_rows_in_a_study(tmp_path):
    visits = [(f"P{i // 3}", 20 + i % 9, "fm"[i % 2], f"code{i // 3}") for i in range(90)]
    lines = ["patient,age,sex,code", *(",".join(map(str, row)) for row in visits)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    roles = {"quasi_identifiers": ["age", "sex"], "keep": ["code"], "identifiers": ["patient"], "person": "patient"}
    data = {"use": "tables.file", "file": "visits.csv", **roles}
    pairs, reasons = run_study(tmp_path, data, [part("tables.Identity")], [part("tables.SeveralRows")])
    assert pairs, reasons


@pytest.mark.parametrize("domain", DATA)
def test_every_protection_has_rows_in_a_study(domain, tmp_path):
    _, attack = FIRST[domain]
    knows = {"knows": KNOWS[domain]} if KNOWS[domain] else {}
    on_grid = ("channels.PlanarLaplace", "channels.PlanarGaussian", "channels.Shrink")
    for data in (DATA[domain], GRID) if domain == "channels" else (DATA[domain],):
        names = [name for name in list_names("protections", domain) if (name in on_grid) == (data is GRID)]
        pairs, reasons = run_study(tmp_path, data, list(map(part, names)), [part(attack, **knows)])
        assert {name for name, _ in pairs} >= set(names), reasons
        tmp_path = tmp_path / "next"
        tmp_path.mkdir()


DATA_PARAMETERS = {
    "tables.synthetic_census": {"n": 80},
    "linkage.synthetic_traces": {"n_users": 4, "n_items": 80},
    "graphs.pair": {"name": "douban"},
    "graphs.network": {"name": "karate"},
    "graphs.erdos_renyi": {"n": 80, "p": 0.1},
    "graphs.watts_strogatz": {"n": 80, "k": 4, "p": 0.1},
    "graphs.barabasi_albert": {"n": 80, "m": 4},
    "channels.grid": GRID["with"],
    "channels.alphabet": {"n": 4},
}
"""Data set -> parameters without a default."""


@pytest.mark.parametrize("name", examples("datasets"))
def test_every_data_set_is_one_of_a_study(name, tmp_path):
    """A dry run reads no data: those of public sets are on few machines."""
    from unmask.toml_text import format_document

    domain = name.partition(".")[0]
    data = {"use": name, "with": DATA_PARAMETERS.get(name, {})}
    protection, attack = FIRST[domain]
    knows = {"knows": KNOWS[domain]} if KNOWS[domain] else {}
    document = {"data": data, "protections": [part(protection)], "adversaries": [part(attack, **knows)]}
    (tmp_path / "plan.toml").write_text(format_document(document))
    done = run("study", tmp_path / "plan.toml", "-o", tmp_path / "run", "--dry-run")
    assert done.exit_code == 0, done.output


# --- attacks on logs, measures and utilities in commands of the papers ---

NUMBERED = "audit channel numbers.csv --json"
"""Audit of samples whose outputs are numbers."""

MARGINALS = "tables.NoisyMarginals:epsilon=1:bounds={age=[0,100],zip=[0,99999]}"

PRIVATE = (
    f'protect people.csv -q age,sex,zip -s disease --with "{MARGINALS}" -o private.csv && unmask audit private.csv -q '
    f'age,sex,zip -s disease --original people.csv --control others.csv --synthetic --protection "{MARGINALS}" --json'
)
"""Audit of rows with differential privacy."""

COMMANDS = (
    "messages", "traces", "sender measures", "rounds", "crowds", "gain", "largest loss", "string linkage", "criteria",
    "transition", "few adopters", "graph study", "cliques", "view",
)  # fmt: skip
"""Commands of the papers that together have every measure which no golden run and no belief has."""

OF_PARTITIONS = (
    "rand_index", "adjusted_rand_index", "pair_precision", "pair_recall", "variation_of_information",
    "normalized_variation_of_information", "transfer_distance", "normalized_transfer_distance", "bcubed_precision",
    "bcubed_recall", "bcubed_f", "homogeneity", "completeness", "normalized_mutual_information", "expected_missing",
    "expected_extra", "combined_error", "normalized_error",
)  # fmt: skip
"""Measures of linkage on request."""


@pytest.fixture(scope="module")
def printed(paper_files):  # noqa: F811  # the imported fixture
    """Name of a command -> what it prints."""
    rng = np.random.default_rng(1)
    secrets = rng.integers(0, 2, 200)
    lines = [f"{x},{x + rng.integers(0, 3)}" for x in secrets]
    (paper_files / "numbers.csv").write_text("\n".join(["secret,output", *lines]) + "\n")
    commands = {name: read_papers().commands[name] for name in COMMANDS} | {
        "numeric samples": NUMBERED,
        "private": PRIVATE,
    }
    commands["partitions"] = "audit linkage --truth truth.csv --guess guess.csv --json " + " ".join(
        f"--measure {name}" for name in OF_PARTITIONS
    )
    header, *people = (paper_files / "people.csv").read_text().splitlines()
    others = [",".join([*one.split(",")[:1], *other.split(",")[1:]]) for one, other in pairwise(people)]
    (paper_files / "others.csv").write_text("\n".join([header, *others]) + "\n")
    graphs = paper_files / "graphs.toml"
    further = '["recall", "reversed", "discovery", "discovery_score"]'
    graphs.write_text(graphs.read_text().replace('["recall", "reversed"]', further))
    with chdir(paper_files):
        return {name: run_parts(command) for name, command in commands.items()}


def run_parts(command):
    """Return what the last part of a command prints."""
    for words in command.split(" && unmask "):
        done = run(*shlex.split(words))
        assert done.exit_code == 0, done.output[-500:]
    return done.output


@pytest.mark.parametrize("name", OF_LOGS)
def test_every_attack_on_logs_is_an_adversary_of_an_audit(name, printed):
    command, adversary = OF_LOGS[name]
    assert f'"adversary": "{adversary}"' in printed[command]


def list_frozen():
    """Return the names in the results of golden runs."""
    names = set()
    for _, path, value in map(json.loads, GOLDEN.read_text().splitlines()):
        names |= {*path.split(" | ")}
        facts = value if isinstance(value, dict) else {}
        names |= {key.partition(" (")[0] for key, item in facts.items() if item is not None}
    return names


OF_MANY_PEOPLE = {"campaign_success", *(f"true_positive_rate_at_{rate}" for rate in (0.1, 0.01, 0.001))}
"""Measures of the next two tests, which need an attacker or a large control group."""


def read_measures(tmp_path):
    return {row["measure"] for row in json.loads(run("report", tmp_path / "run", "--json").stdout)["results"]}


def test_a_rational_attacker_has_the_measures_of_a_campaign(tmp_path):
    attacker = part("tables.ClassAttack", attacker="case-study")
    run_study(tmp_path, {**DATA["tables"], "with": {"n": 60}}, [part("tables.Identity")], [attacker])
    assert "campaign_success" in read_measures(tmp_path)


def test_a_large_control_group_has_the_rates_of_few_false_positives(tmp_path):
    """5,000 people of the control group are the fewest for 1 in 1,000."""
    numbers = np.random.default_rng(0).permutation(24_000)
    (tmp_path / "people.csv").write_text("x\n" + "\n".join(map(str, numbers)) + "\n")
    data = {"use": "tables.file", "file": "people.csv", "quasi_identifiers": ["x"], "hold_back": 0.5}
    adversary = part("tables.ClosestRecord", knows={"targets": 5500})
    _, reasons = run_study(tmp_path, data, [part("tables.Identity")], [adversary])
    assert {f"true_positive_rate_at_{rate}" for rate in (0.1, 0.01, 0.001)} <= read_measures(tmp_path), reasons


def test_every_measure_of_no_belief_comes_out_of_a_command(printed):
    names = {name for name, measure in MEASURES.items() if not isinstance(measure, Measure)}
    names -= list_frozen() | OF_MANY_PEOPLE
    text = " ".join(printed.values())
    assert [name for name in sorted(names) if f'"{name}"' not in text] == []


def test_every_utility_comes_out_of_a_command(tmp_path):
    """Widths have the unit of their column, so that one release has all of them."""
    rng = np.random.default_rng(0)
    head = "age,birth,seen,hour,zip,ill"
    rows = [
        f"{rng.integers(20, 80)},19{rng.integers(30, 99)},2020-0{rng.integers(1, 9)}-1{rng.integers(0, 9)},"
        f"2020-01-01 1{rng.integers(0, 9)}:00,{rng.integers(10000, 99999)},{'ab'[rng.integers(2)]}"
        for _ in range(60)
    ]
    (tmp_path / "people.csv").write_text("\n".join([head, *rows]) + "\n")
    roles = ("-q", "age,birth,seen,hour,zip", "-s", "ill", "--type", "zip=code", "--type", "birth=date")
    release, origin = tmp_path / "release.csv", tmp_path / "origin.csv"
    done = run("protect", tmp_path / "people.csv", *roles, "--k", "4", "-o", release, "--origin", origin)
    assert done.exit_code == 0, done.output
    known = ("--original", tmp_path / "people.csv", "--origin", origin)
    done = run("audit", release, *roles, *known, "--json")
    (row,) = json.loads(done.stdout)["tables"]["utility"]
    reached = {name.partition(" ")[0] for name in row} | list_frozen()
    assert UTILITIES.keys() - reached == set()
