"""Traces of users are attacked by an adversary who learned from other users."""

import json
from itertools import pairwise, product

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.channels import Chain, Channel, HiddenMarkovAttack, TraceLog
from unmask.channels.attacks import learn_chain
from unmask.channels.criteria import markov_entropy_rate, path_entropy_bits
from unmask.channels.evidence.logs import read_traces
from unmask.cli import main
from unmask.data.event_logs import read_lines

MOVES = np.array([[0.9, 0.1, 0], [0.05, 0.9, 0.05], [0, 0.1, 0.9]])
SHOWS = np.array([[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.2, 0.7]])


def draw(rng, rows, states):
    """Return a draw from the row of each state."""
    return (rng.random(len(states))[:, None] > rows[states].cumsum(axis=1)).sum(axis=1).clip(max=rows.shape[1] - 1)


def make_log(n_users=400, n_steps=30, seed=0):
    rng = np.random.default_rng(seed)
    place = np.empty((n_users, n_steps), dtype=np.int64)
    place[:, 0] = rng.choice(3, n_users, p=[0.25, 0.5, 0.25])
    for t in range(1, n_steps):
        place[:, t] = draw(rng, MOVES, place[:, t - 1])
    shown = draw(rng, SHOWS, place.ravel()).reshape(place.shape)
    return TraceLog(place, shown, ("a", "b", "c"), ("a", "b", "c"))


def write(path, log, *, shown=True):
    lines = [
        f"u{u},{t},{log.places[log.place[u, t]]}" + (f",{log.outputs[log.shown[u, t]]}" if shown else "")
        for u, t in np.argwhere(log.place >= 0)
    ]
    path.write_text("\n".join(["user,time,place" + ",shown" * shown, *lines]) + "\n")
    return path


def value(result, measure, adversary):
    (row,) = (row for row in result.rows if (row.measure, row.adversary) == (measure, adversary))
    return row


def test_a_learned_chain_attacks_traces_nearly_as_well_as_the_true_one():
    log = make_log()
    result = unmask.audit(log)
    true_chain = Chain(MOVES, Channel(SHOWS), np.array([0.25, 0.5, 0.25]))
    guess = HiddenMarkovAttack()(log.shown, true_chain).to_dense().argmax(axis=1)
    best = (guess != log.place.ravel()).mean()
    learned = value(result, "realized_error", "whole trace")
    assert learned.low - 0.005 <= best <= learned.high + 0.005
    assert value(result, "estimation_error", "whole trace").posterior == pytest.approx(learned.posterior, abs=0.02)
    assert value(result, "realized_error", "one step").posterior == pytest.approx(0.3, abs=0.02)
    assert {row.status for row in result.rows} <= {"model", "scores", "refuted"}


def test_a_command_reads_traces_and_states_how(tmp_path):
    path = write(tmp_path / "traces.csv", make_log(n_users=40, n_steps=6))
    run = CliRunner().invoke(main, ["audit", "channel", str(path), "--json"])
    assert run.exit_code == 0, run.stderr
    result = json.loads(run.stdout)
    assert "traces.csv is read as traces: 240 lines, 3 places, 3 outputs." in run.stderr
    assert {row["measure"] for row in result["results"]} >= {"entropy_rate_bits", "path_success", "realized_error"}
    assert not {row["measure"] for row in result["results"]} & {"delta_up", "delta_down"}
    assert result["tables"]["evidence"][0]["places"] == 3


def test_steps_of_fewer_than_ten_users_are_not_shown(tmp_path):
    log = make_log(n_users=40, n_steps=6)
    log.place[3:, 4:] = -1
    log.shown[3:, 4:] = -1
    path = write(tmp_path / "traces.csv", log)
    run = CliRunner().invoke(main, ["audit", "channel", str(path), "--json"])
    steps = json.loads(run.stdout)["tables"]["trace_steps"]
    assert {row["step"] for row in steps} == {1, 2, 3, 4}


def test_a_mechanism_makes_what_the_traces_do_not_show(tmp_path):
    path = write(tmp_path / "traces.csv", make_log(n_users=60, n_steps=8), shown=False)
    refused = CliRunner().invoke(main, ["audit", "channel", str(path)])
    assert refused.exit_code == 2
    assert "--mechanism" in refused.stderr
    made = CliRunner().invoke(main, ["audit", "channel", str(path), "--mechanism", "RandomizedResponse:epsilon=1:n=3"])
    assert made.exit_code == 0, made.stderr


def test_path_entropy_is_that_of_all_paths_listed_one_by_one():
    rng = np.random.default_rng(1)
    for _ in range(100):
        n, m, n_steps = rng.integers(2, 4), rng.integers(2, 4), rng.integers(1, 5)
        moves, shows, first = (rng.dirichlet(np.full(k, 0.5), size) for k, size in ((n, n), (m, n), (n, None)))
        outputs = rng.integers(-1, m, n_steps)
        joint = []
        for path in product(range(n), repeat=int(n_steps)):
            p = first[path[0]] * np.prod([moves[i, j] for i, j in pairwise(path)])
            joint.append(p * np.prod([shows[x, y] for x, y in zip(path, outputs, strict=True) if y >= 0]))
        p = np.array(joint) / sum(joint)
        listed = -sum(q * np.log2(q) for q in p if q > 0)
        padded = np.append(outputs, [-1, -1])[None]
        chain = Chain(moves, Channel(shows), first)
        assert path_entropy_bits(padded, chain, length=np.array([n_steps]))[0] == pytest.approx(listed, abs=1e-9)


def test_without_outputs_a_long_trace_has_the_entropy_rate_of_its_moves():
    chain = Chain(MOVES, Channel(SHOWS), np.array([0.25, 0.5, 0.25]))
    rate = path_entropy_bits(np.full((1, 3000), -1), chain)[0] / 3000
    assert rate == pytest.approx(markov_entropy_rate(MOVES), abs=1e-3)


def test_counts_of_moves_are_learned_without_the_end_of_short_traces():
    chain = learn_chain(
        np.array([[0, 1, -1], [1, 1, 0]]), np.array([[0, 0, -1], [1, -1, 1]]), n_x=2, mechanism=2, pseudocount=1e-9
    )
    np.testing.assert_allclose(chain.transition, [[0, 1], [0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(chain.mechanism.dense(), [[0.5, 0.5], [0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(chain.initial, [0.5, 0.5])


def test_steps_are_ordered_by_time_and_an_empty_cell_shows_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("time,user,place,shown\n2024-05-02,u,work,\n2024-05-01,u,home,x\n2024-05-01,v,home,y\n")
    log = read_traces(path, read_lines(path))
    assert log.place.tolist() == [[0, 1], [0, -1]]
    assert log.shown.tolist() == [[0, -1], [1, -1]]
    assert log.length.tolist() == [2, 1]


BAD = {
    "no lines": ("user,time,place,shown\n", "no line below"),
    "no place column": ("user,time,shown\nu,1,x\n", "no column place"),
    "an empty place": ("user,time,place,shown\nu,1,a,x\nu,2,,x\n", "line 3"),
    "an empty user": ("user,time,place,shown\n,1,a,x\n", "line 2"),
    "a time that is not a number": ("user,time,place,shown\nu,1,a,x\nu,soon,b,x\n", "line 3"),
    "a time that is infinite": ("user,time,place,shown\nu,1,a,x\nu,inf,b,x\n", "line 3"),
    "a date among numbers": ("user,time,place,shown\nu,1,a,x\nu,2024-05-01,b,x\n", "line 3"),
    "two places at a time": ("user,time,place,shown\nu,1,a,x\nu,1,b,x\n", "line 3"),
    "a column twice": ("user,time,place,place\nu,1,a,x\n", "occurs twice"),
    "a short line": ("user,time,place,shown\nu,1,a\n", "line 2"),
    "one user": ("user,time,place,shown\nu,1,a,x\nu,2,b,x\n", "at least 4 users"),
    "one place": ("user,time,place,shown\nu,1,a,x\nv,1,a,x\nw,1,a,x\nz,1,a,x\n", "2 places"),
}


@pytest.mark.parametrize(("content", "hint"), list(BAD.values()), ids=list(BAD))
def test_traces_that_cannot_be_read_are_one_sentence(tmp_path, content, hint):
    path = tmp_path / "traces.csv"
    path.write_text(content)
    run = CliRunner().invoke(main, ["audit", "channel", str(path), "--evidence", "traces", "--quiet"])
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert hint in run.stderr
    assert "soon" not in run.stderr
