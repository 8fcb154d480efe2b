"""An oracle for the economics of re-identification: the paper's decision process, written as plainly as possible.

Xia, Heatherly, Kantarcioglu, Vorobeychik, Wan, Malin, "Process-Driven Data Privacy", CIKM 2015. Nothing here comes
from the package under test, and nothing here is clever. The same game is solved in several ways that share little: a
linear program and policy iteration on explicit states (`literal_mdp`), a decision tree in conditional probabilities
(`decision_tree`), dice (`play`), and the paper's two-level linear program (`two_level_lp`), which benchmarks compare
against together with `one_lp`.

The attacker is any object with the attributes of `Attacker`. Steps of time: access, link and every exploit take one
each; `gain_delay` and `fine_delay` say how many steps after the exploit the gain and the fine come, `link_delay`
whether linking takes one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.linalg import splu
from scipy.stats import binom

LP_TOLERANCE = 1e-10  # the smallest that HiGHS accepts
LP_SCALE = 1e4  # rows are multiplied by it: HiGHS drops coefficients below 1e-9, which would be the tails of a belief
LP_TIE = 1e-9  # in units of the gain: what a linear program cannot tell from a tie
TIE = 1e-12  # in units of the gain: a profit must exceed this, else the attacker walks away


class Attacker(Protocol):
    """Parameters of the oracle's attacker; money in one currency, probabilities in [0, 1]."""

    @property
    def gain(self) -> float: ...
    @property
    def access_cost(self) -> float: ...
    @property
    def link_cost(self) -> float: ...
    @property
    def exploit_cost(self) -> float: ...
    @property
    def fine(self) -> float: ...
    @property
    def max_fines(self) -> float: ...  # an int, or math.inf
    @property
    def prior(self) -> float: ...
    @property
    def discount(self) -> float: ...
    @property
    def gain_delay(self) -> int: ...
    @property
    def fine_delay(self) -> int: ...
    @property
    def link_delay(self) -> int: ...
    @property
    def arrest(self) -> bool: ...
    @property
    def max_tries(self) -> int | None: ...
    @property
    def confirmation(self) -> float: ...
    def detection_at(self, n: int, /) -> NDArray[np.float64]: ...


# ----------------------------------------------------------------------------------------------------
# The literal state space


class State(NamedTuple):
    """(t, d, p, s, a, l, g, r): terminated, last detected, fines so far, success, accessed, linked, size, left."""

    terminated: bool
    detected: bool
    fines: int
    success: bool
    accessed: bool
    linked: bool
    size: int
    left: int


class Choice(NamedTuple):
    """One action in one state: what it pays now, and where it leads as (index of the state, probability)."""

    action: str
    reward: float
    successors: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Game:
    """A finite decision process. In every state the first choice is to terminate; there is at most one other.

    All terminated states are worth 0 and never left, so one of them, `sink`, stands for all.
    States are numbered in the order of time. `roots` maps a size to its cluster root: accessed, linked, nothing tried.
    """

    states: tuple[State, ...]
    choices: tuple[tuple[Choice, ...], ...]
    discount: float
    gain: float
    start: int
    sink: int
    roots: Mapping[int, int]


START = State(False, False, 0, False, False, False, 0, 0)
SINK = State(True, False, 0, False, False, False, 0, 0)


def literal_mdp(attacker: Attacker, belief: Mapping[int, float]) -> Game:
    """The decision process on every state that can be reached from the start.

    belief : size of the group -> probability. A size of probability 0 gets its states all the same, so that a policy
    exists there; what is missing to 1 goes to the sink.
    With an infinite `max_fines` the number of fines is not counted: no reward depends on it.
    Raises ValueError for timings or rules that are not the paper's.
    """
    _only_literal(attacker)
    detection = attacker.detection_at(max([1, *belief]))
    number = {START: 0}
    choices: list[tuple[Choice, ...]] = []
    waiting = deque([START])
    while waiting:
        state = waiting.popleft()
        outcomes = []
        for action in _allowed(state):
            successors = []
            for after, probability in _outcomes(attacker, belief, detection, state, action):
                if after not in number:
                    number[after] = len(number)
                    waiting.append(after)
                successors.append((number[after], probability))
            outcomes.append(Choice(action, _reward(attacker, state, action), tuple(successors)))
        choices.append(tuple(outcomes))
    roots = {x.size: i for x, i in number.items() if x.linked and x.left == x.size}
    return Game(tuple(number), tuple(choices), attacker.discount, attacker.gain, 0, number[SINK], roots)


def _only_literal(attacker: Attacker) -> None:
    if (attacker.gain_delay, attacker.fine_delay, attacker.link_delay) != (1, 1, 1):
        raise ValueError("the literal state space has gain_delay = fine_delay = link_delay = 1; use decision_tree")
    if attacker.max_tries is not None or attacker.confirmation != 1 or attacker.arrest:
        raise ValueError("the literal state space has no max_tries, confirmation 1 and no arrest; use decision_tree")


def _allowed(x: State) -> list[str]:
    if x.terminated:
        return ["terminate"]
    if not x.accessed:
        return ["terminate", "access"]
    if not x.linked:
        return ["terminate", "link"]
    if not x.success and x.left > 0:
        return ["terminate", "exploit"]
    return ["terminate"]


def _reward(attacker: Attacker, x: State, action: str) -> float:
    """R(x, u), eq. (2): the gain and the fine look at the state before the action, and only while the game is on."""
    cost = {
        "terminate": 0.0,
        "access": attacker.access_cost,
        "link": attacker.link_cost,
        "exploit": attacker.exploit_cost,
    }
    reward = -cost[action]
    if x.success and not x.terminated:
        reward += attacker.gain
    if _pays_fine(attacker, x):
        reward -= attacker.fine
    return reward


def _pays_fine(attacker: Attacker, x: State) -> bool:
    return x.detected and x.fines < attacker.max_fines and not x.terminated


def _outcomes(
    attacker: Attacker, belief: Mapping[int, float], detection: NDArray[np.float64], x: State, action: str
) -> list[tuple[State, float]]:
    """The states that an action leads to, with their probabilities."""
    if action == "terminate" or x.terminated or x.success or (x.linked and x.left == 0):
        return [(SINK, 1.0)]
    if action == "access":
        p_outside = 1.0 - math.fsum(belief.values())
        reached = [(x._replace(accessed=True, size=k, left=k), float(chance)) for k, chance in sorted(belief.items())]
        return [*reached, (SINK, p_outside)] if p_outside > 0 else reached
    if action == "link":
        return [(x._replace(linked=True), 1.0)]
    n_tried = x.size - x.left
    succeeds = min(1.0, 1.0 / (x.size / attacker.prior - n_tried))
    detects = float(detection[n_tried])
    fines = x.fines + 1 if _pays_fine(attacker, x) and attacker.max_fines < math.inf else x.fines
    reached = []
    for success, chance in ((True, succeeds), (False, 1.0 - succeeds)):
        for detected, odds in ((True, detects), (False, 1.0 - detects)):
            if chance * odds > 0:
                after = x._replace(success=success, detected=detected, fines=fines, left=x.left - 1)
                reached.append((after, chance * odds))
    return reached


# ----------------------------------------------------------------------------------------------------
# Solvers on explicit states


def solve_lp(game: Game) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Values and policy by linear programming: min sum v(x) so that v(x) >= R(x, u) + discount * sum P(x'|x, u) v(x').

    Returns (n_states,) values and (n_states,) the number of the choice taken.
    Q-values within 1e-9 gains are ties: terminate.
    """
    state, reward, transition, floor = _rows(game)
    values = _linear_program(state, reward, transition, floor, game.discount)
    values[game.sink] = 0.0
    return values, _greedy(game, values, LP_TIE)


def _rows(
    game: Game,
) -> tuple[NDArray[np.int_], NDArray[np.float64], sparse.csr_array, NDArray[np.float64]]:
    """The choices as rows: state, reward, transitions without the sink. Those that surely end make the floor."""
    n = len(game.states)
    floor = np.full(n, -np.inf)
    state: list[int] = []
    reward: list[float] = []
    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    for x, choices in enumerate(game.choices):
        for choice in choices:
            onward = [(y, chance) for y, chance in choice.successors if y != game.sink]
            if not onward:
                floor[x] = max(floor[x], choice.reward)
                continue
            for y, chance in onward:
                rows.append(len(state))
                columns.append(y)
                weights.append(chance)
            state.append(x)
            reward.append(choice.reward)
    transition = sparse.csr_array((weights, (rows, columns)), shape=(len(state), n))
    return np.array(state, dtype=np.int_), np.array(reward, dtype=np.float64), transition, floor


def _linear_program(
    state: NDArray[np.int_],
    reward: NDArray[np.float64],
    transition: sparse.csr_array,
    floor: NDArray[np.float64],
    discount: float,
) -> NDArray[np.float64]:
    """min sum v, v[state[i]] >= reward[i] + discount * transition[i] @ v for every row i, v >= floor. Returns v."""
    m, n = transition.shape
    successor = sparse.csr_array((np.ones(m), state, np.arange(m + 1)), shape=(m, n))
    result = linprog(  # type: ignore[call-overload]  # the stubs do not know that A_ub may be sparse
        np.ones(n),
        A_ub=(LP_SCALE * (discount * transition - successor)).tocsc(),
        b_ub=-LP_SCALE * reward,
        bounds=np.column_stack([floor, np.full(n, np.inf)]),
        method="highs-ds",  # v = floor is dual feasible, so the dual simplex starts warm
        options={"primal_feasibility_tolerance": LP_TOLERANCE, "dual_feasibility_tolerance": LP_TOLERANCE},
    )
    if result.status != 0:
        raise RuntimeError(f"the linear program of {n} states was not solved: {result.message}")
    return np.array(result.x, dtype=np.float64)


def _greedy(game: Game, values: NDArray[np.float64], tie: float) -> NDArray[np.int_]:
    """The best choice in every state; to terminate (choice 0) unless another is better by more than tie * gain."""
    policy = np.zeros(len(game.states), dtype=np.int_)
    for x, choices in enumerate(game.choices):
        worth = [c.reward + game.discount * sum(chance * values[y] for y, chance in c.successors) for c in choices]
        choice = int(np.argmax(worth))
        if worth[choice] > worth[0] + tie * game.gain:
            policy[x] = choice
    return policy


def solve_policy_iteration(game: Game) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Values and policy by Howard's policy iteration, begun with the policy that never gives up.

    A policy is evaluated by (I - discount * P) v = R without the sink; the graph has no cycle, so discount 1 is no
    exception.
    Returns the same as `solve_lp`; Q-values within 1e-12 gains are ties: terminate.
    """
    policy = np.array([len(choices) - 1 for choices in game.choices], dtype=np.int_)
    for _ in range(len(game.states) + 1):
        values = _evaluate(game, policy)
        better = _greedy(game, values, TIE)
        if np.array_equal(better, policy):
            return values, policy
        policy = better
    raise RuntimeError(f"policy iteration did not settle in {len(game.states) + 1} rounds")


def _chain(game: Game, policy: NDArray[np.int_]) -> sparse.csr_array:
    """(n_states, n_states) transition matrix of the Markov chain under a policy, the row of the sink left empty."""
    steps = [
        (x, y, chance)
        for x, choices in enumerate(game.choices)
        if x != game.sink
        for y, chance in choices[policy[x]].successors
    ]
    n = len(game.states)
    return sparse.csr_array(([c for _, _, c in steps], ([x for x, _, _ in steps], [y for _, y, _ in steps])), (n, n))


def _evaluate(game: Game, policy: NDArray[np.int_]) -> NDArray[np.float64]:
    reward = np.array([choices[choice].reward for choices, choice in zip(game.choices, policy, strict=True)])
    is_open = np.arange(len(game.states)) != game.sink
    system = (sparse.eye_array(len(game.states)) - game.discount * _chain(game, policy)).tocsr()[is_open][:, is_open]
    # Time only moves forward, and so do the numbers of the states: the matrix is triangular as it stands.
    values = np.zeros(len(game.states))
    values[is_open] = splu(system.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0).solve(reward[is_open])
    return values


def reidentification_probability(game: Game, policy: NDArray[np.int_], actual_size: int) -> float:
    """Eq. (5): the chance that the chain of the policy, with access leading to the actual size, ever succeeds.

    Sum over time of P(success and not terminated); every success visits such a state once. No discount.
    Raises ValueError when the game has no states for the actual size: build it with that size at probability 0.
    """
    chain = _chain(game, policy).tolil()
    if game.choices[game.start][policy[game.start]].action == "access":
        revealed = State(False, False, 0, False, True, False, actual_size, actual_size)
        if revealed not in game.states:
            raise ValueError(f"the game has no group of size {actual_size}; give it to literal_mdp with probability 0")
        chain[game.start, :] = 0
        chain[game.start, game.states.index(revealed)] = 1
    forward = chain.tocsr().T.tocsr()
    succeeded = np.array([x.success and not x.terminated for x in game.states])
    mass: NDArray[np.float64] = np.zeros(len(game.states))
    mass[game.start] = 1.0
    total = 0.0
    while mass.any():
        total += float(mass[succeeded].sum())
        mass = forward @ mass
    return total


# ----------------------------------------------------------------------------------------------------
# The paper's algorithms, built with arrays so that a comparison of speed is fair


def binomial_belief(n: int, p: float, *, tail: float = 1e-9) -> dict[int, float]:
    """Binomial(n, p) on its central interval, with at most tail / 2 cut off on either side; not renormalized."""
    low, high = int(binom.ppf(tail / 2, n, p)), int(binom.ppf(1 - tail / 2, n, p))
    sizes = np.arange(low, high + 1)
    return dict(zip(sizes.tolist(), binom.pmf(sizes, n, p).tolist(), strict=True))


def one_lp(attacker: Attacker, belief: Mapping[int, float]) -> float:
    """Value at the start, by one linear program over all states of all sizes of the belief."""
    return float(_solve_sizes(attacker, belief)[0])


def two_level_lp(attacker: Attacker, beliefs: Sequence[Mapping[int, float]]) -> list[float]:
    """Values at the start by algorithm 5.1.1: one linear program per size, then a small one per record.

    The clusters are solved once, in order of size, up to the first worthless one: larger ones are worthless too.
    """
    largest = max((max(belief, default=0) for belief in beliefs), default=0)
    worth: dict[int, float] = {}
    for size in range(1, largest + 1):
        value = float(_solve_sizes(attacker, {size: 1.0})[1])
        if value <= TIE * attacker.gain:
            break
        worth[size] = value
    return [_top_level(attacker, belief, worth) for belief in beliefs]


def _top_level(attacker: Attacker, belief: Mapping[int, float], worth: Mapping[int, float]) -> float:
    """Value of the start over clusters of known value, those not in `worth` being worth nothing."""
    sizes = [size for size in belief if size in worth]
    if not sizes:
        return 0.0
    chances = [belief[size] for size in sizes]
    columns = np.arange(1, len(sizes) + 1)
    transition = sparse.csr_array((chances, (np.zeros_like(columns), columns)), shape=(1, len(sizes) + 1))
    floor = np.array([0.0, *(worth[size] for size in sizes)])
    cost = np.array([-attacker.access_cost])
    return float(_linear_program(np.array([0]), cost, transition, floor, attacker.discount)[0])


def _solve_sizes(attacker: Attacker, belief: Mapping[int, float]) -> NDArray[np.float64]:
    """Values of the start, of the accessed states in order of size, then of the linked states, by one linear program.

    The linked states are a grid (size, tried, fines, detected, success) of which the part that can be reached is
    numbered: nothing at all before the first try, and after it at most tried - 1 fines, as the last detection has not
    been paid yet.
    """
    _only_literal(attacker)
    sizes = np.array(sorted(belief), dtype=np.int_)
    chances = np.array([belief[size] for size in sizes.tolist()])
    n, largest = len(sizes), int(sizes.max(initial=0))
    cap = attacker.max_fines
    levels = 1 if math.isinf(cap) else min(int(cap), max(largest - 1, 0)) + 1
    shape = (n, largest + 1, levels, 2, 2)
    group, n_tried, fines, detected, success = np.indices(shape)
    size = sizes[group]
    reached = (n_tried >= 1) & (n_tried <= size) & (fines <= n_tried - 1)
    reached |= (n_tried == 0) & (fines == 0) & (detected == 0) & (success == 0)
    number = np.where(reached, 1 + n + np.cumsum(reached).reshape(shape) - 1, -1)
    group, n_tried, fines, detected, success, size = (
        grid[reached] for grid in (group, n_tried, fines, detected, success, size)
    )
    pays = (detected == 1) & (fines < cap)
    at_end = attacker.gain * success - attacker.fine * pays
    floor = np.concatenate([np.zeros(1 + n), at_end])

    on = np.flatnonzero((success == 0) & (n_tried < size))
    odds = np.minimum(1.0, 1.0 / (size[on] / attacker.prior - n_tried[on]))
    caught = np.asarray(attacker.detection_at(max(largest, 1)), dtype=np.float64)[n_tried[on]]
    paid = fines[on] if math.isinf(cap) else fines[on] + pays[on]
    rows, columns, weights = [np.zeros(n, dtype=np.int_)], [1 + np.arange(n)], [chances]  # row 0: access
    rows.append(1 + np.arange(n))  # rows 1 to n: link
    columns.append(number[np.arange(n), 0, 0, 0, 0])
    weights.append(np.ones(n))
    for d, chance in ((0, 1.0 - caught), (1, caught)):
        for s, luck in ((0, 1.0 - odds), (1, odds)):
            rows.append(1 + n + np.arange(len(on)))
            columns.append(number[group[on], n_tried[on] + 1, paid, d, s])
            weights.append(chance * luck)
    state = np.concatenate([np.arange(1 + n), 1 + n + on])
    reward = np.concatenate(
        [[-attacker.access_cost], np.full(n, -attacker.link_cost), at_end[on] - attacker.exploit_cost]
    )
    transition = sparse.csr_array(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(len(state), len(floor))
    )
    transition.eliminate_zeros()
    return _linear_program(state, reward, transition, floor, attacker.discount)


# ----------------------------------------------------------------------------------------------------
# The decision tree: any timing, arrest, patience, confirmation and detection schedule


@dataclass(frozen=True)
class Outcome:
    """Results of an attacker who has paid for access: discounted payoff, and undiscounted expectations.

    payoff_sunk : expected payoff from linking on, cost of linking included, at the time of linking; 0 without attack
    success : chance of a noticed success; tries : expected number of exploits; fines : expected number of fines
    """

    payoff_sunk: float
    success: float
    tries: float
    fines: float


NOTHING = Outcome(0.0, 0.0, 0.0, 0.0)


def decision_tree(
    attacker: Attacker, size: int, *, inside: float | None = None, probabilities: Sequence[float] | None = None
) -> Outcome:
    """The optimum of one attack on a group of known size, by recursion over (tries made, fines so far).

    Try j succeeds, given that all before it failed, with v / (N - v j), N = size / prior and v the confirmation.
    inside : the chance that the target is in the group, in place of the attacker's prior
    probabilities : (size,) descending chances of the single candidates, sum <= 1, in place of equal ones:
    try j succeeds with v p_j / (1 - v sum_{i<j} p_i)
    The attacker goes on only for more than 1e-12 gains.
    """
    odds = _odds(attacker, size, inside, probabilities)
    return _linked(attacker, _tree(attacker, odds)[0, 0])


def decision_tree_places(attacker: Attacker, size: int) -> set[tuple[int, int]]:
    """(tries made, fines so far) at which the optimum of `decision_tree` tries on."""
    return {place for place, ahead in _tree(attacker, _odds(attacker, size)).items() if ahead.tries > 0}


def _odds(
    attacker: Attacker, size: int, inside: float | None = None, probabilities: Sequence[float] | None = None
) -> list[float]:
    """The conditional chances of success of the tries that the attacker may make at all."""
    v = attacker.confirmation
    tries = size if attacker.max_tries is None else min(size, attacker.max_tries)
    if probabilities is None:
        prior = attacker.prior if inside is None else inside
        people = size / prior if prior > 0 else math.inf
        return [min(1.0, v / (people - v * j)) for j in range(tries)]
    if len(probabilities) != size or list(probabilities) != sorted(probabilities, reverse=True):
        raise ValueError(f"given {len(probabilities)} probabilities, expected {size} in descending order")
    p_left = [1.0 - v * math.fsum(probabilities[:j]) for j in range(tries)]
    return [
        min(1.0, v * p / p_reached) if p_reached > 0 else 0.0
        for p, p_reached in zip(probabilities, p_left, strict=False)
    ]


def _linked(attacker: Attacker, first: Outcome) -> Outcome:
    """The outcome at the moment of linking, given the one at the first try."""
    payoff = attacker.discount**attacker.link_delay * first.payoff_sunk - attacker.link_cost
    if first.tries == 0 or payoff <= TIE * attacker.gain:
        return NOTHING
    return Outcome(payoff, first.success, first.tries, first.fines)


def _tree(attacker: Attacker, odds: Sequence[float]) -> dict[tuple[int, int], Outcome]:
    """(tries made, fines so far) -> outcome from there on. Nothing is tried where `tries` is 0."""
    detection = attacker.detection_at(max(len(odds), 1))
    outcomes: dict[tuple[int, int], Outcome] = {}

    def outcome(n_tried: int, fines: int) -> Outcome:
        if n_tried == len(odds):
            return NOTHING
        if (n_tried, fines) not in outcomes:
            fined = fines < attacker.max_fines
            free = outcome(n_tried + 1, fines)
            caught = NOTHING if attacker.arrest else outcome(n_tried + 1, fines + fined)
            outcomes[n_tried, fines] = _try_once(
                attacker, odds[n_tried], float(detection[n_tried]), fined, free, caught
            )
        return outcomes[n_tried, fines]

    for n_tried in reversed(range(len(odds))):  # from the end, so that the recursion is never deep
        for fines in range(int(min(n_tried, attacker.max_fines)) + 1):
            outcome(n_tried, fines)
    return outcomes or {(0, 0): NOTHING}


def _try_once(attacker: Attacker, s: float, q: float, fined: bool, free: Outcome, caught: Outcome) -> Outcome:
    """To exploit or to walk away, s and q being the chances of success and of detection."""
    step = attacker.discount
    now = -attacker.exploit_cost
    now += step**attacker.gain_delay * s * attacker.gain
    now -= step**attacker.fine_delay * q * attacker.fine * fined
    payoff = now + step * (1 - s) * (q * caught.payoff_sunk + (1 - q) * free.payoff_sunk)
    if payoff <= TIE * attacker.gain:
        return NOTHING
    return Outcome(
        payoff,
        s + (1 - s) * (q * caught.success + (1 - q) * free.success),
        1 + (1 - s) * (q * caught.tries + (1 - q) * free.tries),
        q * fined + (1 - s) * (q * caught.fines + (1 - q) * free.fines),
    )


# ----------------------------------------------------------------------------------------------------
# Dice


@dataclass(frozen=True)
class Played:
    """Means over many plays, each with its standard error; as `Outcome` otherwise."""

    payoff: float
    payoff_error: float
    success: float
    success_error: float


def play(attacker: Attacker, size: int, rng: np.random.Generator, n: int, *, inside: float | None = None) -> Played:
    """The optimal attack on a group of known size, played n times by dice from the moment of linking on.

    The target is one of N = size / prior hidden people, and the first `size` are the candidates; the dice know
    nothing of the conditional chances that the plan was made with.
    """
    tree = _tree(attacker, _odds(attacker, size, inside))
    plan = {place for place, ahead in tree.items() if ahead.tries > 0}
    if _linked(attacker, tree[0, 0]).tries == 0:
        return Played(0.0, 0.0, 0.0, 0.0)
    prior = attacker.prior if inside is None else inside
    detection = attacker.detection_at(size).tolist()
    plays = np.array([_play_once(attacker, size / prior, plan, detection, rng) for _ in range(n)], dtype=np.float64)
    payoff, success = plays.mean(axis=0).tolist()
    payoff_error, success_error = (plays.std(axis=0, ddof=1) / math.sqrt(n)).tolist()
    return Played(payoff, payoff_error, success, success_error)


def _play_once(
    attacker: Attacker,
    people: float,
    plan: Iterable[tuple[int, int]],
    detection: Sequence[float],
    rng: np.random.Generator,
) -> tuple[float, bool]:
    """Payoff and success of one play."""
    target = math.floor(rng.random() * people)
    payoff = -attacker.link_cost
    n_tried = fines = 0
    while (n_tried, fines) in plan:
        now = attacker.link_delay + n_tried
        payoff -= attacker.discount**now * attacker.exploit_cost
        caught = rng.random() < detection[n_tried]
        if caught and fines < attacker.max_fines:
            payoff -= attacker.discount ** (now + attacker.fine_delay) * attacker.fine
            fines += 1
        if n_tried == target and rng.random() < attacker.confirmation:
            return payoff + attacker.discount ** (now + attacker.gain_delay) * attacker.gain, True
        if caught and attacker.arrest:
            break
        n_tried += 1
    return payoff, False


# ----------------------------------------------------------------------------------------------------
# Several records


def campaign_value(attacker: Attacker, sizes: Sequence[int], inside: Sequence[float] | None = None) -> float:
    """Expected payoff of the best joint attack on several records, the cap on fines shared and access already paid.

    The records may be taken in any order and interleaved; each has its own target, its own cost of linking (paid with
    its first try), its own limit of tries and its own clock of detection. An arrest ends the whole campaign.
    Not discounted, whatever `discount`. The number of states is the product of size + 2 over the records, times the
    cap: for two or three tiny records.
    inside : the chance that each target is in its group, in place of the attacker's prior
    """
    priors = [attacker.prior] * len(sizes) if inside is None else inside
    odds = [_odds(attacker, size, prior) for size, prior in zip(sizes, priors, strict=True)]
    detection = attacker.detection_at(max([1, *sizes])).tolist()
    counted = attacker.max_fines < math.inf
    closed = -1

    @cache
    def value_of_state(tries: tuple[int, ...], fines: int) -> float:
        value = 0.0
        for record, j in enumerate(tries):
            if j == closed or j == len(odds[record]):
                continue
            s, q = odds[record][j], detection[j]
            fined = fines < attacker.max_fines
            won = (*tries[:record], closed, *tries[record + 1 :])
            lost = (*tries[:record], j + 1, *tries[record + 1 :])
            cost = attacker.exploit_cost + (attacker.link_cost if j == 0 else 0.0) + q * attacker.fine * fined
            ahead = (1 - q) * (s * value_of_state(won, fines) + (1 - s) * value_of_state(lost, fines))
            if not attacker.arrest:
                fines_after = fines + (fined and counted)
                ahead += q * (s * value_of_state(won, fines_after) + (1 - s) * value_of_state(lost, fines_after))
            value = max(value, s * attacker.gain - cost + ahead)
        return value

    return value_of_state((0,) * len(sizes), 0)


def chain_value(attacker: Attacker, sizes: Sequence[int]) -> float:
    """Expected payoff of attacking the records one after another, smallest first, each left for good; access is paid.

    The cap on fines is shared. Try by try and fine by fine, from the last record back: a lower bound on
    `campaign_value`, and the value of one record where there is one. No arrest, not discounted.
    """
    cap = int(attacker.max_fines)
    later = [0.0] * (cap + 1)
    for size in sorted(sizes, reverse=True):
        odds, detection = _odds(attacker, size), attacker.detection_at(size).tolist()
        value = list(later)
        for j in range(len(odds) - 1, -1, -1):
            s, q = odds[j], detection[j]
            cost = attacker.exploit_cost + (attacker.link_cost if j == 0 else 0.0)
            ahead = [s * after + (1 - s) * on for after, on in zip(later, value, strict=True)]
            caught = [*ahead[1:], ahead[-1]]
            fines = [q * attacker.fine] * cap + [0.0]
            value = [
                max(after, s * attacker.gain - cost - fine + q * fine_ahead + (1 - q) * no_fine_ahead)
                for after, fine, fine_ahead, no_fine_ahead in zip(later, fines, caught, ahead, strict=True)
            ]
        later = value
    return later[0]


def chain_payoff(attacker: Attacker, size: int, n_targets: int) -> float:
    """Return the payoff of a chain of equal groups with constant detection: a recursion over targets, tries and fines.

    A target that is left at failure j is taken up again once all fines are paid.
    """
    q, cap, gain = attacker.detection[0], attacker.max_fines, attacker.gain
    cost, fine = attacker.exploit_cost, attacker.fine
    hit = attacker.prior / size
    large = [1 - j * hit for j in range(size + 1)]
    unfined = [max(0.0, hit * gain * (size - j) - cost * sum(large[j:size])) for j in range(size + 1)]
    worth, pays = [0.0] * (cap + 1), [0.0] * cap + [1.0]
    for _ in range(n_targets):
        value, ever = [large[-1] * x for x in worth], [large[-1] * x for x in pays]
        for j in range(size - 1, -1, -1):
            for p in range(cap + 1):
                up = min(p + 1, cap)
                go = gain * hit - large[j] * (cost + (q * fine if p < cap else 0.0))
                go += hit * (q * worth[up] + (1 - q) * worth[p]) + q * value[up] + (1 - q) * value[p]
                leave = large[j] * worth[p] + (pays[p] * unfined[j] if p < cap else 0.0)
                if go > leave:
                    ever[p] = hit * (q * pays[up] + (1 - q) * pays[p]) + q * ever[up] + (1 - q) * ever[p]
                else:
                    ever[p] = large[j] * pays[p]
                value[p] = max(go, leave)
        worth, pays = value, ever
    return max(worth[0] - attacker.access_cost, 0.0)
