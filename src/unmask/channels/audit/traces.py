"""Audits of traces: an adversary learns from half of the users, and estimates the places of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.attacks.learning import learn_chain
from unmask.channels.audit.learned import evidence_result
from unmask.channels.audit.rows import EVIDENCE_MEASURES, make_mean_row, score_belief
from unmask.channels.audit.tables import loss_column
from unmask.channels.channel import Channel
from unmask.channels.criteria.logs import path_entropy_bits
from unmask.channels.evidence.logs import UNSEEN, TraceLog
from unmask.channels.hidden_markov import Chain, HiddenMarkovAttack, most_likely_path
from unmask.channels.loss_model import LossModel
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import estimation_error, realized_error
from unmask.results import Block, Chart, Column, Result, Row, Table
from unmask.results.suppression import mark_people

TRACE, STEP, PATH = "whole trace", "one step", "most likely path"

ADVERSARIES = {
    TRACE: "knows how people move and what is shown, and reads the whole trace",
    STEP: "knows how common each place is and what is shown, and reads one step alone",
    PATH: "answers with the most likely sequence of places",
}

PATH_MEASURES = frozenset({"realized_error", "realized_success"})
"""Measures of an adversary who gives one answer for each step and no probability."""

MIN_USERS = 4
"""Fewest users of traces: half of them are learned from."""

MAX_STEPS_SHOWN = 200
"""Steps of the chart of errors over time."""


@dataclass(frozen=True)
class TraceAttack:
    """The beliefs of adversaries about the users who were not learned from.

    Parameters
    ----------
    log : TraceLog
        The traces of these users.
    chain : Chain
        What was learned from the other users.
    outputs : (n_users, n_steps) array
        What was shown of these users.
    beliefs : mapping of str to Posterior
        Belief of each adversary about each step of each user.
    """

    log: TraceLog
    chain: Chain
    outputs: Ints
    beliefs: Mapping[str, Posterior]

    @property
    def truth(self) -> Truth:
        """Return the place of each step."""
        return Truth(self.log.place[self.log.place >= 0])

    @property
    def person(self) -> Ints:
        """Return the user of each step."""
        return np.nonzero(self.log.place >= 0)[0]

    @property
    def step(self) -> Ints:
        """Return the number of each step in its trace, from 0."""
        return np.nonzero(self.log.place >= 0)[1]


def audit_traces(
    logs: Mapping[str, TraceLog],
    model: LossModel,
    *,
    mechanism: Channel | None,
    seed: int,
    title: str,
    assumptions: Sequence[str],
) -> Result:
    """Estimate the places of half of the users by what was learned from the other half."""
    rows: list[Row] = []
    attacks = {name: attack_traces(name, log, mechanism, seed) for name, log in logs.items()}
    for name, attack in attacks.items():
        for adversary, belief in attack.beliefs.items():
            rows += score_belief(
                belief, model, release=name, adversary=adversary, truth=attack.truth, person=attack.person,
                wants=PATH_MEASURES.__contains__ if adversary == PATH else EVIDENCE_MEASURES.__contains__,
            )  # fmt: skip
        rows += _trace_rows(name, attack, seed)
    steps = _step_table(attacks, model)
    learned = "moves" if mechanism is not None else "moves and outputs"
    return evidence_result(
        title=title,
        setting="An adversary sees what is shown of people over time, and estimates where they are at each step.",
        evidence=_evidence_table(attacks, logs),
        reading="Each line is a step of a user: a place, and what was shown of it.",
        rows=rows,
        unit=model.unit,
        adversaries=ADVERSARIES,
        tables=(steps,),
        blocks=(_step_block(steps, rows),),
        assumptions=(
            f"The adversary learns {learned} from a random half of the users; every error is over the other half.",
            "People move by a Markov chain: the next place depends on the present one alone.",
            *assumptions,
        ),
    )


def attack_traces(name: str, log: TraceLog, mechanism: Channel | None, seed: int) -> TraceAttack:
    """Learn a chain from half of the users, and attack the other half."""
    n_users = len(log.place)
    if n_users < MIN_USERS or len(log.places) < 2:
        raise UnmaskError(
            f"{name} has {n_users:,} users and {len(log.places):,} places, expected at least {MIN_USERS} users and 2 "
            "places; half of the users are learned from"
        )
    if log.shown is None and mechanism is None:
        raise UnmaskError(
            f"{name} does not say what was shown; add a column shown, or `mechanism` NAME:KEY=VALUE. To link people by "
            "their places, see unmask audit linkage and unmask audit graph"
        )
    if log.shown is not None and mechanism is not None:
        raise UnmaskError(f"{name} has a column shown, and `mechanism` would replace it; leave one out")
    rng = np.random.default_rng(seed)
    user = rng.permutation(n_users)
    learning, attacked = user[: n_users // 2], np.sort(user[n_users // 2 :])
    shown = _draw_outputs(log, mechanism, rng)
    chain = learn_chain(
        log.place[learning], shown[learning], n_x=len(log.places),
        mechanism=len(log.outputs) if mechanism is None else mechanism, pseudocount=1 / len(log.places),
    )  # fmt: skip
    learned = chain.mechanism
    labeled = Channel(learned.p_y_given_x, learned.prior, x_labels=log.places, y_labels=learned.y_labels)
    chain = replace(chain, mechanism=labeled)
    part = TraceLog(log.place[attacked], shown[attacked], log.places, log.outputs)
    visits = log.place[learning][log.place[learning] >= 0]
    place_shares = np.bincount(visits, minlength=len(log.places)) + 1 / len(log.places)
    beliefs = dict(_beliefs(chain, part, shown[attacked], place_shares / place_shares.sum(), rng))
    return TraceAttack(part, chain, shown[attacked], beliefs)


def _draw_outputs(log: TraceLog, mechanism: Channel | None, rng: np.random.Generator) -> Ints:
    """Return the outputs of the log, or draw them from a mechanism."""
    if log.shown is not None:
        return log.shown
    assert mechanism is not None
    if mechanism.n_x != len(log.places):
        raise UnmaskError(
            f"the mechanism has {mechanism.n_x:,} secrets and the traces {len(log.places):,} places, expected as many"
        )
    return np.where(log.place >= 0, mechanism.sample(np.maximum(log.place, 0), rng=rng), UNSEEN)


def _beliefs(
    chain: Chain, log: TraceLog, outputs: Ints, place_shares: Floats, rng: np.random.Generator
) -> Iterator[tuple[str, Posterior]]:
    """Yield the belief of each adversary about the steps of each user, without those after the end of a trace."""
    is_step = (log.place >= 0).ravel()
    memoryless = Chain(
        np.tile(place_shares, (len(place_shares), 1)), chain.mechanism.with_prior(place_shares), place_shares
    )
    for name, knowledge in ((TRACE, chain), (STEP, memoryless)):
        yield name, HiddenMarkovAttack()(outputs, knowledge).take(is_step)
    path = most_likely_path(outputs, chain, rng=rng).ravel()[is_step]
    distinct, observation = np.unique(path, return_inverse=True)
    answer = np.zeros((len(distinct), len(place_shares)))
    answer[np.arange(len(distinct)), distinct] = 1.0
    yield PATH, Posterior.from_dense(answer, prior=place_shares, observation=observation, status="scores")


def _trace_rows(name: str, attack: TraceAttack, seed: int) -> Iterator[Row]:
    """Yield the entropy rate, with and without outputs, and the share of traces that are wholly right."""
    length, unseen = attack.log.length, np.full_like(attack.outputs, UNSEEN)
    scale: Floats = 1.0 / length
    entropy, prior_entropy = (
        path_entropy_bits(outputs, attack.chain, length=length) * scale for outputs in (attack.outputs, unseen)
    )
    prior = float(prior_entropy.mean())
    yield make_mean_row(name, TRACE, "entropy_rate_bits", entropy, prior=prior, within=(0.0, np.inf))
    path = most_likely_path(attack.outputs, attack.chain, rng=np.random.default_rng(seed))
    is_correct = (path == attack.log.place) | (attack.log.place < 0)
    all_correct: Floats = np.asarray(is_correct.all(axis=1), dtype=np.float64)
    yield make_mean_row(name, PATH, "path_success", all_correct, rate=True)


def _evidence_table(attacks: Mapping[str, TraceAttack], logs: Mapping[str, TraceLog]) -> Table:
    columns = (
        Column("name", "System"),
        Column("form", "Form"),
        Column("users", "Users", "people"),
        Column("judged", "Users judged", "people", of="users"),
        Column("places", "Places", "number"),
        Column("outputs", "Outputs", "number"),
        Column("steps", "Steps", "number"),
        Column("chance", "Most common place", "share"),
    )
    records = (
        (name, "traces", len(log.place), len(attack.log.place), len(log.places), attack.chain.mechanism.n_y,
         int(log.length.sum()), float(log.prior.max()))
        for (name, log), attack in zip(logs.items(), attacks.values(), strict=True)
    )  # fmt: skip
    return Table.from_records("evidence", columns, records)


def _step_table(attacks: Mapping[str, TraceAttack], model: LossModel) -> Table:
    """Return the mean error at each step of the trace, of the first system."""
    columns = (
        Column("adversary", "Adversary"),
        Column("step", "Step", "number"),
        loss_column("error", "Error", model.unit),
        loss_column("announced", "Announced", model.unit),
        Column("users", "Users", "group"),
    )
    attack = next(iter(attacks.values()))
    step, truth = attack.step, attack.truth
    loss = model.loss if isinstance(model.loss, str) else model.matrix(len(attack.log.places))
    users = np.bincount(step)
    records = []
    kinds = [kind(loss, coordinates=model.coordinates) for kind in (realized_error, estimation_error)]
    for adversary in (TRACE, STEP):
        belief = attack.beliefs[adversary]
        realized, announced = (np.bincount(step, weights=kind.per_target(belief, truth)) / users for kind in kinds)
        records += [
            (adversary, t + 1, float(realized[t]), float(announced[t]), int(users[t]))
            for t in range(min(len(users), MAX_STEPS_SHOWN))
        ]
    return Table.from_records("trace_steps", columns, records)


def _step_block(steps: Table, rows: Sequence[Row]) -> Block:
    path = next(row for row in rows if row.measure == "path_success")
    rate = next(row for row in rows if row.measure == "entropy_rate_bits")
    exposed = f"{mark_people(round(path.posterior * path.n))} of {mark_people(path.n)} users"
    sentence = (
        f"The most likely path is right at every step for {exposed}. Uncertainty about a trace is {rate.posterior:.2f} "
        f"bits a step, without outputs {rate.prior:.2f} bits."
    )
    chart = Chart(
        "lines", steps.name, "step", "error", by="adversary", title="Error at each step",
        label="Error at each step, by adversary",
    )  # fmt: skip
    return Block("steps", "Step by step", sentence, (chart,))
