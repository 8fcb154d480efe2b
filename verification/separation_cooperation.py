"""Figures 5.15 to 5.24: people who separate their identities together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphs_runs import MAIN, percent
from separation_runs import ATTACKS, Found, attack, basic, best, given, yes
from show import Section, Verdict

from unmask.graphs import IdentitySeparation

STOPPED = 0.05
"""Recall below which an attack counts as stopped."""

WAYS = {"alone": {}, "by LTA_A": {"cooperation": "lta"}, "by degree": {"cooperation": "degree"}}

SHARES = (0.01, 0.02, 0.03, 0.04, 0.1)


Rows = Mapping[tuple[str, ...], Mapping[float, Found]]
"""What was found by network, people and way, and by share."""


def _table(title: str, rows: Rows, verdicts: Iterator[Verdict], *notes: str) -> Section:
    shares = list(next(iter(rows.values())))
    names = ("network", "who", "how")[: len(next(iter(rows)))]
    return Section(
        title=f"{title}; recall / disclosure, per cent",
        header=(*names, *(f"{share:g}" for share in shares)),
        rows=tuple((*key, *(found.both() for found in row.values())) for key, row in rows.items()),
        notes=notes,
        verdicts=tuple(verdicts),
    )


def local() -> Section:
    """Figures 5.15 and 5.16: groups of neighbours."""
    shares = (0.1, 0.2, 0.3)
    rows = {
        (name, kind, f"groups of {n}" if n else "alone"): {
            x: attack(name, make(x, **({"cooperation": "local", "group": n} if n else {})), runs=2) for x in shares
        }
        for name in MAIN
        for kind, make in (("basic, Y = 2", basic), ("best, Y = 5", best))
        for n in (0, 5, 10, 25)
    }
    return _table("Figures 5.15, 5.16: local cooperation, Nar09, two runs", rows, _local_verdicts(rows))


def _local_verdicts(rows: Rows) -> Iterator[Verdict]:
    for name in MAIN:
        two = {
            how: [found.recall for found in row.values()]
            for (net, kind, how), row in rows.items()
            if net == name and kind == "basic, Y = 2"
        }
        five = {
            how: [found.recall for found in row.values()]
            for (net, kind, how), row in rows.items()
            if net == name and kind == "best, Y = 5"
        }
        alone, groups = two["alone"], two["groups of 10"]
        yield yes(
            f"groups of 10 hinder the attack more than people alone, {name}",
            "significant",
            f"{given(*groups)} against {given(*alone)}",
            sum(groups) < sum(alone) and groups[-1] < 0.6 * alone[-1],
        )
        yield yes(
            f"groups of 5 do so already, {name}",
            "yes",
            given(*two["groups of 5"]),
            sum(two["groups of 5"]) < sum(alone),
        )
        yield yes(
            f"0.3 of the people in groups of 10 stop the attack, {name}",
            "0.3 (LJ66k)",
            given(groups[-1]),
            groups[-1] < STOPPED,
        )
        yield yes(
            f"fewer will do with the best model and Y = 5, {name}",
            "0.2",
            given(*five["groups of 10"]),
            five["groups of 10"][1] < groups[1],
        )
        gain = [two[how][1] for how in ("groups of 5", "groups of 10", "groups of 25")]
        yield yes(
            f"groups of 25 add less than those of 10, {name}",
            "less",
            given(*gain),
            gain[1] - gain[2] < max(alone[1] - gain[1], 0.01),
        )


def worldwide() -> Section:
    """Figures 5.17, 5.21a, 5.22: those whom an attack needs most."""
    rows = {
        (name, kind, how): {x: attack(name, make(x, **way), runs=2) for x in SHARES}
        for name in MAIN
        for kind, make in (("basic, Y = 2", basic), ("best, Y = 5", best))
        for how, way in WAYS.items()
    }
    return _table("Figures 5.17, 5.21a, 5.22: global cooperation, Nar09, two runs", rows, _worldwide_verdicts(rows))


def _worldwide_verdicts(rows: Rows) -> Iterator[Verdict]:
    for name in MAIN:
        recall = {how: [found.recall for found in rows[name, "basic, Y = 2", how].values()] for how in WAYS}
        lta, degree = recall["by LTA_A"], recall["by degree"]
        yield yes(f"4 % by LTA_A stop the attack, {name}", "3 to 4 (Slashdot)", given(*lta), lta[3] < STOPPED)
        yield yes(
            f"2 % by degree do, {name}",
            "2 (Slashdot)",
            given(*degree),
            degree[1] < STOPPED,
            explained=name != "slashdot",
        )
        yield yes(
            f"10 % alone do not, {name}",
            "50 to 60 (Slashdot)",
            given(*recall["alone"]),
            recall["alone"][-1] > STOPPED,
        )
        yield yes(
            f"by degree is slightly better than by LTA_A, {name}",
            "in general",
            f"{given(*degree)} against {given(*lta)}",
            sum(degree) <= sum(lta) + 0.01,
        )
        first = rows[name, "basic, Y = 2", "by LTA_A"][0.01]
        yield yes(
            f"while the attack runs, it finds nearly all who cooperate, {name}",
            "95 and more (LJ66k)",
            percent(first.own),
            first.own > 0.9,
            explained=True,
        )
        yield yes(
            f"and tells more of them than of people alone, {name}",
            "higher",
            f"{percent(first.rate)} against {percent(rows[name, 'basic, Y = 2', 'alone'][0.01].rate)}",
            first.rate > rows[name, "basic, Y = 2", "alone"][0.01].rate,
        )


def other_seeds() -> Section:
    """Figures 5.18, 5.19, 5.21b: the adversary has better seeds, and more or fewer."""
    sets = (
        ("random.25", 1000),
        ("random.1", 1000),
        ("top", 1000),
        ("random.25", 2000),
        ("top", 2000),
        ("random.25", 400),
    )
    shares = (0.01, 0.02, 0.04)
    rows = {
        (name, how, f"{n} {method}"): {
            x: attack(name, basic(x, **WAYS[how]), method=method, n=n, runs=2) for x in shares
        }
        for name in MAIN
        for how in ("by LTA_A", "by degree")
        for method, n in sets
    }
    return _table(
        "Figures 5.18, 5.19, 5.21b: seeds against global cooperation, basic, Y = 2, two runs",
        rows,
        _other_seeds_verdicts(rows),
        "4 % stop 1000 random.25 seeds, no more: it spreads again from 2000 of them, or from the best known.",
    )


def _other_seeds_verdicts(rows: Rows) -> Iterator[Verdict]:
    for name in MAIN:
        for how in ("by LTA_A", "by degree"):
            late = {seeds: row[0.04].recall for (net, way, seeds), row in rows.items() if (net, way) == (name, how)}
            yield yes(
                f"better seeds do not bring the attack back at 4 % {how}, {name}",
                "little control",
                "; ".join(f"{seeds} {percent(value)}" for seeds, value in late.items()),
                max(late.values()) < 2 * STOPPED,
                explained=True,
            )
            few, usual = (rows[name, how, f"{n} random.25"][0.01].recall for n in (400, 1000))
            yield yes(
                f"fewer seeds make it fail sooner, {how}, {name}",
                "yes",
                f"400: {percent(few)}, 1000: {percent(usual)}",
                few <= usual,
            )


def other_attacks() -> Section:
    """Figure 5.20 and beyond: what stops Nar09 does not stop the others."""
    shares = (0.02, 0.04, 0.1, 0.2)
    rows = {
        (name, how, attacker): {x: attack(name, basic(x, **WAYS[how]), attacker) for x in shares}
        for name in MAIN
        for how in ("by LTA_A", "by degree")
        for attacker in ATTACKS
    }
    return _table(
        "Figure 5.20: attacks on global cooperation, basic, Y = 2, one run",
        rows,
        _other_attacks_verdicts(rows),
        "Nar09 has 1000 seeds, the others 100.",
    )


def _other_attacks_verdicts(rows: Rows) -> Iterator[Verdict]:
    for name in MAIN:
        grasshopper, nar09 = (rows[name, "by degree", attacker] for attacker in ("Grasshopper", "Nar09"))
        theirs, printed = ([found.recall for found in row.values()] for row in (grasshopper, nar09))
        yield yes(
            f"Grasshopper is harder to stop than Nar09, {name}",
            "yes",
            f"{given(*theirs)} against {given(*printed)}",
            sum(theirs) > sum(printed),
        )
        alone = attack(name, basic(0.2), "Grasshopper").recall
        yield yes(
            f"but cooperation helps against it, {name}",
            "yes",
            f"0.2: {percent(grasshopper[0.2].recall)}, alone {percent(alone)}",
            grasshopper[0.2].recall < alone,
        )
        four = {attacker: rows[name, "by degree", attacker][0.04].recall for attacker in ATTACKS}
        yield yes(
            f"4 % by degree stop the attack: Nar09, {name}", "yes", percent(four["Nar09"]), four["Nar09"] < STOPPED
        )
        del four["Nar09"]
        yield yes(f"and any other, {name}", "not tried", given(**four), max(four.values()) < STOPPED, explained=True)
        told = max(rows[name, "by degree", attacker][0.04].rate for attacker in four)
        yield yes(
            f"and those who cooperate pay for it: up to, {name}",
            "rather high disclosure",
            percent(told),
            told > 0.2,
        )


def refusing() -> Section:
    """Figure 5.24: the best known do not cooperate."""
    shares = (0.04, 0.2, 0.4)
    refuse = (0.0, 0.01, 0.05, 0.1)
    rows: dict[tuple[str, ...], dict[float, Found]] = {
        (name, how, f"top {100 * top:g} % refuse"): {x: attack(name, _cooperating(x, how, top)) for x in shares}
        for name in MAIN
        for how in ("by LTA_A", "by degree")
        for top in refuse
    }
    rows |= {(name, "alone", "all"): {x: attack(name, basic(x)) for x in shares} for name in MAIN}

    def verdicts() -> Iterator[Verdict]:
        for name in MAIN:
            for how in ("by LTA_A", "by degree"):
                at = [rows[name, how, f"top {100 * top:g} % refuse"] for top in refuse]
                yield yes(
                    f"1 % of refusals brings the attack back ({how}, 4 %), {name}",
                    "strongly",
                    given(*(row[0.04].recall for row in at)),
                    at[1][0.04].recall > STOPPED,
                )
                alone = [found.recall for found in rows[name, "alone", "all"].values()]
                late = [found.recall for found in at[-1].values()]
                yield yes(
                    f"with 10 % it is as if people were alone, or worse ({how}), {name}",
                    "from 0.40 on worse",
                    f"{given(*late)}; alone {given(*alone)}",
                    late[-1] > 0.8 * alone[-1],
                )

    return _table("Figure 5.24: the best known refuse, basic, Y = 2, Nar09, one run", rows, verdicts())


def _cooperating(share: float, how: str, refuse_top: float) -> IdentitySeparation:
    return basic(share, refuse_top=refuse_top, **WAYS[how])
