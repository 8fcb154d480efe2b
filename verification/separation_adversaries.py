"""Figures 5.8, 5.9 and 5.12 to 5.14: other seeds, and other attacks, on people who separate each alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from graphs_runs import MAIN, percent
from separation_adoption import curves
from separation_runs import ATTACKS, NAR09, NOISE, STOPPED, attack, basic, best, disclosed, given, yes
from show import Section, Verdict

METHODS = ("random.25", "random.1", "top", "betwc.1")
"""The first is that of the other figures, the rest are the source's "advanced methods"."""


def seeding() -> Section:
    """Figures 5.8 and 5.12: seeds of another kind."""
    kinds = [("basic, Y = 2", basic(0.1)), ("basic, Y = 5", basic(0.1, 5))]
    rows, verdicts = [], []
    for name in MAIN:
        gap, recall = {}, {}
        for kind, protection in kinds:
            for who in ("whole", "mixed"):
                found = attack(name, protection, who=who, runs=2)
                gap[kind, who], recall[kind, who] = found.own - found.recall, found.recall
                rows.append((name, kind, who, percent(found.recall), percent(found.own), percent(found.rate)))
        two, five = kinds[0][0], kinds[1][0]
        verdicts += [
            yes(
                f"Y = 2: who separates is named more often than others, {name}",
                'reads "notably higher"',
                f"{100 * gap[two, 'whole']:+.1f} points",
                gap[two, "whole"] > 0,
            ),
            yes(
                f"Y = 2: {'not so' if name == 'slashdot' else 'less so'} with mixed seeds, {name}",
                'reads "disappeared"' if name == "slashdot" else 'reads "significantly decreased"',
                f"{100 * gap[two, 'mixed']:+.1f} points",
                abs(gap[two, "mixed"]) < (NOISE if name == "slashdot" else gap[two, "whole"]),
                why="now less often, as the best known adopters are seeds and out of the count"
                if name == "slashdot"
                else "",
            ),
            yes(
                f"Y = 2: recall over all is the same with mixed seeds, {name}",
                'reads "remained unchanged"',
                given(recall[two, "whole"], recall[two, "mixed"]),
                abs(recall[two, "whole"] - recall[two, "mixed"]) < NOISE,
            ),
            yes(
                f"Y = 5: less often, {name}",
                'reads "lower than the network average"',
                f"{100 * gap[five, 'whole']:+.1f} points",
                gap[five, "whole"] < 0,
            ),
        ]
        for level in (0.3, 0.7):
            for method in METHODS:
                found = attack(name, basic(level), method=method, runs=2)
                rows.append(
                    (
                        name,
                        f"basic, Y = 2, {level:g}",
                        method,
                        percent(found.recall),
                        percent(found.own),
                        percent(found.rate),
                    )
                )
        verdicts += _other_methods(name)
    return Section(
        title="Figures 5.8 and 5.12: seeds, 1000 each, Nar09, two runs, per cent",
        header=("network", "protection, 0.1", "seeds", "recall", "of adopters", "disclosure"),
        rows=tuple(rows),
        notes=("Mixed: half of the seeds are an identity of an adopter.",),
        verdicts=tuple(verdicts),
    )


def _other_methods(name: str) -> Iterator[Verdict]:
    """Figure 5.12: (a) the basic model, (b) the best one; random.25 first."""
    few, many = ([attack(name, basic(x), method=m, runs=2).recall for m in METHODS] for x in (0.3, 0.7))
    five = [attack(name, best(0.3), method=m, runs=2).recall for m in METHODS]
    yield yes(
        f"Y = 2: other seeds gain less at 0.3 than at 0.7, {name}",
        'reads "only minor differences", "better choice" from 0.6',
        f"{given(*few)}; {given(*many)}",
        max(few) - few[0] < max(many) - many[0],
    )
    for method, found in zip(METHODS[1:], many[1:], strict=True):
        yield yes(
            f"Y = 2, 0.7: {method} does better than random.25, {name}",
            'reads "advanced methods seem to be a better choice"',
            f"{percent(found)} against {percent(many[0])}",
            found > many[0],
        )
    yield yes(
        f"best, Y = 5, 0.3: no other seeds do better, {name}",
        'reads "random.25 [...] only slightly better", "no differences"',
        given(*five),
        max(five) - five[0] < NOISE,
    )


def others() -> Section:
    """Figure 5.9 and beyond: every attack on the basic and the best model."""
    kinds = {"none": lambda _: None, "basic, Y = 2": lambda x: basic(x), "best, Y = 5": lambda x: best(x)}
    levels = (0.1, 0.5, 0.9)
    found = {
        (name, attacker, kind): {x: attack(name, make(x), attacker) for x in (levels if kind != "none" else (0.1,))}
        for name in MAIN
        for attacker in ATTACKS
        for kind, make in kinds.items()
    }
    verdicts = []
    for name in MAIN:
        two, five = (
            {x: attack(name, kinds[kind](x), "Grasshopper", n=1000) for x in levels}
            for kind in ("basic, Y = 2", "best, Y = 5")
        )
        verdicts += [
            yes(
                f"Grasshopper, Y = 2: not stopped by 90 % of the people, {name}",
                'reads "could not be defeated even with 0.9"',
                given(*(x.recall for x in two.values())),
                two[0.9].recall >= STOPPED,
            ),
            yes(
                f"Grasshopper, best, Y = 5: disclosure, {name}",
                "reads at most 1.51",
                given(*(x.rate for x in five.values())),
                max(x.rate for x in five.values()) <= 0.0151,
                refutes=True,
            ),
            yes(
                f"Grasshopper, best, Y = 5: stopped by 90 % of the people, not by half, {name}",
                'reads "only with a very large fraction"',
                given(*(x.recall for x in five.values())),
                five[0.9].recall < STOPPED <= five[0.5].recall,
            ),
        ]
        rate = {attacker: found[name, attacker, "best, Y = 5"][0.1].rate for attacker in ATTACKS}
        worst, falling = max(rate, key=rate.__getitem__), found[name, "Nar09", "best, Y = 5"]
        verdicts += [
            topped(name),
            yes(
                f"Nar09, best, Y = 5: recall and disclosure fall with adoption up to half, {name}",
                'reads "constant monotonously decreased"',
                f"{falling[0.1].both()}, {falling[0.5].both()}",
                falling[0.1].recall > falling[0.5].recall and falling[0.1].rate > falling[0.5].rate,
            ),
            yes(
                f"and of the strongest attack, {name}",
                "not tried",
                f"{worst} {percent(rate[worst])}",
                rate[worst] <= 0.0233,
                why="the bound is that of Nar09",
                refutes=True,
            ),
        ]
    return Section(
        title="Figures 5.9, 5.10b: attacks on separation by chance, one run; recall / disclosure, per cent",
        header=("network", "attack", "protection", *map(str, levels)),
        rows=tuple(
            (
                *key,
                *((row[0.1].both() if key[2] != "none" else percent(row[0.1].recall)),),
                *(row[x].both() if x in row else "" for x in levels[1:]),
            )
            for key, row in found.items()
        ),
        notes=("Nar09 has 1000 seeds, the others 100; in the verdicts on Grasshopper it has 1000.",),
        verdicts=tuple(verdicts),
    )


def topped(name: str) -> Verdict:
    """The disclosure that the source gives of one run, as the mean of six: single ones spread by a quarter of it."""
    found = [disclosed(name, best(0.1), NAR09, "random.25", 1000, "whole", number).rate or 0.0 for number in range(6)]
    return yes(
        f"Nar09, best, Y = 5, 0.1: disclosure, mean of six perturbations, {name}",
        'reads "topped at 2.33%" (one perturbation)',
        f"{100 * np.mean(found):.2f}, single ones {100 * min(found):.2f} to {100 * max(found):.2f}",
        np.mean(found) <= 0.0233,
    )


def few_seeds() -> Section:
    """Figures 5.13 and 5.14: fewer seeds, and more."""
    levels = (0.0, 0.3, 0.5, 0.7)
    sets = (("random.25", 300), ("top", 300), ("random.25", 1000), ("random.25", 2000))
    rows = {
        (name, f"{n} {method}"): {x: attack(name, basic(x) if x else None, method=method, n=n, runs=2) for x in levels}
        for name in MAIN
        for method, n in sets
    }

    def verdicts() -> Iterator[Verdict]:
        for name in MAIN:
            few, top, usual, many = ([f.recall for f in rows[name, f"{n} {method}"].values()] for method, n in sets)
            yield yes(
                f"300 seeds: top is more robust than random.25, {name}",
                'reads "more robust" (200 seeds, LJ66k)',
                f"{given(*top)} against {given(*few)}",
                sum(top) > sum(few),
            )
            yield yes(
                f"2000 seeds add nothing to 1000 where 1000 do, {name}",
                'reads "only helps when the seeding method is unstable"',
                f"{percent(many[0])} against {percent(usual[0])}",
                many[0] - usual[0] < NOISE,
            )
            late = max(many[i] - usual[i] for i in (2, 3))
            yield yes(
                f"and bring the attack back where more people separate, {name}",
                'reads "better results when [...] also large"',
                f"{given(*many[2:])} against {given(*usual[2:])}",
                late > NOISE,
            )

    return curves(
        "Figures 5.13, 5.14: number of seeds (LJ66k in the source), basic, Y = 2, Nar09, two runs", rows, verdicts()
    )
