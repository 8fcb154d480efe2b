"""Messages of a mix are matched one to one by the times when they enter and leave."""

import json
from itertools import permutations
from math import factorial, log

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.channels import MessageLog
from unmask.channels.attacks import MatchingAttack, sample_matchings
from unmask.channels.audit.messages import match_messages
from unmask.channels.evidence.logs import Delay
from unmask.cli import main


def make_log(n=60, n_senders=8, mean=3.0, seed=0):
    rng = np.random.default_rng(seed)
    entered = np.cumsum(rng.exponential(1.0, n))
    users = [tuple(f"{letter}{i}" for i in range(n_senders)) for letter in "sr"]
    sender, receiver = rng.integers(n_senders, size=(2, n))
    return MessageLog(sender, receiver, entered, entered + rng.exponential(mean, n), *users)


def write(path, log):
    rows = zip(log.sender, log.receiver, log.entered, log.left, strict=True)
    path.write_text("sender,receiver,entered,left\n" + "".join(f"s{s},r{r},{e:.9f},{t:.9f}\n" for s, r, e, t in rows))
    return path


def list_matchings(W):
    """Return each matching and its probability, listed one by one."""
    orders = list(permutations(range(len(W))))
    weight = np.array([np.prod([W[i, j] for i, j in enumerate(order)]) for order in orders])
    return orders, weight / weight.sum()


def test_announced_and_realized_success_agree_on_exponential_delays():
    realized, announced = [], []
    for seed in range(20):
        rows = {row.measure: row.posterior for row in unmask.audit(make_log(n=40, mean=0.8, seed=seed)).rows}
        realized.append(rows["realized_success"])
        announced.append(rows["success_probability"])
    assert np.mean(realized) == pytest.approx(np.mean(announced), abs=0.06)
    assert np.mean(realized) > 1.5 / 8


def test_marginals_and_system_measures_are_those_of_all_matchings_listed_one_by_one():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(2, 6))
        entered = np.sort(rng.random(n))
        left = np.sort(entered.max() + rng.random(n) * 2 - 1)
        left = np.maximum(left, entered)
        users = rng.integers(3, size=(2, n))
        log_ = MessageLog(*users, entered, left, ("a", "b", "c"), ("x", "y", "z"))
        item = match_messages("log", log_, None, 0)
        for batch, (start, stop) in zip(item.batches, log_.batches(), strict=True):
            size = stop - start
            W = np.exp(-(left[None, start:stop] - entered[start:stop, None]) / 0.7)
            W[left[None, start:stop] < entered[start:stop, None]] = 0.0
            orders, p = list_matchings(W)
            by_sender = np.zeros((size, 3))
            for order, chance in zip(orders, p, strict=True):
                for i, j in enumerate(order):
                    by_sender[j, users[0, start + i]] += chance
            np.testing.assert_allclose(item.belief.to_dense()[start:stop], by_sender, atol=1e-6)
            entropy = -sum(q * np.log2(q) for q in p if q > 0)
            assert batch.bagai_entropy_bits == pytest.approx(entropy, abs=1e-9)
            if size > 1:
                assert batch.edman_possible == pytest.approx(log((p > 0).sum()) / log(factorial(size)), abs=1e-9)


def test_batches_are_cut_where_all_that_entered_have_left():
    log_ = MessageLog(*np.zeros((2, 4), dtype=int), np.array([0.0, 1, 5, 6]), np.array([4.0, 2, 6, 9]), ("a",), ("x",))
    assert log_.batches() == [(0, 2), (2, 4)]


def test_the_mean_of_exponential_delays_does_not_matter():
    log_ = make_log(n=30, mean=1.5)
    beliefs = [match_messages("log", log_, Delay("exponential", mean), 0).belief.to_dense() for mean in (0.01, 3, 1000)]
    np.testing.assert_array_equal(beliefs[0], beliefs[1])
    np.testing.assert_array_equal(beliefs[0], beliefs[2])


def test_sampled_marginals_are_the_exact_ones_within_their_standard_error():
    rng = np.random.default_rng(0)
    for _ in range(10):
        n = int(rng.integers(3, 9))
        entered = np.sort(rng.random(n))
        left = np.maximum(np.sort(entered + rng.random(n)), entered)
        W = Delay("fixed", 0.9).weights(entered, left)
        W[np.diag_indices(n)] = 1.0
        sampled, exact = sample_matchings(W, rng=rng), MatchingAttack("exact").marginals(W)
        assert np.abs(sampled.probability - exact.probability).max() <= 6 * sampled.standard_error + 1e-3
        assert sampled.standard_error < 0.02
        assert sampled.posterior().status == "model"


def test_a_large_batch_is_sampled_and_says_so(tmp_path):
    log_ = make_log(n=80, mean=30.0)
    run = CliRunner().invoke(main, ["audit", "channel", str(write(tmp_path / "m.csv", log_)), "--json"])
    assert run.exit_code == 0, run.stderr
    result = json.loads(run.stdout)
    large = max(result["tables"]["batches"], key=lambda row: row["messages"])
    assert large["messages"] > 20
    assert 0 < large["standard_error"] < 0.1
    assert large["bagai_entropy_bits"] is None
    assert any("too many" in item["why"] for item in result["not_run"])
    assert {row["status"] for row in result["results"]} <= {"model", "refuted"}


BAD = {
    "no lines": ("sender,receiver,entered,left\n", (), "no line below"),
    "no time of leaving": ("sender,receiver,entered\na,x,1\n", (), "no column left"),
    "an empty sender": ("sender,receiver,entered,left\n,x,1,2\n", (), "line 2"),
    "an empty time": ("sender,receiver,entered,left\na,x,1,2\nb,y,,3\n", (), "line 3"),
    "a word for a time": ("sender,receiver,entered,left\na,x,1,2\nb,y,2,never\n", (), "line 3"),
    "an infinite time": ("sender,receiver,entered,left\na,x,1,2\nb,y,2,inf\n", (), "line 3"),
    "a message that leaves before it enters": ("sender,receiver,entered,left\na,x,1,2\nb,y,4,3\n", (), "line 3"),
    "a column twice": ("sender,sender,receiver,entered,left\na,a,x,1,2\n", (), "occurs twice"),
    "a short line": ("sender,receiver,entered,left\na,x,1\n", (), "line 2"),
    "a delay without a number": ("sender,receiver,entered,left\na,x,1,2\n", ("--delay", "fixed"), "exponential:MEAN"),
    "a delay below 0": ("sender,receiver,entered,left\na,x,1,2\n", ("--delay", "fixed:-1"), "exponential:MEAN"),
    "a delay that is too short": ("sender,receiver,entered,left\na,x,1,9\n", ("--delay", "fixed:2"), "allow more"),
    "a loss": ("sender,receiver,entered,left\na,x,1,9\n", ("--loss", "squared"), "loss does not apply"),
}


@pytest.mark.parametrize(("content", "options", "hint"), list(BAD.values()), ids=list(BAD))
def test_messages_that_cannot_be_read_are_one_sentence(tmp_path, content, options, hint):
    path = tmp_path / "messages.csv"
    path.write_text(content)
    run = CliRunner().invoke(main, ["audit", "channel", str(path), "--evidence", "messages", "--quiet", *options])
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert hint in run.stderr
    assert "never" not in run.stderr
