"""An audit of a release by the protection that made it: its adversary, and what each person's own record added."""

import numpy as np
import pytest

import unmask
from unmask.cases.at_risk import Watched
from unmask.cases.tables import own
from unmask.tables import PRAM, AddNoise, AttributeInference, MechanismAttack, Microaggregate, Mondrian, Table
from unmask.tables.datasets import synthetic_census
from unmask.tables.without import Asked, rerun

ROLES = {"quasi_identifiers": ("age", "sex", "zip"), "sensitive": "diagnosis"}


@pytest.fixture(autouse=True, scope="module")
def _few():
    """The fewest people and releases, so that it is fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "WHOLE", 1)
        yield


@pytest.fixture(scope="module")
def people():
    return Table.read(synthetic_census(150, rng=np.random.default_rng(0)), **ROLES)


def audited(protection, people, *, made_by=None, origin=True, **asked):
    release, rows = protection(people, rng=np.random.default_rng(5))
    given = {"origin": rows} if origin else {}
    return unmask.audit(release, original=people, protection=made_by or protection, **given, **asked)


def row(found, measure, adversary, target):
    wanted = ("release", measure, adversary, target)
    return next(r for r in found.rows if (r.release, r.measure, r.adversary, r.target) == wanted)


@pytest.fixture(scope="module")
def boxes(people, _few):
    """An audit of boxes of five, who is at risk, and what was said before it ran."""
    watched, said = Watched("row"), []
    return audited(Mondrian(k=5), people, watched=watched, progress=said.append), watched, said


@pytest.fixture(scope="module")
def noisy(people, _few):
    return audited(AddNoise(sd={"age": 0.87654321}), people)


def test_what_records_added_is_a_row_and_a_table_of_the_page(boxes):
    found, _, said = boxes
    told, (shown,) = row(found, "added", "prosecutor", "diagnosis"), found.data.subject("own_records").records
    assert told.n == own.FEWEST
    assert (shown.how, shown.worst) == ("rerun", own.FEWEST // 2)
    assert shown.worst_mean > shown.mean > 0
    assert told.posterior == pytest.approx(shown.mean)
    assert not [r for r in found.rows if r.adversary == "mechanism"]  # the cells say all that there is to know
    assert any("finds what the prosecutor finds" in why for _, why in found.not_run)
    assert "so that bars may add up to more than all" in found.to_html()
    assert len(said) == 1
    assert "runs Mondrian 50 times on 150 rows, about" in said[0]


def test_the_worst_off_are_listed_with_what_a_rerun_without_them_says(people, boxes):
    listed = [one for one in boxes[1].found if "own record added" in one.reason]
    assert listed
    attack = AttributeInference("diagnosis")
    again = rerun(Mondrian(k=5), people, Asked(attack, people), [listed[0].row], rng=np.random.default_rng(0))
    assert again.inside[0] == pytest.approx(listed[0].probability)
    assert f"added {100 * again.each[0]:.1f} points" in listed[0].reason


def test_who_knows_what_was_drawn_finds_more_and_their_record_is_taken_out(noisy):
    mechanism, plain = (row(noisy, "success_probability", who, "identity") for who in ("mechanism", "prosecutor"))
    assert mechanism.posterior > plain.posterior
    assert row(noisy, "added", "mechanism", "diagnosis").posterior > 0.1
    (shown,) = noisy.data.subject("own_records").records
    assert shown.how == "removed"
    assert np.isnan(shown.error)


def test_what_is_said_of_the_worst_off_is_what_a_release_without_their_row_says(people):
    protection, watched = AddNoise(sd={"age": 2.0}), Watched("row")
    audited(protection, people, watched=watched)
    listed = [one for one in watched.found if "own record added" in one.reason]
    assert listed
    release, origin = protection(people, rng=np.random.default_rng(5))
    ask = Asked(AttributeInference("diagnosis", MechanismAttack(protection)), people)
    for one in listed:
        (outside,) = ask(release.take(np.flatnonzero(origin != one.row)), np.array([one.row]))
        assert f"{outside:.1%} without it" in one.reason


def test_who_knows_that_values_changed_places_is_asked_though_they_are_as_sure():
    """Half are "f" and ill, half "m" and not; exchanged, the prosecutor is sure of the wrong value of everybody."""
    some = Table.read({"sex": list("fm") * 20, "ill": ["yes", "no"] * 20}, quasi_identifiers="sex", sensitive="ill")
    found = audited(PRAM(keep={}, matrices={"sex": {"f": {"m": 1}, "m": {"f": 1}}}), some)
    for measure in ("success_probability", "realized_success"):
        assert row(found, measure, "mechanism", "ill").posterior == pytest.approx(1)
    assert row(found, "realized_success", "prosecutor", "ill").posterior == 0


def test_nothing_is_said_of_parameters_and_what_was_added_is_in_points(noisy):
    page = noisy.to_html()
    section = page.split("What each single record added")[-1]
    assert "so these figures are exact" in section
    assert "were drawn at random" not in section
    assert "diagnosis: value inferred, in points" in section
    assert "50 to 100 points:" in section
    assert "What each single record added" in page
    assert "87654" not in page + noisy.to_json("audit")


TURNED = {"age": {"99": {"20": 1.0}}}


@pytest.mark.parametrize(
    ("protection", "by_row"),
    [
        (PRAM(keep=0.5), False),
        (PRAM(keep={"age": 0.5}), False),
        (PRAM(keep=1), True),
        (PRAM(keep={}, matrices=TURNED), True),
        (PRAM(keep={"age": 0.5}, matrices=TURNED), True),
        (AddNoise(sd={"age": 1}), True),
    ],
    ids=repr,
)
def test_a_row_on_its_own_leaves_nothing_in_those_of_others(protection, by_row):
    """One person of 30 is 99; whether others are ever released so tells that they are in the table."""
    ages = Table.read({"age": [*range(20, 49), 99]}, quasi_identifiers="age")
    seen = 0
    for seed in range(20):
        release, origin = protection(ages, rng=np.random.default_rng(seed))
        seen += int(np.any(release["age"][origin != 29] == "99"))
    assert (seen > 0) is not by_row
    assert protection.by_row is by_row


@pytest.mark.parametrize("origin", [True, False])
def test_a_protection_that_draws_is_run_on_samples(people, origin):
    found = audited(PRAM(keep=0.9), people, origin=origin)
    (shown,) = found.data.subject("own_records").records
    assert shown.how == "sampled"
    assert shown.error > 0


def test_a_release_that_the_protection_does_not_make_is_refused(people):
    found = audited(Mondrian(k=3), people, made_by=Mondrian(k=40))
    assert not [r for r in found.rows if r.measure == "added"]
    assert any("Mondrian does not make such a release" in why for _, why in found.not_run)


def test_what_a_generator_makes_of_nobody_in_particular_owes_nothing_to_anybody(people):
    def independent(table, *, rng):
        return Table.read({name: rng.permutation(table[name]) for name in table.names}, **ROLES, like=table)

    release = independent(people, rng=np.random.default_rng(1))
    found = unmask.audit(release, original=people, synthetic=True, protection=independent)
    told = row(found, "added", "learner", "diagnosis")
    assert told.low - 0.01 <= 0 <= told.high + 0.01
    assert told.posterior == pytest.approx(0, abs=0.02)


def test_the_cost_is_bounded(people, monkeypatch):
    monkeypatch.setattr(own, "LONGEST", 0.0)
    found = audited(Mondrian(k=5), people)
    assert any("above 0 s" in why for _, why in found.not_run)


def test_a_protection_needs_the_original(people):
    release, _ = Mondrian(k=5)(people)
    with pytest.raises(unmask.UnmaskError, match="no original was given"):
        unmask.audit(release, protection=Mondrian(k=5))
    with pytest.raises(unmask.UnmaskError, match="names a release that was not given"):
        unmask.audit(release, original=people, protection={"other": Mondrian(k=5)})


def test_a_protection_that_says_nothing_of_its_rows_is_attacked_as_they_stand(people):
    class Mine:
        def __call__(self, table, *, rng=None):
            return Mondrian(k=5)(table, rng=rng)

    found = audited(Mine(), people)
    assert row(found, "added", "prosecutor", "diagnosis").posterior > 0
    assert any("Mine does not say how likely its rows are" in why for _, why in found.not_run)


def test_groups_are_attacked_by_who_knows_that_they_were_averaged():
    rng = np.random.default_rng(2)
    cells = {"a": rng.normal(size=120).round(2).tolist(), "b": rng.normal(size=120).round(2).tolist()}
    some = Table.read({**cells, "s": rng.choice(list("xy"), 120).tolist()}, quasi_identifiers=["a", "b"], sensitive="s")
    found = audited(Microaggregate(3), some)
    assert row(found, "realized_success", "mechanism", "identity").posterior > 0.1
    assert row(found, "added", "mechanism", "s").posterior > 0.05
