"""A cell of each domain equals a direct call of the domain."""

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.graphs import Auxiliary, Nar09, SocialGraph, datasets, select_seeds, split
from unmask.graphs.evaluation import Outcome, outcomes
from unmask.measures import evaluate, success_probability
from unmask.render.page import render
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.studies.run import run_study
from unmask.studies.sentences import describe_dataset
from unmask.studies.study_result import read_facts, read_result
from unmask.tables import ClassAttack, Knowledge, Mondrian, Table, utility
from unmask.tables.audit.study import UTILITY
from unmask.tables.datasets import synthetic_census


def cells_of(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    return read_plan(tmp_path / "plan.toml").cells()


def values(rows):
    return {row.measure: row.posterior for row in rows}


TABLE = """
[[data]]
use = "tables.synthetic_census"
with = { n = 500 }
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis"]
[[protections]]
use = "tables.Mondrian"
with = { k = 5 }
[[adversaries]]
use = "tables.ClassAttack"
knows = { targets = 80, error = 0.1 }
"""


def test_a_table(tmp_path):
    (cell,) = cells_of(tmp_path, TABLE)
    census = Table.read(
        synthetic_census(500, rng=cell.rng("dataset")), quasi_identifiers=("age", "sex"), sensitive="diagnosis"
    )
    release, _ = Mondrian(k=5)(census, rng=cell.rng("protection", cell.protection.content))
    knowledge = Knowledge(targets=80, error=0.1)(census, rng=np.random.default_rng(cell.seed))
    expected = evaluate(success_probability, ClassAttack()(release, knowledge.background), None)
    assert values(run_cell(cell))["success_probability"] == expected.posterior


def test_a_dataset_with_a_parameter_of_the_wrong_kind_is_no_fault_of_ours(tmp_path):
    (cell,) = cells_of(tmp_path, TABLE.replace("n = 500", 'n = "many"'))
    with pytest.raises(UnmaskError, match="synthetic_census cannot be made with these parameters"):
        run_cell(cell)


def test_protections_are_compared_on_the_same_people(tmp_path):
    two = TABLE.replace("with = { k = 5 }", "grid = { k = [5, 50] }")
    priors = [
        next(row for row in run_cell(cell) if row.measure == "realized_success").prior
        for cell in cells_of(tmp_path, two)
    ]
    assert priors[0] == priors[1]


def test_an_attribute_a_register_and_a_price(tmp_path):
    text = TABLE.replace("tables.ClassAttack", "tables.AttributeInference") + 'with = { sensitive = "diagnosis" }\n'
    text += '[[adversaries]]\nuse = "tables.RegisterAttack"\nknows = { coverage = 0.5 }\nattacker = "case-study"\n'
    attribute, register = (run_cell(cell) for cell in cells_of(tmp_path, text))
    assert {row.target for row in attribute} == {"diagnosis", "(release)"}
    assert {"rational_payoff", "campaign_success"} <= set(values(register))
    assert "rational_payoff" not in values(attribute)
    assert {row.linked_to for row in register if row.target == "identity"} == {"register"}
    assert {row.linked_to for row in attribute} == {""}


REGISTER = TABLE.replace("tables.ClassAttack", "tables.RegisterAttack").replace("targets = 80, error = 0.1", "{}")


@pytest.mark.parametrize("knows_of_plan", ["knows", "with", "both", "grid"])
def test_e1_u2_one_coverage_reaches_the_register_that_is_drawn_and_the_attack(tmp_path, knows_of_plan):
    knows, also = {"knows": ("coverage = 0.4", ""), "with": ("", "with = { coverage = 0.4 }")}.get(
        knows_of_plan, ("", "")
    )
    knows = "coverage = 0.4" if knows_of_plan == "both" else knows
    also = {"both": "with = { coverage = 0.4 }", "grid": "grid = { coverage = [0.4] }"}.get(knows_of_plan, also)
    text = REGISTER.replace("{}", knows) + also + '\nattacker = "case-study"\n'
    (cell,) = cells_of(tmp_path, text)
    result = values(run_cell(cell))
    assert result["success_probability"] == pytest.approx(result["realized_success"], abs=1e-9)
    assert result["rational_success"] <= 0.4 + 1e-9
    prior = next(row.prior for row in run_cell(cell) if row.measure == "success_probability")
    assert prior == pytest.approx(0.4 / 200)


def test_e1_two_coverages_of_one_register_are_refused(tmp_path):
    text = REGISTER.replace("{}", "coverage = 0.4") + "with = { coverage = 0.5 }\n"
    with pytest.raises(UnmaskError, match=r"coverage is 0.4 in knows and 0.5 in with or grid; give it once"):
        cells_of(tmp_path, text)
    with pytest.raises(UnmaskError, match=r"coverage of RegisterAttack is 1.5, expected a number above 0"):
        cells_of(tmp_path, REGISTER.replace("{}", "") + "with = { coverage = 1.5 }\n")


@pytest.mark.parametrize("protected", [True, False])
def test_the_order_of_rows_is_attacked_with_the_source_in_its_order(tmp_path, protected):  # T1
    text = TABLE.replace("tables.ClassAttack", "tables.OrderAttack").replace(", error = 0.1", "")
    plan = text if protected else text.replace('[[protections]]\nuse = "tables.Mondrian"\nwith = { k = 5 }\n', "")
    (cell,) = cells_of(tmp_path, plan)
    assert values(run_cell(cell))["realized_success"] == pytest.approx(1 / 500 if protected else 1)


def test_measures_that_are_asked_for_are_the_only_ones(tmp_path):
    (cell,) = cells_of(tmp_path, 'measures = ["utility", "success_probability"]\n' + TABLE)
    assert set(values(run_cell(cell))) == {"utility", "success_probability"}
    (cell,) = cells_of(tmp_path, 'measures = ["rational_payoff"]\n' + TABLE)
    with pytest.raises(ValueError, match="none of the requested measures"):
        run_cell(cell)


def test_pseudonyms(tmp_path):
    text = """
[[data]]
use = "linkage.synthetic_traces"
with = { n_users = 8, n_items = 6, difficulty = 0.0 }
[[protections]]
use = "linkage.PerItem"
[[adversaries]]
use = "linkage.Threshold"
with = { distance = 0.001 }
beta = 0.9
"""
    (cell,) = cells_of(tmp_path, text)
    result = values(run_cell(cell))
    assert result["breached"] == 1.0  # without noise a user is his features
    assert result["utility"] == 1.0  # every message alone


def test_a_channel(tmp_path):
    text = """
[[data]]
use = "channels.alphabet"
with = { n = 4 }
[[protections]]
use = "channels.RandomizedResponse"
with = { n = 4, epsilon = 1.0 }
[[adversaries]]
use = "channels.BayesChannelAttack"
[[adversaries]]
name = "ten observations"
use = "channels.BayesChannelAttack"
observations = 10
targets = 400
"""
    once, often = (values(run_cell(cell)) for cell in cells_of(tmp_path, text))
    keep = np.e / (np.e + 3)
    assert once["success_probability"] == pytest.approx(keep, abs=1e-6)
    assert once["utility"] == pytest.approx(keep - 1, abs=1e-12)
    # 10 observations: the value seen most often, ties at random; 200,000 draws of the multinomial law give .7727
    assert often["realized_success"] == pytest.approx(0.7727, abs=3 * (0.7727 * 0.2273 / 400) ** 0.5)


OWN_CHANNEL = """
[[data]]
use = "channels.file"
file = "channel.csv"
[[protections]]
use = "none"
[[protections]]
use = "channels.RandomizedResponse"
with = { n = 3, epsilon = 1.0 }
[[adversaries]]
use = "channels.BayesChannelAttack"
"""


def test_a_study_takes_an_own_channel_and_protections_change_its_outputs(tmp_path):
    table = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]])
    (tmp_path / "channel.csv").write_text(",x,y,z\na,0.8,0.1,0.1\nb,0.2,0.7,0.1\n")
    plain, protected = (values(run_cell(cell)) for cell in cells_of(tmp_path, OWN_CHANNEL))
    assert plain["success_probability"] == pytest.approx(table.max(axis=0).sum() / 2)
    response = np.full((3, 3), 1 / (np.e + 2)) + np.eye(3) * (np.e - 1) / (np.e + 2)
    assert protected["success_probability"] == pytest.approx((table @ response).max(axis=0).sum() / 2)


def test_the_prior_of_counts_in_a_study_is_their_share(tmp_path):
    (tmp_path / "channel.csv").write_text(",x,y,z\na,60,20,20\nb,10,30,10\n")
    text = OWN_CHANNEL.partition("[[protections]]")[0] + '[[adversaries]]\nuse = "channels.BayesChannelAttack"\n'
    (cell,) = cells_of(tmp_path, text)
    rows = {row.measure: row for row in run_cell(cell)}
    assert rows["success_probability"].posterior == pytest.approx((60 + 30 + 20) / 150)
    assert rows["success_probability"].prior == pytest.approx(100 / 150)
    assert rows["success_probability"].status == "model"


LOCATION = """
[[data]]
name = "town"
use = "channels.grid"
with = { n = 3, m = 3, size = 500.0 }
[[protections]]
name = "none"
use = "none"
[[protections]]
name = "Laplace"
use = "channels.PlanarLaplace"
grid = { epsilon = [0.0005, 0.004] }
[[adversaries]]
name = "neighbor"
use = "channels.BayesChannelAttack"
loss = "euclidean"
"""


def test_c7_a_location_study_speaks_and_ranks_by_its_own_loss(tmp_path):
    (tmp_path / "plan.toml").write_text(LOCATION)
    run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "out")
    page = read_facts(tmp_path / "out")
    said = " ".join(sentence for dataset in page.datasets for sentence in describe_dataset(page, dataset))
    assert "success" not in said
    assert "correctly" not in said
    assert "the secret" not in said
    near, far = ("Laplace epsilon=0.004", "Laplace epsilon=0.0005")
    error = {item.release: item for item in page.rows if item.measure == "estimation_error"}
    assert {row.unit for row in error.values()} == {"m"}
    assert f"From \u201c{near}\u201d, the adversary neighbor is off by {error[near].posterior:.0f} m on average" in said
    assert f"\u201c{far}\u201d is the best here" in said
    (plane,) = page.tradeoffs
    assert (plane.direction, plane.risk_unit) == ("low", "m")
    assert set(plane.front) == {"none", near, far}  # the more error the less utility
    text = render(read_result(tmp_path / "out"))
    assert "Error against utility" in text
    assert ">Error (m)<" in text
    assert "Up keeps more, right risks less." in text


GRAPH = """
[[data]]
use = "graphs.barabasi_albert"
with = { n = 400, m = 5 }
[[adversaries]]
use = "graphs.Nar09"
knows = { node_overlap = 0.9, edge_overlap = 0.95, seeds = "top", n_seeds = 20 }
"""


def test_a_graph(tmp_path):
    (cell,) = cells_of(tmp_path, GRAPH)
    graph = datasets.barabasi_albert(400, 5, rng=cell.rng("dataset"))
    pair = split(graph, 0.9, 0.95, cell.rng("split", 0.9, 0.95))
    seeds = select_seeds(pair, "top", 20, cell.rng("seeds", "top", 20))
    mapping = Nar09()(pair.target, Auxiliary(pair.source, seeds)).mapping
    outcome = outcomes(mapping, pair.truth, seeds.source)
    is_right, is_present, is_free = outcome == Outcome.HIT, outcome <= Outcome.UNMAPPED, outcome != Outcome.SEED
    actual = values(run_cell(cell))
    assert actual["recall"] == np.mean(is_right[is_present]) > 0.5
    assert actual["precision"] == np.mean(is_right[is_free & (mapping >= 0)])
    prior = {row.measure: row.prior for row in run_cell(cell)}
    n, free = pair.target.n_nodes, np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    absent = np.mean(pair.truth[free] < 0)  # of a random node's people, 1 / n of the others are right
    assert (prior["false_positives"], prior["precision"]) == pytest.approx((absent, (1 - absent) / n))
    assert (prior["recall"], prior["named_wrongly"]) == pytest.approx((1 / n, 1 - 1 / n))


def test_the_people_of_a_network_in_a_file_may_have_any_names(tmp_path):
    friends = datasets.barabasi_albert(300, 5, rng=np.random.default_rng(0))
    labeled = SocialGraph.from_edges(*friends.edges(), labels=[f"p{number}" for number in range(300)])
    labeled.write(tmp_path / "friends.txt")
    text = GRAPH.replace("graphs.barabasi_albert", "graphs.file").replace(
        "with = { n = 400, m = 5 }", 'file = "friends.txt"'
    )
    (cell,) = cells_of(tmp_path, text)
    assert values(run_cell(cell))["recall"] > 0.5


def test_a_graph_whose_people_separate_their_identities(tmp_path):
    text = GRAPH + '[[protections]]\nuse = "graphs.IdentitySeparation"\nwith = { identities = 3, adopters = 0.2 }\n'
    (cell,) = cells_of(tmp_path, text)
    rows = run_cell(cell)
    result, prior = values(rows), {row.measure: row.prior for row in rows}
    assert prior["adopter_recall"] == pytest.approx(3 * prior["disclosure"])  # any of three nodes is right
    assert prior["disclosure"] < prior["recall"] < prior["adopter_recall"]
    assert 0 < result["disclosure"] < result["adopter_recall"] < 1
    assert result["edges_lost"] == 0.0  # the basic model drops no tie
    assert "exposed" not in result
    decoys = text.replace("graphs.IdentitySeparation", "graphs.Decoy").replace(
        "identities = 3, ", "minimum_degree = 10, "
    )
    (cell,) = cells_of(tmp_path, decoys)
    assert "exposed" in values(run_cell(cell))


def test_a_graph_all_of_whose_people_separate_their_identities(tmp_path):
    everybody = '[[protections]]\nuse = "graphs.IdentitySeparation"\nwith = { adopters = 1.0, minimum_degree = 1 }\n'
    with pytest.raises(ValueError, match='who = "anybody"'):
        run_cell(cells_of(tmp_path, GRAPH + everybody)[0])
    plan_text = GRAPH.replace("n_seeds = 20", 'n_seeds = 20, who = "anybody"')
    (cell,) = cells_of(tmp_path, plan_text + everybody)
    assert 0 < values(run_cell(cell))["recall"] < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GRAPH.replace("n_seeds = 20", "n_seed = 20"), "did you mean 'n_seeds'"),
        (GRAPH.replace("node_overlap = 0.9", "node_overlap = 2"), "node_overlap is 2"),
        (GRAPH.replace("n_seeds = 20", "n_seeds = 4000"), "choose fewer"),
    ],
)
def test_a_graph_that_cannot_be_attacked_so(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        run_cell(cells_of(tmp_path, text)[0])


def test_t14_a_study_of_tables_has_every_measure_of_utility(tmp_path):
    (cell,) = cells_of(tmp_path, TABLE)
    census = Table.read(
        synthetic_census(500, rng=cell.rng("dataset")), quasi_identifiers=("age", "sex"), sensitive="diagnosis"
    )
    release, origin = Mondrian(k=5)(census, rng=cell.rng("protection", cell.protection.content))
    lost, result = utility.evaluate(census, release, origin), values(run_cell(cell))
    assert result["utility"] == 1 - lost.gcp
    assert result["counts"] == pytest.approx(1 - lost.query_error)
    assert result["pairs"] == pytest.approx(1 - np.mean(list(lost.pairwise_distance.values())))
    assert result["marginals"] == pytest.approx(1 - np.mean(list(lost.marginal_distance.values())))
    (bare,) = cells_of(tmp_path, TABLE.replace("tables.Mondrian", "none").replace("with = { k = 5 }", ""))
    full = values(run_cell(bare))
    assert [full[name] for name in UTILITY] == pytest.approx([1.0] * 5)
