"""Rounds of a mix reveal the partners of a sender, although no adversary sees the pairing."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.channels import RoundLog
from unmask.channels.attacks import LeastSquaresDisclosure, Profiles, StatisticalDisclosure
from unmask.channels.audit import audit
from unmask.channels.audit.rounds import disclose_rounds, median_rounds_needed, share_of_receivers_found
from unmask.channels.criteria import rounds_needed
from unmask.channels.evidence.logs import read_rounds
from unmask.cli import main
from unmask.data.event_logs import read_lines


def make_log(n_senders=30, n_receivers=40, n_rounds=200, batch=8, friends=3, seed=0):
    rng = np.random.default_rng(seed)
    profile = np.zeros((n_senders, n_receivers))
    for row in profile:
        row[rng.choice(n_receivers, friends, replace=False)] = 1 / friends
    sender = rng.integers(n_senders, size=n_rounds * batch)
    receiver = np.array([rng.choice(n_receivers, p=profile[s]) for s in sender])
    names = [tuple(f"{letter}{i}" for i in range(n)) for letter, n in (("s", n_senders), ("r", n_receivers))]
    return RoundLog(np.repeat(np.arange(n_rounds), batch), sender, receiver, *names)


def write(path, log):
    rows = zip(log.round, log.sender, log.receiver, strict=True)
    path.write_text("round,sender,receiver\n" + "".join(f"{t},s{s},r{r}\n" for t, s, r in rows))
    return path


def measure(result, name):
    return {row.adversary: row.posterior for row in result.rows if row.measure == name}


def test_profiles_and_matchings_find_receivers_that_chance_does_not():
    result = unmask.audit(make_log())
    found, errors = measure(result, "receivers_found"), measure(result, "realized_error")
    assert min(found.values()) > 0.8
    assert errors["one-to-one rounds"] < errors["least squares"] < 0.8
    chance = next(row.prior for row in result.rows if row.measure == "realized_error")
    assert chance > 0.9
    assert {row.status for row in result.rows} <= {"model", "scores", "refuted"}


@pytest.mark.parametrize("n_rounds", [200, 1000])
def test_one_to_one_rounds_announce_about_what_they_realize(n_rounds):
    """Receivers without messages have no weight of a standard error each: announced were .46, .87 were realized."""
    pairs = []
    for seed in range(10):
        rows = {row.measure: row for row in unmask.audit(make_log(n_rounds=n_rounds, seed=seed)).rows
                if row.adversary == "one-to-one rounds"}  # fmt: skip
        pairs.append((rows["success_probability"].posterior, rows["realized_success"].posterior))
    announced, realized = np.mean(pairs, axis=0)
    assert announced == pytest.approx(realized, abs=0.04)


def test_expected_shares_of_many_estimates_are_those_of_the_true_distribution():
    """Two shares, 0 and 0.3, in known proportion: Bayes' rule gives the expected share of each estimate."""
    rng = np.random.default_rng(3)
    share = np.where(rng.random((100, 50)) < 0.1, 0.3, 0.0)
    estimate = share + rng.normal(0, 0.1, share.shape)
    profiles = Profiles(estimate, np.full(share.shape, 0.1), np.full(50, 0.02), np.arange(100), np.full(100, 9))
    odds = 1 / 9 * np.exp((estimate**2 - (estimate - 0.3) ** 2) / 0.02)
    exact = 0.3 * odds / (1 + odds)
    assert np.abs(profiles.expected_shares - exact).mean() < 0.01
    assert np.abs(np.maximum(estimate, 0.1) - exact).mean() > 0.05  # the larger of estimate and standard error


def test_the_pairing_of_a_line_never_enters_an_attack():
    log, rng = make_log(), np.random.default_rng(1)
    receiver = log.receiver.copy()
    for number in range(log.n_rounds):
        inside = np.flatnonzero(log.round == number)
        receiver[inside] = rng.permutation(receiver[inside])
    shuffled = replace(log, receiver=receiver)
    for name, (belief, _, _) in disclose_rounds("log", log).beliefs.items():
        other = disclose_rounds("log", shuffled).beliefs[name][0]
        np.testing.assert_array_equal(belief.to_dense(), other.to_dense())


def test_without_pairing_only_announced_measures_are_printed():
    rows = unmask.audit(make_log(n_rounds=60), unpaired=True).rows
    assert {row.measure for row in rows} == {
        "estimation_error", "success_probability", "shannon_entropy_bits", "effective_set_size",
    }  # fmt: skip


def test_a_sender_in_every_round_is_not_run_and_stops_nothing(tmp_path):
    log = make_log(n_rounds=60)
    sender = log.sender.copy()
    sender[::8] = 0
    path = write(tmp_path / "rounds.csv", replace(log, sender=sender))
    run = CliRunner().invoke(main, ["audit", "channel", str(path), "--json"])
    assert run.exit_code == 0, run.stderr
    result = json.loads(run.stdout)
    assert "profiles of some senders by averages" in {item["what"] for item in result["not_run"]}
    assert "s0" not in run.stdout


def test_identified_senders_are_those_that_each_attack_estimates():
    log = make_log(n_senders=6, n_rounds=40)
    counts = log.counts(0, 40)
    for attack in (StatisticalDisclosure(), LeastSquaresDisclosure()):
        senders = attack.identified_senders(counts)
        assert len(senders)
        assert replace(attack, senders=tuple(senders.tolist())).estimate(counts).senders.tolist() == senders.tolist()
    constant = np.hstack([np.ones((40, 1)), counts.sent])  # always there, and the batch does not change
    rounds = type(counts)(constant, np.hstack([np.ones((40, 1)), counts.received]))
    assert 0 not in StatisticalDisclosure().identified_senders(rounds)
    assert 0 not in LeastSquaresDisclosure().identified_senders(rounds)


def test_senders_that_no_attack_identifies_are_counted_without_a_name(tmp_path):
    log = make_log(n_rounds=60)
    always = RoundLog(
        np.append(log.round, np.arange(60)), np.append(log.sender, np.full(60, 30)),
        np.append(log.receiver, np.full(60, 0)), (*log.senders, "always"), log.receivers,
    )  # fmt: skip
    run = CliRunner().invoke(main, ["audit", "channel", str(write(tmp_path / "r.csv", always)), "--json"])
    assert json.loads(run.stdout)["tables"]["evidence"][0]["unidentified"] == "fewer than 10"
    assert "s30" not in run.stdout


def test_senders_are_shown_in_groups_of_ten():
    table = audit(make_log()).table("exposed_senders")
    assert [row["senders"] for row in table.rows] == [10, 10, 10]
    assert all(row["low"] <= row["found"] <= row["high"] for row in table.rows)


def test_receivers_found_are_those_among_as_many_highest_estimates():
    log, rng = make_log(n_senders=7, n_receivers=9, n_rounds=50), np.random.default_rng(2)
    profiles = StatisticalDisclosure().estimate(log.counts(0, 50))
    found = share_of_receivers_found(profiles, log.shares())
    literal = []
    for i, sender in enumerate(profiles.senders):
        right = {r for s, r in zip(log.sender, log.receiver, strict=True) if s == sender}
        draws = []
        for _ in range(200):  # ties in a random order
            order = sorted(range(9), key=lambda r: (-profiles.estimate[i][r], rng.random()))
            draws.append(len(right & set(order[: len(right)])) / len(right))
        literal.append(np.mean(draws))
    np.testing.assert_allclose(found, literal, atol=0.1)


def test_rounds_needed_are_those_of_the_formula_for_each_sender():
    log = make_log(n_senders=5, n_receivers=6, n_rounds=30)
    needed = []
    for sender in range(5):
        own = Counter(r for s, r in zip(log.sender, log.receiver, strict=True) if s == sender)
        main_receiver, count = max(own.items(), key=lambda item: (item[1], -item[0]))
        others = [r for s, r in zip(log.sender, log.receiver, strict=True) if s != sender]
        v, u, b = count / own.total(), others.count(main_receiver) / len(others), 8
        needed.append(1.959963984540054**2 * (v * (1 - v) + (b - 1) * u * (1 - u)) / v**2)
    assert median_rounds_needed(log) == pytest.approx(np.median(needed))
    assert rounds_needed(0.2, popularity=0.02, batch=20) == pytest.approx(51.13, abs=0.01)


def test_rounds_are_ordered_by_number_and_columns_come_in_any_order(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("Receiver,ROUND,sender,size\nx,10,a,1\ny,9,b,2\nx,10,b,3\n")
    log = read_rounds(path, read_lines(path))
    assert log.counts(0, 2).sent.tolist() == [[0, 1], [1, 1]]
    assert log.counts(0, 2).received.tolist() == [[0, 1], [2, 0]]


BAD = {
    "no lines": ("round,sender,receiver\n", "no line below"),
    "no receiver column": ("round,sender,to\n1,a,x\n", "no column receiver"),
    "an empty sender": ("round,sender,receiver\n1,,x\n", "line 2"),
    "an empty receiver": ("round,sender,receiver\n1,a,x\n1,b,\n", "line 3"),
    "an empty round": ("round,sender,receiver\n,a,x\n", "line 2"),
    "a round that is not a number": ("round,sender,receiver\n1,a,x\nlate,b,y\n", "line 3"),
    "a round without end": ("round,sender,receiver\n1,a,x\ninf,b,y\n", "line 3"),
    "a column twice": ("round,sender,sender,receiver\n1,a,b,x\n", "occurs twice"),
    "a long line": ("round,sender,receiver\n1,a,x,y\n", "line 2"),
    "one round": ("round,sender,receiver\n1,a,x\n1,b,y\n", "at least 2 rounds"),
    "one receiver": ("round,sender,receiver\n1,a,x\n2,b,x\n", "2 receivers"),
    "senders in every round": ("round,sender,receiver\n1,a,x\n1,b,y\n2,a,x\n2,b,y\n", "identifies no sender"),
}


@pytest.mark.parametrize(("content", "hint"), list(BAD.values()), ids=list(BAD))
def test_rounds_that_cannot_be_read_are_one_sentence(tmp_path, content, hint):
    path = tmp_path / "rounds.csv"
    path.write_text(content)
    run = CliRunner().invoke(main, ["audit", "channel", str(path), "--evidence", "rounds", "--quiet"])
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert hint in run.stderr
    assert "late" not in run.stderr
