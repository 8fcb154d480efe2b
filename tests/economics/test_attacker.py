"""The attacker as given: bad values are refused by name, profiles fill the clock, detection follows equation (4)."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.economics import Attacker, exploitation_table, price_records

CASE = {
    "gain": 8000,
    "access_cost": 100,
    "exploit_cost": 10,
    "fine": 10_000,
    "max_fines": 1,
    "detection_base": -4.59,
    "detection_growth": 0.18,
    "prior": 0.63,
}

AMOUNTS = ("gain", "access_cost", "link_cost", "exploit_cost", "fine", "false_claim_cost")
NOT_AMOUNTS = (-1, -1e-9, math.inf, math.nan, "8", None, True, [1.0])
BEYOND_FLOATS = 10**400
NOT_CHANCES = (0, -0.1, 1.0000001, 2, math.nan, math.inf, "1", True, [0.5])
NOT_WHOLE = (0, -1, 1.5, 2.0, "3", True, math.inf, math.nan)

BAD = [
    *((name, value) for name in AMOUNTS for value in NOT_AMOUNTS),
    *((name, value) for name in ("prior", "confirmation", "discount") for value in NOT_CHANCES),
    *(("false_alarms", value) for value in (-0.1, 1, 2, math.nan, math.inf, "1", True, None)),
    ("gain", BEYOND_FLOATS),
    ("prior", None),
    ("confirmation", None),
    *(("max_fines", value) for value in (-1, 0.5, 1.5, math.nan, -math.inf, "1", True, None, [1])),
    *(("audit_rate", value) for value in (0, -1, math.nan, math.inf, "1", True, None)),
    *(("audit_every", value) for value in (*NOT_WHOLE, None)),
    *(("max_tries", value) for value in NOT_WHOLE),
    *(
        (name, value)
        for name in ("gain_delay", "fine_delay", "link_delay")
        for value in (2, -1, 0.5, "1", math.nan, [0])
    ),
    *(("arrest", value) for value in (0, 1, None, "yes")),
    *(("ties", value) for value in ("", "walk", None, 1)),
    *(("profile", value) for value in ("", "Literal", None, 1)),
    *(
        (name, value)
        for name in ("detection_base", "detection_growth")
        for value in (math.nan, math.inf, -math.inf, "0", True, None)
    ),
]


def test_no_field_is_left_without_a_bad_value():
    fields = set(Attacker.__dataclass_fields__)
    assert fields - {name for name, _ in BAD} == {"detection", "detection_prior"}  # they have tests of their own


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: repr(value)[:20])
def test_a_bad_value_is_refused_in_one_short_sentence_that_names_the_parameter(name, value, capsys):
    with pytest.raises(UnmaskError) as refused:
        Attacker(**{**CASE, name: value})
    message = str(refused.value)
    assert name in message
    assert len(message) < 160
    assert "\n" not in message
    assert not message.endswith(".")
    assert refused.value.exit_code == 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "schedule",
    [(), (-0.1,), (0.1, 1.1), (math.nan,), (0.1, None), ("0.1",), (True,), "0.1", 1.5, True, [[0.1]]],
)
def test_a_bad_schedule_of_detection_is_refused(schedule):
    with pytest.raises(UnmaskError, match="detection"):
        Attacker(gain=1, max_fines=1, fine=1, detection=schedule)


def test_gain_and_max_fines_have_no_default():
    with pytest.raises(TypeError, match="gain"):
        Attacker(max_fines=1)
    with pytest.raises(UnmaskError, match=r"max_fines is missing.*math\.inf"):
        Attacker(gain=1)


@pytest.mark.parametrize("also", [{"detection_base": 0.0}, {"detection_growth": 0.0}])
def test_detection_cannot_be_given_twice_nor_by_half(also):
    with pytest.raises(UnmaskError, match="detection is given twice"):
        Attacker(gain=1, max_fines=1, detection=(0.1,), **also)
    missing = {"detection_base": "detection_growth", "detection_growth": "detection_base"}[next(iter(also))]
    with pytest.raises(UnmaskError, match=f"{missing} is missing"):
        Attacker(gain=1, max_fines=1, **also)


@pytest.mark.parametrize("consequence", [{"fine": 1.0, "max_fines": 1}, {"arrest": True, "max_fines": 0}])
def test_a_consequence_needs_a_chance_of_detection(consequence):
    with pytest.raises(UnmaskError, match="how likely detection is"):
        Attacker(gain=1, **consequence)


@pytest.mark.parametrize("harmless", [{"fine": 1.0, "max_fines": 0}, {"fine": 0.0, "max_fines": 3}])
def test_without_a_consequence_nothing_is_detected(harmless):
    assert Attacker(gain=1, **harmless).detection_at(3).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("profile", "clock"),
    [
        ("undiscounted", (1.0, 1, 1, 1)),
        ("literal", (0.9, 1, 1, 1)),
        ("folded", (1 / 1.07, 1, 0, 0)),
    ],
)
def test_a_profile_fills_the_switches_that_are_not_given(profile, clock):
    attacker = Attacker(**CASE, profile=profile)
    assert (attacker.discount, attacker.gain_delay, attacker.fine_delay, attacker.link_delay) == clock
    attacker_with_profile = Attacker(**CASE, profile=profile, discount=0.5, gain_delay=0, link_delay=1)
    assert (
        attacker_with_profile.discount,
        attacker_with_profile.gain_delay,
        attacker_with_profile.fine_delay,
        attacker_with_profile.link_delay,
    ) == (0.5, 0, clock[2], 1)


def test_the_default_clock_is_undiscounted():
    assert Attacker(**CASE) == Attacker(**CASE, profile="undiscounted")
    assert Attacker(**CASE).discount == 1


def test_replacing_an_amount_keeps_the_clock_and_repr_rebuilds_the_attacker():
    attacker = Attacker(**CASE, profile="folded")
    assert replace(attacker, gain=1.0).discount == attacker.discount
    assert replace(attacker, gain=1.0).fine_delay == 0
    assert eval(repr(attacker), {"Attacker": Attacker}) == attacker


def test_eq_4_gives_the_chances_of_the_paper():
    # Xia et al. 2015, section 7.1: "0.01" for the first exploit and "0.012" for the second with h1 = 0.18
    assert Attacker(**CASE).detection_at(2).round(4).tolist() == [0.0101, 0.012]
    q = Attacker(**CASE).detection_at(40)
    assert q == pytest.approx([1 / (1 + math.exp(4.59 - 0.18 * j)) for j in range(40)], rel=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_detection_far_out_neither_overflows_nor_leaves_0_to_1(sign):
    q = replace(Attacker(**CASE), detection_growth=sign * 50.0).detection_at(10_000)
    assert q[-1] == (1.0 if sign > 0 else 0.0)


def test_a_schedule_keeps_its_last_chance_and_may_be_any_sequence():
    for schedule in ((0.1, 0.3), [0.1, 0.3], np.array([0.1, 0.3])):
        attacker = Attacker(gain=1, max_fines=1, detection=schedule)
        assert attacker.detection_at(4).tolist() == [0.1, 0.3, 0.3, 0.3]
        assert hash(attacker) == hash(Attacker(gain=1, max_fines=1, detection=(0.1, 0.3)))
        assert attacker.detection_at(1).tolist() == [0.1]
        assert attacker.detection_at(0).shape == (0,)


def test_an_audit_looks_at_every_t_th_exploit_only():
    attacker = Attacker(gain=1, max_fines=1, detection=(0.1, 0.2, 0.3, 0.4), audit_every=3)
    assert attacker.detection_at(7).tolist() == [0, 0, 0.3, 0, 0, 0.4, 0]
    assert not attacker.constant_detection


def test_an_attacker_knows_if_detection_is_constant_and_fines_are_capped():
    def attacker(**changes):
        return Attacker(**{"gain": 1, "fine": 1, "max_fines": 2, "detection": (0.1,), **changes})

    assert attacker().constant_detection
    assert attacker(detection=(0.1, 0.1)).constant_detection
    assert not attacker(detection=(0.1, 0.2)).constant_detection
    assert attacker(detection=None, detection_base=0.0, detection_growth=0.0).constant_detection
    assert not attacker(detection=None, detection_base=0.0, detection_growth=-0.1).constant_detection
    assert attacker().capped
    assert not attacker(max_fines=math.inf).capped
    assert not attacker(max_fines=0).capped
    assert not attacker(arrest=True).capped


def test_a_capped_fine_with_changing_detection_carries_a_warning():
    assert "once" in Attacker(**CASE).warnings[0]
    assert "at most 3 times" in replace(Attacker(**CASE), max_fines=3).warnings[0]
    for harmless in ({"max_fines": math.inf}, {"max_fines": 0}, {"fine": 0}):
        assert replace(Attacker(**CASE), **harmless).warnings == ()


@pytest.mark.parametrize(
    ("attacker", "size"),
    [
        # found by random search and confirmed by a decision tree: constant detection, capped fine
        (Attacker(gain=8253, exploit_cost=44, fine=1674, max_fines=2, prior=0.5717, detection=(0.49,)), 40),
        # audits that are played: uncapped fine, then arrest
        (Attacker(gain=5287, fine=6224, max_fines=math.inf, detection=(0.2,), prior=0.4548, audit_every=3), 40),
        (
            Attacker(
                gain=8110,
                fine=3110,
                max_fines=1,
                detection=(0.0, 0.0, 0.17, 0.46, 0.08),
                prior=0.498,
                audit_every=3,
                arrest=True,
            ),
            40,
        ),
    ],
)
def test_a_risk_that_rises_with_group_size_gets_a_warning(attacker, size):
    assert len(exploitation_table(attacker, size).rises) > 0
    assert attacker.warnings


def test_whole_amounts_and_numpy_numbers_are_as_good_as_floats():
    plain = Attacker(**CASE)
    numpy_attacker = Attacker(**{name: np.float64(value) for name, value in CASE.items()})
    assert price_records(plain, [1, 20]).payoff.tolist() == price_records(numpy_attacker, [1, 20]).payoff.tolist()
    assert replace(plain, max_tries=np.int64(3)).max_tries == 3
