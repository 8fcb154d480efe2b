"""The command line, a study and Python give one result for one network, one adversary and one set of seeds."""

import numpy as np
import pytest
from click.testing import CliRunner

from tests.envelopes import parsed
from unmask import audit
from unmask.cli import main
from unmask.graphs import Auxiliary, SocialGraph, datasets, select_seeds, split
from unmask.graphs.audit.attack_plan import ATTACKS
from unmask.measures.rates import MIN_SPREAD
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan

PLAN = """
[[data]]
use = "graphs.barabasi_albert"
with = { n = 250, m = 4 }
"""
ADVERSARY = """
[[adversaries]]
use = "graphs.NAME"
knows = { node_overlap = 0.9, edge_overlap = 0.9, seeds = "random.25", n_seeds = 20 }
"""


def write(path, head, rows):
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


def label_graph(graph, prefix):
    return SocialGraph(graph.indptr, graph.neighbor, np.array([f"{prefix}{i}" for i in range(graph.n_nodes)], object))


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """Attack -> its rates by the command line, by a study, and by the library."""
    folder = tmp_path_factory.mktemp("doors")
    plan = folder / "plan.toml"
    plan.write_text(PLAN + "".join(ADVERSARY.replace("NAME", kind.__name__) for kind in ATTACKS.values()))
    cells = {cell.adversary.use.removeprefix("graphs."): cell for cell in read_plan(plan).cells()}
    cell = next(iter(cells.values()))
    graph = datasets.barabasi_albert(250, 4, rng=cell.rng("dataset"))
    pair = split(graph, 0.9, 0.9, cell.rng("split", 0.9, 0.9))
    seeds = select_seeds(pair, "random.25", 20, cell.rng("seeds", "random.25", 20))
    auxiliary, files = Auxiliary(pair.source, seeds), {}
    for name, network, prefix in (("auxiliary", pair.source, "a"), ("release", pair.target, "r")):
        files[name] = str(folder / f"{name}.csv")
        label_graph(network, prefix).write(files[name])
    pairs = [(f"a{v}", f"r{pair.truth[v]}") for v in pair.common]
    files["truth"] = write(folder / "truth.csv", "auxiliary,release", pairs)
    first = [(f"a{u}", f"r{v}") for u, v in zip(seeds.source, seeds.target, strict=True)]
    files["seeds"] = write(folder / "seeds.csv", "auxiliary,release", first)
    command = ["audit", "graph", files["release"], "--auxiliary", files["auxiliary"], "--truth", files["truth"]]
    done = CliRunner().invoke(main, [*command, "--seeds-file", files["seeds"], "--attack", ",".join(ATTACKS), "--json"])
    assert done.exit_code == 0, done.output
    data = parsed(done.stdout)
    by_attack = {attack["attack"]: attack for attack in data["tables"]["graph_attacks"]}
    filed = {(row["adversary"], row["measure"]): row["posterior"] for row in data["results"]}
    return {
        name: (
            by_attack[name]
            | {"rows": {measure: value for (attack, measure), value in filed.items() if attack == name}},
            {row.measure: row.posterior for row in run_cell(cells[kind.__name__])},
            {row.measure: row for row in audit(kind()(pair.target, auxiliary), pair.to_truth(seeds)).rows},
        )
        for name, kind in ATTACKS.items()
    }


@pytest.mark.parametrize("name", ATTACKS)
def test_audit_study_and_library_give_the_same_numbers(doors, name):
    commanded, studied, library = doors[name]
    assert commanded["matches"] == library["precision"].n
    for measure in ("recall", "precision", "false_positives", "named_wrongly", "spread"):
        value = library[measure].posterior
        assert commanded["rows"][measure] == pytest.approx(value, abs=1e-12)
        assert studied[measure] == pytest.approx(value, abs=1e-12)
    for measure in ("recall", "precision", "false_positives"):
        assert commanded[measure] == pytest.approx(library[measure].posterior, abs=1e-12)
    assert commanded["named_wrongly"] == pytest.approx(library["named_wrongly"].posterior, abs=1e-12)
    assert studied["spread"] == commanded["spread_in"] == float(library["recall"].posterior >= MIN_SPREAD)
    for measure in ("realized_success", "rank"):
        assert commanded["rows"][measure] == pytest.approx(library[measure].posterior, rel=1e-12)
