"""`unmask protect graph`, `unmask advise identity`: files, both or neither, and bad input in one sentence."""

import csv

import numpy as np
import pytest

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from unmask.graphs import SocialGraph, datasets

SECRET = "SECRET77"


@pytest.fixture(scope="module")
def network():
    degrees = datasets.power_law_degrees(200, exponent=2.5, mean=10)
    graph = datasets.chung_lu(degrees, rng=np.random.default_rng(0))
    graph = graph.take(graph.largest_component())
    labels = [f"{SECRET} {i}" for i in range(graph.n_nodes)]
    return SocialGraph(graph.indptr, graph.neighbor, np.array(labels, dtype=object))


@pytest.fixture
def friends(tmp_path, network):
    network.write(tmp_path / "friends.csv")
    return tmp_path / "friends.csv"


def protect(friends, *options):
    folder = friends.parent
    return invoke(
        "protect", "graph", friends, "-o", folder / "release.txt", "--origin", folder / "origin.csv", *options
    )


def origin_of(folder):
    with (folder / "origin.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["released"]) for row in rows] == list(range(len(rows)))
    return [row["original"] for row in rows], [row["role"] for row in rows]


# --- protect graph --------------------------------------------------------------------------------------------------


def test_the_origin_undoes_the_release(friends, network):
    """Basic model: joining the identities of each person gives the network back, tie for tie."""
    done = protect(friends, "--with", "IdentitySeparation:identities=3:adopters=0.5", "--json")
    assert done.exit_code == 0, done.stderr
    (row,) = parsed(done.stdout)["results"]
    release = SocialGraph.read(friends.parent / "release.txt")
    owner, role = origin_of(friends.parent)
    assert (release.n_nodes, release.n_edges) == (row["nodes"], row["edges"]) == (len(owner), network.n_edges)
    assert release.labels.tolist() == list(range(release.n_nodes))
    number = {name: node for node, name in enumerate(network.labels)}
    behind = np.array([number[name] for name in owner])
    u, v = release.edges()
    joined = SocialGraph.from_edges(behind[u], behind[v], n_nodes=network.n_nodes)
    assert np.array_equal(joined.neighbor, network.neighbor)
    several = {name for name, node_role in zip(owner, role, strict=True) if node_role == "identity"}
    assert len(several) == row["adopters"] > 20
    assert max(owner.count(name) for name in several) == 3
    assert {owner.count(name) for name in set(owner) - several} == {1}


def test_the_origin_is_a_truth_in_which_any_identity_is_right(friends, network):
    protect(friends, "--with", "IdentitySeparation:model=best:identities=3:adopters=0.5")
    folder = friends.parent
    owner, role = origin_of(folder)
    whole_nodes = [
        (name, node) for node, (name, node_role) in enumerate(zip(owner, role, strict=True)) if node_role == "whole"
    ]
    (folder / "seeds.csv").write_text("".join(f"{name},{node}\n" for name, node in whole_nodes[:30]))
    lines = (folder / "origin.csv").read_text().splitlines()
    first = {line.split(",")[0]: line for line in reversed(lines)}
    (folder / "first.csv").write_text("\n".join(first.values()) + "\n")
    rows = []
    for truth in ("origin.csv", "first.csv"):
        done = invoke(
            "audit", "graph", folder / "release.txt", "--auxiliary", friends, "--truth", folder / truth,
            "--seeds-file", folder / "seeds.csv", "--attack", "Nar09", "--json",
        )  # fmt: skip
        assert done.exit_code == 0, done.stderr
        tables = parsed(done.stdout)["tables"]
        rows.append({**tables["graph"][0], "attacks": tables["graph_attacks"]})
    several, single = rows
    assert several["common"] == single["common"] == len({*owner})
    assert several["attacks"][0]["recall"] > single["attacks"][0]["recall"]  # it counts all that the other does
    assert several["most_recall"] is None
    assert single["most_recall"] is not None


def test_released_numbers_tell_nothing(friends, network):  # R1
    first = protect(friends)
    release = (friends.parent / "release.txt").read_bytes()
    owner, _ = origin_of(friends.parent)
    order = [network.labels.tolist().index(name) for name in owner]
    assert abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.3
    assert SECRET not in release.decode() + first.stdout + first.stderr
    protect(friends, "--force")
    assert (friends.parent / "release.txt").read_bytes() != release


def test_every_model_and_cooperation_runs(friends, network):
    edges_kept = {}
    for model in ("basic", "realistic", "realistic_minimal", "best", "worst"):
        protection = f"IdentitySeparation:model={model}:adopters=1.0:minimum_degree=1"
        done = protect(friends, "--with", protection, "--json", "--force")
        edges_kept[model] = parsed(done.stdout)["results"][0]["edges"]
    assert edges_kept["best"] < edges_kept["basic"] == network.n_edges < edges_kept["worst"]
    top = np.sort(network.degree)[-5:].sum()
    for cooperation in ("local", "degree", "lta"):
        protection = f"IdentitySeparation:cooperation={cooperation}:adopters=5"
        done = protect(friends, "--with", protection, "--json", "--force")
        assert parsed(done.stdout)["results"][0]["adopters"] == 5
        owner, role = origin_of(friends.parent)
        several = {name for name, node_role in zip(owner, role, strict=True) if node_role == "identity"}
        degrees = [network.degree[network.labels.tolist().index(name)] for name in several]
        assert bool(sum(degrees) == top) is (cooperation == "degree")


def test_decoys_have_their_roles(friends):
    done = protect(friends, "--with", "Decoy:adopters=1.0:minimum_degree=20", "--json")
    owner, role = origin_of(friends.parent)
    adopters = parsed(done.stdout)["results"][0]["adopters"]
    assert role.count("public") == role.count("hidden") == adopters > 0
    release = SocialGraph.read(friends.parent / "release.txt")
    degree = dict(zip(zip(owner, role, strict=True), release.degree, strict=True))
    assert all(degree[name, "public"] > degree[name, "hidden"] for name, what in degree if what == "public")


def test_nodes_without_a_contact_are_reported_or_kept(friends):
    options = ("--with", "IdentitySeparation:model=best:identities=8:adopters=1.0:minimum_degree=1", "--json")
    done = protect(friends, *options)
    left_out = parsed(done.stdout)["results"][0]["left_out"]
    assert left_out > 0
    assert f"{left_out} released nodes have no contact" in done.stderr
    owner, _ = origin_of(friends.parent)
    for suffix in (".net", ".graphml", ".graphml.gz"):
        path = friends.parent / f"release{suffix}"
        done = invoke(
            "protect", "graph", friends, *options, "-o", path, "--origin", friends.parent / "all.csv", "--force"
        )
        assert parsed(done.stdout)["results"][0]["left_out"] == 0
        assert "no contact" not in done.stderr
        release = SocialGraph.read(path)
        assert release.n_nodes == len(owner) + left_out
        assert (release.degree == 0).any()


def test_the_origin_is_a_truth_for_an_audit(friends):
    protect(friends, "--with", "IdentitySeparation:adopters=0.0")
    folder = friends.parent
    options = ("--auxiliary", friends, "--truth", folder / "origin.csv", "--attack", "Nar09", "--seeds", "top:40")
    done = invoke("audit", "graph", folder / "release.txt", *options, "--runs", "1", "--json")
    (attack,) = parsed(done.stdout)["tables"]["graph_attacks"]
    assert attack["recall"] > 0.6


def test_both_files_or_neither(friends):
    folder = friends.parent
    (folder / "origin.csv").write_text("mine")
    check_one_sentence(protect(friends), "--force")
    assert not (folder / "release.txt").exists()
    assert (folder / "origin.csv").read_text() == "mine"
    lost = invoke("protect", "graph", friends, "-o", folder / "release.txt", "--origin", folder / "no" / "origin.csv")
    check_one_sentence(lost, "cannot be written")
    assert not (folder / "release.txt").exists()
    odd = invoke("protect", "graph", friends, "-o", folder / "release.odd", "--origin", folder / "other.csv")
    check_one_sentence(odd, "unknown suffix")
    assert not (folder / "other.csv").exists()
    check_one_sentence(
        invoke("protect", "graph", friends, "-o", folder / "one.txt", "--origin", folder / "one.txt"),
        "two outputs go to",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("adopters=1.5", "a number from 0 to 1"),
        ("adopters=nan", "a number from 0 to 1"),
        ("adopters=many", "adopters of IdentitySeparation is a text, expected a number"),
        ("adopters=9999", "lower adopters"),
        ("model=good", "model of IdentitySeparation is 'good', expected one of basic"),
    ],
)
def test_a_separation_that_cannot_be_is_one_sentence(friends, options, message):
    check_one_sentence(protect(friends, "--with", f"IdentitySeparation:{options}"), message)
    assert not (friends.parent / "release.txt").exists()


def test_a_table_is_still_protected_by_protect(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n1,f\n2,f\n3,m\n4,m\n")
    done = invoke("protect", tmp_path / "people.csv", "-q", "age,sex", "--k", "2", "-o", tmp_path / "out.csv")
    assert done.exit_code == 0, done.stderr


# --- advise identity ------------------------------------------------------------------------------------------------


def advise(friends, *options):
    return invoke("advise", "identity", "--graph", friends, *options)


def advise_json(friends, *options):
    done = advise(friends, *options, "--json")
    assert done.exit_code == 0, done.stderr
    return parsed(done.stdout)["results"][0]


def test_advice_describes_one_node_and_no_other_person(friends, network):
    node = int(np.argmax(network.degree))
    done = advise(friends, "--node", network.labels[node])
    assert done.exit_code == 0
    assert f"You have {network.degree[node]} contacts" in done.stdout
    assert "is not known" in done.stdout
    assert SECRET not in done.stdout + done.stderr
    result = advise_json(friends, "--node", network.labels[node])
    assert (result["degree"], result["discovery"], result["weak"]) == (network.degree[node], None, None)
    assert len(result["strong"]["assignment"]) == 5
    assert set(result) == {
        "degree", "anonymity", "rank", "people", "in_clique", "tried", "border", "escapes", "discovery", "runs", "unit",
        "strong", "weak", "unknown", "equal_loss", "seeding", "stakes", "hidden", "k",
    }  # fmt: skip


def test_given_chances_decide_where_the_secret_goes(friends, network):
    result = advise_json(friends, "--node", network.labels[3], "--discovery", "0.3,0.1")
    assert result["weak"]["assignment"] == [0, 1]
    assert result["weak"]["loss"] == pytest.approx(0.1 * (0.7 + 0.3 / 2))
    assert (
        "put the secret in identity 2" in advise(friends, "--node", network.labels[3], "--discovery", "0.3,0.1").stdout
    )


def test_a_new_identity_hides_among_others_with_its_contacts(tmp_path):
    """Node 0 knows 1 and 2; 3 knows the same two and 4 one of them: both contacts do not separate 0 from 3."""
    path = tmp_path / "circle.txt"
    path.write_text("0 1\n0 2\n3 1\n3 2\n4 1\n4 5\n")
    assert advise_json(path, "--one-mode", "--node", "0", "--k", "2")["hidden"] == {"2": 0}
    advice = advise(path, "--one-mode", "--node", "0", "--k", "2").stdout
    assert "identity with 2 contacts (0 new) can have the contacts of 1 other, so that no attack tells them" in advice
    assert "No identity with up to 5 contacts" in advise(path, "--one-mode", "--node", "0", "--k", "4").stdout
    assert advise_json(path, "--one-mode", "--node", "0")["hidden"] is None


def test_simulated_chances_are_shares_of_the_runs(friends, network):
    hub = network.labels[int(np.argmax(network.degree))]
    options = ("--node", hub, "--identities", "2", "--runs", "4", "--attack", "Nar09", "--leaked", "20")
    result = advise_json(friends, *options)
    assert result["runs"] == 4
    assert {chance * 4 for chance in result["discovery"]} <= {0, 1, 2, 3, 4}
    assert max(result["discovery"]) > 0
    assert "of 4 simulated attacks" in advise(friends, *options).stdout


def test_a_network_without_ids_goes_by_numbers(tmp_path, network):
    path = tmp_path / "plain.txt"
    SocialGraph(network.indptr, network.neighbor).write(path)
    assert advise_json(path, "--node", "4")["degree"] == network.degree[4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--node", "nobody"), "the node given is not in 'friends.csv'"),
        (("--node", f"{SECRET} 1", "--discovery", "0.3,2"), "a probability from 0 to 1"),
        (("--node", f"{SECRET} 1", "--discovery", ""), "a probability from 0 to 1"),
        (("--node", f"{SECRET} 1", "--discovery", "0.3", "--runs", "2"), "were both given"),
        (("--node", f"{SECRET} 1", "--discovery", "0.3", "--identities", "2"), "2 identities and 1 probabilities"),
        (("--node", f"{SECRET} 1", "--attack", "nar9"), "did you mean 'graphs.Nar09'"),
        (("--node", f"{SECRET} 1", "--runs", "1", "--leaked", "5000"), "choose fewer"),
    ],
)
def test_impossible_advice_is_one_sentence(friends, options, message):
    check_one_sentence(advise(friends, *options), message)


def test_advice_on_measures_is_still_given():
    done = invoke("advise", "--what", "identity", "--loss", "hamming", "--observations", "one")
    assert done.exit_code == 0
    assert "worst case" in done.stdout


# --- protections by changed edges -----------------------------------------------------------------------------------


def test_any_protection_of_the_catalog_goes_by_its_name(friends, network):
    done = protect(friends, "--with", "graphs.KDegree:k=7", "--json")
    assert done.exit_code == 0, done.stderr
    (row,) = parsed(done.stdout)["results"]
    release = SocialGraph.read(friends.parent / "release.txt")
    assert np.unique(release.degree, return_counts=True)[1].min() >= 7
    assert (row["people"], row["edges"], row["adopters"]) == (network.n_nodes, release.n_edges, 0)
    assert row["edges"] > network.n_edges
    owner, role = origin_of(friends.parent)
    assert {*role} == {"whole"}
    assert sorted(owner) == sorted(network.labels)
    assert "separated" not in done.stderr


def test_a_tenth_of_the_people_separate_unless_another_protection_is_named(friends, network):
    done = protect(friends, "--json")
    (option_sets,) = parsed(done.stdout)["results"]
    eligible = int((network.degree >= 3).sum())
    assert option_sets["adopters"] == pytest.approx(eligible / 10, abs=1)
    assert option_sets["edges"] == network.n_edges  # the basic model drops none
    assert f"{option_sets['adopters']} of them separated" in done.stderr


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        (("--with", "KDegre"), "did you mean 'graphs.KDegree'"),
        (("--with", "KDegree:k=0"), "k of KDegree is 0, expected a whole number at least 1"),
        (("--with", "KDegree:k=many"), "k of KDegree is a text, expected a whole number at least 1"),
        (("--with", "KDegree:l=3"), "KDegree has a key 'l' that does not exist; expected one of k"),
        (("--with", "Decoy:identities=3"), "Decoy has a key 'identities' that does not exist; expected one of public"),
        (
            ("--with", "Together"),
            "'graphs.Together' needs parts (a list, each a list); expected for example graphs.Together:parts=...",
        ),
    ],
)
def test_a_protection_that_cannot_be_is_one_sentence(friends, options, rows):
    check_one_sentence(protect(friends, *options), rows)
    assert not (friends.parent / "release.txt").exists()
