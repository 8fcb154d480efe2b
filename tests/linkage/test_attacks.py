import sys
from importlib.util import find_spec

import numpy as np
import pytest

from unmask import linkage
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Partition
from unmask.linkage import (
    ExactMatch,
    FeatureClustering,
    Items,
    Links,
    PerItem,
    PerPeriod,
    RecordLinkage,
    SplinkLinkage,
    Split,
    Threshold,
)
from unmask.linkage.attacks.pairs import list_pairs
from unmask.linkage.attacks.record_linkage import compute_dice
from unmask.linkage.datasets import synthetic_traces
from unmask.measures.clustering import Contingency, evaluate

needs_sklearn = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")
needs_splink = pytest.mark.skipif(find_spec("splink") is None, reason="Splink is not installed")

TRACES = ("x0", "x1", "x2", "place")
BLOCKS = (("place",), ("x0",), ("x1", "x2"))

OWN = [
    ExactMatch(),
    ExactMatch(("place",)),
    Threshold(0.1),
    Threshold(0.05, ("x0", "x1"), "deviation"),
    Threshold(0.1, scale={"x0": 2.0}),
    RecordLinkage(BLOCKS),
    RecordLinkage(BLOCKS, threshold=0.5),
]
CLUSTERINGS = [
    FeatureClustering("agglomerative", n_clusters=12),
    FeatureClustering("kmeans", n_clusters=12),
    FeatureClustering("hdbscan"),
]
ATTACKS = [
    *OWN,
    *(pytest.param(attack, marks=needs_sklearn) for attack in CLUSTERINGS),
    pytest.param(SplinkLinkage(BLOCKS), marks=needs_splink),
]


def release(difficulty, *, protection=PerItem(), seed=0):  # noqa: B008 - it is frozen
    population = synthetic_traces(12, 15, rng=np.random.default_rng(seed), difficulty=difficulty)
    return protection(population, rng=np.random.default_rng(seed + 1))


def pairs_together(partition):
    """Return the (n, n) mask of items that share a cluster, by item id."""
    code = partition.code[np.argsort(partition.items)]
    return code[:, None] == code[None, :]


# --- what every attack does -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("attack", ATTACKS)
def test_users_who_are_their_features_are_all_found(attack):
    items, solution = release(0.0)
    result = evaluate(Contingency.of(solution, attack(items)), beta=1.0)
    assert np.all(result.breached)
    if attack != ExactMatch(("place",)):
        assert np.all(result.foreign_share == 0)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("attack", ATTACKS)
def test_features_without_habits_link_no_items(attack):
    items, solution = release(1.0)
    result = evaluate(Contingency.of(solution, attack(items)), beta=0.8)
    assert not np.any(result.breached & (result.foreign_share < 0.5))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_reproducible_and_does_not_read_order_ids_or_labels(attack):
    items, _ = release(0.1, protection=PerPeriod(0.5))
    plain = pairs_together(attack(items))
    assert np.array_equal(plain, pairs_together(attack(items)))
    rng = np.random.default_rng(9)
    order = rng.permutation(len(items))
    shuffled = items.take(order)
    if not isinstance(attack, FeatureClustering):  # its starts and ties are by row
        assert np.array_equal(plain, pairs_together(attack(shuffled)))
    names = {"ids": rng.permutation(len(items)) + 1_000, "pseudonym": items.pseudonym * 3 + 1}
    renamed = Items(names["ids"], items.features, names["pseudonym"], items.time, items.context)
    assert np.array_equal(attack(renamed).code, attack(items).code)
    assert eval(repr(attack), vars(linkage)) == attack


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("attack", ATTACKS)
def test_items_of_one_pseudonym_stay_together(attack):
    for difficulty in (0.1, 1.0):
        items, _ = release(difficulty, protection=Split(3))
        free = pairs_together(items.partition)
        assert np.all(pairs_together(attack(items))[free])


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("attack", ATTACKS)
def test_one_item_is_one_cluster(attack):
    items, _ = release(0.1)
    assert attack(items.take([0])).n_clusters == 1


@pytest.mark.parametrize("attack", [attack for attack in OWN if isinstance(attack, ExactMatch | RecordLinkage)])
def test_a_missing_feature_links_no_items(attack):
    cells = {name: [""] * 5 for name in TRACES}
    items = Items.read(cells, features=TRACES, kinds=dict.fromkeys(TRACES, "text"))
    assert attack(items).n_clusters == 5


# --- exact matching and thresholds ----------------------------------------------------------------------------------


def test_exact_matching_ties_pseudonyms_through_their_items():
    items = Items.read({"who": [1, 1, 2, 3], "mail": ["a", "b", "b", "c"]}, pseudonym="who", features="mail")
    assert ExactMatch()(items).code.tolist() == [0, 0, 0, 1]


def test_a_threshold_is_single_linkage():
    rng = np.random.default_rng(3)
    for _ in range(30):
        x = rng.integers(0, 6, (40, 2)).astype(float)  # many exact ties
        block = rng.choice(["a", "b"], 40)
        items = Items.read({"x": x[:, 0], "y": x[:, 1], "b": block}, features=("x", "y", "b"))
        gap = np.abs(x[:, None] - x[None])
        reach = (np.sqrt((gap**2).sum(2)) <= 1.0) & (block[:, None] == block[None])
        for _ in range(6):
            reach = (reach.astype(int) @ reach.astype(int)) > 0  # 2^6 steps
        assert np.array_equal(pairs_together(Threshold(1.0)(items)), reach)


def test_the_scale_divides_and_missing_points_stand_alone():
    items = Items.read({"x": [0, 10, np.nan, 20.5], "y": [0, 0.1, 0.1, 0.2]}, features=("x", "y"))
    assert Threshold(1.0)(items).n_clusters == 4
    assert Threshold(1.0, scale={"x": 10.2})(items).code.tolist() == [0, 0, 1, 2]
    assert Threshold(1.0, scale={"x": 11})(items).code.tolist() == [0, 0, 1, 0]
    assert Threshold(1.0, ("y",))(items).n_clusters == 1
    width = float(np.std([0, 10, 20.5]))
    assert np.array_equal(
        Threshold(0.9, ("x",), "deviation")(items).code, Threshold(0.9, ("x",), {"x": width})(items).code
    )


def test_pseudonyms_that_show_more_items_are_easier_to_link():
    shares = []
    for protection in (PerItem(), PerPeriod(0.25)):
        items, solution = release(0.2, protection=protection)
        shares.append(np.mean(evaluate(Contingency.of(solution, Threshold(0.4)(items))).linked_now))
    assert shares[0] < shares[1]


# --- pairs ----------------------------------------------------------------------------------------------------------


def test_blocks_hold_every_pair_that_agrees_once():
    rng = np.random.default_rng(2)
    items = Items.read({"a": rng.choice(["x", "y", ""], 60), "b": rng.integers(0, 4, 60)}, features=("a", "b"))
    a, b = items.features
    left_items, right_items = list_pairs((a, b))
    expected = {
        (i, j)
        for i in range(60)
        for j in range(i + 1, 60)
        if a.values[i] == a.values[j] >= 0 and b.values[i] == b.values[j]
    }
    assert set(zip(left_items.tolist(), right_items.tolist(), strict=True)) == expected
    assert len(left_items) == len(expected)


def test_letter_pairs():
    labels = np.array(["night", "nacht", "NIGHT", "x"], dtype=object)
    # with marks: ^n ni ig gh ht t$ and ^n na ac ch ht t$ share 3 of 6 and 6
    assert compute_dice(labels, np.array([0, 0, 0]), np.array([1, 2, 3])).tolist() == [0.5, 1.0, 0.0]


def test_the_weight_of_evidence_is_that_of_fellegi_and_sunter():
    cells = {"name": ["ann", "ann", "bob"], "town": ["x", "y", ""], "born": ["1", "1", "1"]}
    items = Items.read(cells, features=tuple(cells), kinds=dict.fromkeys(cells, "categorical"))
    attack = RecordLinkage((("born",),))
    weights, links = attack.fit(items), attack.link(items)
    equal, different = ({name: weights.m[name][i] / weights.u[name][i] for name in cells} for i in (2, 0))
    odds = weights.prior / (1 - weights.prior) * equal["born"]
    expected = [odds * equal["name"] * different["town"], odds * different["name"], odds * different["name"]]
    assert links.probability == pytest.approx(
        [value / (1 + value) for value in expected]
    )  # an empty town is no evidence


def test_estimates_recover_the_known_parameters():
    # 3,000 users with two pseudonyms, five independent categories of 200 values, each wrong with its own chance:
    # a wrong cell is drawn anew, so a pair of one user agrees with chance (1 - e)^2 + (1 - (1 - e)^2) / 200
    rng = np.random.default_rng(6)
    n, values, errors = 3_000, 200, (0.05, 0.1, 0.02, 0.2, 0.08)
    true = rng.integers(values, size=(n, 5))
    observed = np.concatenate([true, true])
    is_wrong = rng.random(observed.shape) < np.array(errors)
    observed = np.where(is_wrong, rng.integers(values, size=observed.shape), observed)
    names = [f"f{index}" for index in range(5)]
    cells = {name: observed[:, index].astype(str) for index, name in enumerate(names)}
    items = Items.read(cells, features=names, kinds=dict.fromkeys(names, "categorical"))
    weights = RecordLinkage((("f0", "f1"), ("f2", "f3"), ("f3", "f4"))).fit(items)
    for name, error in zip(names, errors, strict=True):
        p_agree = (1 - error) ** 2
        assert weights.m[name][2] == pytest.approx(p_agree + (1 - p_agree) / values, abs=0.02)
        assert weights.u[name][2] == pytest.approx(1 / values, rel=0.05)
    assert weights.prior == pytest.approx(n / (2 * n * (2 * n - 1) / 2), rel=0.05)
    links = RecordLinkage((("f0", "f1"), ("f2", "f3"), ("f3", "f4"))).link(items)
    matches = np.count_nonzero(links.second == links.first + n)
    assert links.probability.sum() == pytest.approx(matches, rel=0.02)  # the model is right here, so calibrated


def links_of(n, pairs):
    items = Items.read({"x": list(range(n))}, features="x")
    left_items, right_items, probability = (np.array(column) for column in zip(*pairs, strict=True))
    return Links(items, left_items, right_items, probability.astype(float))


def test_a_chain_of_links_is_one_cluster():
    links = links_of(5, [(0, 1, 0.9), (1, 2, 0.6), (2, 3, 0.6), (0, 3, 0.2)])
    assert [links.clusters(threshold).code.tolist() for threshold in (0.95, 0.9, 0.5, 0.1)] == [
        [0, 1, 2, 3, 4],
        [0, 0, 1, 2, 3],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 1],
    ]


def test_a_view_over_thresholds():
    links = links_of(3, [(0, 1, 0.9), (1, 2, 0.4)])
    view = links.view([0.8, 0.3])
    assert view.probability.tolist() == [0.5, 0.5]
    assert [p.n_clusters for p in view.partitions] == [2, 1]
    with pytest.raises(UnmaskError, match=r"threshold is 1\.5"):
        links.clusters(1.5)
    with pytest.raises(UnmaskError, match="0 partitions"):
        links.view([])


# --- other libraries ------------------------------------------------------------------------------------------------


@needs_splink
@pytest.mark.filterwarnings("default")
def test_splink_and_our_linker_agree_on_clean_persons():
    rng = np.random.default_rng(1)
    n = 600
    letters = np.array(list("abcdefghijklmnopqrst"))
    cells = {name: ["".join(rng.choice(letters, 7)) for _ in range(150)] for name in ("first", "last", "town")}
    rows = {name: np.tile(rng.choice(values, n), 2) for name, values in cells.items()}
    rows["born"] = np.tile(rng.integers(1, 300, n).astype(str), 2)
    for name, values in rows.items():
        is_wrong = rng.random(2 * n) < 0.05
        rows[name] = np.where(is_wrong, rng.permutation(values), values)
    kinds = dict.fromkeys(("first", "last", "town"), "text") | {"born": "categorical"}
    items = Items.read(rows, features=tuple(kinds), kinds=kinds)
    blocks = (("first", "last"), ("town", "born"), ("last", "born"))
    solution = Partition(np.tile(np.arange(n), 2), items=items.ids)
    caught = []
    for attack in (SplinkLinkage(blocks), RecordLinkage(blocks)):
        result = evaluate(Contingency.of(solution, attack(items)))
        caught.append(result.breached)
        assert np.mean(result.foreign_share) < 0.01
    # a user's two records agree on a feature with chance 0.95^2 = 0.9, and on all of one of the blocks with 0.97;
    # a pair that agrees on two features only, of four, is in doubt
    assert np.mean(caught[0]) > 0.9
    assert np.mean(caught[0] != caught[1]) < 0.02
    assert SplinkLinkage(blocks).link(items).view([0.5, 0.99]).partitions[0].n_clusters < 2 * n


@pytest.mark.parametrize(
    ("library", "attack"),
    [("sklearn", FeatureClustering("kmeans", n_clusters=2)), ("splink", SplinkLinkage((("place",),)))],
)
def test_a_missing_library_is_named(library, attack, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("sys.meta_path", [Hidden(library), *sys.meta_path])
    with pytest.raises(FailedError, match=rf"{library} is not installed; install the extra \[\w+\] of unmask"):
        attack(release(0.1)[0])


class Hidden:
    def __init__(self, library):
        self.library = library

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "match"),
    [
        (lambda items: ExactMatch(("nme",))(items), "feature 'nme' is not in the release; its features are x0"),
        (lambda items: ExactMatch()(Items.read({"t": [1]}, time="t")), "0 features, expected at least 1"),
        (lambda items: Threshold(0), "distance is 0, expected a number above 0 and finite"),
        (lambda items: Threshold(1, scale="range"), "the scale is 'range'"),
        (lambda items: Threshold(1, scale={"x0": 0}), "the scale of 'x0' is 0"),
        (
            lambda items: Threshold(1, scale={"place": 1})(items),
            "the scale names 'place'",
        ),
        (lambda items: FeatureClustering("dbscan"), "method is 'dbscan', did you mean 'hdbscan'"),
        (lambda items: FeatureClustering("agglomerative"), "n_clusters is None; agglomerative and kmeans expect it"),
        (lambda items: FeatureClustering("kmeans", n_clusters=0), "n_clusters is 0"),
        (
            lambda items: FeatureClustering("hdbscan", n_clusters=3),
            "n_clusters is 3; agglomerative and kmeans expect it, hdbscan does not",
        ),
        (lambda items: RecordLinkage(()), r"the blocks are \(\), expected rules such as"),
        (lambda items: RecordLinkage(("place",)), "the blocks are"),
        (lambda items: RecordLinkage((("place",),), threshold=2), "threshold is 2, expected a number from 0 to 1"),
        (lambda items: RecordLinkage((("plac",),))(items), "feature 'plac' is not in the release"),
        (lambda items: SplinkLinkage((("place",),), threshold=-1), "threshold is -1, expected a number from 0 to 1"),
    ],
)
def test_wrong_use_is_explained(use, match):
    with pytest.raises(UnmaskError, match=match):
        use(release(0.1)[0])


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("unmask.linkage.attacks.threshold.MAX_PAIRS", 10)
    monkeypatch.setattr("unmask.linkage.attacks.pairs.MAX_PAIRS", 10)
    items, _ = release(1.0)
    with pytest.raises(FailedError, match="pairs of pseudonyms are within the distance, expected at most 10"):
        Threshold(100.0, ("x0",))(items)
    with pytest.raises(FailedError, match="pairs agree on place, expected at most 10"):
        RecordLinkage((("place",),))(items)
