"""Laws that every attack, protection and measure keeps, plug-ins included: `unmask check module:Class`.

A law is a function of an object and of the problems of its domain. It returns "" if the law is kept, None if it does
not apply to the domain, and a sentence otherwise.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask import aggregates, channels, graphs, linkage, tables
from unmask.catalog import domain_of, kind_of, place_of
from unmask.checks.problems import ATTACKS, PROTECTIONS, Problems
from unmask.core.errors import UnmaskError, nearest
from unmask.core.partition import Partition, View
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.linkage import Items
from unmask.measures import Measure, realized_success
from unmask.results.formats import percent
from unmask.scoring import check_status, score

__all__ = ["LawResult", "check", "check_attack", "check_measure", "check_protection"]

MAX_DEVIATION = 0.03
"""Distance up to which announced success may lie outside the interval of realized success."""


@dataclass(frozen=True)
class LawResult:
    """The state of a law, and the reason if it is not kept."""

    law: str
    state: Literal["kept", "broken", "not run"]
    why: str = ""

    def __str__(self) -> str:
        return f"{self.state:8} {self.law}" + (f": {self.why}" if self.why else "")


Law = Callable[[Any, Any], str | None]


def check_attack(attack: Any, *, domain: str = "") -> tuple[LawResult, ...]:
    """Check the laws of attacks on an attack, such as `ClassAttack()`; its domain is read from its annotations.

    >>> from unmask.tables import ClassAttack
    >>> for result in check_attack(ClassAttack()):
    ...     print(result)
    kept     says what it does
    kept     repr rebuilds it
    kept     same seed same answer
    kept     inputs are left alone
    kept     belief is about the targets
    kept     renumbering the release renumbers the candidates
    kept     all alike gives no gain
    kept     another release gives no gain
    kept     announced is realized
    """
    return _check_laws(attack, ATTACK_LAWS, _find_problems(attack, domain, ATTACKS))


def check_protection(protection: Any, *, domain: str = "") -> tuple[LawResult, ...]:
    """Check the laws of protections on a protection."""
    return _check_laws(protection, PROTECTION_LAWS, _find_problems(protection, domain, PROTECTIONS))


def check_measure(measure: Measure) -> tuple[LawResult, ...]:
    """Check the laws of measures on a measure."""
    return _check_laws(measure, MEASURE_LAWS, None)


def check(thing: Any, *, domain: str = "") -> tuple[LawResult, ...]:
    """Check a measure, an attack or a protection; a class is built without arguments."""
    if isinstance(thing, Measure):
        return check_measure(thing)
    try:
        instance = thing() if inspect.isclass(thing) else thing
    except TypeError as error:
        raise UnmaskError(
            f"{thing.__name__} is not made without arguments ({error}); give its fields defaults"
        ) from None
    if inspect.ismodule(instance) or inspect.isroutine(instance) or isinstance(instance, str | int | float):
        raise UnmaskError(f"{type(instance).__name__} is not an attack, a protection or a measure")
    check_kind = check_attack if kind_of(type(instance)) == "attacks" else check_protection
    return check_kind(instance, domain=domain)


def _find_problems(thing: Any, domain: str, problems: Mapping[str, Problems]) -> Problems:
    domain = domain or domain_of("", type(thing)) or type(thing).__module__.removeprefix("unmask.").partition(".")[0]
    if domain not in problems:
        raise UnmaskError(
            f"{type(thing).__name__} does not say of which domain it is, {nearest(domain, list(problems))}; annotate "
            "its first argument, such as `release: unmask.tables.Table`, or name the domain"
        )
    return problems[domain]


def _check_laws(thing: Any, laws: Sequence[Law], problems: Problems | None) -> tuple[LawResult, ...]:
    has_problem = problems is None or problems.fit(thing)
    applicable = laws if has_problem else [law for law in laws if law in LAWS_WITHOUT_PROBLEM]
    results = [result for law in applicable if (result := _check_law(law, thing, problems)) is not None]
    if not has_problem:
        reason = "there is no problem for what its call is annotated with"
        results.append(LawResult("the other laws", "not run", reason))
    return tuple(results)


def _check_law(law: Law, thing: Any, problems: Problems | None) -> LawResult | None:
    """Return the result of a law; None if it does not apply to the domain."""
    name = law.__name__.replace("_", " ")
    try:
        reason = law(thing, problems)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a plug-in may raise anything
        if isinstance(error, UnmaskError) and "install" in str(error):
            return LawResult(name, "not run", str(error))
        return LawResult(name, "broken", f"{place_of(error)}: {error}")
    return None if reason is None else LawResult(name, "broken" if reason else "kept", reason)


# --- laws of attacks and protections ---------------------------------------------------------------------------------


def says_what_it_does(thing: Any, _problems: Problems) -> str:
    """Require a docstring, which `unmask list` shows."""
    name, docstring = type(thing).__name__, type(thing).__doc__ or ""
    is_generated = docstring.startswith(f"{name}(")  # by dataclass
    return "" if docstring and not is_generated else f"class {name} has no docstring; write one sentence"


def repr_rebuilds_it(thing: Any, _problems: Problems) -> str:
    """Require `eval(repr(thing)) == thing`, so a row can name the object that made it."""
    names = {
        name: value
        for domain in (tables, graphs, linkage, channels, aggregates)
        for name, value in vars(domain).items()
    }
    names |= {"array": np.array, "inf": np.inf, **vars(sys.modules[type(thing).__module__])}
    try:
        rebuilt = eval(repr(thing), names)
    except (SyntaxError, NameError, TypeError):
        return f"{repr(thing)[:80]} is not a call that rebuilds it; make the class a frozen dataclass"
    is_equal = repr(rebuilt) == repr(thing) if any(True for _ in _iterate_arrays(thing)) else rebuilt == thing
    return "" if is_equal else f"{repr(thing)[:80]} rebuilds another one"


def same_seed_same_answer(thing: Any, problems: Problems) -> str:
    """Require two runs with one seed to give the same belief, or the same release, to the bit."""
    first, second = (list(_iterate_arrays(_run(thing, problems))) for _ in range(2))
    is_equal = len(first) == len(second) and all(map(_are_equal, first, second))
    return "" if is_equal else "two runs with one seed differ; draw from the rng that is given, and from no other"


def inputs_are_left_alone(thing: Any, problems: Problems) -> str:
    """Require that the release, the knowledge and the population are not changed."""
    argument = problems.make_input()
    copies = [(array, array.copy()) for array in _iterate_arrays(argument)]
    _run(thing, problems, argument)
    return "" if all(_are_equal(*pair) for pair in copies) else "it changes an array that it was given; change a copy"


def _run(thing: Any, problems: Problems, argument: Any = None) -> Any:
    argument = problems.make_input() if argument is None else argument
    return problems.call(thing, argument, np.random.default_rng(0))


def belief_is_about_the_targets(attack: Any, problems: Problems) -> str:
    """Require a Posterior, a Partition or a View, with as many targets as the truth."""
    problem, belief = problems.make_input(), _run(attack, problems)
    if not isinstance(belief, Posterior | Partition | View):
        return f"it returns a {type(belief).__name__}, expected a Posterior, a Partition or a View"
    if isinstance(belief, Posterior) and belief.n_targets != len(problem.truth(belief)):
        return f"its belief is about {belief.n_targets} targets, expected {len(problem.truth(belief))}"
    return ""


def renumbering_the_release_renumbers_the_candidates(attack: Any, problems: Problems) -> str | None:
    """Require that the order of a release carries no information.

    An attack whose class says `reads_order = True` uses it. One that says `draws = True` breaks exact ties at random,
    and is not checked.
    """
    if problems.reorder is None or getattr(attack, "reads_order", False) or getattr(attack, "draws", False):
        return None
    problem = problems.make_input()
    belief = _run(attack, problems, problem)
    for seed in range(3):
        reordered, agrees = problems.reorder(problem, np.random.default_rng(seed))
        if not agrees(belief, _run(attack, problems, reordered)):
            return "the release in another order gives another belief; let draws share their probability"
    return ""


def all_alike_gives_no_gain(attack: Any, problems: Problems) -> str | None:
    """Require that a release of identical people gives no gain."""
    if problems.identical is None:
        return None
    problem = problems.identical()
    belief = _run(attack, problems, problem)
    gain = score(belief, problem.truth(belief)).row("realized_success").gain
    return "" if abs(gain) < 1e-7 else f"all people are alike and success gains {gain:.3g}; position breaks a draw"


def another_release_gives_no_gain(attack: Any, problems: Problems) -> str | None:
    """Require that a belief about unrelated people is right as often as a guess."""
    if problems.unrelated is None:
        return None
    belief, rng = _run(attack, problems, problems.unrelated()), np.random.default_rng(5)
    n = belief.n_candidates
    truths = (Truth(rng.integers(0, n, belief.n_targets)) for _ in range(40))
    success = np.array([realized_success.per_target(belief, truth) for truth in truths])
    deviation = abs(success.mean() - 1 / n) / max(success.std() / np.sqrt(success.size), 1e-12)
    if deviation < 4:
        return ""
    return f"unrelated people are found {success.mean():.3g} of the time, and guessing gives {1 / n:.3g}"


def announced_is_realized(attack: Any, problems: Problems) -> str | None:
    """Require announced success within 3 points of the interval of realized success.

    A belief that cannot keep that has the status `scores` and announces nothing.
    """
    if problems.calibration is None:
        return None
    for problem in problems.calibration(attack):
        belief = _run(attack, problems, problem)
        if fault := find_miscalibration(belief, problem.truth(belief)):
            return fault
    return ""


def find_miscalibration(belief: Posterior, truth: Truth) -> str:
    """Return how announced and realized success of these people differ; "" if they agree."""
    result = score(belief, truth)
    announcements = {row.measure for row in result.rows} & {"success_probability", "estimation_error"}
    if belief.status == "scores":
        return f"its status is scores, and it announces {', '.join(sorted(announcements))}" if announcements else ""
    announced = result.row("success_probability").posterior
    row = score(belief, truth, drawn_from=np.inf).row("realized_success")
    low, high = (row.posterior, row.posterior) if row.low is None or row.high is None else (row.low, row.high)
    if not low - MAX_DEVIATION <= announced <= high + MAX_DEVIATION:
        shares = f"announced {percent(announced, 1)}, realized {percent(row.posterior, 1)}"
        return f"{shares}; give it the status scores, or calibrate it"
    status, reason = check_status(belief, truth)
    return "" if status == belief.status else reason


def items_of_one_pseudonym_stay_together(attack: Any, problems: Problems) -> str | None:
    """Require that a linker joins pseudonyms and splits none."""
    problem = problems.make_input()
    if not isinstance(problem.release, Items):
        return None
    code, pseudonym = _run(attack, problems).code, problem.release.partition.code
    is_split = np.unique(np.stack([code, pseudonym]), axis=1).shape[1] > len(np.unique(pseudonym))
    return "items that were published under one pseudonym are in two clusters" if is_split else ""


def release_is_valid(protection: Any, problems: Problems) -> str | None:
    """Require a release about people of the population, without invented values."""
    return problems.find_fault and problems.find_fault(problems.make_input(), _run(protection, problems))


LAWS_WITHOUT_PROBLEM = (says_what_it_does, repr_rebuilds_it)

COMMON_LAWS = (*LAWS_WITHOUT_PROBLEM, same_seed_same_answer, inputs_are_left_alone)

ATTACK_LAWS = (
    *COMMON_LAWS,
    belief_is_about_the_targets,
    renumbering_the_release_renumbers_the_candidates,
    all_alike_gives_no_gain,
    another_release_gives_no_gain,
    announced_is_realized,
    items_of_one_pseudonym_stay_together,
)

PROTECTION_LAWS = (*COMMON_LAWS, release_is_valid)


def _are_equal(left: NDArray[Any], right: NDArray[Any]) -> bool:
    return np.array_equal(left, right, equal_nan=left.dtype.kind == "f")


def _iterate_arrays(thing: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays in the fields of an object, and in the objects that it contains."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, list | tuple):
        for item in thing:
            yield from _iterate_arrays(item)
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from _iterate_arrays(getattr(thing, field.name, None))


# --- laws of measures ------------------------------------------------------------------------------------------------

CERTAIN_BELIEF = Posterior.from_dense(np.eye(4))
UNIFORM_BELIEF = Posterior.from_dense(np.full((4, 4), 0.25))


def it_declares_itself(measure: Measure, _problems: None) -> str:
    """Require name, label, meaning and unit, which pages print."""
    missing = [field for field in ("name", "label", "meaning", "unit") if not getattr(measure, field)]
    return f"it has no {' and no '.join(missing)}; say so in the declaration" if missing else ""


def values_are_in_range(measure: Measure, _problems: None) -> str:
    """Require values in the declared range for any belief and truth."""
    random = Posterior.from_dense(np.random.default_rng(0).dirichlet(np.ones(4), size=4))
    for belief in (CERTAIN_BELIEF, UNIFORM_BELIEF, random):
        value, (low, high) = measure.per_target(belief, Truth([0, 1, 2, 0])), measure.range
        if value.shape != (4,):
            return f"it gives {value.shape} values for 4 targets"
        if np.any(value < low - 1e-9) or np.any(value > high + 1e-9):
            return f"its values are {value.min():g} to {value.max():g}, outside of {measure.range}"
    return ""


def certainty_is_no_worse_than_ignorance(measure: Measure, _problems: None) -> str:
    """Require that certainty is at least as good as ignorance in the declared direction."""
    truth = Truth([0, 1, 2, 3])
    certain, uniform = measure(CERTAIN_BELIEF, truth), measure(UNIFORM_BELIEF, truth)
    if certain >= uniform if measure.direction == "high" else certain <= uniform:
        return ""
    return f"certainty gives {certain:g} and ignorance {uniform:g}, yet the adversary wants it {measure.direction}"


def names_of_candidates_do_not_matter(measure: Measure, _problems: None) -> str:
    """Require the same values for candidates in another order."""
    table, order = np.random.default_rng(1).dirichlet(np.ones(4), size=4), np.array([2, 0, 3, 1])
    original = measure.per_target(Posterior.from_dense(table), Truth(order))
    reordered = measure.per_target(Posterior.from_dense(table[:, order]), Truth(np.arange(4)))
    return "" if np.allclose(original, reordered) else "candidates in another order give other values"


MEASURE_LAWS = (
    it_declares_itself,
    values_are_in_range,
    certainty_is_no_worse_than_ignorance,
    names_of_candidates_do_not_matter,
)
