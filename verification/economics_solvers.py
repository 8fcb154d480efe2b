"""The exact solvers against each other: this package, linear programs, policy iteration, a decision tree."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from economics_case import oracle
from economics_findings import random_attacker
from show import Section, Verdict

from unmask.economics import exploitation_table, price_records

SEED = 2025
N_GAMES = 60
ALLOWED = {"linear program of unknown size": 1e-7, "two-level linear program": 1e-7}
"""Largest error, 1e-9 unless here: the solver's tolerance of 1e-10 adds up over states, and the tails of the belief
beyond 1e-9 are cut."""


def solvers() -> Section:
    """The largest error of each quantity over random games; payoffs in units of the gain."""
    worst: dict[tuple[str, str], float] = defaultdict(float)
    attacked = 0
    for number in range(N_GAMES):
        rng = np.random.default_rng([SEED, number])
        attacked += _known_size(rng, worst)
        _unknown_size(rng, worst)
        _other_rules(rng, worst)
    rows = tuple((solver, what, f"{error:.1e}") for (solver, what), error in worst.items())
    verdicts = [
        Verdict(
            f"{solver}: {what}", f"< {ALLOWED.get(solver, 1e-9):.0e}", f"{error:.1e}", error < ALLOWED.get(solver, 1e-9)
        )
        for (solver, what), error in worst.items()
    ]
    verdicts.append(
        Verdict(
            "random games that are attacked, of all",
            "some, not all",
            f"{attacked} of {N_GAMES}",
            0 < attacked < N_GAMES,
        )
    )
    return Section(
        f"The exact solvers: {N_GAMES} random games each, largest error",
        ("solver", "quantity", "largest error"),
        rows,
        ("Payoffs in units of the gain. Linear programs by HiGHS; all explicit solvers are those of the tests.",),
        tuple(verdicts),
    )


def _known_size(rng: np.random.Generator, worst: dict[tuple[str, str], float]) -> int:
    """One game of known size on explicit states; whether it is attacked."""
    size = int(rng.integers(1, 15))
    attacker = random_attacker(rng)
    ours = exploitation_table(attacker, size)
    game = oracle().literal_mdp(attacker, {size: 1.0})
    for name, solve in (("linear program", oracle().solve_lp), ("policy iteration", oracle().solve_policy_iteration)):
        values, policy = solve(game)
        risk = oracle().reidentification_probability(game, policy, size)
        root = game.discount * values[game.roots[size]] - attacker.link_cost
        sunk = max(root, 0.0)
        for what, error in (
            ("payoff", (values[game.start] - ours.payoff[size]) / attacker.gain),
            ("payoff once access is paid", (sunk - ours.sunk_payoff[size]) / attacker.gain),
            ("risk, equation (5)", risk - ours.success_probability[size]),
        ):
            worst[name, what] = max(worst[name, what], abs(error))
    return int(ours.payoff[size] > 0)


def _unknown_size(rng: np.random.Generator, worst: dict[tuple[str, str], float]) -> None:
    """One game of binomial belief, by one program over all sizes and by the two-level program."""
    attacker = random_attacker(rng)
    n, mean = int(rng.integers(200, 50_000)), rng.uniform(0.2, 12)
    ours = price_records(attacker, [0], population=n, cell_probability=[mean / n], belief="binomial")
    belief = oracle().binomial_belief(n, mean / n)
    for name, value in (
        ("linear program of unknown size", oracle().one_lp(attacker, belief)),
        ("two-level linear program", oracle().two_level_lp(attacker, [belief])[0]),
    ):
        error = abs(max(value, 0.0) - ours.payoff[0]) / attacker.gain
        worst[name, "payoff"] = max(worst[name, "payoff"], error)


def _other_rules(rng: np.random.Generator, worst: dict[tuple[str, str], float]) -> None:
    """One game with timings and rules that are not the paper's, by a decision tree in conditional chances."""
    size = int(rng.integers(1, 25))
    rules: dict[str, Any] = {
        "gain_delay": int(rng.integers(2)),
        "fine_delay": int(rng.integers(2)),
        "link_delay": int(rng.integers(2)),
        "arrest": bool(rng.integers(2)),
        "audit_every": int(rng.integers(1, 4)),
        "confirmation": float(rng.uniform(0.5, 1)),
        "max_tries": (None, 1, 3, 10)[rng.integers(4)],
    }
    attacker = random_attacker(rng, **rules)
    ours, tree = exploitation_table(attacker, size), oracle().decision_tree(attacker, size)
    for what, error in (
        ("payoff once access is paid", (tree.payoff_sunk - ours.sunk_payoff[size]) / attacker.gain),
        ("risk", tree.success - ours.sunk_success_probability[size]),
    ):
        key = ("decision tree, other rules", what)
        worst[key] = max(worst[key], abs(error))
