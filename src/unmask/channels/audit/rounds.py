"""Audits of the rounds of a mix: an adversary learns pairs of senders and receivers from the counts of many rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.attacks.disclosure import (
    LeastSquaresDisclosure,
    RoundDisclosure,
    Rounds,
    StatisticalDisclosure,
)
from unmask.channels.attacks.matching import Method
from unmask.channels.attacks.profiles import Profiles
from unmask.channels.audit.learned import evidence_result
from unmask.channels.audit.rows import EVIDENCE_MEASURES, make_mean_row, make_row, score_belief
from unmask.channels.criteria.logs import rounds_needed
from unmask.channels.evidence.logs import RoundLog
from unmask.channels.loss_model import LossModel
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status, equal_weights
from unmask.core.truth import Truth
from unmask.measures.interval import of_targets
from unmask.results import Block, Chart, Column, Result, Row, Table
from unmask.results.formats import percent
from unmask.results.suppression import FEWEST

AVERAGES, SQUARES, MATCHED = "averages", "least squares", "one-to-one rounds"

ADVERSARIES = {
    AVERAGES: "compares rounds with and without a sender",
    SQUARES: "explains the receivers of all rounds by all senders at once",
    MATCHED: "knows the estimated profiles, and that each message of a round leaves it once",
}

MIN_ROUNDS = 2
"""Fewest rounds of a log."""

HELD_OUT = 10
"""One of so many rounds, the last ones, is attacked by the profiles that the others show."""

MAX_EXACT_BATCH = 12
"""Messages of a round up to which all its matchings are summed; larger rounds take belief propagation."""

MAX_GROUPS = 10
"""Groups of senders in the chart of the most exposed."""

UNIDENTIFIED = "some senders are in every round, or always together with others, so that no counts tell them apart"
"""Reason why the profiles of some senders are not estimated."""


@dataclass(frozen=True)
class DisclosedRounds:
    """Profiles of the senders of a mix, and the beliefs about the messages of the last rounds.

    Parameters
    ----------
    log : RoundLog
        The messages.
    n_learned : int
        Number of rounds that profiles are estimated from, the first ones.
    profiles : mapping of str to Profiles
        Estimates of each adversary who estimates profiles.
    beliefs : mapping of str to (Posterior, (n_targets,) array, (n_targets,) array)
        Belief of each adversary about receivers of messages, the true receivers and the senders.
    """

    log: RoundLog
    n_learned: int
    profiles: Mapping[str, Profiles]
    beliefs: Mapping[str, tuple[Posterior, Ints, Ints]]

    @property
    def incomplete_adversaries(self) -> list[str]:
        """Return the adversaries who cannot tell some senders apart."""
        n_senders = {name: len(profiles.senders) for name, profiles in self.profiles.items()}
        return [name for name in (AVERAGES, SQUARES) if n_senders.get(name, 0) < len(self.log.senders)]

    @property
    def n_unidentified(self) -> int:
        """Return the number of senders without a profile of any adversary."""
        identified = {int(sender) for profiles in self.profiles.values() for sender in profiles.senders}
        return len(self.log.senders) - len(identified)


def audit_rounds(logs: Mapping[str, RoundLog], *, unpaired: bool, title: str, assumptions: Sequence[str]) -> Result:
    """Estimate profiles of senders from the counts of rounds, and the receivers of the last messages."""
    disclosed = {name: disclose_rounds(name, log) for name, log in logs.items()}
    rows = [row for name, item in disclosed.items() for row in _rows(name, item, paired=not unpaired)]
    first = next(iter(disclosed.values()))
    exposed = _exposure_table(first)
    unidentified = dict.fromkeys(name for item in disclosed.values() for name in item.incomplete_adversaries)
    return evidence_result(
        title=title,
        setting="An adversary sees who sends and who receives in each round of a mix, and estimates the pairs.",
        evidence=_evidence_table(disclosed),
        reading="Each line is a message: its round, its sender and its receiver.",
        rows=rows,
        unit="probability",
        adversaries=ADVERSARIES,
        tables=() if unpaired else (exposed,),
        blocks=() if unpaired or not exposed.rows else (_exposure_block(exposed),),
        sample_condition="realized_success_at_3 <= 0.5",
        assumptions=(
            "The pairing of sender and receiver in a line is the truth, and no adversary sees it.",
            f"Profiles are estimated from the first {HELD_OUT - 1} of {HELD_OUT} rounds; rates are over the others.",
            "Each message leaves the mix in the round in which it came, and senders keep their habits.",
            *assumptions,
        ),
        not_run=(
            *((f"profiles of some senders by {adversary}", UNIDENTIFIED) for adversary in unidentified),
            *([("realized measures", "senders and receivers are not paired (--unpaired)")] if unpaired else []),
            *([(MATCHED, f"fewer than {HELD_OUT} rounds")] if first.log.n_rounds < HELD_OUT else []),
        ),
    )


def disclose_rounds(name: str, log: RoundLog) -> DisclosedRounds:
    """Estimate profiles from the first rounds, and attack the messages of the last ones."""
    if log.n_rounds < MIN_ROUNDS or len(log.receivers) < 2:
        raise UnmaskError(
            f"{name} has {log.n_rounds:,} rounds and {len(log.receivers):,} receivers, expected at least {MIN_ROUNDS} "
            "rounds and 2 receivers"
        )
    n_learned = log.n_rounds - log.n_rounds // HELD_OUT
    profiles = dict(_estimate(log.counts(0, n_learned)))
    if not profiles:
        raise UnmaskError(f"{name} identifies no sender: {UNIDENTIFIED}; add rounds without them")
    held_out = log.round >= n_learned if n_learned < log.n_rounds else np.ones(len(log.round), dtype=bool)
    beliefs = {
        adversary: _belief_of_profiles(estimated, log.sender[held_out], log.receiver[held_out])
        for adversary, estimated in profiles.items()
    }
    if n_learned < log.n_rounds:
        most_precise = min(profiles.values(), key=lambda item: (-len(item.senders), item.standard_error.mean()))
        beliefs[MATCHED] = _match_rounds(log, n_learned, most_precise)
    return DisclosedRounds(log, n_learned, profiles, {key: item for key, item in beliefs.items() if len(item[1])})


def _estimate(rounds: Rounds) -> Iterator[tuple[str, Profiles]]:
    """Yield the profiles of the senders that each attack can tell apart."""
    for name, attack in ((AVERAGES, StatisticalDisclosure()), (SQUARES, LeastSquaresDisclosure())):
        senders = attack.identified_senders(rounds)
        if len(senders):
            yield name, replace(attack, senders=tuple(senders.tolist())).estimate(rounds)


def _belief_of_profiles(profiles: Profiles, sender: Ints, receiver: Ints) -> tuple[Posterior, Ints, Ints]:
    """Return the belief about the receiver of each message of a sender with a profile."""
    row = profiles.rows_of(sender)
    has_profile = row >= 0
    belief, observation = profiles.posterior(), row[has_profile]
    if not len(observation):
        return belief, observation, observation
    belief = replace(belief, observation=observation, weight=equal_weights(len(observation)))
    return belief, receiver[has_profile], sender[has_profile]


def _match_rounds(log: RoundLog, start: int, profiles: Profiles) -> tuple[Posterior, Ints, Ints]:
    """Return the belief about the receiver of each message in the rounds from `start` on."""
    complete, messages, senders, receivers = _complete(profiles, len(log.senders)), [], [], []
    status: Status = "model"
    for number in range(start, log.n_rounds):
        observed, receiver = log.observe(number)
        method: Method = "exact" if len(receiver) <= MAX_EXACT_BATCH else "belief propagation"
        belief = RoundDisclosure(method=method)(observed, complete)
        status = "scores" if belief.status == "scores" else status
        by_receiver = np.zeros((len(receiver), len(log.receivers)))
        np.add.at(by_receiver.T, observed.receivers, belief.to_dense().T)
        messages.append(by_receiver)
        senders.append(observed.senders)
        receivers.append(receiver)
    table = np.concatenate(messages)
    table = table / table.sum(axis=1, keepdims=True)
    prior = np.where(table.max(axis=0) > 0, np.maximum(profiles.popularity, 1 / len(log.round)), profiles.popularity)
    posterior = Posterior.from_dense(table, prior=prior / prior.sum(), status=status)
    return posterior, np.concatenate(receivers), np.concatenate(senders)


def _complete(profiles: Profiles, n_senders: int) -> Profiles:
    """Return profiles of all senders: those without an estimate write like everybody."""
    row = profiles.rows_of(np.arange(n_senders))
    missing, shape = row < 0, (n_senders, len(profiles.popularity))
    estimate, error = np.tile(profiles.popularity, (n_senders, 1)), np.zeros(shape)
    estimate[~missing], error[~missing] = profiles.estimate[row[~missing]], profiles.standard_error[row[~missing]]
    n_rounds = np.where(missing, 0, profiles.n_rounds[row])
    return replace(profiles, estimate=estimate, standard_error=error, senders=np.arange(n_senders), n_rounds=n_rounds)


def _rows(name: str, disclosed: DisclosedRounds, *, paired: bool) -> Iterator[Row]:
    """Yield the measures of each adversary, and the rounds needed; announced ones only if lines are not paired."""
    log = disclosed.log
    for adversary, (belief, receiver, sender) in disclosed.beliefs.items():
        truth, person = (Truth(receiver), sender) if paired else (None, None)
        yield from score_belief(
            belief, LossModel(), release=name, adversary=adversary, truth=truth, person=person,
            wants=EVIDENCE_MEASURES.__contains__,
        )  # fmt: skip
        if paired and adversary in disclosed.profiles:
            recall = share_of_receivers_found(disclosed.profiles[adversary], log.shares())
            yield make_mean_row(name, adversary, "receivers_found", recall, prior=_found_by_chance(log), rate=True)
    if paired:
        needed = median_rounds_needed(log)
        yield make_row(name, AVERAGES, "rounds_needed", needed, n=len(log.senders), status="model")


def share_of_receivers_found(profiles: Profiles, shares: Floats) -> Floats:
    """Return the share of each sender's d receivers among the d receivers of highest estimate; ties share a place.

    Parameters
    ----------
    profiles : Profiles
        Estimates of the senders.
    shares : (n_senders, n_receivers) array
        True shares; receivers have a share above 0.
    """
    recall = np.empty(len(profiles.senders))
    for i, sender in enumerate(profiles.senders):
        is_receiver = shares[sender] > 0
        d, estimate = int(is_receiver.sum()), profiles.estimate[i]
        last = np.sort(estimate)[-d]
        higher, tied = estimate > last, estimate == last
        recall[i] = (is_receiver & higher).sum() + (is_receiver & tied).sum() * (d - higher.sum()) / tied.sum()
        recall[i] /= d
    return recall


def _found_by_chance(log: RoundLog) -> float:
    """Return the share of a sender's receivers that as many random receivers contain, mean over senders."""
    return float((log.shares() > 0).mean(axis=1).mean())


def median_rounds_needed(log: RoundLog) -> float:
    """Return the median over senders of the rounds until their main receiver stands out."""
    shares, total = log.shares(), np.bincount(log.receiver, minlength=len(log.receivers)).astype(np.float64)
    batch, n_sent = len(log.round) / log.n_rounds, np.bincount(log.sender, minlength=len(log.senders))
    needed = []
    for sender, share in enumerate(shares):
        main, n_others = int(share.argmax()), len(log.round) - n_sent[sender]
        popularity = (total[main] - share[main] * n_sent[sender]) / n_others if n_others else 0.0
        needed.append(
            rounds_needed(float(share[main]), popularity=min(max(popularity, 0.0), 1.0), batch=max(batch, 1.0))
        )
    return float(np.median(needed))


def _evidence_table(disclosed: Mapping[str, DisclosedRounds]) -> Table:
    columns = (
        Column("name", "System"),
        Column("form", "Form"),
        Column("rounds", "Rounds", "number"),
        Column("learned", "Rounds learned from", "number"),
        Column("messages", "Messages", "number"),
        Column("senders", "Senders", "people"),
        Column("unidentified", "Senders not identified", "people", of="senders"),
        Column("receivers", "Receivers", "people"),
        Column("chance", "Most common receiver", "share"),
    )
    records = []
    for name, item in disclosed.items():
        log, chance = item.log, np.bincount(item.log.receiver).max() / len(item.log.round)
        users = (len(log.senders), item.n_unidentified, len(log.receivers))
        records.append((name, "rounds", log.n_rounds, item.n_learned, len(log.round), *users, float(chance)))
    return Table.from_records("evidence", columns, records)


def _exposure_table(disclosed: DisclosedRounds) -> Table:
    """Return the receivers found of groups of ten senders, the surest estimates first."""
    columns = (
        Column("group", "Senders, the most exposed first"),
        Column("senders", "Senders", "group"),
        Column("found", "Receivers found", "share"),
        Column("low", "At least", "share"),
        Column("high", "At most", "share"),
        Column("chance", "By chance", "share"),
    )
    profiles = disclosed.profiles.get(SQUARES, next(iter(disclosed.profiles.values())))
    recall, chance = share_of_receivers_found(profiles, disclosed.log.shares()), _found_by_chance(disclosed.log)
    sureness = (profiles.estimate / np.maximum(profiles.standard_error, 1e-12)).max(axis=1)
    order, records = np.argsort(-sureness, kind="stable"), []
    n_groups = max(1, min(len(order) // FEWEST, MAX_GROUPS))
    for number in range(n_groups):
        members = order[number * FEWEST : (number + 1) * FEWEST] if len(order) >= FEWEST else order
        low, high, _ = of_targets(recall[members], equal_weights(len(members)), drawn_from=np.inf, rate=True)
        label = f"{number * FEWEST + 1} to {number * FEWEST + len(members)}"
        records.append((label, len(members), float(recall[members].mean()), low, high, chance))
    return Table.from_records("exposed_senders", columns, records)


def _exposure_block(exposed: Table) -> Block:
    chart = Chart(
        "dots", exposed.name, "found", "group", title="Receivers found of ten senders", baseline="chance", low="low",
        high="high", label="Receivers found of ten senders, the most exposed first", x_max=1.0,
    )  # fmt: skip
    note = (
        "Each line is ten senders, ordered by how sure the adversary is of their receivers. A sender with d receivers "
        "counts by how many of them are among the d highest estimates."
    )
    return Block("writes", "Receivers of each sender", _describe_exposure, (chart,), (exposed.name,), notes=(note,))


def _describe_exposure(tables: Mapping[str, Table]) -> str:
    """Return the receivers found of the most exposed senders, if enough senders are shown."""
    rows = tables["exposed_senders"].rows
    if not rows:
        return ""
    recall, chance = percent(rows[0]["found"]), percent(rows[0]["chance"])
    return f"{recall} of the receivers of the {rows[0]['senders']} most exposed senders are found, by chance {chance}."
