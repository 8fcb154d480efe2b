"""Which numbers to report: the guide for designers, as a table and as a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from unmask.core.errors import UnmaskError
from unmask.ranges import Range

What = Literal["identity", "attribute", "sender"]
Loss = Literal["hamming", "graded"]
Observations = Literal["one", "many"]
Case = Literal["worst", "average", "best"]

GIVEN_AS = {
    "min_entropy": "min_entropy_bits",
    "shannon_entropy": "shannon_entropy_bits",
    "hartley_entropy": "hartley_entropy_bits",
    "k_anonymity": "k",
    "l_diversity": "l_distinct",
    "entropy_rate": "entropy_rate",
}
"""Measures of the table -> their names in results; the others are computed by nothing, and are not advised."""

COMMANDS = {
    "identity": "unmask audit RELEASE.csv -q COLUMNS",
    "attribute": "unmask audit RELEASE.csv -q COLUMNS -s COLUMN",
    "sender": "unmask audit channel CHANNEL.csv",
}

DELTA: dict[str, tuple[str, ...]] = {
    "identity": (),
    "attribute": ("delta_disclosure",),
    "sender": ("delta_up.worst", "delta_down.worst"),
}
"""How surely a value is confirmed or ruled out; of identity it is always infinite: a class leaves people out."""

BELIEF = "Python: unmask.measures.evaluate(BELIEF, [unmask.measures.estimation_error(LOSS)])"

CHAIN = "unmask.channels.Chain(TRANSITION, CHANNEL)"
RATE = f"Python: {CHAIN}.entropy_rate(OBSERVATIONS)"
STEPS = f"Python: unmask.channels.HiddenMarkovAttack()(OBSERVATIONS, {CHAIN})"

ERROR = ("estimation_error.worst", "estimation_error")
"""P_min and P_avg, as results name them."""


@dataclass(frozen=True)
class Entry:
    """One cell of the table: which measure is the worst, average or best case for the user of a domain.

    completed : the cell is not in the paper's section VII; it follows from its section V
    """

    what: str
    case: Case
    measure: str
    attacker: str
    completed: bool = False


TABLE_IV: tuple[Entry, ...] = (
    Entry("identity", "worst", "min_entropy", "MAP with background knowledge: one guess", completed=True),
    Entry("identity", "average", "shannon_entropy", "weighs all candidates by p(x given y)", completed=True),
    Entry("identity", "best", "k_anonymity", "holds all members of a class alike (Hartley)"),
    Entry("attribute", "worst", "t_closeness", "any loss; a maximum over classes of an average: hybrid"),
    Entry("attribute", "worst", "delta_disclosure", "any loss; purely worst case", completed=True),
    Entry("attribute", "average", "mutual_information", "any loss, average over outputs"),
    Entry("attribute", "best", "l_diversity", "holds the l values of a class alike"),
    Entry("sender", "worst", "min_entropy", "MAP: names the likeliest sender of one message"),
    Entry("sender", "average", "shannon_entropy", "weighs all possible senders"),
    Entry("sender", "best", "hartley_entropy", "counts the possible senders (Berthold et al.)"),
    Entry("sequence", "worst", "min_entropy_rate", "MAP on the whole path (Viterbi)", completed=True),
    Entry("sequence", "average", "entropy_rate", "lists the typical paths (AEP)"),
    Entry("sequence", "best", "support_growth_rate", "counts the possible paths", completed=True),
)
"""Table IV of the paper, rebuilt from the text of its sections V-A2 and VII; the table itself is an image there."""


@dataclass(frozen=True)
class Advice:
    """What to report about the privacy of a release or a system.

    worst, average, best : the measure for each case of the user, as results and gates name it (`.worst` is that at the
                worst-off target); None where there is no such case, or nothing computes it
    bounds    : measures that only bound what is lost; never a measure of privacy, never a ranking
    rank_by   : by which of them releases may be ranked; empty when none is sound
    command   : what gives all of them: a command line, or a call in Python
    why       : the reason, in words
    """

    worst: str | None
    average: str | None
    best: str | None
    bounds: tuple[str, ...]
    rank_by: tuple[str, ...]
    command: str
    why: str


def advise(
    *,
    what: What,
    loss: Loss | None = None,
    loss_known: bool = True,
    observations: Observations = "one",
    dmax: Annotated[float, Range(0, above=True)] | None = None,
    rank_by: str | None = None,
) -> Advice:
    """The measures for a question, from what is known about the adversary.

    what         : what the adversary wants: identity (whose record), attribute (which value) or sender (whose message)
    loss         : whether wrong answers just count (hamming), or some are nearer (graded); hamming, and of a loss
                   that is not known graded, when left out
    loss_known   : whether the loss is known
    observations : whether they see one observation, or many of a long stationary sequence that they want as a whole
    dmax         : largest loss, where the loss is unknown
    rank_by      : measure by which you want to rank releases; refused, with the reason, where that is unsound.
                   Entropies are refused as soon as a loss is supplied: two beliefs of one entropy may have any errors

    >>> found = advise(what="identity")
    >>> found.worst, found.command
    ('min_entropy_bits', 'unmask audit RELEASE.csv -q COLUMNS')
    >>> advise(what="attribute", loss="graded").worst
    'estimation_error.worst'
    >>> advise(what="attribute", loss="graded", loss_known=False, dmax=3.0).bounds[0]
    'total_variation.worst'

    Rebollo-Monedero et al. 2012, sections V and VII, figure 4.
    """
    _check(what, ("identity", "attribute", "sender"), "what")
    loss = loss or ("hamming" if loss_known else "graded")
    _check(loss, ("hamming", "graded"), "loss")
    _check(observations, ("one", "many"), "observations")
    if loss == "hamming":
        if not loss_known:
            raise UnmaskError("the loss is unknown and hamming, which is a known loss; leave one out")
        found = _sequences() if observations == "many" else _single(what)
    else:
        found = _known_loss(what, observations) if loss_known else _unknown_loss(what, observations, dmax)
    if rank_by is not None and rank_by not in found.rank_by:
        allowed = ", ".join(found.rank_by) or "nothing: only the actual error under an assumed loss can rank"
        raise UnmaskError(f"releases cannot be ranked by {rank_by} here; {found.why} Rank by {allowed}.")
    return found


def _single(what: What) -> Advice:
    worst, average, best = (_cell(what, case) for case in ("worst", "average", "best"))
    if what == "attribute":
        # the paper's row supposes a graded loss; under 0/1 loss the value is one guess like any other
        worst, average = GIVEN_AS["min_entropy"], GIVEN_AS["shannon_entropy"]
    return Advice(
        worst,
        average,
        best,
        (),
        (*ERROR, GIVEN_AS["min_entropy"]),
        COMMANDS[what],
        "The loss is 0/1 and there is one observation: the error is 1 - 2^-H_inf exactly; the other Renyi entropies "
        "are its average and best cases and give nobody's error.",
    )


def _sequences() -> Advice:
    return Advice(
        _cell("sequence", "worst"),
        _cell("sequence", "average"),
        _cell("sequence", "best"),
        (),
        ("entropy_rate", "estimation_error"),
        RATE,
        "A long stationary sequence is to be had as a whole: 2^{k rate} is the size of the typical set, if k is in the "
        "thousands; for shorter ones report the error per step. The rates of the worst and the best case, of the "
        "likeliest path and of the number of possible paths, are computed by nothing here.",
    )


def _known_loss(what: What, observations: Observations) -> Advice:
    many = observations == "many"
    with_loss = f"{COMMANDS[what]} --loss LOSS" if what == "sender" else BELIEF
    steps = " Of a sequence it is the error per step, from the belief about each step given all that was observed."
    return Advice(
        *ERROR,
        None,
        (),
        ERROR,
        STEPS if many else with_loss,
        "The adversary's loss is known: report their expected loss, smallest and average over what they may observe, "
        f"and nothing else; entropies do not see that some answers are nearer than others.{steps if many else ''}",
    )


def _unknown_loss(what: What, observations: Observations, dmax: float | None) -> Advice:
    if dmax is None or not 0 < dmax < float("inf"):
        raise UnmaskError("the loss is unknown, so at least its largest value has to be: give dmax (--dmax), above 0")
    many = observations == "many"
    steps = " Of a sequence they bound what is lost of one step, from the belief about it given all that was observed."
    return Advice(
        None,
        None,
        None,
        ("total_variation.worst", "information_gain_bits.worst", "information_gain_bits", *DELTA[what]),
        (),
        STEPS if many else COMMANDS[what],
        f"The loss is unknown but for its largest value {dmax:g}: total variation is the tightest bound on the loss of "
        "privacy (at most dmax TV of error, 2 dmax TV of regret), then divergence and its average"
        f"{', then delta' if DELTA[what] else ''}. They "
        f"bound what is lost and are no privacy: a smaller bound need not mean a larger error.{steps if many else ''}",
    )


def _cell(what: str, case: str) -> str | None:
    """The name in results of a cell of the table; None where nothing computes it."""
    return GIVEN_AS.get(next(entry.measure for entry in TABLE_IV if entry.what == what and entry.case == case))


def _check(given: str, allowed: tuple[str, ...], name: str) -> None:
    if given not in allowed:
        raise UnmaskError(f"{name} is {given!r}, expected one of {', '.join(allowed)}")
