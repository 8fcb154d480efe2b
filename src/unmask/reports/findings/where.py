"""Where the risk of a table sits, in a sentence for each section: values found, columns, steps, classes, people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.facts import Contribution, Count
from unmask.reports.data import APART, LIMITS, ORDER, ORIGINAL, Scope
from unmask.reports.facts.tables import ClassRisk, Distribution, Step, ValueRisk
from unmask.reports.words import IDENTITY
from unmask.results.formats import SPACE, number, percent
from unmask.results.words import listed, plural, release_name


def where_findings(scope: Scope) -> Iterator[str]:
    """The sentences of all sections that have something to say."""
    yield from filter(
        None, (values_finding(scope), near_finding(scope), columns_finding(scope), classes_finding(scope))
    )


def values_finding(scope: Scope) -> str:
    """The secret that most people are found to have; where nobody is found, the one that comes nearest."""
    secrets = [one for one in scope.data.values if one.secret]
    if not secrets:
        return ""
    found = [one for one in secrets if one.people]
    best = max(found, key=_many) if found else max(secrets, key=lambda one: one.highest)
    whose = f"{_named(best.value)} of {best.target}, which {percent(best.prior)} of people have"
    where = _from(best.release, scope)
    if not found:
        who = "nobody" if where else "Nobody"
        nearest = f"nearest comes {whose}, and nobody with more than {percent(best.highest)}"
        return f"{where}{who} is found to have a value of {best.target} but the commonest; {nearest}."
    right = _right(best)
    many = counted(best.people)
    return (
        f"{where}{many if where else many[0].upper() + many[1:]} of {best.n:,} people are found to have {whose}{right}."
    )


def near_finding(scope: Scope) -> str:
    """How often the class of a person tells a number of theirs within 10 %, of the release that tells most."""
    told = {
        name: (share, values["near_prior"], values["near_of"])
        for name, values in scope.data.criteria.items()
        if name != ORIGINAL and isinstance(share := values.get("near_average"), float)
    }
    if not told:
        return ""
    release = max(told, key=lambda name: told[name][0])
    share, before, column = told[release]
    where = _from(release, scope)
    return (
        f"{where}{'who' if where else 'Who'} knows the class of a person guesses their {column} within 10{SPACE}% for "
        f"{percent(share)} of people; the numbers of the table alone give {percent(float(str(before)))}."
    )


def _many(one: ValueRisk) -> tuple[bool, Count, float]:
    return isinstance(one.people, int), one.people if isinstance(one.people, int) else 0, one.highest


def _right(one: ValueRisk) -> str:
    if one.right is not None:
        return f"; {percent(one.right, 0)} of those found do"
    return "" if one.believed is None else f"; {percent(one.believed, 0)} of those found should"


def _named(value: str) -> str:
    return f"value {value}" if value.startswith("no. ") else value


def columns_finding(scope: Scope) -> str:
    """The column that gives most away, and the step that buys most for its cost."""
    return " ".join(filter(None, (given_finding(scope), step_finding(scope))))


def given_finding(scope: Scope) -> str:
    """By target the column that accounts for most, of the first table of which it is known."""
    for name, given in scope.data.contributions.items():
        told = []
        for target in dict.fromkeys(one.target for one in given):
            share = shares(given, target)
            if share:
                best = max(share, key=lambda column: share[column])
                told.append((best, f"{percent(share[best], 0)} of what {_does(target)}"))
        if told:
            of = "the original" if name == ORIGINAL else release_name(name)
            columns = {column: [part for other, part in told if other == column] for column, _ in told}
            return f"{'; '.join(f'{column} gives {listed(own)}' for column, own in columns.items())}, in {of}."
    return ""


def _does(target: str) -> str:
    return "re-identifies people" if target == IDENTITY else f"tells their {target}"


def shares(given: tuple[Contribution, ...], target: str) -> Mapping[str, float]:
    """Column -> the share of the whole gain that it accounts for; none where nothing is gained."""
    own = {one.column: one.shapley for one in given if one.target == target}
    whole = sum(own.values())
    return {column: value / whole for column, value in own.items()} if whole > 0 else {}


def step_finding(scope: Scope) -> str:
    """The step that lowers re-identification most for its cost; of values where nobody is re-identified."""
    steps = [one for one in scope.data.steps if one.target == IDENTITY] or list(scope.data.steps)
    useful = [one for one in steps if one.success_before - one.success > 0.00005]
    if not useful:
        return "No step of a single column lowers the risk." if steps else ""
    best = max(useful, key=_bought)
    done = "re-identification" if best.target == IDENTITY else f"inference of {best.target}"
    cost = f"{number(100 * (best.utility_before - best.utility), 1)}{SPACE}points of utility"
    return (
        f"The step that buys most is {best.column}, {step_words(best)}: {done} falls from "
        f"{percent(best.success_before)} to {percent(best.success)}, for {cost}."
    )


def _bought(one: Step) -> float:
    """Points of success for a point of utility; what costs nothing first."""
    return (one.success_before - one.success) / max(one.utility_before - one.utility, 1e-6)


def step_words(one: Step) -> str:
    """What a step does, in words."""
    if isinstance(one.level, str):
        return "left out" if one.level == "*" else f"in {one.level}s"
    if one.ladder == "code":
        return f"{plural(int(one.level), 'character')} hidden"
    return f"to level {one.level:g}" if one.ladder == "hierarchy" else f"in steps of {number(one.level)}"


def classes_finding(scope: Scope) -> str:
    """The class that is farthest above the limit of any target."""
    if not scope.data.classes:
        return ""
    best = max(scope.data.classes, key=_beyond)
    risk, where = percent(best.probability), _from(best.release, scope)
    if scope.data.least > 1:
        where += f"{'of' if where else 'Of'} classes of at least {scope.data.least:,} people, "
    if best.target == IDENTITY:
        what = f"each is re-identified with up to {risk}"
    else:
        what = f"each is believed to have {_named(best.value)} of {best.target} with up to {risk}"
    whose = f"{where}the" if where else "The"
    return f"{whose} {best.people:,} people at row {best.row} of the release are most at risk: {what}."


def _beyond(one: ClassRisk) -> tuple[float, int]:
    return one.probability / LIMITS[IDENTITY if one.target == IDENTITY else "value"], one.people


def people_finding(scope: Scope) -> str:
    """How many people are above the limits, of the release and the adversary who has most of them, by target."""
    told = []
    for target in scope.targets:
        spread = [one for one in scope.data.distribution if one.target == target and one.release in scope.protected]
        limit = LIMITS[IDENTITY if target == IDENTITY else "value"]
        spread = [one for one in spread if limit in one.above and one.adversary not in {*APART, ORDER}]
        if spread:
            most = max(spread, key=lambda one: _number(one, limit))
            told.append(_above(most, limit))
    said = "; ".join(told)
    return f"{said[0].upper()}{said[1:]}." if told else ""


def _number(one: Distribution, limit: float) -> float:
    above = one.above[limit]
    return above if isinstance(above, int) else 0.5


def _above(one: Distribution, limit: float) -> str:
    many = f"{counted(one.above[limit])} of {one.people:,} people"
    if one.target == IDENTITY:
        return f"{many} are re-identified with more than {percent(limit, 0)}"
    return f"{many} are found to have a value of {one.target} that is not the commonest"


def counted(count: Count) -> str:
    """A count of people, which may be "fewer than 10"."""
    return f"{count:,}" if isinstance(count, int) else count


def _from(release: str, scope: Scope) -> str:
    return f"From {release_name(release)}, " if len(scope.protected) > 1 else ""
