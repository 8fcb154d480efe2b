"""Systems known by counts, samples, traces, rounds and messages in files, and mechanisms by name.

    python verification/evidence.py [--part numbers|random|agreement]

1: acceptance numbers, through the command line where a file can show them. 2: each number of an audit of evidence next
to a literal program (sets, lists of all paths or matchings, or the formula) on 100 random inputs. 3: what adversaries
announce next to what they realize, over many drawn systems. Exit code 1 if a verdict fails; about a minute.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations, product
from math import factorial, log2
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from numpy.typing import NDArray
from show import Number, Section, Verdict, main

import unmask
from unmask.channels import (
    Chain,
    Channel,
    Crowds,
    HiddenMarkovAttack,
    MessageLog,
    PoolMix,
    RoundLog,
    StatisticalDisclosure,
    TraceLog,
)
from unmask.channels.attacks import MatchingAttack, bagai_entropy, edman_degree, learn_chain, sample_matchings
from unmask.channels.audit.messages import match_messages
from unmask.channels.audit.rounds import median_rounds_needed, share_of_receivers_found
from unmask.channels.criteria import path_entropy_bits, rounds_needed
from unmask.channels.evidence.logs import Delay
from unmask.cli import main as unmask_command

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INPUTS = 100
"""Random inputs of each comparison."""

MOVES = np.array([[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]])
SHOWS = np.array([[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.2, 0.7]])
FIRST = np.array([0.25, 0.5, 0.25])
MIX = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4


# --- the command ----------------------------------------------------------------------------------------------------


def audit(*arguments: str, content: str = "") -> dict[str, dict[str, object]]:
    """Return rows by adversary and measure, and tables by name, of `unmask audit channel`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evidence.csv"
        path.write_text(content)
        words = [str(path) if word == "FILE" else word for word in arguments]
        run = CliRunner().invoke(unmask_command, ["audit", "channel", *words, "--json", "--no-limit"])
    assert run.exit_code == 0, run.stderr
    result = json.loads(run.stdout)
    rows = {f"{row['adversary']}: {row['measure']}": row for row in result["results"]}
    return {"rows": rows, "tables": result["tables"]}


def value(result: dict[str, dict[str, object]], name: str, field: str = "posterior") -> float:
    """Return a number of a row."""
    return float(result["rows"][name][field])  # type: ignore[index]


def draw(rng: np.random.Generator, table: Floats, states: Ints) -> Ints:
    """Return a draw from the row of each state."""
    steps = table[states].cumsum(axis=-1)
    return np.minimum((rng.random(states.shape)[..., None] > steps).sum(axis=-1), table.shape[1] - 1)


def make_traces(users: int, steps: int, rng: np.random.Generator) -> TraceLog:
    """Return traces of the chain of three places."""
    place = np.empty((users, steps), dtype=np.int64)
    place[:, 0] = rng.choice(3, users, p=FIRST)
    for t in range(1, steps):
        place[:, t] = draw(rng, MOVES, place[:, t - 1])
    return TraceLog(place, draw(rng, SHOWS, place), ("a", "b", "c"), ("a", "b", "c"))


def write_traces(log: TraceLog) -> str:
    """Return traces as a file."""
    lines = [f"u{u},{t},{log.places[x]},{log.outputs[log.shown[u, t]]}" for (u, t), x in np.ndenumerate(log.place)]
    return "\n".join(["user,time,place,shown", *lines]) + "\n"


# --- 1: acceptance numbers ------------------------------------------------------------------------------------------


def numbers() -> Section:
    """Compare acceptance numbers, and check the claims that are no single number."""
    listed = (*_sample_numbers(), *_trace_numbers(), *_mix_numbers())
    return Section("Acceptance numbers", verdicts=(*(number.verify() for number in listed), *_claims()))


def _sample_numbers() -> Iterator[Number]:
    counts = audit("FILE", content=",a,b\nx,30,10\ny,10,30\n")
    (leakage,) = counts["tables"]["samples_leakages"]
    entropy = -(0.25 * log2(0.25) + 0.75 * log2(0.75))
    yield Number("plug-in leakage of 30,10 / 10,30", "1 - h(1/4)", 1 - entropy, lambda: leakage["counted"])
    yield Number("its p-value, 199 permutations", "1/200", 0.005, lambda: leakage["p_value"])


def _trace_numbers() -> Iterator[Number]:
    chain = Chain(np.array([[0.9, 0.1], [0.2, 0.8]]), Channel(np.array([[0.7, 0.3], [0.1, 0.9]])), np.array([0.5, 0.5]))
    belief = HiddenMarkovAttack()(np.array([[0, 0, 1]]), chain).to_dense()[:, 0]
    for step, expected in enumerate((0.935726, 0.933333, 0.705128)):
        yield Number(
            f"two-state chain, outputs 0,0,1, step {step + 1}", "enumeration", expected, lambda t=step: belief[t]
        )  # type: ignore[misc]
    learned = audit("FILE", content=write_traces(make_traces(400, 30, np.random.default_rng(0))))
    prototype = {
        "whole trace: realized_error": 0.152,
        "whole trace: estimation_error": 0.148,
        "one step: realized_error": 0.3,
    }
    for name, expected in prototype.items():
        yield Number(
            f"400 users, 30 steps, 3 places, {name}", "prototype", expected, lambda n=name: value(learned, n), 0.01
        )  # type: ignore[misc]


def _mix_numbers() -> Iterator[Number]:
    sent = np.array([[1, 1], [0, 2], [1, 1], [0, 2]])
    user = np.array([0, 1, 1, 1, 0, 1, 1, 1])
    log_ = RoundLog(np.repeat(np.arange(4), 2), user, user, ("a", "b"), ("x", "y"))
    assert np.array_equal(log_.counts(0, 4).sent, sent)
    profile = StatisticalDisclosure(senders=(0,)).estimate(log_.counts(0, 4)).estimate[0]
    yield Number("4 rounds 1,1/0,2/1,1/0,2: share of the first receiver", "own", 1.0, lambda: profile[0])
    yield Number(
        "rounds needed: share .2, popularity .02, batch 20", "Danezis 2003", 51.13,
        lambda: rounds_needed(0.2, popularity=0.02, batch=20), 0.005,
    )  # fmt: skip
    yield Number("Edman, marginals", "enumeration", 0.773332, lambda: edman_degree(MIX, kind="stochastic"))
    yield Number("Edman, possible pairs", "ln 3 / ln 6", 0.613147, lambda: edman_degree(MIX, kind="possible"))
    yield Number("Bagai, bits", "enumeration", 1.295462, lambda: bagai_entropy(MIX).entropy_bits)
    yield Number("Bagai, degree", "enumeration", 0.501153, lambda: bagai_entropy(MIX).degree)
    pool, crowd = audit("PoolMix:batch=10:pool=5"), audit("Crowds:n=20:submit=0.3")
    yield Number(
        "PoolMix 10, pool 5, bits", "series", 4.699372, lambda: value(pool, "eavesdropper: shannon_entropy_bits")
    )
    yield Number("Crowds n 20, p .3: error", "VI-B", 0.665, lambda: value(crowd, "eavesdropper: estimation_error"))
    yield Number("Crowds: epsilon", "VI-B", 2.258782, lambda: Crowds(20, 0.3).epsilon)
    yield Number("Crowds: delay", "(1 - p) / p", 7 / 3, lambda: value(crowd, "eavesdropper: expected_delay"))


def _claims() -> Iterator[Verdict]:
    rng = np.random.default_rng(5)
    table = rng.multinomial(20, np.full(10, 0.1), size=10)
    lines = [f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(table)]
    nothing = audit("FILE", content="\n".join(["," + ",".join(f"o{i}" for i in range(10)), *lines]) + "\n")
    (leakage,) = nothing["tables"]["samples_leakages"]
    statuses = {row["status"] for row in nothing["rows"].values()}  # type: ignore[index]
    yield Verdict(
        "10 secrets x 20 samples, independent: corrected, p", "< .05, > .05",
        f"{leakage['leakage_bits']:.3f}, {leakage['p_value']:.2f}",
        leakage["leakage_bits"] < 0.05 < leakage["p_value"],
    )  # fmt: skip
    yield Verdict("no row of samples is exact", "never", ", ".join(sorted(statuses)), "exact" not in statuses)  # type: ignore[arg-type]
    secret = rng.choice(4, 4000)
    keep = np.e / (np.e + 3)
    shown = np.where(rng.random(4000) < keep, secret, (secret + rng.integers(1, 4, 4000)) % 4)
    content = "secret,output\n" + "".join(f"s{x},o{y}\n" for x, y in zip(secret, shown, strict=True))
    response = audit("FILE", content=content)
    low, high = (value(response, "frequencies: realized_error", end) for end in ("low", "high"))
    yield Verdict(
        "4,000 samples of randomized response: the interval of the held-out error", f"covers {3 / (np.e + 3):.6f}",
        f"{low:.4f} to {high:.4f}", low <= 3 / (np.e + 3) <= high,
    )  # fmt: skip


# --- 2: random inputs against literal programs ------------------------------------------------------------------------


def random_inputs() -> Section:
    """Return the largest difference of each number from that of a literal program."""
    comparisons: dict[str, tuple[Callable[[np.random.Generator], float], float]] = {
        "entropy of a trace: all paths listed": (_compare_path_entropy, 1e-9),
        "learned chain: counts in dictionaries": (_compare_learned_chain, 1e-12),
        "sender of a message: all matchings listed": (_compare_messages, 1e-6),
        "entropy and degree of a batch: all matchings listed": (_compare_batches, 1e-9),
        "sampled matchings: exact ones, in standard errors": (_compare_sampled, 6.0),
        "receivers found: sets": (_compare_receivers_found, 1e-12),
        "rounds needed: the formula for each sender": (_compare_rounds_needed, 1e-9),
        "Crowds with corrupted users: sums over path lengths": (_compare_crowds, 1e-9),
        "pool mix in a ring: sums over rounds": (_compare_pool_mix, 1e-9),
    }
    verdicts = []
    for seed, (claim, (compare, tolerance)) in enumerate(comparisons.items()):
        rng = np.random.default_rng(seed)
        largest = max(compare(rng) for _ in range(INPUTS))
        verdicts.append(Verdict(claim, f"difference <= {tolerance:g}", f"{largest:.1e}", largest <= tolerance))
    return Section(f"Numbers of audits on {INPUTS} random inputs", verdicts=verdicts)


def _compare_path_entropy(rng: np.random.Generator) -> float:
    n, m, steps = map(int, rng.integers((2, 2, 1), (4, 4, 5)))
    moves, shows, first = (
        rng.dirichlet(np.full(n, 0.5), n),
        rng.dirichlet(np.full(m, 0.5), n),
        rng.dirichlet(np.ones(n)),
    )
    outputs = rng.integers(-1, m, steps)
    joint = [
        first[path[0]]
        * np.prod([moves[i, j] for i, j in pairwise(path)])
        * np.prod([shows[x, y] for x, y in zip(path, outputs, strict=True) if y >= 0])
        for path in product(range(n), repeat=steps)
    ]
    p = [q / sum(joint) for q in joint if q > 0]
    ours = path_entropy_bits(outputs[None], Chain(moves, Channel(shows), first))[0]
    return float(abs(ours + sum(q * log2(q) for q in p)))


def _compare_learned_chain(rng: np.random.Generator) -> float:
    n, m, users, steps = map(int, rng.integers((2, 2, 1, 1), (5, 5, 8, 8)))
    place, shown = rng.integers(n, size=(users, steps)), rng.integers(-1, m, size=(users, steps))
    for user, length in enumerate(rng.integers(1, steps + 1, users)):
        place[user, length:] = shown[user, length:] = -1
    moves, outputs, first = Counter(), Counter(), Counter()
    for xs, ys in zip(place.tolist(), shown.tolist(), strict=True):
        trace = [x for x in xs if x >= 0]
        moves.update(pairwise(trace))
        outputs.update((x, y) for x, y in zip(trace, ys, strict=False) if y >= 0)
        first[trace[0]] += 1
    chain = learn_chain(place, shown, n_x=n, mechanism=m, pseudocount=1 / n)
    differences = [abs(chain.initial[i] - (first[i] + 1 / n) / (users + 1)) for i in range(n)]  # type: ignore[index]
    for i in range(n):
        totals = (sum(moves[i, j] + 1 / n for j in range(n)), sum(outputs[i, y] + 1 / n for y in range(m)))
        differences += [abs(chain.motion.dense()[i, j] - (moves[i, j] + 1 / n) / totals[0]) for j in range(n)]
        differences += [abs(chain.mechanism.dense()[i, y] - (outputs[i, y] + 1 / n) / totals[1]) for y in range(m)]
    return float(max(differences))


def _draw_messages(rng: np.random.Generator) -> MessageLog:
    n = int(rng.integers(2, 7))
    entered = np.sort(rng.random(n))
    left = entered + rng.exponential(0.4, n)
    order = rng.permutation(n)
    users = rng.integers(3, size=(2, n))
    return MessageLog(users[0], users[1], entered[order], left[order], ("a", "b", "c"), ("x", "y", "z"))


def _list_batches(
    log_: MessageLog, mean: float
) -> Iterator[tuple[Sequence[int], Sequence[int], dict[tuple[int, ...], float]]]:
    """Yield messages by entering and by leaving, and the probability of each matching, of each batch.

    Weights are exponential densities, and batches are cut by the definition: all that entered have left.
    """
    entering = sorted(range(len(log_.sender)), key=lambda i: log_.entered[i])
    leaving = sorted(range(len(log_.sender)), key=lambda i: log_.left[i])
    start = 0
    for stop in range(1, len(entering) + 1):
        if stop < len(entering) and log_.entered[entering[stop]] <= log_.left[leaving[stop - 1]]:
            continue
        rows, columns = entering[start:stop], leaving[start:stop]
        weights = {
            order: float(
                np.prod(
                    [_density(log_.left[columns[j]] - log_.entered[i], mean) for i, j in zip(rows, order, strict=True)]
                )
            )
            for order in permutations(range(stop - start))
        }
        total = sum(weights.values())
        yield rows, columns, {order: weight / total for order, weight in weights.items() if weight > 0}
        start = stop


def _density(delay: float, mean: float) -> float:
    return float(np.exp(-delay / mean)) if delay >= 0 else 0.0


def _compare_messages(rng: np.random.Generator) -> float:
    log_, mean = _draw_messages(rng), float(rng.uniform(0.2, 2.0))
    ours = match_messages("log", log_, Delay("exponential", mean), 0)
    listed = []
    for rows, columns, matchings in _list_batches(log_, mean):
        for j in range(len(columns)):
            chances = np.zeros(3)
            for order, p in matchings.items():
                chances[log_.sender[rows[order.index(j)]]] += p
            listed.append(chances)
    return float(np.abs(ours.belief.to_dense() - np.array(listed)).max())


def _compare_batches(rng: np.random.Generator) -> float:
    log_ = _draw_messages(rng)
    differences = [0.0]
    for batch, (rows, columns, matchings) in zip(
        match_messages("log", log_, None, 0).batches, _list_batches(log_, 1.0), strict=True
    ):
        entropy = -sum(p * log2(p) for p in matchings.values())
        patterns: Counter[frozenset[tuple[tuple[int, int], int]]] = Counter()
        for order, p in matchings.items():
            pairs = Counter(
                (int(log_.sender[i]), int(log_.receiver[columns[j]])) for i, j in zip(rows, order, strict=True)
            )
            patterns[frozenset(pairs.items())] += p  # type: ignore[assignment]
        by_user = -sum(p * log2(p) for p in patterns.values())
        n, most = len(rows), log2(factorial(len(rows))) or 1.0
        differences += [
            abs(batch.n - n),
            abs(batch.bagai_entropy_bits - entropy),
            abs(batch.bagai_degree - entropy / most),
            abs(batch.gierlichs_degree - by_user / most),
            abs(batch.edman_possible - log2(len(matchings)) / most),
        ]
    return float(max(differences))


def _compare_sampled(rng: np.random.Generator) -> float:
    n = int(rng.integers(3, 8))
    entered = np.sort(rng.random(n))
    left = np.sort(entered + rng.random(n))
    W = Delay("fixed", float((left - entered).max())).weights(entered, left)
    sampled, exact = sample_matchings(W, rng=rng), MatchingAttack("exact").marginals(W)
    return float(np.abs(sampled.probability - exact.probability).max() / max(sampled.standard_error, 1e-3))


def _draw_rounds(rng: np.random.Generator) -> RoundLog:
    senders, receivers, rounds = map(int, rng.integers((2, 3, 6), (6, 8, 20)))
    size = rounds * 3
    sender = np.concatenate([np.arange(senders), rng.integers(senders, size=size)])
    receiver = rng.integers(receivers, size=size + senders)
    number = np.concatenate([np.arange(senders) % rounds, np.repeat(np.arange(rounds), 3)])
    return RoundLog(number, sender, receiver, tuple(map(str, range(senders))), tuple(map(str, range(receivers))))


def _compare_receivers_found(rng: np.random.Generator) -> float:
    log_ = _draw_rounds(rng)
    counts = log_.counts(0, log_.n_rounds)
    attack = StatisticalDisclosure()
    senders = attack.identified_senders(counts)
    if not len(senders):
        return 0.0
    profiles = StatisticalDisclosure(senders=tuple(senders.tolist())).estimate(counts)
    jitter = profiles.estimate + 1e-9 * rng.random(profiles.estimate.shape)  # no ties
    profiles = type(profiles)(
        jitter, *[getattr(profiles, name) for name in ("standard_error", "popularity", "senders", "n_rounds")]
    )
    literal = []
    for i, sender in enumerate(profiles.senders):
        receivers = {int(r) for s, r in zip(log_.sender, log_.receiver, strict=True) if s == sender}
        ranked = sorted(range(len(log_.receivers)), key=lambda r: -jitter[i][r])
        literal.append(len(receivers & set(ranked[: len(receivers)])) / len(receivers))
    return float(np.abs(share_of_receivers_found(profiles, log_.shares()) - literal).max())


def _compare_rounds_needed(rng: np.random.Generator) -> float:
    log_ = _draw_rounds(rng)
    pairs = list(zip(log_.sender.tolist(), log_.receiver.tolist(), strict=True))
    batch, needed = len(pairs) / log_.n_rounds, []
    for sender in range(len(log_.senders)):
        own, others = [r for s, r in pairs if s == sender], [r for s, r in pairs if s != sender]
        receiver = min(set(own), key=lambda r: (-own.count(r), r))
        v, u = own.count(receiver) / len(own), others.count(receiver) / len(others)
        needed.append(1.959963984540054**2 * (v * (1 - v) + (batch - 1) * u * (1 - u)) / v**2)
    return abs(median_rounds_needed(log_) - float(np.median(needed)))


def _compare_crowds(rng: np.random.Generator) -> float:
    """Sum the probability of each predecessor over the number of forwards among honest users."""
    n = int(rng.integers(2, 12))
    corrupted, submit = int(rng.integers(1, n)), float(rng.uniform(0.05, 1))
    honest, forward = n - corrupted, 1 - submit
    at, seen = np.eye(honest)[0], np.zeros(honest)
    for _ in range(2000):
        seen += at * forward * corrupted / n
        at = np.full(honest, at.sum() * forward / n)
    ours = Crowds(n, submit, corrupted).channel().dense()[0]
    return float(np.abs(ours - (seen / seen.sum() if seen.sum() > 0 else np.eye(honest)[0])).max())


def _compare_pool_mix(rng: np.random.Generator) -> float:
    """Sum the probability to leave in each round of a ring over its turns."""
    batch, pool, rounds = map(int, rng.integers((1, 0, 1), (5, 9, 6)))
    leaves = np.zeros(rounds)
    for k in range(5000):
        leaves[k % rounds] += batch / (batch + pool) * (pool / (batch + pool)) ** k
    ours = PoolMix(batch, pool).channel(np.full(rounds * batch, 1 / (rounds * batch))).dense()[0]
    return float(np.abs(ours - np.repeat(leaves / batch, batch)).max())


# --- 3: announced and realized --------------------------------------------------------------------------------------


def agreement() -> Section:
    """Compare announced and realized success of traces, messages and rounds over drawn systems."""
    verdicts = [
        _agree("traces, 60 systems of 60 users and 12 steps", [_trace_success(seed) for seed in range(60)]),
        _agree("messages, 60 systems of 40 messages", [_message_success(seed) for seed in range(60)]),
        _agree("rounds, 200 systems of 30 senders and 200 rounds", [_round_success(seed) for seed in range(200)]),
    ]
    return Section("Announced and realized success", verdicts=verdicts)


def _agree(claim: str, pairs: Sequence[tuple[float, float]]) -> Verdict:
    announced, realized = np.array(pairs).T
    gap = realized - announced
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    holds = abs(gap.mean()) <= max(3 * error, 0.02)
    return Verdict(
        claim, f"announced {announced.mean():.3f}", f"realized {realized.mean():.3f} ± {1.96 * error:.3f}", holds
    )


def _success(system: object, adversary: str) -> tuple[float, float]:
    rows = {row.measure: row.posterior for row in unmask.audit(system).rows if row.adversary == adversary}
    return rows["success_probability"], rows["realized_success"]


def _trace_success(seed: int) -> tuple[float, float]:
    return _success(make_traces(60, 12, np.random.default_rng(seed)), "whole trace")


def _message_success(seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    entered = np.cumsum(rng.exponential(1.0, 40))
    left = entered + rng.exponential(0.8, 40)
    users = tuple(map(str, range(8)))
    return _success(
        MessageLog(rng.integers(8, size=40), rng.integers(8, size=40), entered, left, users, users), "matchings"
    )


def _round_success(seed: int) -> tuple[float, float]:
    """Draw 200 rounds of 8 messages among 30 senders, each with 3 of 40 receivers."""
    rng = np.random.default_rng(seed)
    receivers = np.array([rng.choice(40, 3, replace=False) for _ in range(30)])
    sender = rng.integers(30, size=1600)
    receiver = receivers[sender, rng.integers(3, size=1600)]
    users = tuple(map(str, range(30))), tuple(map(str, range(40)))
    return _success(RoundLog(np.repeat(np.arange(200), 8), sender, receiver, *users), "one-to-one rounds")


if __name__ == "__main__":
    sys.exit(main(__doc__, {"numbers": numbers, "random": random_inputs, "agreement": agreement}))
