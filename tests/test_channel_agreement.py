"""One channel, three ways in: Python's `bayes`, `unmask audit channel` on files, and a cell of a study say the same."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.envelopes import parsed
from unmask.channels import Channel
from unmask.channels.audit import study
from unmask.cli import main
from unmask.measures.error import bayes
from unmask.studies.reading import read_plan

PLAN = """
[[data]]
use = "channels.alphabet"
with = {{ n = {n} }}
[[adversaries]]
use = "channels.BayesChannelAttack"
loss = "{loss}"
"""


@st.composite
def cases(draw):
    """A channel with named secrets, their prior, their places, and a loss: a name, or a matrix with named answers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_x, n_y = draw(st.integers(2, 6)), draw(st.integers(1, 6))
    channel = rng.dirichlet(np.full(n_y, draw(st.sampled_from([0.3, 1.0, 5.0]))), size=n_x)
    secrets = [f"x{i}" for i in rng.permutation(n_x)]
    points = rng.normal(size=(n_x, draw(st.integers(1, 3)))) * 10.0 ** draw(st.integers(-3, 6))
    loss = draw(st.sampled_from(["hamming", "squared", "absolute", "euclidean", "secrets", "others"]))
    if loss in ("secrets", "others"):
        answers = secrets if loss == "secrets" else [f"a{i}" for i in range(draw(st.integers(1, 5)))]
        loss = (tuple(answers), rng.random((len(answers), n_x)))
    return secrets, Channel(channel, rng.dirichlet(np.ones(n_x))), points, loss, rng


def write(path, head, names, table, rng, *, turned=True):
    """The table as CSV, its lines (and its columns, where `turned`) in an order of their own."""
    lines = rng.permutation(len(names))
    columns = rng.permutation(len(head)) if turned else np.arange(len(head))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", *(head[j] for j in columns)])
        writer.writerows([names[i], *(repr(float(table[i][j])) for j in columns)] for i in lines)
    return str(path)


def audited(folder, secrets, channel, points, loss, rng):
    """Return the error on the command line: average, worst and prior."""
    options = [
        "--prior",
        write(folder / "prior.csv", ["p"], secrets, channel.prior[:, None], rng),
        "--no-limit",
        "--json",
        "--loss",
    ]
    if isinstance(loss, str):
        options.append(loss)
        axes = [f"axis{k}" for k in range(points.shape[1])]
        options += ["--coordinates", write(folder / "places.csv", axes, secrets, points, rng, turned=False)]
    else:
        options.append(write(folder / "loss.csv", secrets, loss[0], loss[1], rng))
    outputs = [f"y{j}" for j in range(channel.n_y)]
    path = write(folder / "channel.csv", outputs, secrets, channel.dense(), rng)
    done = CliRunner().invoke(main, ["audit", "channel", path, *options])
    assert done.exit_code == 0, done.stderr
    data = parsed(done.stdout)
    (row_shown,) = data["tables"]["channel_mechanisms"]
    row = next(row for row in data["results"] if row["measure"] == "estimation_error")
    assert row["posterior"] == pytest.approx(row_shown["privacy"], rel=1e-12)
    assert row["unit"] == data["tables"]["channel"][0]["unit"]
    return row_shown["privacy"], row_shown["worst"], data["tables"]["channel"][0]["prior_error"]


def studied(folder, channel, points, loss):
    """Return the error of a study's cell: average, worst and prior."""
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(n=channel.n_x, loss=loss))
    (cell,) = read_plan(plan).cells()
    rows = study.attack(cell, study.Secrets(None, points, channel.prior), channel, None)
    (row,) = (row for row in rows if row.measure == "estimation_error")
    return row.posterior, row.worst, row.prior


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_c1_c2_c3_python_command_line_and_study_agree(tmp_path_factory, case):
    secrets, channel, points, loss, rng = case
    folder = tmp_path_factory.mktemp("case")
    if isinstance(loss, str):
        error = bayes(channel.posterior(), loss, coordinates=points)
    else:
        error = bayes(channel.posterior(), loss[1])
    expected = pytest.approx((error.average, error.worst, error.prior), rel=2e-6, abs=1e-12 * max(error.prior, 1e-12))
    assert audited(folder, secrets, channel, points, loss, rng) == expected
    if isinstance(loss, str):
        assert studied(folder, channel, points, loss) == expected
