"""The laws that every attack, protection and measure keeps, ours and anybody's: `unmask check module:Class`.

A law is a function of the thing and of the ground of its domain (small problems, and how it is called there); it
returns "" where it is kept, and otherwise a sentence.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask import channels, graphs, linkage, tables
from unmask.audit import audit, earned
from unmask.catalog import domain_of, kind_of, place_of
from unmask.checks.grounds import ATTACKS, PROTECTIONS, Ground
from unmask.core.errors import UnmaskError, nearest
from unmask.core.partition import Partition, View
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.linkage import Items
from unmask.measures import Measure, realized_success

__all__ = ["Verdict", "check", "check_attack", "check_measure", "check_protection"]

WITHIN = 0.03
"""By how much the success that a belief announces may lie outside the interval of the success that comes true."""


@dataclass(frozen=True)
class Verdict:
    """Whether a law is kept, and if not, why."""

    law: str
    state: Literal["kept", "broken", "not run"]
    why: str = ""

    def __str__(self) -> str:
        return f"{self.state:8} {self.law}" + (f": {self.why}" if self.why else "")


Law = Callable[[Any, Any], str | None]


def check_attack(attack: Any, *, domain: str = "") -> tuple[Verdict, ...]:
    """Whether an attack, such as `ClassAttack()`, keeps the laws of attacks; its domain is read from its annotations.

    >>> from unmask.tables import ClassAttack
    >>> for verdict in check_attack(ClassAttack()):
    ...     print(verdict)
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
    return _checked(attack, ATTACK_LAWS, _ground(attack, domain, ATTACKS))


def check_protection(protection: Any, *, domain: str = "") -> tuple[Verdict, ...]:
    """Whether a protection keeps the laws of protections."""
    return _checked(protection, PROTECTION_LAWS, _ground(protection, domain, PROTECTIONS))


def check_measure(measure: Measure) -> tuple[Verdict, ...]:
    """Whether a measure keeps the laws of measures."""
    return _checked(measure, MEASURE_LAWS, None)


def check(thing: Any, *, domain: str = "") -> tuple[Verdict, ...]:
    """Whatever it is: a measure, or an object (or a class that is made without arguments) that attacks or protects."""
    if isinstance(thing, Measure):
        return check_measure(thing)
    try:
        made = thing() if inspect.isclass(thing) else thing
    except TypeError as error:
        raise UnmaskError(
            f"{thing.__name__} is not made without arguments ({error}); give its fields defaults"
        ) from None
    if inspect.ismodule(made) or inspect.isroutine(made) or isinstance(made, str | int | float):
        raise UnmaskError(f"{type(made).__name__} is no class of attacks or protections, and no measure")
    of_kind = check_attack if kind_of(type(made)) == "attacks" else check_protection
    return of_kind(made, domain=domain)


def _ground(thing: Any, domain: str, grounds: Mapping[str, Ground]) -> Ground:
    found = domain or domain_of("", type(thing)) or type(thing).__module__.removeprefix("unmask.").partition(".")[0]
    if found not in grounds:
        raise UnmaskError(
            f"{type(thing).__name__} does not say of which domain it is, {nearest(found, list(grounds))}; annotate its "
            "first argument, such as `release: unmask.tables.Table`, or name the domain"
        )
    return grounds[found]


def _checked(thing: Any, laws: Sequence[Law], ground: Ground | None) -> tuple[Verdict, ...]:
    posed = ground is None or ground.poses(thing)
    tried = laws if posed else [law for law in laws if law in WITHOUT_PROBLEM]
    found = [verdict for law in tried if (verdict := _verdict(law, thing, ground)) is not None]
    if not posed:
        found.append(Verdict("the other laws", "not run", "there is no problem for what its call is annotated with"))
    return tuple(found)


def _verdict(law: Law, thing: Any, ground: Ground | None) -> Verdict | None:
    """None where the law says nothing about this domain."""
    name = law.__name__.replace("_", " ")
    try:
        why = law(thing, ground)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's code is tried here
        if isinstance(error, UnmaskError) and "install" in str(error):
            return Verdict(name, "not run", str(error))
        return Verdict(name, "broken", f"{place_of(error)}: {error}")
    return None if why is None else Verdict(name, "broken" if why else "kept", why)


# --- laws of attacks and protections ---------------------------------------------------------------------------------


def says_what_it_does(thing: Any, _ground: Ground) -> str:
    """A docstring of its own, which `unmask list` shows."""
    written = type(thing).__doc__ or ""
    generated = written.startswith(f"{type(thing).__name__}(")  # by dataclass
    return "" if written and not generated else f"class {type(thing).__name__} has no docstring; write one sentence"


def repr_rebuilds_it(thing: Any, _ground: Ground) -> str:
    """`eval(repr(thing)) == thing`, so that a row can say what made it."""
    known = {name: value for domain in (tables, graphs, linkage, channels) for name, value in vars(domain).items()}
    known |= {"array": np.array, "inf": np.inf, **vars(sys.modules[type(thing).__module__])}
    try:
        again = eval(repr(thing), known)
    except (SyntaxError, NameError, TypeError):
        return f"{repr(thing)[:80]} is no call that rebuilds it; make the class a frozen dataclass"
    same = repr(again) == repr(thing) if any(True for _ in _arrays(thing)) else again == thing
    return "" if same else f"{repr(thing)[:80]} rebuilds another one"


def same_seed_same_answer(thing: Any, ground: Ground) -> str:
    """Two runs with one seed give one belief, or one release, to the bit."""
    first, second = (list(_arrays(_run(thing, ground))) for _ in range(2))
    same = len(first) == len(second) and all(map(_equal, first, second))
    return "" if same else "two runs with one seed differ; draw from the rng that is given, and from no other"


def inputs_are_left_alone(thing: Any, ground: Ground) -> str:
    """Neither the release nor the knowledge, nor the population, is changed."""
    given = ground.given()
    before = [(array, array.copy()) for array in _arrays(given)]
    _run(thing, ground, given)
    return "" if all(_equal(*pair) for pair in before) else "it changes an array that it was given; change a copy"


def _run(thing: Any, ground: Ground, given: Any = None) -> Any:
    return ground.call(thing, ground.given() if given is None else given, np.random.default_rng(0))


def belief_is_about_the_targets(attack: Any, ground: Ground) -> str:
    """A Posterior, which is valid once it is built, a Partition or a View; as many targets as the truth has."""
    scene, belief = ground.given(), _run(attack, ground)
    if not isinstance(belief, Posterior | Partition | View):
        return f"it returns a {type(belief).__name__}, expected a Posterior, a Partition or a View"
    if isinstance(belief, Posterior) and belief.n_targets != len(scene.truth(belief)):
        return f"its belief is about {belief.n_targets} targets, expected {len(scene.truth(belief))}"
    return ""


def renumbering_the_release_renumbers_the_candidates(attack: Any, ground: Ground) -> str | None:
    """The order of a release is no information, but to an attack that says `reads_order = True` of its class; one that
    says `draws = True` breaks exact draws at random, and is not asked.
    """
    if ground.moved is None or getattr(attack, "reads_order", False) or getattr(attack, "draws", False):
        return None
    scene = ground.given()
    before = _run(attack, ground, scene)
    for seed in range(3):
        moved, agrees = ground.moved(scene, np.random.default_rng(seed))
        if not agrees(before, _run(attack, ground, moved)):
            return "the release in another order gives another belief; let draws share their probability"
    return ""


def all_alike_gives_no_gain(attack: Any, ground: Ground) -> str | None:
    """Where nobody can be told apart, the release gives nothing."""
    if ground.alike is None:
        return None
    scene = ground.alike()
    belief = _run(attack, ground, scene)
    gain = audit(belief, scene.truth(belief)).row("realized_success").gain
    return "" if abs(gain) < 1e-7 else f"everybody is alike and success gains {gain:.3g}; position breaks a draw"


def another_release_gives_no_gain(attack: Any, ground: Ground) -> str | None:
    """Against a truth that has nothing to do with the release, a belief is right as often as a guess."""
    if ground.strangers is None:
        return None
    belief, rng = _run(attack, ground, ground.strangers()), np.random.default_rng(5)
    n = belief.n_candidates
    drawn = (Truth(rng.integers(0, n, belief.n_targets)) for _ in range(40))
    found = np.array([realized_success.per_target(belief, truth) for truth in drawn])
    away = abs(found.mean() - 1 / n) / max(found.std() / np.sqrt(found.size), 1e-12)
    return "" if away < 4 else f"strangers are found {found.mean():.3g} of the time, and guessing gives {1 / n:.3g}"


def announced_is_realized(attack: Any, ground: Ground) -> str | None:
    """Announced success is within 3 points of the interval of realized success; what cannot keep that has the status
    `scores` and announces nothing.
    """
    if ground.judged is None:
        return None
    for scene in ground.judged(attack):
        belief = _run(attack, ground, scene)
        if broken := word_broken(belief, scene.truth(belief)):
            return broken
    return ""


def word_broken(belief: Posterior, truth: Truth) -> str:
    """Why a belief does not keep its word about these people; "" if it does."""
    found = audit(belief, truth)
    told = {row.measure for row in found.rows} & {"success_probability", "estimation_error"}
    if belief.status == "scores":
        return f"its status is scores, and it announces {', '.join(sorted(told))}" if told else ""
    own, real = found.row("success_probability"), audit(belief, truth, drawn_from=np.inf).row("realized_success")
    low, high = (real.posterior, real.posterior) if real.low is None or real.high is None else (real.low, real.high)
    if not low - WITHIN <= own.posterior <= high + WITHIN:
        return (
            f"announced {own.posterior:.1%}, realized {real.posterior:.1%}; give it the status scores, or calibrate it"
        )
    status, why = earned(belief, truth)
    return "" if status == belief.status else why


def items_of_one_pseudonym_stay_together(attack: Any, ground: Ground) -> str | None:
    """A linker joins pseudonyms and parts none."""
    scene = ground.given()
    if not isinstance(scene.release, Items):
        return None
    code, pseudonym = _run(attack, ground).code, scene.release.partition.code
    parted = np.unique(np.stack([code, pseudonym]), axis=1).shape[1] > len(np.unique(pseudonym))
    return "items that were published under one pseudonym are in two clusters" if parted else ""


def release_is_valid(protection: Any, ground: Ground) -> str | None:
    """What a release of the domain must be: its people are those of the population, and nothing is made up."""
    return ground.fault and ground.fault(ground.given(), _run(protection, ground))


WITHOUT_PROBLEM = (says_what_it_does, repr_rebuilds_it)

ATTACK_LAWS = (
    says_what_it_does,
    repr_rebuilds_it,
    same_seed_same_answer,
    inputs_are_left_alone,
    belief_is_about_the_targets,
    renumbering_the_release_renumbers_the_candidates,
    all_alike_gives_no_gain,
    another_release_gives_no_gain,
    announced_is_realized,
    items_of_one_pseudonym_stay_together,
)

PROTECTION_LAWS = (
    says_what_it_does,
    repr_rebuilds_it,
    same_seed_same_answer,
    inputs_are_left_alone,
    release_is_valid,
)


def _equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _arrays(thing: Any) -> Iterator[NDArray[Any]]:
    """Every array in the fields of an object, and in those of what it holds."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, list | tuple):
        for one in thing:
            yield from _arrays(one)
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from _arrays(getattr(thing, field.name, None))


# --- laws of measures ------------------------------------------------------------------------------------------------

CERTAIN = Posterior.from_dense(np.eye(4))
IGNORANT = Posterior.from_dense(np.full((4, 4), 0.25))


def it_declares_itself(measure: Measure, _ground: None) -> str:
    """Name, label and meaning, by which a page calls it."""
    missing = [field for field in ("name", "label", "meaning", "unit") if not getattr(measure, field)]
    return f"it has no {' and no '.join(missing)}; say so in the declaration" if missing else ""


def values_are_in_range(measure: Measure, _ground: None) -> str:
    """Whatever is believed, and whatever is true."""
    random = Posterior.from_dense(np.random.default_rng(0).dirichlet(np.ones(4), size=4))
    for belief in (CERTAIN, IGNORANT, random):
        value, (low, high) = measure.per_target(belief, Truth([0, 1, 2, 0])), measure.range
        if value.shape != (4,):
            return f"it gives {value.shape} values for 4 targets"
        if np.any(value < low - 1e-9) or np.any(value > high + 1e-9):
            return f"its values are {value.min():g} to {value.max():g}, outside of {measure.range}"
    return ""


def certainty_is_no_worse_than_ignorance(measure: Measure, _ground: None) -> str:
    """An adversary who knows everything has no worse a value than one who knows nothing, in the declared direction."""
    truth = Truth([0, 1, 2, 3])
    knows, guesses = measure(CERTAIN, truth), measure(IGNORANT, truth)
    better = knows >= guesses if measure.direction == "high" else knows <= guesses
    said = f"certainty gives {knows:g} and ignorance {guesses:g}, yet the adversary wants it {measure.direction}"
    return "" if better else said


def names_of_candidates_do_not_matter(measure: Measure, _ground: None) -> str:
    """Candidates in another order, in the belief and in the truth, leave the values as they are."""
    table, order = np.random.default_rng(1).dirichlet(np.ones(4), size=4), np.array([2, 0, 3, 1])
    plain = measure.per_target(Posterior.from_dense(table), Truth(order))
    moved = measure.per_target(Posterior.from_dense(table[:, order]), Truth(np.arange(4)))
    return "" if np.allclose(plain, moved) else "candidates in another order give other values"


MEASURE_LAWS = (
    it_declares_itself,
    values_are_in_range,
    certainty_is_no_worse_than_ignorance,
    names_of_candidates_do_not_matter,
)
