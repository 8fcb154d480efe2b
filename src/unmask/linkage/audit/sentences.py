"""Sentences about guesses: breached subjects, subjects near a breach, and cautions."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.linkage.audit.facts import BASELINES, GuessFacts, LinkageFacts
from unmask.results.formats import number, percent
from unmask.results.suppression import mark_people
from unmask.results.words import release_name

N_FINDINGS = 3
"""Number of guesses with a finding each."""

MANY = 0.5
"""Share of breached subjects from which the finding reports the share recovered exactly."""

MAX_CLUSTER_SHARE = 0.5
"""Share of the items in one cluster above which links probably chain subjects."""

HIGH_ARI = 0.9
"""Adjusted Rand index from which a reader may conclude that the guess is right."""


def threshold(facts: LinkageFacts, whose: str = "its") -> str:
    """Return the share of linked items that is a breach: "at least 80 % of the items", "all items"."""
    if "beta" in facts.own:
        return _("its own share of the items") if whose == "its" else _("their own share of the items")
    if facts.beta == 1:
        return _("all items")
    return _("at least {share} of the items", share=plain(facts.beta))


def plain(share: float) -> str:
    """Return a share in percent, with the digits of the setting.

    >>> plain(0.8), plain(1 / 3), plain(1.0)
    ('80\u00a0%', '33.33\u00a0%', '100\u00a0%')
    """
    return f"{round(100 * share, 2):g}\u00a0%"


def share_of(guess: GuessFacts, name: str) -> str:
    """Return the share "breached" or "clean"; both bounds if unlabeled items are unknown."""
    upper_bound = percent(getattr(guess, name))
    lower_bound = percent(guess.at_least.get(name, getattr(guess, name)))
    return upper_bound if lower_bound == upper_bound else f"{lower_bound} to {upper_bound}"


def name_guess(name: str) -> str:
    """Return the name of a guess for the start of a sentence; in quotes if it repeats the word before it."""
    return _("The guess {name}", name="\u201cguess\u201d" if name == "guess" else release_name(name))


def findings(facts: LinkageFacts) -> list[str]:
    """Return a finding for each of the strongest guesses; with more guesses, the last finding names the weakest."""
    guesses = facts.strongest_first
    sentences = [
        " ".join(filter(None, _find(guess, facts, first=i == 0))) for i, guess in enumerate(guesses[:N_FINDINGS])
    ]
    if len(guesses) > N_FINDINGS:
        lowest = min(guesses, key=lambda guess: guess.breached)
        name, share = release_name(lowest.name), percent(lowest.breached)
        sentences[-1] += f" Of {len(guesses)} guesses the lowest is {name} with {share}."
    return sentences


def _find(guess: GuessFacts, facts: LinkageFacts, *, first: bool) -> Iterator[str]:
    """Yield the sentences about one guess; only the first guess has the threshold and the subjects."""
    name = name_guess(guess.name)
    if guess.partitions > 1:
        name = _("{guess}, on average over its {n} partitions,", guess=name, n=guess.partitions)
    yield _breaches(name, guess, facts, first=first)
    yield each_partition(guess)
    yield nearness(guess)
    yield _recovered(guess)
    yield _misleading_score(guess)
    yield _foreign_items(guess)


def _breaches(name: str, guess: GuessFacts, facts: LinkageFacts, *, first: bool) -> str:
    baseline, words = BASELINES[facts.baseline], {"guess": name}
    if first:
        threshold_text = threshold(facts)
        if facts.unlabeled == "unknown":
            threshold_text = threshold_text.replace("items", "labeled items")
        words |= {"threshold": threshold_text, "subjects": _count_subjects(facts), "random": baseline.clusters}
    else:
        words |= {"threshold": "as much", "subjects": "them", "random": baseline.clusters_again}
    words["guessing"] = percent(guess.guessing)
    if guess.breached == 0 and guess.guessing == 0:
        return _("{guess} breaches no subject: it links {threshold} of none of {subjects}, as do {random}.", **words)
    if guess.breached == 0:
        message = mark(
            "{guess} breaches no subject: it links {threshold} of none of {subjects}; {random} link that of {guessing}."
        )
        return _(message, **words)
    words["share"] = share_of(guess, "breached")
    if guess.guessing >= guess.breached:
        message = mark(
            "{guess} links {threshold} of {share} of {subjects}; {random} link {guessing} too: the adversary learned "
            "nothing."
        )
        return _(message, **words)
    return _("{guess} links {threshold} of {share} of {subjects}; {random} link {guessing}.", **words)


def _count_subjects(facts: LinkageFacts) -> str:
    """Return the number of subjects, and the smallest size of those that are counted."""
    if facts.counted == facts.subjects:
        return _("1 subject") if facts.counted == 1 else _("{n} subjects", n=facts.counted)
    if facts.counted == 1:
        return _("1 subject with at least {size} items", size=facts.min_size)
    return _("{n} subjects with at least {size} items", n=facts.counted, size=facts.min_size)


def each_partition(guess: GuessFacts) -> str:
    """Return the breaches by a single partition of a view, because an adversary may act on one partition."""
    if not guess.one_by_one:
        return ""
    breached, clean = (percent(guess.one_by_one[name]) for name in ("breached", "clean"))
    return f"A single partition breaches {breached} on average, and {clean} without a single item of others."


def nearness(guess: GuessFacts) -> str:
    """Return a sentence on the share of clean breaches, and the share of subjects one merge away."""
    subjects = percent(guess.one_away) if guess.one_away > 0 else "No subject"
    near = f"{subjects} would be breached with one more cluster joined"
    if guess.breached == 0 or guess.one_by_one:
        return "" if math.isnan(guess.one_away) else f"{near}."
    clean = f"{share_of(guess, 'clean')} are breached without a single item of others"
    if guess.clean == 0:
        clean = "No subject is breached without items of others"
    elif share_of(guess, "clean") == share_of(guess, "breached"):
        clean = "All of these breaches are without a single item of others"
    return f"{clean}, and {near}." if guess.one_away > 0 else f"{clean}."


def _recovered(guess: GuessFacts) -> str:
    """Return a sentence on subjects recovered exactly, if most are breached."""
    if guess.breached < MANY or math.isnan(guess.recovered):
        return ""
    share = "No subject is" if guess.recovered == 0 else f"{percent(guess.recovered)} are"
    return f"{share} recovered exactly: all of their items in one cluster, and nothing else."


def _misleading_score(guess: GuessFacts) -> str:
    """Return a warning if the adjusted Rand index contradicts the breaches."""
    ari = guess.whole.get("adjusted_rand_index", math.nan)
    if math.isnan(ari) or guess.breached == 0:
        return ""
    value = ">0.999" if 0.9995 <= ari < 1 else number(ari) if ari == 1 else number(ari, 3)
    if ari >= HIGH_ARI:
        return f"ARI is {value}, which says none of this."
    if ari <= 0.5 <= guess.clean:
        return f"ARI is only {value}, as if little were linked."
    return ""


def _foreign_items(guess: GuessFacts) -> str:
    """Return a caution if most breaching clusters contain items of others, or if the owners of items are unknown."""
    if guess.at_least:
        items = f"{mark_people(guess.unlabeled)} item{'' if guess.unlabeled == 1 else 's'}"
        return f"The truth lacks {items} of the guess: their owners are unknown."
    breached, clean = (guess.one_by_one.get(name, getattr(guess, name)) for name in ("breached", "clean"))
    if breached == 0 or clean >= breached / 2:
        return ""
    if guess.clusters == 1 and guess.partitions == 1:
        return "It puts all items into one cluster: that breaches every subject and distinguishes none."
    foreign = guess.mean_includes
    much = f", {number(foreign, 1)} of them on average over all subjects" if foreign > 0 else ""
    return f"Caution: most breaching clusters hold items of others too{much}; one block would breach every subject."


def setting(facts: LinkageFacts) -> str:
    """Return a sentence on the clustered items and the counted subjects."""
    if facts.counted < facts.subjects:
        counted = f"the {facts.counted:,} of {facts.subjects:,} subjects with at least {facts.min_size:,} items"
    else:
        counted = "the only subject" if facts.subjects == 1 else f"all {facts.subjects:,} subjects"
    extra = max(guess.unlabeled for guess in facts.guesses)
    sentence = f"The adversaries say which of {facts.items:,} items belong together. All rates are of {counted}."
    return f"{sentence} {_UNLABELED[facts.unlabeled].format(mark_people(extra))}" if extra else sentence


_UNLABELED = {
    "foreign": (
        "{} items of a guess are not in the truth; as that has every item of its subjects, they belong to none of "
        "them. Scores of the whole partition are of the items in the truth."
    ),
    "unknown": (
        "{} items of a guess are not in the truth and may belong to its subjects or to others. So a rate is known from "
        "a least to a most, and is about the labeled items: how well these are linked. The most is the value in the "
        "table of measures. Scores of the whole partition are of the labeled items."
    ),
}


def policy(facts: LinkageFacts) -> str:
    """Return the definition of a breach and of the most relevant cluster."""
    alpha, complement = f"{facts.alpha:.3g}", f"{1 - facts.alpha:.3g}"
    additions = " Items of others are welcome to the subjects: they hide them." if facts.wanted else ""
    if facts.own:
        additions += f" The truth has values for items or subjects: {', '.join(facts.own)}."
    return (
        f"A subject is breached if its most relevant cluster holds {threshold(facts)} of the subject. The most "
        f"relevant cluster is that of least cost: {alpha} for each item of the subject that it lacks, {complement} for "
        f"each item of others in it. Where less is linked, the adversary must join more clusters to it.{additions}"
    )


def breached_by_definition(facts: LinkageFacts) -> tuple[str, ...]:
    """Return a warning if some counted subjects are so small that any guess breaches them."""
    largest = math.floor(1 / facts.beta + 1e-9)
    if facts.min_size > largest:
        return ()
    size = "one item" if largest == 1 else f"up to {largest:,} items"
    share = "all of it" if largest == 1 else f"at least {plain(facts.beta)} of it"
    warning = (
        f"A subject with {size} is breached whatever the adversary does: a single item is {share}. Count only subjects "
        f"with at least {largest + 1:,} items to see what the adversary adds."
    )
    return (warning,)


def single_partitions(facts: LinkageFacts) -> Iterator[str]:
    """Yield a caution for each view whose single partitions breach more subjects than the view."""
    for guess in facts.guesses:
        single_share = guess.one_by_one.get("breached", 0.0)
        if single_share > guess.breached:
            single_percent, joint_percent = percent(single_share), percent(guess.breached)
            act = f"An adversary may act on one partition of {guess.name}"
            yield f"{act}: a single one breaches {single_percent} on average, all together {joint_percent}."


def giant_clusters(facts: LinkageFacts) -> Iterator[str]:
    """Yield a caution for each file of links with a giant connected component at some threshold."""
    giants: dict[str, GuessFacts] = {}
    for guess in facts.guesses:
        if guess.links and guess.largest > MAX_CLUSTER_SHARE:
            strictest = giants.setdefault(guess.links, guess)
            giants[guess.links] = max(strictest, guess, key=lambda giant: giant.score)
    for guess in giants.values():
        share = percent(guess.largest)
        yield f"{guess.name} connects {share} of the items to one cluster: chains of links join subjects."
