"""The sensitivity of the decision against games that are played with each value by hand."""

from dataclasses import replace

import pytest

from unmask.core.errors import UnmaskError
from unmask.economics import (
    Attacker,
    AttackerKind,
    ProtectedRelease,
    Publisher,
    PublisherGame,
    Range,
    Terms,
    sensitivity,
)

BROKER = Attacker(gain=1000, exploit_cost=5, fine=500, max_fines=1, detection=(0.05,), access_cost=50)
INSURER = Attacker(gain=400, exploit_cost=2, fine=2000, max_fines=1, detection=(0.6, 0.8), prior=0.7)
RELEASES = {
    "raw": ProtectedRelease([1, 1, 2], 0.9),
    "k3": ProtectedRelease([3] * 3, 0.72),
    "k5": ProtectedRelease([5] * 3, 0.5),
}
PUBLISHER = Publisher(benefit=6000, loss=900, penalty=300, threshold=3, audit_cost=20, recovered=0.6, fees=True)
KINDS = {"broker": AttackerKind(BROKER), "insurer": AttackerKind(INSURER, 2)}
GAME = PublisherGame(PUBLISHER, RELEASES, KINDS)
TERMS = {"prices": (0.0, 4000.0), "fines": (0.0, 3000.0)}


def by_hand(owner, parameter, value):
    """The game with one number written out anew."""
    if owner == "publisher":
        return PublisherGame(replace(PUBLISHER, **{parameter: value}), RELEASES, KINDS)
    kind = KINDS[owner]
    if parameter == "number":
        return PublisherGame(PUBLISHER, RELEASES, {**KINDS, owner: AttackerKind(kind.attacker, value)})
    now = kind.attacker.detection
    changed = {"detection": tuple(min(q * value / now[0], 1.0) for q in now)} if parameter == "detection" else {}
    attacker = replace(kind.attacker, **(changed or {parameter: value}))
    return PublisherGame(PUBLISHER, RELEASES, {**KINDS, owner: AttackerKind(attacker, kind.number)})


def test_each_end_is_the_game_played_with_that_value():
    best_move, rows, changes = GAME.moves(**TERMS)[0], sensitivity(GAME, **TERMS), 0
    for row in rows:
        parameter_range = row.input
        for value, best_protection, payoff_there, loss in zip(
            (parameter_range.low, parameter_range.high), row.best, row.payoff, row.loss, strict=True
        ):
            move_there = by_hand(parameter_range.of, parameter_range.parameter, value)
            first = move_there.moves(**TERMS)[0]
            assert (best_protection.protection, best_protection.terms) == (first.protection, first.terms), (
                parameter_range
            )
            assert best_protection.payoff == first.payoff
            assert payoff_there == move_there.move(best_move.protection, best_move.terms).payoff.low
            gap = first.payoff.low - payoff_there
            assert loss == pytest.approx(gap if gap > 1e-6 else 0.0, abs=1e-6)
            changes += loss > 0
    assert 3 <= changes < 2 * len(rows)
    assert [max(row.loss) for row in rows] == sorted((max(row.loss) for row in rows), reverse=True)


def test_every_number_that_can_matter_has_a_line():
    rows = {(row.input.of, row.input.parameter): row.input for row in sensitivity(GAME, **TERMS)}
    amounts = {"number", "gain", "exploit_cost", "fine", "detection"}
    assert {name for owner, name in rows if owner == "publisher"} == {
        "benefit",
        "loss",
        "penalty",
        "audit_cost",
        "recovered",
    }
    assert {name for owner, name in rows if owner == "broker"} == amounts | {
        "access_cost"
    }  # a prior of 1 is a belief's own
    assert {name for owner, name in rows if owner == "insurer"} == amounts | {"prior"}
    assert (rows["publisher", "loss"].low, rows["publisher", "loss"].high) == (450, 1800)
    for owner, name, value in (
        ("publisher", "recovered", 0.6),
        ("insurer", "prior", 0.7),
        ("insurer", "detection", 0.6),
    ):
        assert (rows[owner, name].low, rows[owner, name].high) == (value / 2, 1.0)


def test_fines_that_are_never_paid_have_no_line():
    free = PublisherGame(PUBLISHER, RELEASES, {"broker": AttackerKind(replace(BROKER, max_fines=0))})
    assert {"fine", "detection"}.isdisjoint(row.input.parameter for row in sensitivity(free))


def test_a_range_stands_in_place_of_half_and_double():
    ranges = [Range("broker", "gain", 900, 1100), Range("publisher", "penalty", 0, 1)]
    rows = {(row.input.of, row.input.parameter): row for row in sensitivity(GAME, ranges, **TERMS)}
    assert [rows[parameter_range.of, parameter_range.parameter].input for parameter_range in ranges] == ranges
    assert rows["broker", "gain"].value == 1000
    assert rows["insurer", "gain"].input == Range("insurer", "gain", 200, 800)


def test_of_detection_the_belief_changes_and_of_all_else_both():
    """The true detection changes fines; plans follow the believed detection."""
    believes = replace(BROKER, detection=(0.01,))
    game = PublisherGame(PUBLISHER, RELEASES, {"broker": AttackerKind(believes, 1, BROKER)})
    rows = {row.input.parameter: row for row in sensitivity(game, **TERMS)}
    assert rows["detection"].value == 0.01
    for name, kind in (
        ("detection", AttackerKind(replace(believes, detection=(0.02,)), 1, BROKER)),
        ("gain", AttackerKind(replace(believes, gain=2000), 1, replace(BROKER, gain=2000))),
    ):
        move_there = PublisherGame(PUBLISHER, RELEASES, {"broker": kind}).moves(**TERMS)[0]
        assert (rows[name].best[1].payoff, rows[name].best[1].terms) == (move_there.payoff, move_there.terms)


def test_a_decision_not_to_release_is_held_against_releases():
    dear = PublisherGame(replace(PUBLISHER, benefit=1000), RELEASES, KINDS)
    assert dear.moves()[0].protection == "no release"
    row = next(row for row in sensitivity(dear, [Range("publisher", "benefit", 1000, 1e6)]) if row.loss[1])
    assert row.payoff == (0, 0)
    assert row.best[1].payoff.low == row.loss[1] > 0


def test_ranges_that_cannot_be_are_sentences():
    with pytest.raises(UnmaskError, match="nobody is not an attacker of this game; expected one of broker, insurer"):
        sensitivity(GAME, [Range("nobody", "gain", 1, 2)])
    for owner, name, low, message in (
        ("publisher", "gain", 1, "gain is a number that an attacker has"),
        ("broker", "loss", 1, "loss is a number that the publisher has"),
        ("broker", "ties", 1, "cannot be a range"),
        ("broker", "gain", 2, "rising"),
    ):
        with pytest.raises(UnmaskError, match=message):
            Range(owner, name, low, 2)
    with pytest.raises(UnmaskError, match="recovered is 2"):
        sensitivity(GAME, [Range("publisher", "recovered", 0, 2)])


def test_terms_that_no_longer_deter_change_the_decision():
    """The protection stays the best, at a higher price."""
    game = PublisherGame(Publisher(benefit=6000, loss=900), RELEASES, {"broker": AttackerKind(BROKER)})
    row = next(row for row in sensitivity(game, fines=(0.0, 90_000.0)) if row.input.parameter == "gain")
    move = game.moves(fines=(0.0, 90_000.0))[0]
    assert row.loss[0] == 0
    assert row.loss[1] > 0
    assert row.best[1].protection == move.protection == "raw"
    assert row.best[1].terms.fine > move.terms.fine
    assert game.move("raw", Terms()).payoff.low < move.payoff.low
