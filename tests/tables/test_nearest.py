"""Releases whose cells were moved: people do not fit their own rows, and the nearest ones are theirs, by hand, too."""

import numpy as np
import pytest

import unmask
from unmask.tables import AddNoise, Mondrian, Table


def _people(n=300, *, noise_scale=0.0, keep=(), seed=0):
    """People and the same after their numbers were moved by up to so much of their range, in another order."""
    rng = np.random.default_rng(seed)
    cells = {
        "age": rng.integers(20, 80, n),
        "income": rng.integers(20_000, 90_000, n),
        "debt": rng.integers(0, 9_000, n),
    }
    ill = rng.integers(0, 5, n)
    origin = rng.permutation(n)
    away = {
        name: (column + rng.uniform(-noise_scale, noise_scale, n) * np.ptp(column)).round().astype(int)[origin]
        for name, column in cells.items()
    }
    roles = {"quasi_identifiers": [name for name in cells if name not in keep], "keep": list(keep), "sensitive": "ill"}
    tables = [
        Table.read({name: list(map(str, column.tolist())) for name, column in cells_of_table.items()}, **roles)
        for cells_of_table in ({**cells, "ill": ill}, {**away, "ill": ill[origin]})
    ]
    return *tables, origin


def _row_of(result, adversary, measure, target="identity"):
    rows = [row for row in result.rows if (row.release, row.adversary, row.target) == ("release", adversary, target)]
    return {row.measure: row for row in rows}.get(measure)


def _nearest_by_hand(original, release, origin):
    """Compute how often a nearest row is the person's, ties shared."""
    names = original.names[:3]
    first, second = (
        np.array([[float(cell) for cell in table[name]] for name in names]).T for table in (original, release)
    )
    span = np.ptp(second, axis=0)
    is_right = []
    for number, person in enumerate(first):
        far = np.minimum(np.abs(second - person) / span, 1).sum(axis=1)
        nearest = np.flatnonzero(far <= far.min() + 1e-9)
        is_right.append(np.mean(origin[nearest] == number))
    return np.array(is_right)


@pytest.mark.parametrize("keep", [(), ("income",), ("income", "debt")])
def test_the_nearest_row_finds_people_whose_numbers_were_perturbed_a_little(keep):
    original, release, origin = _people(noise_scale=0.002, keep=keep)

    result = unmask.audit(release, original=original, origin=origin, policy="identity:success_probability.worst <= 0.5")

    by_hand = _nearest_by_hand(original, release, origin).mean()
    announced, realized = (_row_of(result, "matcher", name) for name in ("success_probability", "realized_success"))
    assert by_hand > 0.9
    assert realized.posterior == pytest.approx(by_hand, abs=0.03)  # of half of the people
    assert announced.posterior == pytest.approx(realized.posterior, abs=0.05)
    assert announced.status == "model"
    assert "do not match their own row, by" in announced.note
    assert result.verdicts[0].state == "not acceptable"
    assert _row_of(result, "matcher", "realized_success", "ill").posterior > 0.85


def test_the_prosecutor_alone_would_have_called_it_safe():
    original, release, origin = _people(noise_scale=0.002)
    result = unmask.audit(release, original=original, origin=origin)
    assert _row_of(result, "prosecutor", "realized_success").posterior < 0.05


def test_announced_success_falls_with_realized_success():
    original, release, origin = _people(noise_scale=0.5, n=400)
    result = unmask.audit(release, original=original, origin=origin)
    announced, realized = (_row_of(result, "matcher", name) for name in ("success_probability", "realized_success"))
    assert realized.posterior < 0.1
    assert announced.posterior < 0.1
    assert announced.status == "model"


def test_the_nearest_row_is_not_attacked_if_people_fit_their_rows_or_the_protection_is_known():
    original, release, origin = _people()
    plain = unmask.audit(release, original=original, origin=origin)
    boxes_release, rows = Mondrian(k=5)(original)
    boxes = unmask.audit(boxes_release, original=original, origin=rows)
    noise = AddNoise(sd={"age": 0.5, "income": 50, "debt": 9})
    noisy, whose_row = noise(original, rng=np.random.default_rng(2))  # by which somebody is surer than numbers can say
    result = unmask.audit(noisy, original=original, origin=whose_row, protection=noise)
    for outcome in (plain, boxes, result):
        assert _row_of(outcome, "matcher", "realized_success") is None


def test_a_row_that_says_anything_of_a_missing_cell_was_not_moved():
    rng = np.random.default_rng(0)
    cells = {"age": [str(age) if age > 25 else "" for age in rng.integers(20, 80, 200)], "sex": list("fm" * 100)}
    original = Table.read(cells, quasi_identifiers=["age", "sex"])
    release, origin = Mondrian(k=10)(original)
    assert "*" in release["age"].tolist()

    result = unmask.audit(release, original=original, origin=origin)

    assert _row_of(result, "matcher", "realized_success") is None


class Untold:
    """A protection that says nothing of itself."""

    def __call__(self, table, *, rng=None):
        return AddNoise(sd={"age": 0.5, "income": 50, "debt": 9})(table, rng=rng)


def test_a_protection_that_says_nothing_of_itself_leaves_the_nearest_row():
    original, _, _ = _people()
    release, origin = Untold()(original, rng=np.random.default_rng(0))
    result = unmask.audit(release, original=original, origin=origin, protection=Untold())
    assert _row_of(result, "matcher", "realized_success").posterior > 0.9


def test_few_people_are_compared_with_many_rows(monkeypatch):
    monkeypatch.setattr("unmask.tables.audit.perturbed.MAX_COMPARED_PAIRS", 60 * 300)
    original, release, origin = _people(noise_scale=0.002)
    result = unmask.audit(release, original=original, origin=origin)
    assert _row_of(result, "matcher", "realized_success").n == 60


def test_large_releases_say_that_the_nearest_row_is_not_looked_for(monkeypatch):
    monkeypatch.setattr("unmask.tables.audit.perturbed.MAX_ROWS", 100)
    original, release, origin = _people(noise_scale=0.002)
    result = unmask.audit(release, original=original, origin=origin)
    assert [
        reason
        for analysis, reason in result.not_run
        if analysis == "The nearest row of release" and "--protection" in reason
    ]
