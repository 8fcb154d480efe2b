"""Figures 5.6, 5.7, 5.10, 5.11 and 5.25: people who separate their identities independently of each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from graphs_runs import MAIN
from separation_runs import (
    STOPPED,
    Curves,
    attack,
    basic,
    best_model,
    claims_about,
    make_table,
    protect,
    recalls,
    run_attack,
)
from show import Section, Verdict, percent, percents

from unmask.graphs import IdentitySeparation
from unmask.graphs.protections import EgoPatterns, PowerLaw, Together

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
DELETION_LEVELS = (0.1, 0.3, 0.5)
DELETING = ("realistic_minimal", "realistic", "best")
"""Models that drop contacts."""
REFUSING = {"basic, Y = 2, 0.5": basic, "best, Y = 5, 0.5": best_model}


def verify_numbers() -> Section:
    """Figure 5.6: compare two and five identities, even and uneven."""
    kinds = {
        "basic, Y = 2": basic,
        "basic, Y = 5": lambda x: basic(x, 5),
        "basic, Y = 5, power law of contacts": lambda x: basic(x, 5, sorting="power_law"),
        "basic, Y = 2 to 5, power law": lambda x: basic(x, PowerLaw(largest=5)),
    }
    curves = {
        (name, kind): {x: attack(name, make(x), runs=2) for x in LEVELS}
        for name in MAIN
        for kind, make in kinds.items()
    }
    title = "Figure 5.6: numbers of identities, Nar09, two runs each"
    return make_table(title, curves, _number_verdicts(curves, tuple(kinds)), names=("protection",))


def _number_verdicts(curves: Curves, kinds: tuple[str, ...]) -> Iterator[Verdict]:
    for name in MAIN:
        check = claims_about(name)
        two, five, uneven, mixed = (recalls(curves[name, kind]) for kind in kinds)
        unprotected, doubled = attack(name, runs=2).recall, attack(name, basic(0.5), n=2000).recall
        yield check(
            "two identities: half of the people do not stop the attack",
            '"mildly decreased until [...] circa 0.5"',
            f"none {percent(unprotected)}; {percents(*two)}",
            two[2] >= STOPPED,
            why=f"1000 seeds do not spread at 0.5, 2000 reach {percent(doubled)}" if name == "slashdot" else "",
        )
        if name == "slashdot":
            yield check("0.7 of them stop it", '"50-60%"', percent(two[3]), two[3] < STOPPED)
        claim = "five identities, half of the people: under 10 % recall"
        yield check(claim, '"below 10% at 0.5"', percents(*five), five[2] < 0.1)
        rate = curves[name, kinds[1]][0.1].disclosure
        yield check("five identities: disclosure at 0.1", "at most 7.56", percent(rate), rate <= 0.0756)
        claim, higher = "recall up to 0.5 is higher if contacts follow a power law", sum(uneven[:3]) > sum(five[:3])
        yield check(claim, '"slightly higher"', percents(*uneven[:3]), higher)
        claim, between = "power law of numbers: between", sum(five[:3]) < sum(mixed[:3]) < sum(two[:3])
        yield check(claim, '"properly centered between"', percents(*mixed[:3]), between)
        rates = [rates for kind in kinds[:2] for rates in curves[name, kind].values()]
        ours = f"0.1, Y = 2, 5: {', '.join(str(curves[name, kind][0.1]) for kind in kinds[:2])}"
        lower = all(rate.disclosure < rate.recall for rate in rates)
        yield check("disclosure is lower than recall", '"significantly lower"', ours, lower)


def verify_deletion() -> Section:
    """Figure 5.7: test that dropped contacts hardly help with two identities."""
    models = ("basic", *DELETING, "worst")
    curves = {
        (name, model): {x: attack(name, IdentitySeparation(model, adopters=x), runs=2) for x in DELETION_LEVELS}  # type: ignore[arg-type]
        for name in MAIN
        for model in models
    }
    title = "Figure 5.7: dropped contacts, Y = 2, Nar09, two runs each"
    return make_table(title, curves, _deletion_verdicts(curves), names=("protection",))


def _deletion_verdicts(curves: Curves) -> Iterator[Verdict]:
    for name in MAIN:
        check, plain = claims_about(name), curves[name, "basic"]
        changes = [curves[name, model][x].recall - plain[x].recall for model in DELETING for x in DELETION_LEVELS]
        ours = f"{100 * min(changes):.1f} to {100 * max(changes):.1f} points"
        claim = "recall with dropped contacts is a little lower than in the basic model"
        yield check(claim, '"slightly better"', ours, sum(changes) < 0)
        lowest = [min(curves[name, model][x].recall for model in DELETING) for x in DELETION_LEVELS]
        spreads = all(
            low >= STOPPED for low, x in zip(lowest, DELETION_LEVELS, strict=True) if plain[x].recall >= STOPPED
        )
        claim = "dropped contacts stop the attack only where the basic model does"
        yield check(claim, '"also incapable"', percents(*lowest), spreads)
        rates = {m: [curves[name, m][x].disclosure - plain[x].disclosure for x in DELETION_LEVELS] for m in DELETING}
        ours = "; ".join(f"{m} {100 * min(v):+.1f} to {100 * max(v):+.1f} points" for m, v in rates.items())
        lower = all(max(values) < 0 for values in rates.values())
        yield check("disclosure is lower", '"better compared to the basic model"', ours, lower)
        higher = [
            curves[name, "worst"][x].disclosure > max(curves[name, m][x].disclosure for m in ("realistic", "best"))
            for x in DELETION_LEVELS
        ]
        claim = "copies without deletion disclose more than any deletion, sizes by one law"
        yield check(claim, '"helping identification"', f"{sum(higher)} of {len(higher)} levels", all(higher))


def verify_mixtures() -> Section:
    """Figures 5.10a and 5.11: test several models in one network, and patterns of real circles."""
    by_model = {name: _measure_models(name) for name in MAIN}
    return Section(
        "Figures 5.10a, 5.11: recall / disclosure of the people of each model, 0.3 of all, Nar09, percent",
        ("network", "basic, Y = 2 (.34)", "realistic, Y = 3 (.33)", "best, Y = 5 (.33)"),
        ((name, *(" / ".join(map(percent, rates)) for rates in models)) for name, models in by_model.items()),
        (
            "Only people with at least 5 contacts separate, so that the number of identities shows the model.",
            "Circles are those of ten Facebook users instead of 933 Twitter users; at most 5 identities.",
        ),
        (verdict for name, models in by_model.items() for verdict in _mixture_verdicts(name, models)),
    )


def _mixture_verdicts(name: str, models: list[tuple[float, float]]) -> Iterator[Verdict]:
    check = claims_about(name)
    lowest = models[2] == tuple(min(values) for values in zip(*models, strict=True))
    ours = percents(*(value for rates in models for value in rates))
    yield check("side by side, the best model is best", '"lowest recall and disclosure rates"', ours, lowest)
    plain = attack(name, basic(0.1), runs=2).disclosure
    for source in ("patterns", "circles"):
        rate = attack(name, EgoPatterns(source, adopters=0.1), runs=2).disclosure  # type: ignore[arg-type]
        yield check(
            f"patterns of real circles protect less than the basic model ({source}, disclosure at 0.1)",
            '"worse than the basic model"',
            f"{percent(rate)} against {percent(plain)}",
            rate > plain,
            why="ten Facebook users stand for 933 Twitter users, and have more circles",
        )


def _measure_models(name: str) -> list[tuple[float, float]]:
    """Return recall and disclosure rate of the people with two, three and five identities."""
    parts = tuple(
        (share, IdentitySeparation(model, y, adopters=0.3, minimum_degree=5))  # type: ignore[arg-type]
        for share, model, y in ((0.34, "basic", 2), (0.33, "realistic", 3), (0.33, "best", 5))
    )
    protection = Together(parts)
    result, _ = run_attack(name, protection, "Nar09", "random.25", 1000, "whole", 0)
    protected = protect(name, protection, 0)
    assert protected.separated is not None
    count = np.bincount(protected.separated.origin)[protected.pair.truth[result.person]]
    return [(float(np.mean(result.role[count == y] >= 0)), float(result.share[count == y].mean())) for y in (2, 3, 5)]


def verify_refusals() -> Section:
    """Figure 5.25: leave out the people with most contacts."""
    curves = {
        (name, kind): {top: attack(name, make(0.5, refuse_top=top), runs=2) for top in (0.0, 0.01, 0.05, 0.1)}
        for name in MAIN
        for kind, make in REFUSING.items()
    }
    title = "Figure 5.25: share of the best known who refuse, Nar09, two runs"
    return make_table(title, curves, _refusal_verdicts(curves), names=("protection",))


def _refusal_verdicts(curves: Curves) -> Iterator[Verdict]:
    for name in MAIN:
        check = claims_about(name)
        for kind in REFUSING:
            recall = recalls(curves[name, kind])
            claim = f"recall rises when the best known refuse, {kind}"
            yield check(claim, '"results significantly decline"', percents(*recall), recall == sorted(recall))
        rates = [rates.disclosure for rates in curves[name, "best, Y = 5, 0.5"].values()]
        claim = "disclosure stays low with the best model"
        yield check(claim, '"around 0.4 - 1.0%" for Slashdot', percents(*rates), max(rates) <= 0.01)
