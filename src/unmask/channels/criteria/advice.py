"""The guide for designers: measures to report, as a table and as a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from unmask.core.errors import UnmaskError
from unmask.ranges import Range, check_types

What = Literal["identity", "attribute", "sender"]
Loss = Literal["hamming", "graded"]
Observations = Literal["one", "many"]
Case = Literal["worst", "average", "best"]

RESULT_NAMES = {
    "min_entropy": "min_entropy_bits",
    "shannon_entropy": "shannon_entropy_bits",
    "hartley_entropy": "hartley_entropy_bits",
    "k_anonymity": "k",
    "l_diversity": "l_distinct",
    "entropy_rate": "entropy_rate",
}
"""Measures of the table -> their names in results. Other measures are not computed and not advised."""

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
"""Change of belief by attacker's goal. It is always infinite for identity: a class leaves people out."""

BELIEF = "Python: unmask.measures.evaluate(BELIEF, [unmask.measures.estimation_error(LOSS)])"

CHAIN = "unmask.channels.Chain(TRANSITION, CHANNEL)"
RATE = f"Python: {CHAIN}.entropy_rate(OBSERVATIONS)"
STEPS = f"Python: unmask.channels.HiddenMarkovAttack()(OBSERVATIONS, {CHAIN})"

ERROR = ("estimation_error.worst", "estimation_error")
"""P_min and P_avg, as results name them."""


@dataclass(frozen=True)
class Entry:
    """A cell of the table: the measure of the worst, average or best case for the user of a domain.

    Parameters
    ----------
    what : str
        The adversary's goal.
    case : {"worst", "average", "best"}
        Case from the user's point of view.
    measure : str
        The measure.
    attacker : str
        The adversary in words.
    completed : bool
        The cell is not in section VII of the paper and follows from its section V.
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
    """Measures to report about the privacy of a release or a system.

    Parameters
    ----------
    worst, average, best : str or None
        The measure for each case of the user, as named in results and policies (`.worst`: at the most exposed target).
        None if there is no such case, or no code for it.
    bounds : tuple of str
        Measures that only bound the loss of privacy. They are neither a measure of privacy nor a ranking.
    rank_by : tuple of str
        Measures by which releases may be ranked.
    command : str
        The command line, or the call in Python, that computes all of them.
    why : str
        The reason in words.
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
    """Advise which measures to report, from what is known about the adversary.

    Parameters
    ----------
    what : {"identity", "attribute", "sender"}
        goal of the adversary: identity (the person of a record), attribute (a value) or sender (of a message)
    loss : {"hamming", "graded"}, optional
        hamming if every wrong answer costs the same, graded if some are nearer (default: hamming, or graded if the
        loss is unknown)
    loss_known : bool
        loss is known
    observations : {"one", "many"}
        one observation, or many of a long stationary sequence that the adversary wants as a whole
    dmax : float, optional
        largest loss, if the loss is unknown
    rank_by : str, optional
        measure by which you want to rank releases (rejected, with the reason, if that is unsound). Entropies are
        rejected if a loss is given: two beliefs of one entropy may have any errors

    Returns
    -------
    Advice
        The measures, the command and the reason.

    Raises
    ------
    UnmaskError
        If an answer is unknown, or `rank_by` is unsound.

    References
    ----------
    Rebollo-Monedero et al. 2012, sections V and VII, figure 4.

    Examples
    --------
    >>> advice = advise(what="identity")
    >>> advice.worst, advice.command
    ('min_entropy_bits', 'unmask audit RELEASE.csv -q COLUMNS')
    >>> advise(what="attribute", loss="graded").worst
    'estimation_error.worst'
    >>> advise(what="attribute", loss="graded", loss_known=False, dmax=3.0).bounds[0]
    'total_variation.worst'
    """
    check_types(advise, {"what": what, "loss": loss, "observations": observations})
    loss = loss or ("hamming" if loss_known else "graded")
    if loss == "hamming":
        if not loss_known:
            raise UnmaskError("the loss is unknown and hamming, which is a known loss; leave one out")
        advice = _for_sequences() if observations == "many" else _for_one_guess(what)
    else:
        advice = _for_known_loss(what, observations) if loss_known else _for_unknown_loss(what, observations, dmax)
    if rank_by is not None and rank_by not in advice.rank_by:
        allowed = ", ".join(advice.rank_by) or "nothing: only the actual error under an assumed loss can rank"
        raise UnmaskError(f"releases cannot be ranked by {rank_by} here; {advice.why} Rank by {allowed}.")
    return advice


def _for_one_guess(what: What) -> Advice:
    worst, average, best = _cells(what)
    if what == "attribute":
        # the paper's row supposes a graded loss; under 0/1 loss the value is one guess like any other
        worst, average = RESULT_NAMES["min_entropy"], RESULT_NAMES["shannon_entropy"]
    why = (
        "The loss is 0/1 and there is one observation: the error is 1 - 2^-H_inf exactly. The other Renyi entropies "
        "are its average and best cases and are not the error of any adversary."
    )
    return Advice(worst, average, best, (), (*ERROR, RESULT_NAMES["min_entropy"]), COMMANDS[what], why)


def _for_sequences() -> Advice:
    why = (
        "The adversary wants a long stationary sequence as a whole: 2^{k rate} is the size of the typical set, if k is "
        "in the thousands; for shorter ones report the error per step. The rates of the likeliest path (worst case) "
        "and of the number of possible paths (best case) are not computed here."
    )
    worst, average, best = _cells("sequence")
    return Advice(worst, average, best, (), ("entropy_rate", "estimation_error"), RATE, why)


def _for_known_loss(what: What, observations: Observations) -> Advice:
    single = f"{COMMANDS[what]} --loss LOSS" if what == "sender" else BELIEF
    why = (
        "The adversary's loss is known: report their expected loss, smallest and average over what they may observe, "
        "and nothing else; entropies ignore that some answers are nearer than others."
    )
    if observations == "many":
        why += " For a sequence it is the error per step, from the belief about each step given all observations."
    return Advice(*ERROR, None, (), ERROR, STEPS if observations == "many" else single, why)


def _for_unknown_loss(what: What, observations: Observations, dmax: float | None) -> Advice:
    if dmax is None or not 0 < dmax < float("inf"):
        raise UnmaskError("the loss is unknown, so at least its largest value has to be: give `dmax`, above 0")
    why = (
        f"The loss is unknown but for its largest value {dmax:g}: total variation is the tightest bound on the loss of "
        "privacy (at most dmax TV of error, 2 dmax TV of regret), then divergence and its average"
        f"{', then delta' if DELTA[what] else ''}. They bound the loss and do not measure privacy: a smaller bound "
        "need not mean a larger error."
    )
    if observations == "many":
        why += " For a sequence they bound the loss of one step, from the belief about it given all observations."
    bounds = ("total_variation.worst", "information_gain_bits.worst", "information_gain_bits", *DELTA[what])
    return Advice(None, None, None, bounds, (), STEPS if observations == "many" else COMMANDS[what], why)


def _cells(what: str) -> tuple[str | None, ...]:
    """Return the worst, average and best case of the table by their names in results; None if not computed."""
    cells = {entry.case: entry.measure for entry in TABLE_IV if entry.what == what}
    return tuple(RESULT_NAMES.get(cells[case]) for case in ("worst", "average", "best"))
