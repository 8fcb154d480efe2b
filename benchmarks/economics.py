"""Time and memory of pricing attacks, with the paper's two programs and a textbook program in the same run.

    python benchmarks/economics.py               everything, about three minutes
    python benchmarks/economics.py --part 2 3 4  without the linear programs

How cases are run and shown: see harness.py. `--part` is another name of `--only`.

1. 5,000 records, one fine, constant detection, discount 0.9, binomial belief in 5K, 50K and 500K people. The peers, all
   solved by HiGHS: the two-level program (one program per size, kept and cut at the first worthless size, and one per
   record); one program per record, both built from arrays with the actions that end as bounds, on a few records evenly
   spaced by the chance of their cell, seconds scaled to all, and in 5K people on all 5,000 records, which shows how
   well the few stand for all; one program per record from explicit states with a row for every action, the textbook's,
   on the same few. The peers get their beliefs ready made, cut where 1e-9 of the chance is left; ours works it out.
2. 32,561 records at 6,018,999 people, binomial belief.
3. A million records of known size.
4. Tables of groups of up to 128, 1,024 and 4,096, growing detection, every size worth an attack.
5. One group of 10,000 to 10,000,000 candidates under a cap of one fine and of five, constant and growing detection. The
   peer is the recursion over tries and fines, written plainly in Python, on a group of 10,000, seconds scaled to all.
6. A campaign against a million groups of 1 to 100 under one fine, both bounds; and its stopping fine. The peer takes
   the groups one after another by the same recursion, on ten thousand of them, seconds scaled to all.

The records are the stand-in of `verification/economics_case.py`: lognormal mean sizes, 64 % of the groups above 55.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness
from harness import Case, Found, Race, Step

ROOT = Path(__file__).resolve().parents[1]
PEOPLE = {5000: 200, 50_000: 100, 500_000: 25}
"""People in the outside data, and the records on which the textbook program is tried."""

N_RECORDS = 5000
GAIN = 8000.0
PARTS = ("1", "2", "3", "4", "5", "6")


# --- cases -----------------------------------------------------------------------------------------------


def ours(people: int) -> Step:
    """Payoff of each of the 5,000 records."""
    from unmask.economics import price_records

    attacker, sizes, p = records(people)
    # imports and compiles
    price_records(attacker, sizes[:1], population=people, cell_probability=p[:1], belief="binomial")

    def step() -> Found:
        prices = price_records(attacker, sizes, population=people, cell_probability=p, belief="binomial")
        return dict(enumerate(prices.payoff.tolist()))

    return step


def two_level(people: int) -> Step:
    """The paper's algorithm 5.1.1."""
    attacker, beliefs = with_beliefs(people, N_RECORDS)
    from tests.economics.literal import two_level_lp

    return lambda: dict(zip(beliefs, two_level_lp(attacker, list(beliefs.values())), strict=True))


def one_program(people: int, n: int) -> Step:
    """One linear program for each of n records, over all states of all sizes of its belief."""
    attacker, beliefs = with_beliefs(people, n)
    from tests.economics.literal import one_lp

    return lambda: {record: one_lp(attacker, belief) for record, belief in beliefs.items()}


def textbook(people: int, n: int) -> Step:
    """The same from explicit states, with a row for every action, by the solver's own choice of method."""
    attacker, beliefs = with_beliefs(people, n)
    from tests.economics.literal import literal_mdp

    return lambda: {record: _every_row(literal_mdp(attacker, belief)) for record, belief in beliefs.items()}


def _every_row(game: Any) -> float:
    """min sum v so that v(x) >= R(x, u) + discount * sum P(x'|x, u) v(x') for every action u; the sink is worth 0."""
    import numpy as np
    from scipy import optimize, sparse

    rows, columns, weights, reward = [], [], [], []
    for x, choices in enumerate(game.choices):
        for choice in choices if x != game.sink else ():
            for y, chance in choice.successors:
                rows.append(len(reward))
                columns.append(y)
                weights.append(game.discount * chance)
            rows.append(len(reward))
            columns.append(x)
            weights.append(-1.0)
            reward.append(choice.reward)
    n = len(game.states)
    bounds = np.column_stack([np.full(n, -np.inf), np.full(n, np.inf)])
    bounds[game.sink] = 0.0
    result = optimize.linprog(
        np.ones(n),
        A_ub=sparse.csr_array((weights, (rows, columns)), shape=(len(reward), n)),
        b_ub=-np.asarray(reward),
        bounds=bounds,
        method="highs",
    )
    if result.status != 0:
        raise RuntimeError(result.message)
    return float(result.x[game.start])


def case_file(people: int, belief: str) -> Step:
    """All records of the case study under a belief."""
    from unmask.economics import price_records

    case = study()
    stand_in, attacker = case.draw_records(1.0), case.case("b")
    sizes, p = stand_in.size, stand_in.probability
    # imports and compiles
    price_records(attacker, sizes[:1], population=people, cell_probability=p[:1], belief=belief)

    def step() -> Found:
        prices = price_records(attacker, sizes, population=people, cell_probability=p, belief=belief)
        return {"expected number named": float(prices.success_probability.sum())}

    return step


def known_sizes(n: int) -> Step:
    """Return the case of N records of known size."""
    import numpy as np

    from unmask.economics import price_records

    case = study()
    sizes = np.random.default_rng(1).choice(case.draw_records(1.0).size, n)
    attacker = case.case("b")
    price_records(attacker, sizes[:1])  # imports and compiles
    return lambda: {"expected number named": float(price_records(attacker, sizes).success_probability.sum())}


def table(max_size: int, cap: str) -> Step:
    """The table up to a size, for an attacker so greedy that no size is worthless."""
    from unmask.economics import Attacker, exploitation_table

    attacker = Attacker(
        gain=1e9,
        access_cost=100,
        exploit_cost=10,
        fine=10_000,
        max_fines=float(cap),
        detection_base=-4.59,
        detection_growth=0.18,
        prior=0.63,
    )
    exploitation_table(attacker, 1)  # imports and compiles

    def step() -> Found:
        result = exploitation_table(attacker, max_size)
        assert result.thresholds.attacked is None
        return {"payoff at the largest size": float(result.payoff[-1])}

    return step


CAPPED = {
    "one fine": {"exploit_cost": 0.0, "fine": 1.0, "detection": [0.001], "max_fines": 1},
    "five fines": {"exploit_cost": 1e-4, "fine": 1000.0, "detection": [1e-6], "max_fines": 5},
    "five, growing": {
        "exploit_cost": 1e-4,
        "fine": 500.0,
        "detection_base": -9.0,
        "detection_growth": 0.001,
        "max_fines": 5,
    },
}
"""Attackers whose fines run out."""

LITERAL_SIZE = 10_000
LITERAL_GROUPS = 10_000


def group(size: int, cap: str) -> Step:
    """Return the case of the worth of one group."""
    from unmask.economics import Attacker, price_records

    attacker = Attacker(gain=8000.0, prior=0.63, **CAPPED[cap])
    price_records(attacker, [100])  # imports and compiles
    return lambda: {"payoff": float(price_records(attacker, [size]).sunk_payoff[0])}


def literal_group(cap: str) -> Step:
    """The same, smaller, by a plain recursion."""
    from unmask.economics import Attacker

    attacker = Attacker(gain=8000.0, prior=0.63, **CAPPED[cap])
    sys.path.insert(0, str(ROOT))
    from tests.economics.literal import chain_value

    return lambda: {f"payoff of {LITERAL_SIZE:,}": chain_value(attacker, [LITERAL_SIZE])}


def all_groups(times: int) -> Step:
    """Both bounds of a campaign against so many groups of each size from 1 to 100."""
    import numpy as np

    from unmask.economics import campaign

    sizes, attacker = np.repeat(np.arange(1, 101), times), study().case("b", "undiscounted")
    campaign(attacker, np.arange(1, 101))  # imports and compiles

    def step() -> Found:
        plan = campaign(attacker, sizes)
        return {"payoff": plan.payoff, "upper": plan.upper}

    return step


def fine_of_all_groups(times: int) -> Step:
    """The fine that stops every campaign against them."""
    import numpy as np

    from unmask.economics import campaign, stopping_fine

    sizes, attacker = np.repeat(np.arange(1, 101), times), study().case("b", "undiscounted")
    campaign(attacker, np.arange(1, 101))

    def step() -> Found:
        return {"stopping fine": stopping_fine(attacker, sizes).high}

    return step


def literal_groups() -> Step:
    """One after another by a plain recursion."""
    attacker = study().case("b", "undiscounted")
    sys.path.insert(0, str(ROOT))
    from tests.economics.literal import chain_value

    sizes = [size for size in range(1, 101) for _ in range(LITERAL_GROUPS // 100)]
    return lambda: {f"payoff of {LITERAL_GROUPS:,}": chain_value(attacker, sizes)}


def study() -> Any:
    """The case study of the verification program."""
    sys.path.insert(0, str(ROOT / "verification"))
    import economics_case

    return economics_case


def records(people: int) -> tuple[Any, Any, Any]:
    """Attacker, sizes and cell probabilities of the 5,000 records."""
    import numpy as np

    case = study()
    p = case.draw_records(1.0).probability[:N_RECORDS]
    return case.case("b"), np.random.default_rng(people).binomial(people, p), p


def with_beliefs(people: int, n: int) -> tuple[Any, dict[int, dict[int, float]]]:
    """The attacker and the beliefs about n records, by record: all, or evenly spaced by the chance of the cell."""
    attacker, _, p = records(people)
    import numpy as np

    chosen = range(N_RECORDS) if n == N_RECORDS else np.argsort(p)[N_RECORDS // n // 2 :: N_RECORDS // n].tolist()
    sys.path.insert(0, str(ROOT))
    from tests.economics.literal import binomial_belief

    return attacker, {record: binomial_belief(people, p[record]) for record in chosen}


def difference(result: Found, first: Found | None) -> str:
    """Largest difference of payoffs of the same record, in gains; a payoff below 0 is one of staying away."""
    if not first or not result:
        return ""
    gaps = (abs(max(x, 0.0) - max(first[record], 0.0)) for record, x in result.items())
    return f"differ by {max(gaps) / GAIN:.0e} gains"


# --- races -----------------------------------------------------------------------------------------------


def races(_: argparse.Namespace) -> Iterator[Race]:
    """The six parts."""
    for people, few_people in PEOPLE.items():
        largest, times = people == max(PEOPLE), N_RECORDS / few_people  # bars are for the largest only
        single_program = Case("LP per record", one_program, (people, N_RECORDS), long=True)
        yield Race(
            "1",
            f"5,000 records, {people:,} people",
            (Case("ours", ours, (people,)),),
            (
                Case("two-level", two_level, (people,), ratio_at_least=1000 * largest),
                *(
                    (single_program,) if people == min(PEOPLE) else ()
                ),  # the few stand for all; minutes where people are many
                Case(
                    f"LP per record, {few_people} scaled",
                    one_program,
                    (people, few_people),
                    times=times,
                    ratio_at_least=50_000 * largest,
                ),
                Case(f"textbook LP, {few_people} scaled", textbook, (people, few_people), times=times),
            ),
            shows="payoff of each record, binomial belief",
            compare=difference,
        )
    for part, title, shows, at_most, case, *arguments in (
        ("2", "32,561 records, binomial", "whole file priced", 0.3, case_file, 6_018_999, "binomial"),
        ("3", "1,000,000 records of known size", "whole file priced", 0.2, known_sizes, 1_000_000),
    ):
        yield Race(part, title, (Case("ours", case, tuple(arguments), at_most=at_most),), shows=shows)
    for size in (128, 1024, 4096):
        for cap in ("1", "3", "inf"):
            title = f"table up to size {size:,}, max_fines {cap}"
            yield Race("4", title, (Case("ours", table, (size, cap)),), shows="worth of every group size")

    for cap in CAPPED:
        for size in (10**4, 10**5, 10**6, 10**7):
            yield Race(
                "5",
                f"one group of {size:,}, {cap}",
                (Case("ours", group, (size, cap), at_most=0.1),),
                (Case(f"recursion, {LITERAL_SIZE:,} scaled", literal_group, (cap,), times=size / LITERAL_SIZE),),
                shows="value with the data at hand",
            )
    yield Race(
        "6",
        "campaign, 1,000,000 groups",
        (Case("ours", all_groups, (10_000,), at_most=0.1),),
        (
            Case(
                f"recursion, {LITERAL_GROUPS:,} scaled",
                literal_groups,
                times=10**6 / LITERAL_GROUPS,
                ratio_at_least=100,
            ),
        ),
        shows="bounds on the payoff",
    )
    yield Race(
        "6",
        "its stopping fine",
        (Case("ours", fine_of_all_groups, (10_000,)),),
        shows="least fine at which no campaign pays",
    )


def options(parser: argparse.ArgumentParser) -> None:
    """The older name of `--only`."""
    parser.add_argument("--part", nargs="*", choices=PARTS, dest="only", help="the same as --only")


if __name__ == "__main__":
    harness.main(__doc__, races, only=PARTS, options=options, limit=3600)
