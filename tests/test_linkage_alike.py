"""One case, several ways in: Python, `unmask audit linkage` in memory and by an engine, a plan of `unmask study`."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.envelopes import parsed
from unmask import Partition, UnmaskError
from unmask.cli import main
from unmask.measures.clustering import Contingency, bounds, evaluate
from unmask.measures.clustering.subject_rates import RATES
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan

NAMES = [rate.name for rate in RATES]


@st.composite
def cases(draw):
    """Subjects and clusters of items, what weighs what, and a policy; own parameters now and then."""
    n = draw(st.integers(2, 14))
    several = {"min_size": n, "max_size": n}
    subject = draw(st.lists(st.integers(0, 3), **several))
    cluster = draw(st.lists(st.integers(0, 4), **several))
    shares = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.9, 1.0])
    own_columns = draw(st.sets(st.sampled_from(["weight", "alpha", "beta", "wanted"])))
    mine = {
        name: draw(st.lists(shares if name != "beta" else shares.filter(bool), min_size=4, max_size=4))
        for name in ("alpha", "beta", "wanted")
    }
    mine["wanted"] = [round(value) for value in mine["wanted"]]
    columns = {name: [mine[name][subject_name] for subject_name in subject] for name in own_columns if name != "weight"}
    if "weight" in own_columns:
        columns["weight"] = draw(st.lists(shares, **several))
    policy = {"alpha": draw(shares), "beta": draw(shares.filter(bool)), "wanted": draw(st.booleans())}
    min_items = draw(st.integers(1, max(subject.count(name) for name in subject)))
    return subject, cluster, columns, policy, min_items


def in_python(subject, cluster, columns, policy, min_items):
    names = sorted(set(subject))
    first = [subject.index(name) for name in names]
    met = Contingency.of(
        Partition(subject),
        Partition(cluster),
        weights=columns.get("weight"),
        own={name: [values[index] for index in first] for name, values in columns.items() if name != "weight"},
    )
    parameters = {"alpha": policy["alpha"], "beta": policy["beta"], "contamination_wanted": policy["wanted"]}
    result = evaluate(met, min_size=min_items, **parameters)
    return {name: float(getattr(result, name)[result.counted].mean()) for name in NAMES}


def write(folder, subject, cluster, columns):
    head = ["item", "subject", "cluster", *columns]
    rows = zip(range(len(subject)), subject, cluster, *columns.values(), strict=True)
    path = folder / "items.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in (head, *rows)) + "\n")
    return path


def on_the_command_line(path, columns, policy, min_items, *more_options):
    options = ["--alpha", policy["alpha"], "--beta", policy["beta"], "--min-size", min_items, "--shuffles", 1]
    options += ["--contamination-wanted"] * policy["wanted"] + [
        word for name in columns for word in ("--own", f"{name}={name}")
    ]
    command = ["audit", "linkage", "--truth", path, "--guess", path, *options, *more_options, "--json"]
    done = CliRunner().invoke(main, [str(argument) for argument in command])
    assert done.exit_code == 0, done.output
    return {row["measure"]: row["posterior"] for row in parsed(done.stdout)["results"]}


def in_a_plan(folder, path, columns, policy, min_items):
    own_columns = ", ".join(f'{name} = "{name}"' for name in columns)
    (folder / "plan.toml").write_text(f"""
[[data]]
use = "linkage.file"
file = "{path.name}"
item = "item"
pseudonym = "subject"
features = ["cluster"]
own = {{ {own_columns} }}
[[protections]]
use = "linkage.PerItem"
[[adversaries]]
use = "linkage.ExactMatch"
with = {{ features = ["cluster"] }}
alpha = {policy["alpha"]}
beta = {policy["beta"]}
wanted = {str(policy["wanted"]).lower()}
min_size = {min_items}
shuffles = 1
""")
    (cell,) = read_plan(folder / "plan.toml").cells()
    return {row.measure: row.posterior for row in run_cell(cell) if row.measure != "utility"}


def check_same(result, expected):
    assert result.keys() == expected.keys()
    for name, value in expected.items():
        assert result[name] == pytest.approx(value, abs=1e-12), name


@settings(max_examples=25, deadline=None, derandomize=True)
@given(cases())
def test_python_the_command_line_an_engine_and_a_plan_say_the_same(case):
    subject, cluster, columns, policy, min_items = case
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write(
            folder, [f"s{name}" for name in subject], [f"c{cluster_name}" for cluster_name in cluster], columns
        )
        expected = in_python(subject, cluster, columns, policy, min_items)
        check_same(on_the_command_line(path, columns, policy, min_items), expected)
        check_same(in_a_plan(folder, path, columns, policy, min_items), expected)
        plain = in_python(subject, cluster, {}, policy, min_items)
        check_same(on_the_command_line(path, {}, policy, min_items, "--engine", "duckdb"), plain)


@st.composite
def samples(draw):
    """Subjects and clusters of items of which some have no label; at least one item has both."""
    n_more = draw(st.integers(0, 9))
    labels = [st.lists(st.none() | st.integers(0, k), min_size=n_more, max_size=n_more) for k in (2, 3)]
    subject, cluster = (draw(label) for label in labels)
    return [0, *subject], [0, *cluster]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(samples(), st.sampled_from(["singleton", "drop"]), st.sampled_from(["foreign", "unknown", "drop"]))
def test_e6_samples_of_the_truth_are_the_same_in_python_and_on_the_command_line(sample, missing, unlabeled):
    policy = {"alpha": 0.5, "beta": 0.8, "wanted": False}
    truth, guess = (
        Partition(
            [label for label in labels if label is not None],
            [index for index, label in enumerate(labels) if label is not None],
        )
        for labels in sample
    )
    settings = {"missing": missing, "unlabeled": unlabeled}
    met = Contingency.of(truth, guess, **settings)
    if unlabeled == "unknown":
        interval = bounds(met)
        expected = {name: getattr(interval, name)[1].mean() for name in ("breached", "clean_breach", "linked_now")}
        expected["foreign_share"] = interval.foreign_share[0].mean()
    else:
        result = evaluate(met)
        expected = {name: float(getattr(result, name).mean()) for name in NAMES}
        expected = {name: value for name, value in expected.items() if not np.isnan(value)}
    with tempfile.TemporaryDirectory() as name:
        blank = (
            [f"{kind}{label}" if label is not None else "" for label in labels]
            for kind, labels in zip("sc", sample, strict=True)
        )
        path = write(Path(name), *blank, {})
        options = [word for option, choice in settings.items() for word in (f"--{option}", choice)]
        check_same(on_the_command_line(path, {}, policy, 1, *options), expected)  # --engine duckdb is the default


@pytest.mark.parametrize(
    ("own_columns", "dataset", "message"),
    [
        (
            '"alpha"',
            'use = "linkage.file"\nfile = "items.csv"\npseudonym = "subject"',
            "own is a text",
        ),
        ('{ alpha = "a" }', 'use = "linkage.synthetic_traces"\nwith = { n_users = 2, n_items = 2 }', "has no file"),
        ('{ alpha = "a" }', 'use = "linkage.file"\nfile = "items.csv"\npseudonym = "subject"', "'a' is not in file"),
    ],
)
def test_e9_own_values_of_a_plan_are_columns_of_its_file(tmp_path, own_columns, dataset, message):
    write(tmp_path, ["s", "s"], ["c", "d"], {})
    attack = 'use = "linkage.Threshold"\nwith = { distance = 0.5 }'
    features = '\nfeatures = ["cluster"]' if "file =" in dataset else ""
    plan = f"[[data]]\n{dataset}{features}\nown = {own_columns}\n[[adversaries]]\n{attack}\n"
    (tmp_path / "plan.toml").write_text(plan)
    with pytest.raises(UnmaskError, match=message):
        run_cell(read_plan(tmp_path / "plan.toml").cells()[0])


def test_shuffled_labels_keep_weights_with_their_items():
    """Exactly as many orders of the clusters, each equally likely: two items of weight 1 and 0, clusters of 1 and 2."""
    met = Contingency.of(Partition([0, 0, 1]), Partition(["p", "p", "q"]), weights=[1, 0, 0.5])
    rng, linked = np.random.default_rng(0), []
    for _ in range(900):
        drawn = met.at_random(rng=rng)
        assert sorted(drawn.weighed[0].subject_total.tolist()) == sorted(met.weighed[0].subject_total.tolist())
        linked.append(float(evaluate(drawn, alpha=1).linked_now[0]))
    # the cluster with the heavy item comes first whatever is with it: all of subject 0's weight is linked at once
    assert set(linked) == {1.0}
    pieces = [len(met.at_random(rng=rng).tables[0].shared) for _ in range(900)]
    assert np.mean(np.array(pieces) == 2) == pytest.approx(1 / 3, abs=0.05)  # q holds the other subject's item
