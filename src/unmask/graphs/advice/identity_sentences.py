"""Advice for one person in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.graphs.advice.identity_advice import MAX_CONTACTS, IdentityAdvice, Placing
from unmask.measures.interval import wilson
from unmask.results.formats import number, percent


def sentences(advice: IdentityAdvice) -> Iterator[str]:
    """Yield the advice in sentences for the person."""
    yield _describe_person(advice)
    if not advice.in_clique:
        yield f"You are in no clique of {advice.seeding.clique} people, so no adversary starts from you by a clique."
    yield _describe_seeding(advice)
    if advice.hidden is not None:
        yield _describe_hidden(advice.hidden, advice.k or 0)
    y = len(advice.strong.assignment)
    if y == 1:
        yield "With one identity, an adversary who finds it learns the secret that you put in it."
        return
    every = "both" if y == 2 else f"all {y}"
    yield (
        f"If the adversary may find {every} identities, put the secret in {_describe_place(advice.strong)}, and other "
        f"values in the rest: {_describe_loss(advice, advice.strong.loss)}."
    )
    yield from _describe_weak(advice)
    yield (
        f"If you know nothing about the adversary, put it in {_describe_place(advice.unknown)}: "
        f"{_describe_loss(advice, advice.unknown.loss, 'at most ')}."
    )
    if (m := advice.stakes.equal_secrets) > 1:
        yield (
            f"If {m} of the {y} identities, drawn at random, have the secret: "
            f"{_describe_loss(advice, advice.equal_loss, 'at most ')}."
        )


def _describe_place(placing: Placing) -> str:
    """Return the identities for a secret, with their probabilities unless these are equal."""
    used = {i: share for i, share in enumerate(placing.assignment, 1) if share > 0}
    if len(used) == 1:
        return f"identity {next(iter(used))}"
    if max(used.values()) - min(used.values()) < 1e-12:
        which = "any of them" if len(used) == len(placing.assignment) else f"any of {', '.join(map(str, used))}"
        return f"{which} with equal probability"
    return ", ".join(f"identity {i} with {percent(share)}" for i, share in used.items())


def _describe_loss(advice: IdentityAdvice, loss: float, bound: str = "") -> str:
    """Return the probability that the secret is learned, or the expected loss."""
    if advice.unit == "probability":
        return f"they learn it with {bound}{percent(loss)}"
    return f"your expected loss is {bound}{number(loss)}"


def _describe_person(advice: IdentityAdvice) -> str:
    contacts = f"You have {advice.degree:,} contacts"
    if advice.anonymity is None:
        return f"{contacts} and no friends of friends: a local anonymity (LTA_A) is not defined."
    rank = f"number {advice.rank:,} of {advice.people:,} people from the most easily found"
    return f"{contacts} and a local anonymity (LTA_A) of {advice.anonymity:.4f}, {rank}."


def _describe_seeding(advice: IdentityAdvice) -> str:
    if not advice.escapes:
        return "You have too few contacts to divide among several identities."
    seeding = advice.seeding
    counts = ", ".join(f"{escape.identities}" for escape in advice.escapes)
    cliques = ", ".join(percent(escape.cliques) for escape in advice.escapes)
    best_known = ", ".join(percent(escape.best_known) for escape in advice.escapes)
    division = f"divided evenly among {counts} identities"
    if seeding.shares:
        division = f"in {counts} identities with shares of {', '.join(f'{share:g}' for share in seeding.shares)}"
    top = "the person" if advice.tried == 1 else f"the {advice.tried:,} people"
    return (
        f"With your contacts {division}, an adversary who starts from cliques of {seeding.clique} misses you with a "
        f"probability of {cliques}, and one who starts from {top} with most contacts with {best_known}."
    )


def _describe_hidden(new: Mapping[int, int], k: int) -> str:
    """Return a sentence about new identities that have the same contacts as other people."""
    people = f"{k - 1} other{'s' * (k > 2)}"
    if not new:
        return f"No identity with up to {MAX_CONTACTS} contacts can have the same contacts as {people} near you."
    contacts = " or ".join(f"{n_contacts} contacts ({n} new)" for n_contacts, n in new.items())
    return f"A new identity with {contacts} can have the contacts of {people}, so that no attack tells them apart."


def _describe_weak(advice: IdentityAdvice) -> Iterator[str]:
    if advice.weak is None or advice.discovery is None:
        yield (
            "How likely each identity is found is not known. Give --discovery, or simulate it with --runs, to learn "
            "where a secret is safest from an adversary who finds some of them."
        )
        return
    chances = f"If they are found with a probability of {', '.join(map(percent, advice.discovery))}, as given,"
    if advice.runs:
        hits = ", ".join(f"{round(chance * advice.runs)}" for chance in advice.discovery)
        chances = f"They were found in {hits} of {advice.runs} simulated attacks, most contacts first. If that holds"
    yield (
        f"{chances} and {_describe_rule(advice.stakes.accepts)}, put the secret in {_describe_place(advice.weak)}: "
        f"{_describe_loss(advice, advice.weak.loss)}."
    )
    if advice.runs and min(advice.discovery) == 0:
        high = percent(wilson(0.0, advice.runs)[1])
        yield f"An identity not found in {advice.runs} attacks may still be found with a probability of up to {high}."


def _describe_rule(accepts: str | tuple[float, ...]) -> str:
    if accepts == "uniform":
        return "any of those found is believed with equal probability"
    if accepts == "likeliest":
        return "the one of those found that is likeliest to be found is believed"
    return f"each of those found is believed with {', '.join(percent(float(share)) for share in accepts)}"
