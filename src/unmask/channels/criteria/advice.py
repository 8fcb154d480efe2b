"""Which numbers to report: the guide for designers, as a table and as a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from unmask.errors import UnmaskError

What = Literal["identity", "attribute", "sender"]
Loss = Literal["hamming", "graded"]
Observations = Literal["one", "many"]
Case = Literal["worst", "average", "best"]

ENTROPIES = ("hartley_entropy", "shannon_entropy", "min_entropy", "entropy_rate")


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

    worst, average, best : the measure for each case of the user; None where there is no such case. `worst_case_error`
                and `average_error` are P_min and P_avg, `worst` and `average` of `unmask.measures.error.bayes`
    bounds    : criteria that only bound what is lost; never a measure of privacy, never a ranking
    rank_by   : by which of them releases may be ranked; empty when none is sound
    why       : the reason, in words
    """

    worst: str | None
    average: str | None
    best: str | None
    bounds: tuple[str, ...]
    rank_by: tuple[str, ...]
    why: str


def advise(
    *,
    what: What,
    loss: Loss = "hamming",
    loss_known: bool = True,
    observations: Observations = "one",
    dmax: float | None = None,
    rank_by: str | None = None,
) -> Advice:
    """The measures for a question, from what is known about the attacker.

    what         : identity (whose record), attribute (which value) or sender (whose message)
    loss         : `hamming` counts wrong answers; `graded` has nearer and farther ones
    loss_known   : whether the designer knows that loss
    observations : one, or a long stationary sequence that the attacker wants to have as a whole
    dmax         : the largest loss, where the loss itself is unknown
    rank_by      : a measure by which releases are to be ranked; refused, with the reason, where that is unsound.
                   Entropies are refused as soon as a loss is supplied: two beliefs of one entropy may have any errors

    >>> advise(what="identity").worst
    'min_entropy'
    >>> advise(what="attribute", loss="graded").worst
    'worst_case_error'
    >>> advise(what="attribute", loss="graded", loss_known=False, dmax=3.0).bounds[0]
    't_closeness'

    Rebollo-Monedero et al. 2012, sections V and VII, figure 4.
    """
    _check(what, ("identity", "attribute", "sender"), "what")
    _check(loss, ("hamming", "graded"), "loss")
    _check(observations, ("one", "many"), "observations")
    if loss == "hamming":
        if not loss_known:
            raise UnmaskError("the 0/1 loss is a known loss: pass loss_known=True, or loss='graded' for another one")
        found = _sequences() if observations == "many" else _single(what)
    else:
        found = _known_loss() if loss_known else _unknown_loss(dmax)
    if rank_by is not None and rank_by not in found.rank_by:
        allowed = ", ".join(found.rank_by) or "nothing: only the actual error under an assumed loss can rank"
        raise UnmaskError(f"releases cannot be ranked by {rank_by} here; {found.why} Rank by {allowed}.")
    return found


def _single(what: What) -> Advice:
    worst, average, best = (_cell(what, case) for case in ("worst", "average", "best"))
    if what == "attribute":
        # the paper's row supposes a graded loss; under 0/1 loss the value is one guess like any other
        worst, average = "min_entropy", "shannon_entropy"
    return Advice(
        worst,
        average,
        best,
        (),
        ("worst_case_error", "average_error", "min_entropy"),
        "The loss is 0/1 and there is one observation: the error is 1 - 2^-H_inf exactly; the other Renyi entropies "
        "are its average and best cases and give nobody's error.",
    )


def _sequences() -> Advice:
    return Advice(
        _cell("sequence", "worst"),
        _cell("sequence", "average"),
        _cell("sequence", "best"),
        (),
        ("entropy_rate", "min_entropy_rate", "average_error"),
        "A long stationary sequence is to be had as a whole: 2^{k rate} is the size of the typical set, if k is in the "
        "thousands; for shorter ones report the error per step.",
    )


def _known_loss() -> Advice:
    return Advice(
        "worst_case_error",
        "average_error",
        None,
        (),
        ("worst_case_error", "average_error"),
        "The attacker's loss is known: report his expected loss, smallest and average over what he may observe, and "
        "nothing else; entropies do not see that some answers are nearer than others.",
    )


def _unknown_loss(dmax: float | None) -> Advice:
    if dmax is None or not 0 < dmax < float("inf"):
        raise UnmaskError("the loss is unknown, so at least its largest value has to be: pass dmax, above 0")
    return Advice(
        None,
        None,
        None,
        ("t_closeness", "t_closeness_kl", "mutual_information", "delta_disclosure"),
        (),
        f"The loss is unknown but for its largest value {dmax:g}: total variation is the tightest bound on the loss of "
        "privacy (at most dmax TV of error, 2 dmax TV of regret), then divergence and its average, then delta. They "
        "bound what is lost and are no privacy: a smaller bound need not mean a larger error.",
    )


def _cell(what: str, case: str) -> str:
    return next(entry.measure for entry in TABLE_IV if entry.what == what and entry.case == case)


def _check(given: str, allowed: tuple[str, ...], name: str) -> None:
    if given not in allowed:
        raise UnmaskError(f"{name} is {given!r}, expected one of {', '.join(allowed)}")
