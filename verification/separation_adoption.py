"""Figures 5.6, 5.7, 5.10, 5.11 and 5.25: people who separate their identities each by himself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from graphs_runs import MAIN, percent
from separation_runs import STOPPED, Found, attack, basic, best, disclosed, given, protected, yes
from show import Section, Verdict

from unmask.graphs import IdentitySeparation
from unmask.graphs.protections import EgoPatterns, PowerLaw, Together

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)

Rows = Mapping[tuple[str, str], Mapping[float, Found]]


def curves(title: str, rows: Rows, verdicts: Iterator[Verdict], *notes: str) -> Section:
    """A line for each network and protection, a column for each share of adopters: recall / disclosure."""
    levels = list(next(iter(rows.values())))
    return Section(
        title=f"{title}; recall / disclosure, per cent",
        header=("network", "protection", *(f"{level:g}" for level in levels)),
        rows=tuple((*key, *(found.both() for found in row.values())) for key, row in rows.items()),
        notes=notes,
        verdicts=tuple(verdicts),
    )


def numbers() -> Section:
    """Figure 5.6: two and five identities, even and uneven."""
    kinds = {
        "basic, Y = 2": lambda x: basic(x),
        "basic, Y = 5": lambda x: basic(x, 5),
        "basic, Y = 5, power law of contacts": lambda x: basic(x, 5, sorting="power_law"),
        "basic, Y = 2 to 5, power law": lambda x: basic(x, PowerLaw(largest=5)),
    }
    rows = {
        (name, kind): {x: attack(name, make(x), runs=2) for x in LEVELS}
        for name in MAIN
        for kind, make in kinds.items()
    }
    return curves("Figure 5.6: numbers of identities, Nar09, two runs each", rows, _numbers_verdicts(rows))


def _numbers_verdicts(rows: Rows) -> Iterator[Verdict]:
    two, five, law, mixed = dict.fromkeys(kind for _, kind in rows)
    for name in MAIN:
        none = attack(name, runs=2).recall
        recall = {kind: [found.recall for found in rows[name, kind].values()] for kind in (two, five, law, mixed)}
        more = attack(name, basic(0.5), n=2000).recall
        yield yes(
            f"two identities: the attack is not stopped by half of the people, {name}",
            'reads "mildly decreased until [...] circa 0.5"',
            f"none {percent(none)}; {given(*recall[two])}",
            recall[two][2] >= STOPPED,
            why=f"1000 seeds do not spread at 0.5 any more, 2000 reach {percent(more)}" if name == "slashdot" else "",
        )
        if name == "slashdot":
            yield yes(
                "and is by 0.7 of them, slashdot", 'reads "50-60%"', percent(recall[two][3]), recall[two][3] < STOPPED
            )
        yield yes(
            f"five identities, half of the people: under 10 % recall, {name}",
            'reads "below 10% at 0.5"',
            given(*recall[five]),
            recall[five][2] < 0.1,
        )
        rate = rows[name, five][0.1].rate
        yield yes(f"five identities: disclosure at 0.1, {name}", "reads at most 7.56", percent(rate), rate <= 0.0756)
        yield yes(
            f"recall up to 0.5 is higher where contacts follow a power law, {name}",
            'reads "slightly higher"',
            given(*recall[law][:3]),
            sum(recall[law][:3]) > sum(recall[five][:3]),
        )
        yield yes(
            f"numbers of identities that follow a power law: between, {name}",
            'reads "properly centered between"',
            given(*recall[mixed][:3]),
            sum(recall[five][:3]) < sum(recall[mixed][:3]) < sum(recall[two][:3]),
        )
        lower = [found.rate < found.recall for kind in (two, five) for found in rows[name, kind].values()]
        yield yes(
            f"disclosure is lower than recall, {name}",
            'reads "significantly lower"',
            f"0.1, Y = 2, 5: {', '.join(rows[name, kind][0.1].both() for kind in (two, five))}",
            all(lower),
        )


def deletion() -> Section:
    """Figure 5.7: dropping contacts hardly helps with two identities."""
    levels, deleting = (0.1, 0.3, 0.5), ("realistic_minimal", "realistic", "best")
    rows = {
        (name, model): {x: attack(name, IdentitySeparation(model, adopters=x), runs=2) for x in levels}  # type: ignore[arg-type]
        for name in MAIN
        for model in ("basic", "realistic_minimal", "realistic", "best", "worst")
    }

    def verdicts() -> Iterator[Verdict]:
        for name in MAIN:
            plain = rows[name, "basic"]
            off = [rows[name, m][x].recall - plain[x].recall for m in deleting for x in levels]
            yield yes(
                f"recall with dropped contacts is a little lower than in the basic model, {name}",
                'reads "slightly better"',
                f"{100 * min(off):.1f} to {100 * max(off):.1f} points",
                sum(off) < 0,
            )
            least = [min(rows[name, m][x].recall for m in deleting) for x in levels]
            yield yes(
                f"nor does it stop the attack where the basic model does not, {name}",
                'reads "also incapable"',
                given(*least),
                all(low >= STOPPED for low, x in zip(least, levels, strict=True) if plain[x].recall >= STOPPED),
            )
            told = {m: [rows[name, m][x].rate - plain[x].rate for x in levels] for m in deleting}
            yield yes(
                f"disclosure is lower, {name}",
                'reads "better compared to the basic model"',
                "; ".join(f"{m} {100 * min(v):+.1f} to {100 * max(v):+.1f} points" for m, v in told.items()),
                all(max(v) < 0 for v in told.values()),
            )
            worst = [
                rows[name, "worst"][x].rate > max(rows[name, m][x].rate for m in ("realistic", "best")) for x in levels
            ]
            yield yes(
                f"copies without deletion tell more than any deletion, sizes by one law, {name}",
                'reads "helping identification"',
                f"{sum(worst)} of {len(worst)} levels",
                all(worst),
            )

    return curves("Figure 5.7: dropped contacts, Y = 2, Nar09, two runs each", rows, verdicts())


def together() -> Section:
    """Figures 5.10a and 5.11: several models in one network, and patterns of real circles."""
    rows, verdicts = [], []
    for name in MAIN:
        own = _by_model(name)
        rows.append((name, *(f"{percent(recall)} / {percent(rate)}" for recall, rate in own)))
        verdicts.append(
            yes(
                f"side by side, everyone fares as his model does: best is best, {name}",
                'reads "lowest recall and disclosure rates"',
                given(*(value for one in own for value in one)),
                own[2] == (min(recall for recall, _ in own), min(rate for _, rate in own)),
            )
        )
        plain = attack(name, basic(0.1), runs=2)
        like = {s: attack(name, EgoPatterns(s, adopters=0.1), runs=2) for s in ("patterns", "circles")}  # type: ignore[arg-type]
        verdicts += [
            yes(
                f"patterns of real circles protect less than the basic model, {name} ({s}, disclosure at 0.1)",
                'reads "worse than the basic model"',
                f"{percent(found.rate)} against {percent(plain.rate)}",
                found.rate > plain.rate,
                why="ten Facebook users stand for 933 Twitter users, and have more circles",
            )
            for s, found in like.items()
        ]
    return Section(
        title="Figures 5.10a, 5.11: recall / disclosure of the people of each model, 0.3 of all, Nar09, per cent",
        header=("network", "basic, Y = 2 (.34)", "realistic, Y = 3 (.33)", "best, Y = 5 (.33)"),
        rows=tuple(rows),
        notes=(
            "Only people with at least 5 contacts separate, so that the number of identities tells the model.",
            "Circles are those of ten Facebook users instead of 933 Twitter users; at most 5 identities.",
        ),
        verdicts=tuple(verdicts),
    )


def _by_model(name: str) -> list[tuple[float, float]]:
    """Recall and disclosure rate of the people with two, three and five identities."""
    parts = tuple(
        (share, IdentitySeparation(model, y, adopters=0.3, minimum_degree=5))  # type: ignore[arg-type]
        for share, model, y in ((0.34, "basic", 2), (0.33, "realistic", 3), (0.33, "best", 5))
    )
    protection = Together(parts)
    found = disclosed(name, protection, "Nar09", "random.25", 1000, "whole", 0)
    scene = protected(name, protection, 0)
    assert scene.separated is not None
    count = np.bincount(scene.separated.origin)[scene.pair.truth[found.person]]
    return [(float(np.mean(found.role[count == y] >= 0)), float(found.share[count == y].mean())) for y in (2, 3, 5)]


def refusing() -> Section:
    """Figure 5.25: the best known do not take part."""
    refuse = (0.0, 0.01, 0.05, 0.1)
    rows = {
        (name, kind): {top: attack(name, make(top), runs=2) for top in refuse}
        for name in MAIN
        for kind, make in (
            ("basic, Y = 2, 0.5", lambda top: basic(0.5, refuse_top=top)),
            ("best, Y = 5, 0.5", lambda top: best(0.5, refuse_top=top)),
        )
    }

    def verdicts() -> Iterator[Verdict]:
        for name in MAIN:
            two, five = ([*rows[name, kind].values()] for kind in ("basic, Y = 2, 0.5", "best, Y = 5, 0.5"))
            for kind, found in (("Y = 2", two), ("Y = 5", five)):
                recall = [one.recall for one in found]
                yield yes(
                    f"recall rises when the best known refuse, {kind}, {name}",
                    'reads "results significantly decline"',
                    given(*recall),
                    recall == sorted(recall),
                )
            told = max(found.rate for found in five)
            yield yes(
                f"disclosure stays low with the best model, {name}",
                'reads "around 0.4 - 1.0%" for Slashdot',
                given(*(found.rate for found in five)),
                told <= 0.01,
            )

    return curves("Figure 5.25: share of the best known who refuse, each by himself, Nar09, two runs", rows, verdicts())
