"""Releases of the same people, crossed: against every way to give people values, and in an audit."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.cli import main
from unmask.core.errors import NotRunError, UnmaskError
from unmask.core.inference import compose
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.policy import Condition, Policy, Requirement
from unmask.reports.findings.rows import sentences
from unmask.tables import ClassAttack, Mondrian, RankSwap, Suppress, Table
from unmask.tables.attacks.intersection import IntersectionAttack
from unmask.tables.background import Background
from unmask.tables.knowledge import found_in


def _table(**columns):
    named = {name: [f"{name}{one}" for one in cells] for name, cells in columns.items()}
    known = [name for name in named if name != "ill"]
    return Table.read(named, quasi_identifiers=known, sensitive=[name for name in named if name == "ill"])


def _value(release, belief):
    column = release.column("ill")
    return compose(belief, column.codes, labels=column.levels.labels)


def _by_every_world(a, b, ill):
    """(n_people, n_values) the share of all ways to give people these values in which each has each: those in which
    every class of either release has the values that it has.
    """
    seen = [sorted(zip(classes, ill, strict=True)) for classes in (a, b)]
    worlds = np.array(
        [
            world
            for world in set(permutations(ill))
            if all(sorted(zip(own, world, strict=True)) == one for own, one in zip((a, b), seen, strict=True))
        ]
    )
    return np.stack([(worlds == value).mean(axis=0) for value in np.unique(ill)], axis=1)


def _planted(seed, n=7):
    """People of random classes, two releases of them in another order each, and their values."""
    rng = np.random.default_rng(seed)
    a, b, ill = (rng.integers(0, 3, n) for _ in range(3))
    one, other = rng.permutation(n), rng.permutation(n)
    releases = _table(a=a[one], ill=ill[one]), _table(b=b[other], ill=ill[other])
    return (a.tolist(), b.tolist(), ill.tolist()), releases, Background(_table(a=a, b=b))


def test_beliefs_are_near_the_shares_of_all_worlds():
    off, expected, announced = [], [], []
    for seed in range(40):
        columns, (one, other), known = _planted(seed)
        world = _by_every_world(*columns)
        belief = _value(one, IntersectionAttack((other,))(one, known)).to_dense()

        off.append(np.abs(belief - world).mean())
        expected.append(world.max(axis=1).mean())
        announced.append(belief.max(axis=1).mean())

    assert np.mean(off) < 0.01
    assert max(off) < 0.06
    assert np.mean(announced) == pytest.approx(np.mean(expected), abs=0.01)


def test_whose_value_only_both_releases_tell_is_certain():
    """Person 0 alone is in the first class of both, and one value is in both."""
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    one, other = _table(a=a, ill=[0, 1, 2, 3]), _table(b=b, ill=[0, 1, 2, 3])
    known = Background(_table(a=a, b=b))

    belief = IntersectionAttack((other,))(one, known)

    assert belief.to_dense() == pytest.approx(np.eye(4), abs=0.01)
    assert ClassAttack()(one, known).to_dense()[0] == pytest.approx([0.5, 0.5, 0, 0])


@pytest.mark.parametrize("seed", range(5))
def test_a_release_beside_itself_tells_no_more(seed):
    _, (one, _), known = _planted(seed, n=30)

    crossed, alone = IntersectionAttack((one,))(one, known), ClassAttack()(one, known)

    assert crossed.to_dense() == pytest.approx(alone.to_dense(), abs=1e-9)


def test_people_may_be_told_as_one_of_the_releases():
    _, (_, other), _ = _planted(0, n=30)
    alike = Table.read({"b": other["b"], "ill": other["ill"]}, quasi_identifiers="b", sensitive="ill")

    belief = IntersectionAttack((alike,))(other, Background(other))

    assert belief.to_dense() == pytest.approx(ClassAttack()(other, Background(other)).to_dense(), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_tells_nothing(seed):
    _, (one, other), known = _planted(seed, n=40)
    rng = np.random.default_rng(seed)
    turn, back = rng.permutation(40), rng.permutation(40)

    plain = IntersectionAttack((other,))(one, known).to_dense()
    turned = IntersectionAttack((other.take(back),))(one.take(turn), known).to_dense()

    assert turned == pytest.approx(plain[:, turn], abs=1e-6)


def _people(seed, n=4000, together=False):
    """Ages and zip codes, each of which makes some of eight illnesses likelier; `together`: both in one."""
    rng = np.random.default_rng(seed)
    age, zipped = rng.integers(20, 52, n), rng.integers(0, 16, n)
    by_age, by_zip = rng.normal(0, 1.5, (2, 32, 8))
    likely = by_age[age - 20] + by_zip[zipped] + rng.gumbel(size=(n, 8))
    by_both = np.where(rng.random(n) < 1 / 3, rng.integers(0, 8, n), (age // 8 + zipped // 4) % 8)
    ill = by_both if together else likely.argmax(axis=1)
    cells = {"age": age, "zip": zipped, "ill": [f"ill{one}" for one in ill]}
    return Table.read(cells, quasi_identifiers=["age", "zip"], sensitive="ill")


def _only(table, name, k, seed):
    """A release that states one of the quasi-identifiers."""
    some = replace(table, quasi_identifiers=(table.column(name),))
    return Mondrian(k=k)(some, rng=np.random.default_rng(seed))


def _told(release, origin, belief, table):
    """Announced and realized success with records, then with values."""
    truth = found_in(np.arange(table.n_rows), origin)
    value = _value(release, belief)
    place = {label: at for at, label in enumerate(value.candidate_label)}
    own = Truth([place[label] for label in table["ill"].tolist()])
    for one, right in ((belief, truth), (value, own)):
        yield success_probability.self_assessed(one)[one.observation].mean()
        yield realized_success.per_target(one, right).mean()


@pytest.mark.parametrize("n_releases", [2, 3])
def test_what_is_announced_comes_true(n_releases):
    found, alone = [], []
    for seed in range(3):
        table = _people(seed)
        made = [_only(table, "age", 10, seed), _only(table, "zip", 10, seed), Mondrian(k=20)(table)][:n_releases]
        (release, origin), others = made[0], tuple(one for one, _ in made[1:])
        known = Background(replace(table, sensitive=()))
        found.append(list(_told(release, origin, IntersectionAttack(others)(release, known), table)))
        alone.append(list(_told(release, origin, ClassAttack()(release, known), table)))
    announced, realized, value, came_true = np.mean(found, axis=0)

    assert announced == pytest.approx(realized, rel=0.1)
    assert value == pytest.approx(came_true, abs=0.02)
    assert realized > 1.3 * np.mean(alone, axis=0)[1]
    assert came_true > 0.05 + np.mean(alone, axis=0)[3]


def test_who_has_no_record_is_not_believed_to_have_one():
    table = _people(0)
    rng, dropped = np.random.default_rng(0), 200
    (one, origin), (other, _) = _only(table, "age", 10, 0), _only(table, "zip", 10, 0)
    kept = np.sort(rng.permutation(table.n_rows)[dropped:])
    belief = IntersectionAttack((other,))(one.take(kept), Background(replace(table, sensitive=())))

    assert (belief.unlisted[belief.observation]).sum() == pytest.approx(dropped, rel=0.01)
    truth = found_in(np.arange(table.n_rows), origin[kept])
    announced = success_probability.self_assessed(belief)[belief.observation].mean()
    assert announced == pytest.approx(realized_success.per_target(belief, truth).mean(), rel=0.15)


def _audited(*made, table, **more):
    names = [f"r{at}" for at in range(len(made))]
    releases = {name: one for name, (one, _) in zip(names, made, strict=True)}
    origins = {name: rows for name, (_, rows) in zip(names, made, strict=True)}
    return unmask.audit(releases, original=table, origin=origins, **more).data


def _all_columns(table, name, k):
    """A release that states one quasi-identifier, and hides the others."""
    release, origin = _only(table, name, k, 0)
    stars = {c.name: ["*"] * len(origin) for c in table.quasi_identifiers if c.name != name}
    cells = {name: release[name], **stars, "ill": release["ill"]}
    return Table.read(cells, quasi_identifiers=table.names[:2], sensitive="ill"), origin


def _heads(data, adversary, measure="realized_success"):
    return {
        (row.release, row.target): row for row in data.rows if row.adversary == adversary and row.measure == measure
    }


def test_an_audit_crosses_the_releases():
    table = _people(1)
    both = _all_columns(table, "age", 10), _all_columns(table, "zip", 10)

    data = _audited(*both, table=table, together=True)

    crossed, alone = (_heads(data, name) for name in ("crossing", "prosecutor"))
    assert set(crossed) == {(name, target) for name in ("r0", "r1") for target in ("identity", "ill")}
    assert all(row.posterior > alone[key].posterior and row.status == "model" for key, row in crossed.items())
    assert any("combines all the releases" in said for said in sentences(data))
    assert not any("attacked alone" in said for said in data.assumptions)
    place = [row.release for row in data.rows]
    assert place == sorted(place, key=["original", "r0", "r1"].index)


def test_values_that_only_both_columns_tell_refute_the_belief():
    table = _people(1, together=True)

    data = _audited(_all_columns(table, "age", 10), _all_columns(table, "zip", 10), table=table, together=True)

    assert _heads(data, "crossing")["r0", "ill"].status == "refuted"


def test_a_policy_judges_who_crosses():
    table = _people(1)
    both = _all_columns(table, "age", 10), _all_columns(table, "zip", 10)
    asked = Policy("P", (Requirement(Condition.parse("identity:success_probability.worst <= 0.02")),))
    states = {
        together: [verdict.state for verdict in _audited(*both, table=table, together=together).judged([asked])]
        for together in (False, True)
    }
    assert states == {False: ["acceptable"] * 2, True: ["not acceptable"] * 2}


def _why(data):
    return dict(data.not_run).get("Combining the releases", "")


def test_why_nobody_crosses():
    table = _people(2, n=400)
    one, other = Mondrian(k=5)(table), Mondrian(k=9)(table)
    few = other[0].take(np.arange(300)), other[1][:300]
    bare = replace(other[0], sensitive=()), other[1]

    def why(*made):
        return _why(_audited(*made, table=table, together=True))

    assert "needs the original" in _why(unmask.audit({"one": one[0], "other": other[0]}, together=True).data)
    assert "r1 has 300 rows of 400 people" in why(one, few)
    assert "no column is unchanged in all releases" in why(one, bare)
    assert "do not match their own rows" in why(one, RankSwap(share=0.3)(table, rng=np.random.default_rng(0)))
    with pytest.raises(UnmaskError, match="1 release was given"):
        why(one)


def test_releases_that_are_compared_are_attacked_alone():
    table = _people(2, n=400)

    data = _audited(Mondrian(k=5)(table), Mondrian(k=9)(table), table=table)

    assert not _heads(data, "crossing")
    assert any("attacked alone" in said and "--together" in said for said in data.assumptions)


def test_columns_that_are_not_the_same_in_all_releases_are_refused():
    _, (one, other), known = _planted(0)
    with pytest.raises(NotRunError, match="no column is unchanged in all releases"):
        IntersectionAttack((replace(other, sensitive=()),))(one, known)
    with pytest.raises(NotRunError, match="7 rows, and 6 people are known"):
        IntersectionAttack((other,))(one, Background(known.people.take(np.arange(6))))


def test_people_whose_class_was_suppressed_are_asked_about():
    table = _people(3)
    some = replace(table, quasi_identifiers=(table.column("age"), table.column("zip")))
    one, origin = Suppress(k=4)(some)
    assert 0.9 * table.n_rows < one.n_rows < table.n_rows
    data = _audited((one, origin), _all_columns(table, "zip", 10), table=table, together=True)
    rows = [_heads(data, "crossing", name)["r0", "identity"] for name in ("success_probability", "realized_success")]
    assert rows[0].posterior == pytest.approx(rows[1].posterior, rel=0.05)


def test_the_command_line_prints_it(tmp_path):
    table = _people(4, n=600)
    table.write(tmp_path / "people.csv")
    words = ["audit"]
    for name in ("age", "zip"):
        release, origin = _all_columns(table, name, 10)
        release.write(tmp_path / f"{name}.csv")
        (tmp_path / f"{name}-rows.csv").write_text("row\n" + "\n".join(map(str, origin)) + "\n")
        words += [str(tmp_path / f"{name}.csv"), "--origin", str(tmp_path / f"{name}-rows.csv")]
    words += ["-q", "age,zip", "-s", "ill", "--original", str(tmp_path / "people.csv"), "--together"]

    plain = CliRunner().invoke(main, words)
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)

    assert plain.exit_code == 0, plain.output
    assert "crossing" in plain.output
    assert {"age", "zip"} == {row["release"] for row in told["results"] if row["adversary"] == "crossing"}
