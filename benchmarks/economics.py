"""Time and memory of pricing attacks, with the paper's two programs and a textbook program in the same run.

    python benchmarks/economics.py               everything, about five minutes
    python benchmarks/economics.py --part 2 3 4  without the linear programs

Every case runs in a fresh process. Seconds are CPU seconds of the step alone, on all threads, imports not counted; a
case below five seconds runs three times and the median is shown. Peak memory is that of the whole process.

1. 5,000 records, one fine, constant detection, discount 0.9, binomial belief in 5K, 50K and 500K people. The peers, all
   solved by HiGHS: the two-level program (one program per size, kept and cut at the first worthless size, and one per
   record); one program per record, both built from arrays with the actions that end as bounds, on all 5,000 records;
   one program per record from explicit states with a row for every action, on a few records evenly spaced by the chance
   of their cell, scaled by what the program before takes for the same few. The peers get their beliefs ready made, cut
   where 1e-9 of the chance is left; ours works it out.
2. 32,561 records at 6,018,999 people, belief binomial and coherent.
3. A million records of known size.
4. Tables of groups of up to 128, 1,024 and 4,096, growing detection, every size worth an attack.

The records are the stand-in of `verification/economics_case.py`: lognormal mean sizes, 64 % of the groups above 55.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
# fork. So everything beyond the standard library is imported where it is used.

ROOT = Path(__file__).resolve().parents[1]
PEOPLE = {5000: 200, 50_000: 100, 500_000: 25}
"""People in the outside data, and the records on which the textbook program is tried."""

N_RECORDS = 5000
REQUIRED = {"two-level": 1000, "one program per record": 50_000}
"""Least ratios at 500,000 people."""

LIMITS = {"binomial, 32,561 records": 0.3, "known, 1,000,000 records": 0.2}
"""Most seconds."""

GAIN = 8000.0

Step = Callable[[], list[float]]


# --- cases -----------------------------------------------------------------------------------------------


def ours(people: int) -> Step:
    """Payoff of each of the 5,000 records."""
    import scipy.special  # noqa: F401 (its import is no part of the step)

    from unmask.economics import price_records

    attacker, sizes, p = records(people)

    def step() -> list[float]:
        found = price_records(attacker, sizes, population=people, cell_probability=p, belief="binomial")
        return found.payoff.tolist()

    return step


def two_level(people: int) -> Step:
    """The paper's algorithm 5.1.1."""
    attacker, beliefs = with_beliefs(people, N_RECORDS)
    from tests.economics.literal import two_level_lp

    return lambda: two_level_lp(attacker, beliefs)


def one_program(people: int) -> Step:
    """One linear program for each record, over all states of all sizes of its belief."""
    attacker, beliefs = with_beliefs(people, N_RECORDS)
    from tests.economics.literal import one_lp

    return lambda: [one_lp(attacker, belief) for belief in beliefs]


def few_programs(people: int) -> Step:
    """The same for the few records of the textbook program."""
    attacker, beliefs = with_beliefs(people, PEOPLE[people])
    from tests.economics.literal import one_lp

    return lambda: [one_lp(attacker, belief) for belief in beliefs]


def textbook(people: int) -> Step:
    """The same from explicit states, with a row for every action, by the solver's own choice of method."""
    attacker, beliefs = with_beliefs(people, PEOPLE[people])
    from tests.economics.literal import literal_mdp

    return lambda: [_every_row(literal_mdp(attacker, belief)) for belief in beliefs]


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
    found = optimize.linprog(
        np.ones(n),
        A_ub=sparse.csr_array((weights, (rows, columns)), shape=(len(reward), n)),
        b_ub=-np.asarray(reward),
        bounds=bounds,
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(found.message)
    return float(found.x[game.start])


def case_file(belief: str) -> Callable[[int], Step]:
    """All records of the case study under a belief."""

    def prepare(people: int) -> Step:
        import scipy.special  # noqa: F401 (its import is no part of the step)

        from unmask.economics import price_records

        case = study()
        stand_in = case.surrogate(1.0)

        def step() -> list[float]:
            found = price_records(
                case.case("b"), stand_in.size, population=people, cell_probability=stand_in.probability, belief=belief
            )
            return [float(found.success_probability.sum())]

        return step

    return prepare


def known_sizes(n: int) -> Step:
    """So many records of known size."""
    import numpy as np

    from unmask.economics import price_records

    case = study()
    sizes = np.random.default_rng(1).choice(case.surrogate(1.0).size, n)
    attacker = case.case("b")
    return lambda: [float(price_records(attacker, sizes).success_probability.sum())]


def table(max_fines: float) -> Callable[[int], Step]:
    """The table up to a size, for an attacker so greedy that no size is worthless."""

    def prepare(max_size: int) -> Step:
        from unmask.economics import Attacker, exploitation_table

        attacker = Attacker(
            gain=1e9,
            access_cost=100,
            exploit_cost=10,
            fine=10_000,
            max_fines=max_fines,
            detection_base=-4.59,
            detection_growth=0.18,
            prior=0.63,
        )
        attacker.detection_at(1)  # imports what it needs

        def step() -> list[float]:
            found = exploitation_table(attacker, max_size)
            assert found.thresholds.attacked is None
            return [float(found.payoff[-1])]

        return step

    return prepare


def study() -> Any:
    """The case study of the verification program."""
    sys.path.insert(0, str(ROOT / "verification"))
    import economics_case

    return economics_case


def records(people: int) -> tuple[Any, Any, Any]:
    """Attacker, sizes and cell probabilities of the 5,000 records."""
    import numpy as np

    case = study()
    p = case.surrogate(1.0).probability[:N_RECORDS]
    return case.case("b"), np.random.default_rng(people).binomial(people, p), p


def with_beliefs(people: int, n: int) -> tuple[Any, list[dict[int, float]]]:
    """The attacker and the beliefs about n records: all, or evenly spaced by the chance of the cell."""
    attacker, _, p = records(people)
    import numpy as np

    chances = p if n == N_RECORDS else p[np.argsort(p)[N_RECORDS // n // 2 :: N_RECORDS // n]]
    sys.path.insert(0, str(ROOT))
    from tests.economics.literal import binomial_belief

    return attacker, [binomial_belief(people, chance) for chance in chances]


CASES: dict[str, Callable[[int], Step]] = {
    "ours": ours,
    "two-level": two_level,
    "one program per record": one_program,
    "few programs": few_programs,
    "textbook program": textbook,
    "binomial": case_file("binomial"),
    "coherent": case_file("coherent"),
    "known": known_sizes,
    "table 1": table(1),
    "table 3": table(3),
    "table inf": table(math.inf),
}


# --- running ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What one case took and found; `held_mib` is the memory of the process before the step."""

    seconds: float
    peak_mib: float
    held_mib: float
    found: list[float]


def run_here(name: str, argument: int) -> None:
    """Run one case in this process and print its outcome as JSON."""
    step = CASES[name](argument)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    found = step()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mib": peak, "held_mib": held, "found": found}))


def measured(name: str, argument: int) -> Outcome:
    """The case in fresh processes, three if it is short: median seconds, largest peak."""

    def once() -> Outcome:
        command = [sys.executable, __file__, "--case", name, str(argument)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return Outcome(**json.loads(done.stdout.splitlines()[-1]))

    outcomes = [once()]
    if outcomes[0].seconds < 5:
        outcomes += [once() for _ in range(2)]
    return Outcome(
        statistics.median(one.seconds for one in outcomes),
        max(one.peak_mib for one in outcomes),
        outcomes[0].held_mib,
        outcomes[0].found,
    )


def line(*cells: str) -> None:
    """One line of a table."""
    print("{:<38} {:>10} {:>10} {:>9} {:>9}  {}".format(*cells), flush=True)


def required(met: bool, limit: str) -> str:
    """What is demanded, and whether it is met."""
    return f"{'met' if met else 'MISSED'}: {limit}"


def race() -> None:
    """Part 1."""
    line("5,000 records, binomial belief", "seconds", "ratio", "peak MiB", "held MiB", "largest difference, records")
    for people, few in PEOPLE.items():
        mine = measured("ours", people)
        line(f"{people:,} people: ours", f"{mine.seconds:.4f}", "", f"{mine.peak_mib:.0f}", f"{mine.held_mib:.0f}", "")
        timed = {}
        for peer in ("two-level", "one program per record", "textbook program"):
            theirs = measured(peer, people)
            timed[peer] = theirs.seconds
            remark = "all"
            if peer.startswith("textbook"):
                same = measured("few programs", people)
                timed[peer] *= timed["one program per record"] / same.seconds
                gap = difference(theirs.found, same.found)
                remark = f"{few}, scaled"
            else:
                gap = difference(theirs.found, mine.found)
            ratio = timed[peer] / mine.seconds
            if people == max(PEOPLE) and peer in REQUIRED:
                remark += "; " + required(ratio >= REQUIRED[peer], f"at least {REQUIRED[peer]:,}")
            line(
                f"{people:,} people: {peer}",
                f"{timed[peer]:,.1f}",
                f"{ratio:,.0f}",
                f"{theirs.peak_mib:.0f}",
                f"{theirs.held_mib:.0f}",
                f"{gap:.0e} gains, {remark}",
            )


def difference(one: list[float], other: list[float]) -> float:
    """Largest difference of two lists of payoffs, in gains; a payoff below 0 is one of staying away."""
    return max(abs(max(a, 0.0) - max(b, 0.0)) for a, b in zip(one, other, strict=True)) / GAIN


def files(parts: set[int]) -> None:
    """Parts 2 and 3."""
    line("whole files", "seconds", "", "peak MiB", "held MiB", "expected number named")
    for part, name, argument, n in (
        (2, "binomial", 6_018_999, 32_561),
        (2, "coherent", 6_018_999, 32_561),
        (3, "known", 1_000_000, 1_000_000),
    ):
        if part not in parts:
            continue
        one = measured(name, argument)
        title = f"{name}, {n:,} records"
        limit = LIMITS.get(title)
        remark = f"{one.found[0]:,.1f}"
        if limit:
            remark += "; " + required(one.seconds < limit, f"less than {limit} s")
        line(title, f"{one.seconds:.4f}", "", f"{one.peak_mib:.0f}", f"{one.held_mib:.0f}", remark)


def tables() -> None:
    """Part 4."""
    line("exploitation tables", "seconds", "", "peak MiB", "held MiB", "payoff at the largest size")
    for size in (128, 1024, 4096):
        for cap in ("1", "3", "inf"):
            one = measured(f"table {cap}", size)
            memory = f"{one.peak_mib:.0f}", f"{one.held_mib:.0f}"
            line(f"sizes up to {size:,}, max_fines {cap}", f"{one.seconds:.4f}", "", *memory, f"{one.found[0]:.6g}")


def main() -> None:
    """Read the command line, run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, nargs="*", choices=(1, 2, 3, 4), default=(1, 2, 3, 4), help="only these")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return run_here(options.case[0], int(options.case[1]))
    if 1 in options.part:
        race()
    if {2, 3} & set(options.part):
        files(set(options.part))
    if 4 in options.part:
        tables()
    return None


if __name__ == "__main__":
    main()
