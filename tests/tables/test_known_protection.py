"""An audit of a release by the protection that made it."""

import numpy as np
import pytest

import unmask
from unmask.tables import PRAM, AddNoise, Mondrian, Table
from unmask.tables.datasets import synthetic_census

ROLES = {"quasi_identifiers": ("age", "sex", "zip"), "sensitive": "diagnosis"}


@pytest.fixture(scope="module")
def people():
    return Table.read(synthetic_census(150, rng=np.random.default_rng(0)), **ROLES)


def audited(protection, people):
    release, origin = protection(people, rng=np.random.default_rng(5))
    return unmask.audit(release, original=people, protection=protection, origin=origin)


def row(result, measure, adversary, target):
    wanted = ("release", measure, adversary, target)
    return next(r for r in result.rows if (r.release, r.measure, r.adversary, r.target) == wanted)


@pytest.fixture(scope="module")
def noisy(people):
    return audited(AddNoise(sd={"age": 0.87654321}), people)


def test_an_adversary_who_knows_the_noise_finds_more(noisy):
    mechanism, prosecutor = (
        row(noisy, "success_probability", adversary, "identity") for adversary in ("expert", "prosecutor")
    )
    assert mechanism.posterior > prosecutor.posterior


def test_the_cells_of_boxes_reveal_all_that_their_protection_reveals(people):
    result = audited(Mondrian(k=5), people)
    assert not [r for r in result.rows if r.adversary == "expert"]
    assert any("has the same beliefs as the prosecutor" in reason for _, reason in result.not_run)


def test_an_adversary_who_knows_that_values_changed_places_is_asked():
    """Half are "f" and ill, half "m" and not; exchanged, the prosecutor is sure of the wrong value of everybody."""
    people = Table.read({"sex": list("fm") * 20, "ill": ["yes", "no"] * 20}, quasi_identifiers="sex", sensitive="ill")
    result = audited(PRAM(keep={}, matrices={"sex": {"f": {"m": 1}, "m": {"f": 1}}}), people)
    for measure in ("success_probability", "realized_success"):
        assert row(result, measure, "expert", "ill").posterior == pytest.approx(1)
    assert row(result, "realized_success", "prosecutor", "ill").posterior == 0


def test_no_page_shows_the_parameters_of_a_protection(noisy):
    assert "87654" not in noisy.to_html() + noisy.to_json("audit")


def test_a_protection_needs_the_original(people):
    release, _ = Mondrian(k=5)(people)
    with pytest.raises(unmask.UnmaskError, match="no original was given"):
        unmask.audit(release, protection=Mondrian(k=5))
    with pytest.raises(unmask.UnmaskError, match="names a release that was not given"):
        unmask.audit(release, original=people, protection={"other": Mondrian(k=5)})
