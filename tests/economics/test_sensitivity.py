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


def by_hand(of, parameter, value):
    """The game with one number written out anew."""
    if of == "publisher":
        return PublisherGame(replace(PUBLISHER, **{parameter: value}), RELEASES, KINDS)
    one = KINDS[of]
    if parameter == "number":
        return PublisherGame(PUBLISHER, RELEASES, {**KINDS, of: AttackerKind(one.attacker, value)})
    now = one.attacker.detection
    changed = {"detection": tuple(min(q * value / now[0], 1.0) for q in now)} if parameter == "detection" else {}
    attacker = replace(one.attacker, **(changed or {parameter: value}))
    return PublisherGame(PUBLISHER, RELEASES, {**KINDS, of: AttackerKind(attacker, one.number)})


def test_each_end_is_the_game_played_with_that_value():
    taken, rows, changes = GAME.moves(**TERMS)[0], sensitivity(GAME, **TERMS), 0
    for row in rows:
        one = row.input
        for value, best, own, loss in zip((one.low, one.high), row.best, row.payoff, row.loss, strict=True):
            there = by_hand(one.of, one.parameter, value)
            first = there.moves(**TERMS)[0]
            assert (best.protection, best.terms) == (first.protection, first.terms), one
            assert best.payoff == first.payoff
            assert own == there.move(taken.protection, taken.terms).payoff.low
            gap = first.payoff.low - own
            assert loss == pytest.approx(gap if gap > 1e-6 else 0.0, abs=1e-6)
            changes += loss > 0
    assert 3 <= changes < 2 * len(rows)
    assert [max(row.loss) for row in rows] == sorted((max(row.loss) for row in rows), reverse=True)


def test_every_number_that_can_matter_has_a_line():
    rows = {(row.input.of, row.input.parameter): row.input for row in sensitivity(GAME, **TERMS)}
    amounts = {"number", "gain", "exploit_cost", "fine", "detection"}
    assert {name for of, name in rows if of == "publisher"} == {"benefit", "loss", "penalty", "audit_cost", "recovered"}
    assert {name for of, name in rows if of == "broker"} == amounts | {"access_cost"}  # a prior of 1 is a belief's own
    assert {name for of, name in rows if of == "insurer"} == amounts | {"prior"}
    assert (rows["publisher", "loss"].low, rows["publisher", "loss"].high) == (450, 1800)
    for of, name, value in (("publisher", "recovered", 0.6), ("insurer", "prior", 0.7), ("insurer", "detection", 0.6)):
        assert (rows[of, name].low, rows[of, name].high) == (value / 2, 1.0)


def test_fines_that_nobody_pays_have_no_line():
    free = PublisherGame(PUBLISHER, RELEASES, {"broker": AttackerKind(replace(BROKER, max_fines=0))})
    assert {"fine", "detection"}.isdisjoint(row.input.parameter for row in sensitivity(free))


def test_a_range_stands_in_place_of_half_and_double():
    given = [Range("broker", "gain", 900, 1100), Range("publisher", "penalty", 0, 1)]
    rows = {(row.input.of, row.input.parameter): row for row in sensitivity(GAME, given, **TERMS)}
    assert [rows[one.of, one.parameter].input for one in given] == given
    assert rows["broker", "gain"].value == 1000
    assert rows["insurer", "gain"].input == Range("insurer", "gain", 200, 800)


def test_of_detection_the_belief_changes_and_of_all_else_both():
    """Who is caught as it is plans with what they believe."""
    believes = replace(BROKER, detection=(0.01,))
    game = PublisherGame(PUBLISHER, RELEASES, {"broker": AttackerKind(believes, 1, BROKER)})
    rows = {row.input.parameter: row for row in sensitivity(game, **TERMS)}
    assert rows["detection"].value == 0.01
    for name, kind in (
        ("detection", AttackerKind(replace(believes, detection=(0.02,)), 1, BROKER)),
        ("gain", AttackerKind(replace(believes, gain=2000), 1, replace(BROKER, gain=2000))),
    ):
        there = PublisherGame(PUBLISHER, RELEASES, {"broker": kind}).moves(**TERMS)[0]
        assert (rows[name].best[1].payoff, rows[name].best[1].terms) == (there.payoff, there.terms)


def test_a_decision_not_to_release_is_held_against_releases():
    dear = PublisherGame(replace(PUBLISHER, benefit=1000), RELEASES, KINDS)
    assert dear.moves()[0].protection == "no release"
    row = next(row for row in sensitivity(dear, [Range("publisher", "benefit", 1000, 1e6)]) if row.loss[1])
    assert row.payoff == (0, 0)
    assert row.best[1].payoff.low == row.loss[1] > 0


def test_ranges_that_cannot_be_are_sentences():
    with pytest.raises(UnmaskError, match="nobody is not an attacker of this game; expected one of broker, insurer"):
        sensitivity(GAME, [Range("nobody", "gain", 1, 2)])
    for of, name, low, said in (
        ("publisher", "gain", 1, "gain is a number that an attacker has"),
        ("broker", "loss", 1, "loss is a number that the publisher has"),
        ("broker", "ties", 1, "cannot be a range"),
        ("broker", "gain", 2, "rising"),
    ):
        with pytest.raises(UnmaskError, match=said):
            Range(of, name, low, 2)
    with pytest.raises(UnmaskError, match="recovered is 2"):
        sensitivity(GAME, [Range("publisher", "recovered", 0, 2)])


def test_terms_that_no_longer_deter_change_the_decision():
    """The protection stays the best, and more must be asked for it."""
    game = PublisherGame(Publisher(benefit=6000, loss=900), RELEASES, {"broker": AttackerKind(BROKER)})
    row = next(row for row in sensitivity(game, fines=(0.0, 90_000.0)) if row.input.parameter == "gain")
    taken = game.moves(fines=(0.0, 90_000.0))[0]
    assert row.loss[0] == 0
    assert row.loss[1] > 0
    assert row.best[1].protection == taken.protection == "raw"
    assert row.best[1].terms.fine > taken.terms.fine
    assert game.move("raw", Terms()).payoff.low < taken.payoff.low
