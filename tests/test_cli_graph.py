"""`unmask audit graph`: what it prints and writes, ids of any kind, and bad input in one sentence."""

import gzip
import re

import numpy as np
import pytest

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from unmask.graphs import Auxiliary, Nar09, Pair, SeedPairs, SocialGraph, datasets

SECRET = "SECRET77"
MANY = "IdentitySeparation"


def audit(*arguments):
    return invoke("audit", "graph", *arguments, "--attack", "Nar09")


def run_json(*arguments):
    done = audit(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return parsed(done.stdout)


@pytest.fixture
def network():
    degrees = datasets.power_law_degrees(200, exponent=2.5, mean=10)
    graph = datasets.chung_lu(degrees, rng=np.random.default_rng(0))
    return graph.take(graph.largest_component())


def names(graph, prefix):
    return [f"{SECRET} {prefix}{i}" for i in range(graph.n_nodes)]


def write(path, rows, head=None, *, opener=open, mark=","):
    lines = [*([head] if head else []), *(mark.join(f'"{cell}"' for cell in row) for row in rows)]
    with opener(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    return path


@pytest.fixture
def files(tmp_path, network):
    """A release under other names than the adversary's, the truth of everybody, and a few leaked identities."""
    u, v = network.edges()
    source_names, target_names = names(network, "u"), names(network, "x")
    seeds = [(source_names[i], target_names[i]) for i in range(25)]
    return {
        "release": write(
            tmp_path / "release.csv", [(target_names[a], target_names[b]) for a, b in zip(u, v, strict=True)]
        ),
        "auxiliary": write(
            tmp_path / "known.csv", [(source_names[a], source_names[b]) for a, b in zip(u, v, strict=True)]
        ),
        "truth": write(tmp_path / "truth.csv", zip(source_names, target_names, strict=True)),
        "seeds": write(tmp_path / "seeds.csv", seeds),
    }


def list_files(files, *kinds):
    return [files["release"], *(text for kind in kinds for text in (f"--{kind}", files[kind.removesuffix("-file")]))]


def test_one_graph_is_split_and_attacked(tmp_path, network):
    file = tmp_path / "friends.txt.gz"
    write(file, zip(*network.edges(), strict=True), opener=gzip.open, mark="\t")
    result = run_json(file, "--overlap", "0.8,0.9", "--overlap", "0.8,0.6", "--seeds", "random.25:15", "--runs", "2")
    graph, attacks = result["tables"]["graph"][0], result["tables"]["graph_attacks"]
    assert [attack["release"] for attack in attacks] == ["overlap 0.8/0.9", "overlap 0.8/0.6"]
    assert [attack["runs"] for attack in attacks] == [2, 2]
    assert len(result["tables"]["graph_overlaps"]) == 2
    assert graph["truth_known"]
    assert {row["measure"] for row in result["results"]} >= {"recall", "precision", "false_positives", "error_hops"}


def test_separations_are_releases_next_to_the_unprotected_one(tmp_path, network):
    file = write(tmp_path / "friends.csv", zip(*network.edges(), strict=True))
    command = (file, "--overlap", "0.8,0.9", "--seeds", "random.25:15", "--runs", "2", "--smallest-shown", "1")
    single = run_json(*command)
    result = run_json(
        *command, "--with", "IdentitySeparation:model=best:identities=3:adopters=0.3",
        "--with", "Decoy:adopters=5:minimum_degree=10",
    )  # fmt: skip
    whole_row, best_row, decoy = result["tables"]["graph_attacks"]
    assert whole_row == single["tables"]["graph_attacks"][0]
    assert [best_row["release"], decoy["release"]] == [
        "best/3/0.3 at 0.8/0.9",
        "decoy/5 minimum_degree=10 at 0.8/0.9",
    ]
    points = result["tables"]["graph_separations"]
    assert [point["release"] for point in points] == [best_row["release"], decoy["release"]]
    assert points[0].keys() == {
        "release", "attack", "adopters", "recall", "recall_before", "adopter_recall", "adopter_recall_before",
        "disclosure", "decoyed", "exposed",
    }  # fmt: skip
    assert points[0]["recall_before"] == pytest.approx(whole_row["recall"])
    assert points[1]["adopters"] == 5
    rows = {(row["release"], row["measure"]): row for row in result["results"]}
    assert rows[best_row["release"], "disclosure"]["posterior"] == pytest.approx(points[0]["disclosure"])
    assert (decoy["release"], "exposed") in rows
    assert ("overlap 0.8/0.9", "disclosure") not in rows
    assert any(
        assumption["assumption"].startswith("best/3/0.3: 30 % of the people")
        for assumption in result["tables"]["assumptions"]
    )
    assert "graph_separations" not in single["tables"]


def test_figures_from_files_are_those_of_the_library(files, network):
    actual = run_json(*list_files(files, "auxiliary", "truth", "seeds-file"))
    (attack,) = actual["tables"]["graph_attacks"]
    auxiliary, release = SocialGraph.read(files["auxiliary"]), SocialGraph.read(files["release"])
    pair = Pair.read(auxiliary, release, files["truth"])
    seeds = SeedPairs.read(auxiliary, release, files["seeds"])
    assert actual["tables"]["graph"][0]["common"] == len(pair.common) == network.n_nodes
    assert (attack["runs"], attack["n_seeds"]) == (1, 25)
    mapping, free = Nar09()(release, Auxiliary(auxiliary, seeds)).mapping, np.setdiff1d(pair.common, seeds.source)
    recall = np.mean(mapping[free] == pair.truth[free])
    assert attack["recall"] == pytest.approx(recall, abs=0.03)  # numbered anew: ties differ
    assert recall > 0.5


def test_without_truth_the_page_says_so(files, tmp_path):
    report = tmp_path / "out.html"
    done = audit(*list_files(files, "auxiliary", "seeds-file"), "--report", report)
    assert done.exit_code == 0, done.stderr
    assert "the number of right matches is unknown" in done.stdout
    page = report.read_text()
    assert "truth is not known" in page
    assert SECRET not in page + done.stdout + done.stderr
    assert re.search(r"\b[0-9a-f]{64}\b", page) is None  # R7


def test_a_report_is_not_overwritten_without_force(files, tmp_path):
    report = tmp_path / "out.html"
    report.write_text("mine")
    arguments = (*list_files(files, "auxiliary", "seeds-file"), "--report", report)
    check_one_sentence(audit(*arguments), "--force")
    assert report.read_text() == "mine"
    assert audit(*arguments, "--force").exit_code == 0
    assert report.read_text() != "mine"


def test_more_numbers_of_seeds(files):
    result = run_json(
        *list_files(files, "auxiliary", "truth"), "--seeds", "top:20", "--transition", "2,40", "--runs", "2"
    )
    assert [point["n_seeds"] for point in result["tables"]["graph_transition"]] == [2, 20, 40]


def test_omitted_attacks_are_reported(files):
    arguments = list_files(files, "auxiliary", "truth")
    done = invoke(
        "audit", "graph", *arguments, "--seeds", "random:20", "--runs", "1", "--transition", "5,100000",
        "--attack", "Nar09,GraphMatching:largest=10",
    )  # fmt: skip
    assert done.exit_code == 0
    assert "Not run: GraphMatching:largest=10 on release: the larger graph has" in done.stderr
    assert "Not run: 100000 seeds on release: 100000 seeds are too many" in done.stderr
    assert done.stderr.count("Not run") == 2  # measures of scores and the like are in the report


def test_an_escaped_tab_is_a_delimiter(tmp_path, network):
    file = write(tmp_path / "friends.txt", zip(*network.edges(), strict=True), mark="\t")
    arguments = (file, "--overlap", "0.8,0.9", "--seeds", "random.25:15", "--runs", "1")
    assert run_json(*arguments, "--delimiter", r"\t") == run_json(*arguments, "--delimiter", "\t")


def test_whole_numbers_and_texts_name_the_same_people(files, tmp_path, network):
    numbered = write(tmp_path / "numbers.csv", zip(*network.edges(), strict=True))
    target_names = names(network, "x")
    truth = write(tmp_path / "mixed.csv", [(i, target_names[i]) for i in range(network.n_nodes)])
    result = run_json(
        files["release"], "--auxiliary", numbered, "--truth", truth, "--seeds", "random:20", "--runs", "1"
    )
    assert result["tables"]["graph"][0]["common"] == network.n_nodes
    assert result["tables"]["graph_attacks"][0]["recall"] > 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nb,c\n\nc,d\nc\nd,e\n", "line 5 of 'bad.csv' does not have 2 columns"),
        ("a,b\nb,c\n# a,comment\nd,e\ne,a\n", "line 3 of 'bad.csv', below the first row, looks like a comment"),
        ("", "is empty"),
        ("# nothing\n", "has only comments"),
    ],
)
def test_a_malformed_network_is_reported_with_its_line(tmp_path, content, message):
    path, report = tmp_path / "bad.csv", tmp_path / "out.html"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    check_one_sentence(audit(path, "--overlap", "0.5,0.5", "--report", report), message)
    assert not report.exists()


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("truth", "nobody,else\n", "one line, which names no node of either graph"),
        ("truth", "nobody,else\nno,one\n", "has a label of each graph"),
        ("truth", "one\n", "'bad.csv' has one column"),
        ("truth", "", "'bad.csv' is empty"),
        ("seeds-file", "nobody,else\n", "one line, which names no node of either graph"),
        ("seeds-file", "nobody,else\nno,one\n", "none of 1 seeds has a label of each graph"),
        ("seeds-file", f"{SECRET} u0,{SECRET} x0\n{SECRET} u1,{SECRET} x0\n", "row 2 of the seeds"),
    ],
)
def test_a_bad_list_of_people_is_one_sentence(files, tmp_path, kind, content, message):
    path, report = tmp_path / "bad.csv", tmp_path / "out.html"
    path.write_text(content)
    done = audit(*list_files(files, "auxiliary"), f"--{kind}", path, "--report", report)
    check_one_sentence(done, message)
    assert SECRET not in done.stderr
    assert not report.exists()


def test_leaked_identities_without_an_edge_are_left_out_and_counted(files, tmp_path):
    known_file = tmp_path / "known.csv"
    known_file.write_text(f"{SECRET} u0,{SECRET} x0\n{SECRET} nobody,{SECRET} else\n")
    done = audit(*list_files(files, "auxiliary"), "--seeds-file", known_file, "--attack", "Nar09")
    assert done.exit_code == 0, done.stderr
    assert "1 of 2 rows has a person who is not in both networks" in done.stderr
    assert SECRET not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--attack needs an attack"),
        (("--overlap", "0.5"), "two shares NODES,EDGES"),
        (("--overlap", "0.5,0"), "above 0"),
        (("--overlap", "1.5,0.5"), "from 0 to 1"),
        (("--overlap", "nan,0.5"), "from 0 to 1"),
        (("--overlap", "0.5,0.5", "--overlap", "0.5,0.5"), "given twice"),
        (("--overlap", "0.5,0.75", "--overlap", "0.50000001,0.75"), "given twice"),
        (("--overlap", "0.5,0.5", "--seeds", f"random:{'9' * 5000}"), "METHOD:COUNT"),
        (("--overlap", "0.5,0.5", "--delimiter", "ab"), "one character"),
        (("--overlap", "0.5,0.5", "--seeds", "random.25"), "METHOD:COUNT"),
        (("--overlap", "0.5,0.5", "--seeds", "random.25:0"), "at least 1"),
        (("--overlap", "0.5,0.5", "--seeds", "randm:5"), "the seed method is 'randm'"),
        (("--overlap", "0.5,0.5", "--seeds", "random:100000"), "choose fewer"),
        (("--overlap", "0,0.5", "--seeds", "random:5"), "0 people to choose from"),
        (("--overlap", "0.5,0.5", "--transition", "5,many"), "whole numbers of seeds"),
        (("--overlap", "0.5,0.5", "--truth", "truth.csv"), "--truth was given with --overlap"),
        (
            ("--overlap", "0.5,0.5", "--with", f"{MANY}:modl=best"),
            "has a key 'modl' that does not exist; did you mean 'model'?",
        ),
        (
            ("--overlap", "0.5,0.5", "--with", f"{MANY}:model=bst"),
            "is 'bst', did you mean 'best'?",
        ),
        (("--overlap", "0.5,0.5", "--with", f"{MANY}:adopters=1.5"), "a number from 0 to 1"),
        (("--overlap", "0.5,0.5", "--with", f"{MANY}:adopters=nan"), "a number from 0 to 1"),
        (("--overlap", "0.8,0.9", "--seeds", "random:5", "--with", f"{MANY}:adopters=100000"), "lower adopters"),
        (("--auxiliary", "x.csv", "--with", MANY), "--with was given with --auxiliary"),
        (("--auxiliary", "missing.csv", "--truth-partial"), "--truth-partial needs --truth"),
        (("--auxiliary", "missing.csv", "--truth-sampled"), "--truth-sampled needs a partial truth"),
        (
            ("--auxiliary", "missing.csv", "--largest-component"),
            "--largest-component needs --overlap",
        ),
        (("--overlap", "0.5,0.5", "--source", "u"), "--source was given without --target"),
    ],
)
def test_wrong_use_is_one_sentence(files, arguments, message):
    done = audit(files["release"], *arguments)
    check_one_sentence(done, message)
    assert done.exit_code == 2


def test_a_network_and_an_overlap_are_too_much(files):
    check_one_sentence(
        audit(*list_files(files, "auxiliary"), "--overlap", "0.5,0.5"), "both of --auxiliary and --overlap"
    )


def test_seeds_without_truth_say_what_to_give(files):
    check_one_sentence(audit(*list_files(files, "auxiliary")), "--seeds-file")


def test_a_missing_file_is_one_sentence(tmp_path):
    done = audit(tmp_path / "none.txt", "--overlap", "0.5,0.5")
    check_one_sentence(done, "'none.txt' does not exist")
    assert done.exit_code == 1


@pytest.mark.parametrize("content", ["a b\nb c\n", "1 1\n2 2\n"])
def test_seeds_that_leave_no_person_to_find_are_one_sentence(tmp_path, content):
    path = tmp_path / "tiny.txt"
    path.write_text(content)
    people = 3 if "c" in content else 2
    check_one_sentence(
        audit(path, "--overlap", "1,1", "--seeds", f"random:{people}"), "are seeds, expected some to be found"
    )


def test_a_misspelled_attack_is_reported():
    done = invoke("audit", "graph", "x.txt", "--overlap", "0.5,0.5", "--attack", "nar9")
    check_one_sentence(done, "did you mean 'graphs.Nar09'")


def test_g1_the_columns_of_a_file_are_named_by_its_header_or_by_the_user(tmp_path, network, caplog):
    pairs = [*zip(*(side.tolist() for side in network.edges()), strict=True)]
    command = ("--overlap", "0.8,0.9", "--seeds", "random.25:15", "--runs", "1")
    plain = run_json(write(tmp_path / "plain.csv", pairs, "from,to"), *command)
    rows = [(i, u, v, 2019) for i, (u, v) in enumerate(pairs)]
    known_result = run_json(write(tmp_path / "known.csv", rows, "id,from,to,since"), *command)
    graph = {name: rows for name, rows in plain["tables"].items() if name.startswith("graph")}
    assert graph.items() <= known_result["tables"].items()
    assert {"assumption": "Of the network, id and since are left out: attacks use edges only."} in known_result[
        "tables"
    ]["assumptions"]
    other_file = write(tmp_path / "other.csv", rows, "nth,who,whom,rank")
    assert run_json(other_file, *command)["tables"]["graph"] == plain["tables"]["graph"]
    assert (
        run_json(other_file, *command, "--source", "who", "--target", "whom")["tables"]["graph"]
        == plain["tables"]["graph"]
    )
    check_one_sentence(audit(other_file, *command, "--source", "who"), "--source was given without --target")
    account = next(message for message in caplog.messages if message.startswith("known.csv: "))
    assert "; ends: from, to; " in account
    assert account.endswith("; id and since are left out")


def test_rounds_of_the_ensemble_are_kept_in_a_folder(files, tmp_path):
    command = (
        "audit",
        "graph",
        *list_files(files, "auxiliary", "truth", "seeds-file"),
        "--attack",
        "Ensemble:rounds=1",
    )
    first, again = (invoke(*command, "--checkpoint", tmp_path / "kept", "--json") for _ in range(2))
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert parsed(first.stdout)["results"] == parsed(again.stdout)["results"]
