"""The channel that leaves the adversary the largest error within a budget of distortion, by linear programming."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Bools, Floats, probabilities
from unmask.channels.channel import Channel
from unmask.channels.design.answers import Answers, among_candidates
from unmask.channels.design.closed_form import constant_risk_channel
from unmask.channels.design.design_lp import PRECISION, Program, Solved, risks, solve_by_cuts, solve_whole
from unmask.channels.design.floor import raise_floor, without_crumbs
from unmask.channels.design.lagrangian_curve import costs, mutual_information
from unmask.channels.design.rounding import hold, meets, tightened
from unmask.channels.design.ties import least_distortion, least_leakage
from unmask.core.errors import FailedError, UnmaskError
from unmask.measures.losses import Loss, LossName, as_matrix
from unmask.ranges import Range

Method = Literal["auto", "full", "cuts"]
Objective = Literal["average", "worst"]

LARGEST_WHOLE = 60**3
"""Entries n_answers * n * m above which the program is solved by cutting planes: they are faster from there on."""

SETTLED = 1e-6
"""What answers not yet thought of may lower a risk by, as a share of the largest loss."""

MOST_ANSWERINGS = 40
"""Times that answers are added before what they would still change is left to the gap; three to ten are usual."""

ROUNDED = 1e-9
"""A budget may be the least that is feasible, rounded; losses and distortions are at most 1 in a program."""

_ANY_RATIO = -math.log(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Design:
    """A channel found by `optimal_mechanism`, and what it does.

    channel    : p(y given x) with the prior
    privacy    : sum_y p(y) min_a E[L(a, X) given y], the adversary's expected loss, in units of L
    worst      : min of the same over the outputs of positive probability
    distortion : E d(X, Y)
    leakage    : I(X;Y) in nats
    method     : "closed form", "full" or "cuts"
    gap        : the largest average privacy within the constraints is at most privacy + gap. Where the worst case comes
                 first, the constraints include the floor that was reached.
    """

    channel: Channel
    privacy: float
    worst: float
    distortion: float
    leakage: float
    method: str
    gap: float


def optimal_mechanism(
    prior: ArrayLike,
    privacy_loss: Loss,
    distortion: ArrayLike,
    budget: Annotated[float, Range(0)],
    *,
    coordinates: ArrayLike | None = None,
    objective: Objective = "average",
    worst_case: Annotated[float, Range(0)] | None = None,
    epsilon: Annotated[float, Range(0, above=True)] | None = None,
    delta: Annotated[float, Range(0, above=True)] | None = None,
    method: Method = "auto",
) -> Design:
    """The channel of expected distortion at most `budget` that leaves the adversary the largest expected loss.

    prior        : (n,) p(x)
    privacy_loss : L(a, x), what the adversary loses by answering a when the truth is x: a name, as in
                   `unmask.measures.losses.decision_problem`, whose adversary may answer anything that the loss allows;
                   or (n_answers, n), which restricts the answers to its rows
    coordinates  : (n,) or (n, n_dimensions), for a name that needs them
    distortion   : (n, m) d(x, y), what the user loses by y being shown in the place of x
    budget       : largest expected distortion. E d(X, Y)
    objective    : "average": the largest average privacy and, among the channels that reach it, the largest worst case
                   (the average alone leaves a great choice of channels, some of which show the truth now and then);
                   "worst": the largest privacy given each output and, among these, the largest average. Among the
                   channels that reach both, the least distortion and then the least leakage I(X;Y)
    worst_case   : least error of the adversary at every output
    epsilon      : largest epsilon of local privacy. p(y given x) <= e^epsilon p(y given x') for all x, x', y
    delta        : largest change of any belief, in nats. |ln p(x given y) / p(x)| <= delta wherever p(x) > 0; from 36
                   nats on neither bounds anything: e^-36 is less than doubles tell apart from none
    method       : "full": one linear program with n_answers * m rows of n entries; "cuts": the rows and columns that it
                   turns out to need; "auto": the closed form of `constant_risk_channel` where privacy_loss is the
                   transpose of distortion and nothing else is asked, else "full" up to n_answers * n * m = 60^3, then
                   "cuts". The optima agree; the channels may differ where the optimum is not unique.

    In other units of loss and distortion it is the same channel. Where a named loss allows answers that are no
    candidates, the program has the answers that the channels found so far call for, until none lowers the adversary's
    expected loss further by more than 1e-6 of the largest; `gap` includes what is left.

    Constraints hold within 1e-9, the budget within 2e-9 (it and worst_case: of the largest loss), or it is an error.
    The average is within 1e-8 of the largest loss of its optimum, certified by `gap`; the worst case is a search for
    the highest floor, to 1e-6 of the largest loss. With "average" it is the highest among the channels within 1e-9 of
    the largest average: where it rises steeply as the average gives way, that slack shows. A budget below what the
    constraints allow is refused, with the least feasible one.

    >>> line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> found = optimal_mechanism([0.2, 0.5, 0.3], line, line, 0.25)
    >>> round(found.privacy, 6), round(found.worst, 6), round(found.distortion, 6), found.method
    (0.25, 0.25, 0.25, 'closed form')
    >>> wrong = 1 - np.eye(3)  # the adversary minds any error, the user how far
    >>> mechanism = optimal_mechanism([0.2, 0.5, 0.3], wrong, line, 0.35, epsilon=2.0)
    >>> round(mechanism.privacy, 6), round(mechanism.distortion, 6)
    (0.33022, 0.35)

    R. Shokri et al., "Protecting location privacy: optimal strategy against localization attacks", CCS 2012 (the linear
    program of the average); D. Rebollo-Monedero et al. 2012, eqs. (2)-(5), section V-B3 (worst case, epsilon, delta).
    """
    if objective not in ("average", "worst") or method not in ("auto", "full", "cuts"):
        raise UnmaskError(
            f"objective is {objective!r} and method {method!r}, expected 'average' or 'worst', and 'auto', 'full' or "
            "'cuts'"
        )
    asked = _program(prior, privacy_loss, coordinates, distortion, budget, worst_case, epsilon, delta)
    closed = _closed_form(asked) if method == "auto" else None
    if closed is not None:
        return closed
    program, first, best = _largest_average(asked, method)
    way, found, rule = _way(program, method), first, best
    for _ in range(MOST_ANSWERINGS):
        if objective == "average":
            rule = _best_worst(program, first, best)
        else:
            found, rule = _worst_first(program, first, best, way)
        rule = least_leakage(program, found, least_distortion(program, found, rule))
        richer = asked.answers.to(program, rule) if asked.answers else program
        true, seen = risks(richer, rule), risks(program, rule)
        program = richer
        if seen[0] - true[0] <= SETTLED and seen[1] - true[1] <= SETTLED:
            break
    return _design(asked, program, rule, way, -found.bound)


def largest_error(
    prior: ArrayLike,
    privacy_loss: Loss,
    distortion: ArrayLike,
    budget: float,
    *,
    coordinates: ArrayLike | None = None,
    seek: bool = True,
) -> float:
    """The privacy of `optimal_mechanism`, without the search for a channel of large worst case and little leakage.

    seek : whether answers that are no candidates are sought, which takes long; where they would have to be, else nan
    """
    asked = _program(prior, privacy_loss, coordinates, distortion, budget, None, None, None)
    closed = _closed_form(asked, average_alone=True)
    if closed is not None:
        return closed.privacy
    if asked.answers and not seek:
        return math.nan
    program, _, rule = _largest_average(asked, "auto")
    return risks(program, rule)[0] * asked.loss


@dataclass(frozen=True, eq=False)
class _Asked:
    """A program whose largest loss and distortion are 1, and what they were; answers that are no rows of its loss."""

    program: Program
    loss: float
    distortion: float
    answers: Answers | None


def _way(program: Program, method: str) -> str:
    if method != "auto":
        return method
    return "full" if len(program.loss) * program.distortion.size <= LARGEST_WHOLE else "cuts"


def _closed_form(asked: _Asked, *, average_alone: bool = False) -> Design | None:
    """The design where the loss is the distortion and nothing else is asked; None where another has to be sought."""
    program = asked.program
    if program.floor is not None or program.coupled or not matched(program.loss, program.distortion):
        return None
    if asked.answers is None:
        rule = constant_risk_channel(program.prior, program.loss, program.budget or 0.0).dense()
        return _design(asked, program, rule, "closed form", risks(program, rule)[0])
    cost, budget = program.prior @ program.distortion, program.budget or 0.0
    if cost.min() <= budget * (1 + 1e-12):  # nothing need be shown
        rule = np.zeros(program.distortion.shape)
        rule[:, np.argmin(cost)] = 1.0
        return _design(asked, program, rule, "closed form", 0.0)
    own = asked.answers.own(program, average_alone=average_alone)
    return None if own is None else _design(asked, program, own, "closed form", budget)


def _largest_average(asked: _Asked, method: str) -> tuple[Program, Solved, Floats]:
    """The largest average and its rule, with all the answers that matter to it in the program.

    Answers are sought to what the solver found and to mixtures of it with the best rule so far, which takes a third of
    the rounds: the solver goes from corner to corner. The last program bounds what any rule reaches.
    """
    program = asked.program
    first, best = _best_average(asked, program, _way(program, method))
    found = best
    for _ in range(MOST_ANSWERINGS if asked.answers else 0):
        tried = [found, *((1 - share) * best + share * found for share in (0.5, 0.25, 0.1))]
        program = asked.answers.to(program, *tried)  # type: ignore[union-attr]  # there are some
        best = max([best, *tried], key=lambda one: risks(program, one)[0])
        if -first.bound - risks(program, best)[0] <= SETTLED:
            break
        first, found = _best_average(asked, program, _way(program, method))
    return program, first, best


def _program(
    prior: ArrayLike,
    privacy_loss: Loss,
    coordinates: ArrayLike | None,
    distortion: ArrayLike,
    budget: float,
    worst_case: float | None,
    epsilon: float | None,
    delta: float | None,
) -> _Asked:
    p = probabilities(prior, "the prior")
    if isinstance(privacy_loss, str) or callable(privacy_loss):
        loss = as_matrix(privacy_loss, len(p), coordinates=coordinates)
    else:
        loss = costs(privacy_loss, "privacy loss", (None, len(p)))
    d = costs(distortion, "distortion matrix", (len(p), None))
    for name, value in (("budget", budget), ("worst_case", worst_case), ("epsilon", epsilon), ("delta", delta)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UnmaskError(f"{name} is {value}, expected a finite number at least 0")
    before = float((loss @ p).min())
    if worst_case is not None and worst_case > before:
        raise UnmaskError(
            f"worst_case is {worst_case:.9g}, expected at most {before:.9g}, the adversary's expected loss before any "
            "release: lower it"
        )
    epsilon, delta = (None if value is None or value >= _ANY_RATIO else value for value in (epsilon, delta))
    of_loss, of_distortion = float(loss.max()) or 1.0, float(d.max()) or 1.0
    floor = None if worst_case is None else worst_case / of_loss
    most = min(float(budget), of_distortion) / of_distortion  # no channel distorts by more than the largest
    program = Program(p, loss / of_loss, d / of_distortion, most, floor=floor, epsilon=epsilon, delta=delta)
    answers = None
    if not among_candidates(privacy_loss, coordinates):
        points = np.asarray(coordinates, dtype=np.float64).reshape(len(p), -1)
        answers = Answers(cast("LossName", privacy_loss), points, of_loss)
    return _Asked(program, of_loss, of_distortion, answers)


def matched(loss: Floats, distortion: Floats) -> bool:
    """Whether the closed form of `matched_optimum` holds: the loss of answering y is the distortion of showing it.

    loss : (n_answers, n), distortion : (n, m)
    """
    alike = loss.shape == distortion.T.shape and loss.shape[0] == loss.shape[1]
    return alike and np.array_equal(loss, distortion.T) and not np.diagonal(loss).any()


def _best_average(asked: _Asked, program: Program, method: str) -> tuple[Solved, Floats]:
    """The largest average: the program's solution, and the rule with rounding taken out."""
    found = _solved(program, method) or _solved(replace(program, budget=(program.budget or 0.0) + ROUNDED), method)
    if found is None:
        raise _infeasible(asked, program)
    rule = hold(program, found.rule)
    if not meets(program, rule):
        again = _solved(without_crumbs(program, rule), method)
        rule = rule if again is None else hold(program, again.rule)
    if not meets(program, rule):
        raise FailedError(
            "the constraints hold only up to rounding, expected within 1e-9: leave out secrets of prior next to 0, or "
            "loosen the constraints a little"
        )
    return found, rule


def _solved(program: Program, method: str) -> Solved | None:
    tight = tightened(program)
    if method == "full":
        return solve_whole(tight)
    return solve_by_cuts(tight, tolerance=1e-10 * float(program.loss.max()), entries=_feasible_entries(tight))


def _feasible_entries(program: Program) -> Bools | None:
    """Columns to begin with where there is a floor: those of the channel of least distortion above it."""
    if program.floor is None or program.coupled:
        return None
    cheap = solve_by_cuts(replace(program, budget=None, aim=program.distortion), tolerance=0.0)
    if cheap is None or program.budget is None or cheap.objective > program.budget + PRECISION:
        return None
    return cheap.entries


def _infeasible(asked: _Asked, program: Program) -> UnmaskError:
    cheap = solve_by_cuts(replace(tightened(program), budget=None, aim=program.distortion), tolerance=0.0)
    if cheap is None:
        return FailedError("the least distortion of a channel with these constraints was not found: loosen them")
    return UnmaskError(
        f"the budget is {(program.budget or 0.0) * asked.distortion:.9g}, expected at least "
        f"{cheap.objective * asked.distortion:.9g}, the least distortion of a channel with these constraints: raise "
        "it, or loosen them"
    )


def _best_worst(program: Program, first: Solved, rule: Floats) -> Floats:
    """The largest worst case among the channels of largest average, which use no entry of positive reduced cost."""
    scale = float(program.loss.max())
    average = risks(program, rule)[0]
    allowed = first.face | (rule > 0)
    if program.coupled:  # an output is in use whole or not at all
        allowed &= allowed.all(axis=0)
    within = replace(tightened(program), allowed=allowed, least_average=average - 1e-9 * scale)
    better = raise_floor(within, start=rule, most=average, tolerance=5e-7 * scale, rows=first.rows)
    held = hold(program, better)
    return held if meets(program, held) and risks(program, held)[1] > risks(program, rule)[1] else rule


def _worst_first(program: Program, first: Solved, rule: Floats, method: str) -> tuple[Solved, Floats]:
    """The largest worst case, then the largest average above it; `first` and `rule` maximize the average alone."""
    scale = float(program.loss.max())
    most = risks(program, rule)[0]
    raised = raise_floor(tightened(program), start=rule, most=most, tolerance=5e-7 * scale, rows=first.rows)
    held = hold(program, raised)
    best = held if meets(program, held) else rule
    floor = risks(program, best)[1]
    found = _solved(replace(program, floor=max(floor - 1e-9 * scale, program.floor or 0.0)), method)
    if found is None:
        return first, best
    rule = hold(program, found.rule)
    good = meets(program, rule) and risks(program, rule)[1] >= floor - 5e-7 * scale
    return found, rule if good else best


def _design(asked: _Asked, program: Program, rule: Floats, method: str, bound: float) -> Design:
    average, worst = risks(asked.answers.to(program, rule, by=0.0) if asked.answers else program, rule)
    return Design(
        channel=Channel(rule, program.prior),
        privacy=average * asked.loss,
        worst=worst * asked.loss,
        distortion=float(program.prior @ (rule * program.distortion).sum(axis=1)) * asked.distortion,
        leakage=mutual_information(program.prior, rule),
        method=method,
        gap=max(0.0, bound - average) * asked.loss,
    )
