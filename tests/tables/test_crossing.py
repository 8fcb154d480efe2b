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
from unmask.findings.sentences import sentences
from unmask.measures import realized_success, success_probability
from unmask.policy import Condition, Policy, Requirement, judge_result
from unmask.tables import ClassAttack, Mondrian, RankSwap, Suppress, Table
from unmask.tables.attacks.intersection import IntersectionAttack
from unmask.tables.background import Background
from unmask.tables.knowledge import found_in


def _table(**columns):
    labels = {name: [f"{name}{cell}" for cell in cells] for name, cells in columns.items()}
    quasi_identifiers = [name for name in labels if name != "ill"]
    return Table.read(labels, quasi_identifiers=quasi_identifiers, sensitive=[name for name in labels if name == "ill"])


def _value(release, belief):
    column = release.column("ill")
    return compose(belief, column.codes, labels=column.levels.labels)


def _by_every_world(a, b, ill):
    """(n_people, n_values) the share of all ways to give people these values in which each has each: those in which
    every class of either release has the values that it has.
    """
    observed = [sorted(zip(classes, ill, strict=True)) for classes in (a, b)]
    worlds = np.array(
        [
            world
            for world in set(permutations(ill))
            if all(
                sorted(zip(classes_of_world, world, strict=True)) == classes_seen
                for classes_of_world, classes_seen in zip((a, b), observed, strict=True)
            )
        ]
    )
    return np.stack([(worlds == value).mean(axis=0) for value in np.unique(ill)], axis=1)


def _planted(seed, n=7):
    """People of random classes, two releases of them in another order each, and their values."""
    rng = np.random.default_rng(seed)
    a, b, ill = (rng.integers(0, 3, n) for _ in range(3))
    first, second = rng.permutation(n), rng.permutation(n)
    releases = _table(a=a[first], ill=ill[first]), _table(b=b[second], ill=ill[second])
    return (a.tolist(), b.tolist(), ill.tolist()), releases, Background(_table(a=a, b=b))


def test_beliefs_are_near_the_shares_of_all_worlds():
    deviations, expected, announced = [], [], []
    for seed in range(40):
        columns, (first, second), background = _planted(seed)
        world = _by_every_world(*columns)
        belief = _value(first, IntersectionAttack((second,))(first, background)).to_dense()

        deviations.append(np.abs(belief - world).mean())
        expected.append(world.max(axis=1).mean())
        announced.append(belief.max(axis=1).mean())

    assert np.mean(deviations) < 0.01
    assert max(deviations) < 0.06
    assert np.mean(announced) == pytest.approx(np.mean(expected), abs=0.01)


def test_a_value_that_only_both_releases_together_reveal_is_certain():
    """Person 0 alone is in the first class of both, and one value is in both."""
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    first, second = _table(a=a, ill=[0, 1, 2, 3]), _table(b=b, ill=[0, 1, 2, 3])
    background = Background(_table(a=a, b=b))

    belief = IntersectionAttack((second,))(first, background)

    assert belief.to_dense() == pytest.approx(np.eye(4), abs=0.01)
    assert ClassAttack()(first, background).to_dense()[0] == pytest.approx([0.5, 0.5, 0, 0])


@pytest.mark.parametrize("seed", range(5))
def test_a_release_next_to_itself_reveals_no_more(seed):
    _, (release, _), background = _planted(seed, n=30)

    crossed, single = IntersectionAttack((release,))(release, background), ClassAttack()(release, background)

    assert crossed.to_dense() == pytest.approx(single.to_dense(), abs=1e-9)


def test_people_may_be_described_as_one_of_the_releases():
    _, (_, second), _ = _planted(0, n=30)
    alike = Table.read({"b": second["b"], "ill": second["ill"]}, quasi_identifiers="b", sensitive="ill")

    belief = IntersectionAttack((alike,))(second, Background(second))

    assert belief.to_dense() == pytest.approx(ClassAttack()(second, Background(second)).to_dense(), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_tells_nothing(seed):
    _, (first, second), background = _planted(seed, n=40)
    rng = np.random.default_rng(seed)
    turn, back = rng.permutation(40), rng.permutation(40)

    plain = IntersectionAttack((second,))(first, background).to_dense()
    turned = IntersectionAttack((second.take(back),))(first.take(turn), background).to_dense()

    assert turned == pytest.approx(plain[:, turn], abs=1e-6)


def _people(seed, n=4000, combined=False):
    """Ages and zip codes, each of which makes some of eight illnesses likelier; `together`: both in one."""
    rng = np.random.default_rng(seed)
    age, zipped = rng.integers(20, 52, n), rng.integers(0, 16, n)
    by_age, by_zip = rng.normal(0, 1.5, (2, 32, 8))
    likely = by_age[age - 20] + by_zip[zipped] + rng.gumbel(size=(n, 8))
    by_both = np.where(rng.random(n) < 1 / 3, rng.integers(0, 8, n), (age // 8 + zipped // 4) % 8)
    ill = by_both if combined else likely.argmax(axis=1)
    cells = {"age": age, "zip": zipped, "ill": [f"ill{value}" for value in ill]}
    return Table.read(cells, quasi_identifiers=["age", "zip"], sensitive="ill")


def _only(table, name, k, seed):
    """A release that states one of the quasi-identifiers."""
    subset = replace(table, quasi_identifiers=(table.column(name),))
    return Mondrian(k=k)(subset, rng=np.random.default_rng(seed))


def announced_and_realized(release, origin, belief, table):
    """Announced and realized success with records, then with values."""
    truth = found_in(np.arange(table.n_rows), origin)
    value = _value(release, belief)
    place = {label: index for index, label in enumerate(value.candidate_label)}
    own_truth = Truth([place[label] for label in table["ill"].tolist()])
    for beliefs, truth_of_beliefs in ((belief, truth), (value, own_truth)):
        yield success_probability.self_assessed(beliefs)[beliefs.observation].mean()
        yield realized_success.per_target(beliefs, truth_of_beliefs).mean()


@pytest.mark.parametrize("n_releases", [2, 3])
def test_announced_equals_realized(n_releases):
    crossed_pairs, single_pairs = [], []
    for seed in range(3):
        table = _people(seed)
        released = [_only(table, "age", 10, seed), _only(table, "zip", 10, seed), Mondrian(k=20)(table)][:n_releases]
        (release, origin), other_releases = released[0], tuple(release for release, _ in released[1:])
        background = Background(replace(table, sensitive=()))
        crossed_pairs.append(
            list(
                announced_and_realized(release, origin, IntersectionAttack(other_releases)(release, background), table)
            )
        )
        single_pairs.append(list(announced_and_realized(release, origin, ClassAttack()(release, background), table)))
    announced, realized, value, came_true = np.mean(crossed_pairs, axis=0)

    assert announced == pytest.approx(realized, rel=0.1)
    assert value == pytest.approx(came_true, abs=0.02)
    assert realized > 1.3 * np.mean(single_pairs, axis=0)[1]
    assert came_true > 0.05 + np.mean(single_pairs, axis=0)[3]


def test_people_without_a_record_are_not_believed_to_have_one():
    table = _people(0)
    rng, dropped = np.random.default_rng(0), 200
    (first, origin), (second, _) = _only(table, "age", 10, 0), _only(table, "zip", 10, 0)
    rows = np.sort(rng.permutation(table.n_rows)[dropped:])
    belief = IntersectionAttack((second,))(first.take(rows), Background(replace(table, sensitive=())))

    assert (belief.unlisted[belief.observation]).sum() == pytest.approx(dropped, rel=0.01)
    truth = found_in(np.arange(table.n_rows), origin[rows])
    announced = success_probability.self_assessed(belief)[belief.observation].mean()
    assert announced == pytest.approx(realized_success.per_target(belief, truth).mean(), rel=0.15)


def _audited(*released, table, **options):
    names = [f"r{index}" for index in range(len(released))]
    releases = {name: release for name, (release, _) in zip(names, released, strict=True)}
    origins = {name: rows for name, (_, rows) in zip(names, released, strict=True)}
    return unmask.audit(releases, original=table, origin=origins, **options)


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
    released = _all_columns(table, "age", 10), _all_columns(table, "zip", 10)

    data = _audited(*released, table=table, together=True)

    crossed, single = (_heads(data, name) for name in ("collector", "prosecutor"))
    assert set(crossed) == {(name, target) for name in ("r0", "r1") for target in ("identity", "ill")}
    assert all(row.posterior > single[key].posterior and row.status == "model" for key, row in crossed.items())
    assert any("combines all the releases" in sentence for sentence in sentences(data))
    assert not any("attacked alone" in assumption for assumption in data.assumptions)
    place = [row.release for row in data.rows]
    assert place == sorted(place, key=["original", "r0", "r1"].index)


def test_values_that_only_both_columns_tell_refute_the_belief():
    table = _people(1, combined=True)

    data = _audited(_all_columns(table, "age", 10), _all_columns(table, "zip", 10), table=table, together=True)

    assert _heads(data, "collector")["r0", "ill"].status == "refuted"


def test_a_policy_judges_who_crosses():
    table = _people(1)
    released = _all_columns(table, "age", 10), _all_columns(table, "zip", 10)
    policy = Policy("P", (Requirement(Condition.parse("identity:success_probability.worst <= 0.02")),))
    states = {
        is_joint: [
            verdict.state
            for verdict in judge_result(_audited(*released, table=table, together=is_joint), [policy]).verdicts
        ]
        for is_joint in (False, True)
    }
    assert states == {False: ["acceptable"] * 2, True: ["not acceptable"] * 2}


def _reason_not_run(data):
    return dict(data.not_run).get("Combining the releases", "")


def test_reasons_not_to_combine_releases():
    table = _people(2, n=400)
    first, second = Mondrian(k=5)(table), Mondrian(k=9)(table)
    small = second[0].take(np.arange(300)), second[1][:300]
    bare = replace(second[0], sensitive=()), second[1]

    def reason_not_run(*released):
        return _reason_not_run(_audited(*released, table=table, together=True))

    assert "needs the original" in _reason_not_run(unmask.audit({"one": first[0], "other": second[0]}, together=True))
    assert "r1 has 300 rows of 400 people" in reason_not_run(first, small)
    assert "no column is unchanged in all releases" in reason_not_run(first, bare)
    assert "do not match their own rows" in reason_not_run(
        first, RankSwap(share=0.3)(table, rng=np.random.default_rng(0))
    )
    with pytest.raises(UnmaskError, match="1 release was given"):
        reason_not_run(first)


def test_releases_that_are_compared_are_attacked_alone():
    table = _people(2, n=400)

    data = _audited(Mondrian(k=5)(table), Mondrian(k=9)(table), table=table)

    assert not _heads(data, "collector")
    assert any("attacked alone" in assumption and "--together" in assumption for assumption in data.assumptions)


def test_columns_that_are_not_the_same_in_all_releases_are_refused():
    _, (first, second), background = _planted(0)
    with pytest.raises(NotRunError, match="no column is unchanged in all releases"):
        IntersectionAttack((replace(second, sensitive=()),))(first, background)
    with pytest.raises(NotRunError, match="7 rows, and 6 people are known"):
        IntersectionAttack((second,))(first, Background(background.people.take(np.arange(6))))


def test_people_whose_class_was_suppressed_are_asked_about():
    table = _people(3)
    two_columns = replace(table, quasi_identifiers=(table.column("age"), table.column("zip")))
    release, origin = Suppress(k=4)(two_columns)
    assert 0.9 * table.n_rows < release.n_rows < table.n_rows
    data = _audited((release, origin), _all_columns(table, "zip", 10), table=table, together=True)
    rows = [_heads(data, "collector", name)["r0", "identity"] for name in ("success_probability", "realized_success")]
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
    data = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)

    assert plain.exit_code == 0, plain.output
    assert "collector" in plain.output
    assert {"age", "zip"} == {row["release"] for row in data["results"] if row["adversary"] == "collector"}
