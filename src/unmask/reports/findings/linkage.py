"""How a report speaks of adversaries who cluster items: whom they breach, how near they are to others, what to mind."""

from __future__ import annotations

import math

from unmask.reports.data import Scope
from unmask.reports.facts.linkage import GuessLinkage, Linkage
from unmask.reports.words import number, percent, release_name

ALIASES = {
    "adjusted_rand": "ari",
    "transfer_distance": "transfer",
    "transfer_over_n_minus_1": "transfer_over_n",
    "voi_over_log2_n": "voi_over_log_n",
    "normalized_mutual_information": "nmi",
}
"""Other names that these measures go by."""

TOLD = 3
"""Guesses that have a finding of their own."""

MOST = 0.5
"""Where so many are breached, it is said how many of them are recovered without a mistake."""

HIGH_ARI = 0.9
"""From here on a reader would take the guess to be right."""


def strongest_first(linkage: Linkage) -> list[GuessLinkage]:
    """The guesses by breaches beyond those of shuffled labels, then clean ones, then near ones; ties in their order.

    What shuffled labels breach as well is owed to the sizes of the clusters: one block would be first otherwise.
    """

    def strength(guess: GuessLinkage) -> tuple[float, float, float]:
        near = 0.0 if math.isnan(guess.one_away) else guess.one_away
        return guess.breached - guess.guessing, guess.clean, near

    return sorted(linkage.guesses, key=strength, reverse=True)


def score(value: float) -> str:
    """A measure of a whole partition: three decimals up to 10; never 1 unless it is.

    >>> score(0.99571), score(0.99999), score(1.0), score(0.00001), score(1204.0), score(float("nan"))
    ('0.996', '>0.999', '1', '<0.001', '1,204', 'undefined')
    """
    if 0.9995 <= value < 1:
        return ">0.999"
    return number(value) if abs(value) >= 10 or value == 1 else number(value, 3)


def threshold(beta: float) -> str:
    """The share of items whose linking is a breach: "at least 80 % of the items", "all items"."""
    return "all items" if beta == 1 else f"at least {plain(beta)} of the items"


def share_of(guess: GuessLinkage, name: str) -> str:
    """The share "breached" or "clean"; from the least to the most where unlabeled items leave it open."""
    most = percent(getattr(guess, name))
    least = percent(guess.at_least.get(name, getattr(guess, name)))
    return most if least == most else f"{least} to {most}"


def plain(share: float) -> str:
    """A share as it was given, in percent.

    >>> plain(0.8), plain(1 / 3), plain(1.0)
    ('80\u00a0%', '33.33\u00a0%', '100\u00a0%')
    """
    return f"{round(100 * share, 2):g}\u00a0%"


def findings(linkage: Linkage, scope: Scope) -> list[str]:
    """For each of the strongest guesses whom it breaches, how near it is to others, and what a score hides."""
    guesses, least = strongest_first(linkage), scope.data.least
    found = [
        " ".join(filter(None, _finding(guess, linkage, least, first=i == 0))) for i, guess in enumerate(guesses[:TOLD])
    ]
    if len(guesses) > TOLD:
        last = min(guesses, key=lambda guess: guess.breached)
        found[-1] += (
            f" Of {len(guesses)} guesses the lowest is {release_name(last.name)} with {percent(last.breached)}."
        )
    return found


def the_guess(name: str) -> str:
    """A guess at the start of a sentence; in quotes where its name would double the word before it."""
    return "The guess \u201cguess\u201d" if name == "guess" else f"The guess {release_name(name)}"


def _finding(guess: GuessLinkage, linkage: Linkage, least: int, *, first: bool) -> tuple[str, ...]:
    """The sentences about one guess; what the first has said, of whom and of what, the others need not repeat."""
    name = the_guess(guess.name)
    if guess.partitions > 1:
        name += f", on average over its {guess.partitions:,} partitions,"
    told = _breaches(name, guess, linkage, first=first), one_by_one(guess), _nearness(guess), _recovered(guess)
    return *told, _hidden(guess), _foreign(guess, least)


def one_by_one(guess: GuessLinkage) -> str:
    """What the partitions of a view breach, each alone: an adversary may well act on one of them."""
    if not guess.one_by_one:
        return ""
    breached, clean = (percent(guess.one_by_one[name]) for name in ("breached", "clean"))
    return f"Each of its partitions alone breaches {breached} on average, and {clean} without a single item of others."


def _recovered(guess: GuessLinkage) -> str:
    """Whom the guess knows best, where being breached tells nobody apart."""
    if guess.breached < MOST or math.isnan(guess.recovered):
        return ""
    share = "Nobody is" if guess.recovered == 0 else f"{percent(guess.recovered)} are"
    return f"{share} recovered exactly: all of their items in one cluster, and nothing else."


def _breaches(name: str, guess: GuessLinkage, linkage: Linkage, *, first: bool) -> str:
    who, what, shuffled = "them", "as much", "shuffled labels"
    if first:
        who = f"{linkage.counted:,} subject{'' if linkage.counted == 1 else 's'}{_of_size(linkage)}"
        what = threshold(linkage.beta) if "beta" not in linkage.own else "its own share of the items"
        what = what.replace("items", "labeled items") if linkage.unlabeled == "unknown" else what
        shuffled = "clusters of the same sizes with shuffled labels"
    guessing = percent(guess.guessing)
    if guess.breached == 0:
        same = guess.guessing == 0
        link = f", as do {shuffled}" if same else f"; {shuffled} link that of {guessing}"
        return f"{name} breaches nobody: it links {what} of none of {who}{link}."
    said = f"{name} links {what} of {share_of(guess, 'breached')} of {who}; {shuffled} link {guessing}"
    return f"{said} too: nothing was found out." if guess.guessing >= guess.breached else f"{said}."


def _of_size(linkage: Linkage) -> str:
    return f" with at least {linkage.min_size:,} items" if linkage.counted < linkage.subjects else ""


def _nearness(guess: GuessLinkage) -> str:
    """How many breaches are clean, and how many subjects one merge would breach, in a sentence."""
    some = percent(guess.one_away) if guess.one_away > 0 else "Nobody"
    near = f"{some} would be breached with one more cluster joined"
    if guess.breached == 0 or guess.one_by_one:
        return "" if math.isnan(guess.one_away) else f"{near}."
    clean = f"{share_of(guess, 'clean')} are breached without a single item of others"
    if guess.clean == 0:
        clean = "Nobody is breached without items of others"
    elif share_of(guess, "clean") == share_of(guess, "breached"):
        clean = "All of these breaches are without a single item of others"
    return f"{clean}, and {near}." if guess.one_away > 0 else f"{clean}."


def _hidden(guess: GuessLinkage) -> str:
    """What a customary score would make a reader believe."""
    ari = value_of(guess, "ari")
    if math.isnan(ari) or guess.breached == 0:
        return ""
    if ari >= HIGH_ARI:
        return f"ARI is {score(ari)}, which says none of this."
    if ari <= 0.5 <= guess.clean:
        return f"ARI is only {score(ari)}, as if little were linked."
    return ""


def value_of(guess: GuessLinkage, name: str) -> float:
    """A measure of the whole partition by its name here, whatever it goes by; nan where there is none."""
    return next((value for own, value in guess.whole.items() if ALIASES.get(own, own) == name), math.nan)


def _foreign(guess: GuessLinkage, least: int) -> str:
    """A caution where most breaches come with items of others, or may; few unlabeled items were rounded up to least."""
    if guess.at_least:
        n = "up to " if 1 < guess.unlabeled <= least else ""
        n += f"{guess.unlabeled:,} item{'' if guess.unlabeled == 1 else 's'}"
        return f"The truth lacks {n} of the guess: whose they are is unknown."
    breached, clean = (guess.one_by_one.get(name, getattr(guess, name)) for name in ("breached", "clean"))
    if breached == 0 or clean >= breached / 2:
        return ""
    if guess.clusters == 1 and guess.partitions == 1:
        return "It puts all items into one cluster: that breaches everybody and tells nobody apart."
    foreign = mean_includes(guess)
    much = f", {number(foreign, 1)} of them on average over all subjects" if foreign > 0 else ""
    return f"Caution: most breaching clusters hold items of others too{much}; one block would breach everybody."


def mean_includes(guess: GuessLinkage) -> float:
    """Foreign items in the most relevant cluster, mean over subjects; nan where that is not known."""
    subjects = sum(count for _, _, count in guess.miss_include)
    return sum(include * count for _, include, count in guess.miss_include) / subjects if subjects else math.nan


def setting(linkage: Linkage) -> str:
    """What was clustered, and who counts."""
    if linkage.counted < linkage.subjects:
        counted = f"the {linkage.counted:,} of {linkage.subjects:,} subjects with at least {linkage.min_size:,} items"
    else:
        counted = "the only subject" if linkage.subjects == 1 else f"all {linkage.subjects:,} subjects"
    extra = max(guess.unlabeled for guess in linkage.guesses)
    said = f"The adversaries say which of {linkage.items:,} items belong together. All rates are of {counted}."
    return f"{said} {_UNLABELED[linkage.unlabeled].format(f'{extra:,}')}" if extra else said


_UNLABELED = {
    "foreign": (
        "Up to {} items of a guess are not in the truth; as that has every item of its subjects, they belong to "
        "none of them. Scores of the whole partition are of the items in the truth."
    ),
    "unknown": (
        "Up to {} items of a guess are not in the truth and may be of its subjects or of somebody else. So a rate is "
        "known from a least to a most, and is about the labeled items: how well these are linked. The most is what the "
        "table of measures calls the value. Scores of the whole partition are of the labeled items."
    ),
}


def policy(linkage: Linkage) -> str:
    """What is a breach, and of which cluster, in words."""
    alpha, rest = f"{linkage.alpha:.3g}", f"{1 - linkage.alpha:.3g}"
    welcome = " Items of others are welcome to the subjects: they hide them." if linkage.wanted else ""
    if linkage.own:
        mine = ", ".join(linkage.own)
        welcome += f" Of their own, as the truth says, items or subjects have: {mine}."
    return (
        f"A subject is breached where its most relevant cluster holds {threshold(linkage.beta)} of the subject. The "
        f"most relevant cluster is that of least cost: {alpha} for each item of the subject that it lacks, {rest} for "
        f"each item of others in it. Where less is linked, the adversary must join more clusters to it.{welcome}"
    )


def cautions(linkage: Linkage) -> list[str]:
    """What a reader must know before they trust the rates: subjects so small that they are breached by definition."""
    largest = math.floor(1 / linkage.beta + 1e-9)
    if linkage.min_size > largest:
        return []
    size = "one item" if largest == 1 else f"up to {largest:,} items"
    share = "all of it" if largest == 1 else f"at least {plain(linkage.beta)} of it"
    return [
        (
            f"A subject with {size} is breached whatever the adversary does: a single item is {share}. Count only "
            f"subjects with at least {largest + 1:,} items to see what the adversary adds."
        )
    ]
