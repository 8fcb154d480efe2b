"""Shadow runs recover what is known of a mechanism that is simulated, and find nothing where there is nothing."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from unmask import Truth, UnmaskError
from unmask.measures.membership import evaluate_membership
from unmask.tables import Background, ClosestRecord, Identity, ShadowMembership, Table
from unmask.tables.attacks.membership import belief_from_scores


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 12, n) for name in "abc"} | {"number": np.arange(n)}
    return Table.read(columns, quasi_identifiers=tuple(columns))


@dataclass(frozen=True)
class Resampled:
    """Rows drawn with replacement."""

    def __call__(self, table, *, rng=None):
        rows = rng.choice(table.n_rows, table.n_rows)
        return table.take(rows), rows


@dataclass(frozen=True)
class Deaf:
    """A release that has nothing to do with the table."""

    def __call__(self, table, *, rng=None):
        columns = [
            replace(column, codes=rng.integers(0, 12, table.n_rows).astype(np.int32)) for column in table.columns
        ]
        return replace(table, quasi_identifiers=tuple(columns)), np.full(table.n_rows, -1)


@dataclass(frozen=True)
class Noisy:
    """A score that is N(3 + 2 [the person is in the release], 2^2) for everybody; it keeps what it gave last."""

    options_given: dict = field(default_factory=dict)

    def __call__(self, release, knowledge=None, *, rng=None):
        inside = np.isin(knowledge.people["number"], release["number"])
        self.options_given["last"] = rng.normal(3.0 + 2.0 * inside, 2.0)
        return belief_from_scores(self.options_given["last"], np.arange(len(inside)), attack_name=repr(self))


def attacked(protection, *, n=300, targets=120, seed=0, **options):
    """The belief, and who is in: one half of the targets."""
    table, rng = people(4 * n), np.random.default_rng(seed)
    targets_known = table.take(slice(0, targets))
    inside = np.arange(targets) < targets // 2
    members = table.take(np.concatenate([np.arange(targets // 2), np.arange(n, 2 * n - targets // 2)]))
    release, _ = protection(members, rng=rng)
    attack = ShadowMembership(protection, **options)
    return attack(release, Background(targets_known, table.take(slice(2 * n, None))), rng=rng), inside


def test_the_value_of_a_score_is_recovered():
    """log L(s) = (s - 4) / 2 for N(5, 4) against N(3, 4)."""
    noisy = Noisy()
    belief, _ = attacked(Identity(), scores=(noisy,), shadows=400)
    expected = 1 / (1 + np.exp(-(noisy.options_given["last"] - 4) / 2))
    assert belief.status == "calibrated"
    assert belief.to_dense()[:, 0] == pytest.approx(expected, abs=0.12)
    assert np.abs(belief.to_dense()[:, 0] - expected).mean() < 0.04


def test_a_member_of_a_resampled_table_is_found():
    belief, inside = attacked(Resampled(), shadows=60)
    assert belief.status == "calibrated"
    assert belief.candidate_label == ("in", "out")
    assert evaluate_membership(belief, Truth(np.where(inside, 0, 1))).rows[0].posterior > 0.7


def test_a_release_that_says_nothing_is_not_believed():
    belief, _ = attacked(Deaf(), shadows=60)
    assert np.abs(belief.to_dense() - 0.5).max() < 0.15
    assert np.abs(belief.to_dense() - 0.5).mean() < 0.05


def test_few_shadows_announce_nothing():
    belief, _ = attacked(Resampled(), shadows=20, scores=[ClosestRecord()])
    assert belief.status == "scores"
    with pytest.raises(UnmaskError, match="expected at least 8"):
        ShadowMembership(Identity(), shadows=3)


def test_shadow_tables_are_as_large_as_the_release():
    table = people(50)
    with pytest.raises(UnmaskError, match="give more people or fewer targets"):
        ShadowMembership(Identity())(table.take(slice(0, 10)), Background(table.take(slice(10, 40)), table))
