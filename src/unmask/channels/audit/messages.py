"""Audits of the messages of a mix: who sent each message that left, by the times of entering and leaving."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.attacks.matching import MAX_EXACT_CANDIDATES, MatchingAttack
from unmask.channels.attacks.sampled_matchings import sample_matchings
from unmask.channels.attacks.system_anonymity import (
    MAX_LISTED_MESSAGES,
    bagai_entropy,
    edman_degree,
    gierlichs_degree,
)
from unmask.channels.audit.learned import evidence_result
from unmask.channels.audit.rows import EVIDENCE_MEASURES, make_row, score_belief
from unmask.channels.evidence.logs import Delay, MessageLog
from unmask.channels.loss_model import LossModel
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.results import Block, Column, Result, Row, Table
from unmask.results.formats import number
from unmask.results.words import plural

MATCHED = "matchings"

ADVERSARIES = {MATCHED: "sees when messages enter and leave, and knows the law of delays"}

MAX_SUBSETS = 1 << 20
"""Sets of messages that are summed over all batches; further batches are sampled."""

MAX_ENTRIES = 50_000_000
"""Messages times senders, and squared messages of a batch: 400 MB."""

SYSTEM_MEASURES = ("edman_degree", "bagai_entropy_bits", "gierlichs_degree")
"""Measures of whole batches."""


class BatchAnonymity(NamedTuple):
    """The anonymity of a batch of messages; NaN for measures that were not computed.

    Parameters
    ----------
    n : int
        Messages.
    edman_possible, edman_degree : float
        Edman's degrees of the possible pairs and of the marginals.
    bagai_entropy_bits, bagai_degree : float
        Entropy of the matchings, and its share of log2 n!.
    gierlichs_degree : float
        Degree of the numbers of messages between senders and receivers.
    standard_error : float
        Largest standard error of a probability; 0 if all matchings were summed.
    """

    n: int
    edman_possible: float = math.nan
    edman_degree: float = math.nan
    bagai_entropy_bits: float = math.nan
    bagai_degree: float = math.nan
    gierlichs_degree: float = math.nan
    standard_error: float = 0.0


@dataclass(frozen=True)
class MatchedMessages:
    """The belief about the sender of each message that left, and the anonymity of each batch.

    Parameters
    ----------
    log : MessageLog
        The messages.
    delay : Delay
        The law of delays.
    belief : Posterior
        Belief about the sender of each message, in the order of leaving.
    sender : (n_messages,) array
        True sender of each of these messages.
    batches : tuple of BatchAnonymity
        Batches in the order of time.
    """

    log: MessageLog
    delay: Delay
    belief: Posterior
    sender: Ints
    batches: tuple[BatchAnonymity, ...]


def audit_messages(
    logs: Mapping[str, MessageLog], *, delay: Delay | None, seed: int, title: str, assumptions: Sequence[str]
) -> Result:
    """Estimate the sender of each message that left."""
    matched = {name: match_messages(name, log, delay, seed) for name, log in logs.items()}
    rows: list[Row] = []
    for name, item in matched.items():
        rows += score_belief(
            item.belief, LossModel(), release=name, adversary=MATCHED, truth=Truth(item.sender), person=item.sender,
            wants=EVIDENCE_MEASURES.__contains__,
        )  # fmt: skip
        rows += _system_rows(name, item.batches)
    first = next(iter(matched.values()))
    table = _batch_table(first.batches)
    return evidence_result(
        title=title,
        setting="An adversary sees when messages enter and leave a mix, and estimates the sender of each.",
        evidence=_evidence_table(matched),
        reading="Each line is a message: its sender, its receiver, and the times when it entered and left.",
        rows=rows,
        unit="probability",
        adversaries=ADVERSARIES,
        tables=(table,),
        blocks=(_batch_block(table, first),),
        assumptions=(
            "The pairing of the two times in a line is the truth, and no adversary sees it.",
            f"The adversary knows that delays are {_describe_delay(first.delay, is_estimated=delay is None)}.",
            *assumptions,
        ),
        not_run=_not_run(matched),
    )


def match_messages(name: str, log: MessageLog, delay: Delay | None, seed: int) -> MatchedMessages:
    """Compute the belief over one-to-one matchings of the messages that entered and left, batch by batch."""
    n, batches = len(log.sender), log.batches()
    largest = max(stop - start for start, stop in batches)
    if n * len(log.senders) > MAX_ENTRIES or largest**2 > MAX_ENTRIES:
        raise UnmaskError(
            f"{name} has {n:,} messages of {len(log.senders):,} senders, up to {largest:,} in a batch, too many for "
            "one table; audit a part of the log"
        )
    law = delay or Delay("exponential", log.mean_delay)
    entering, leaving = np.argsort(log.entered, kind="stable"), np.argsort(log.left, kind="stable")
    longest = float((log.left[leaving] - log.entered[entering]).max())
    if law.kind == "fixed" and longest > law.value:
        raise UnmaskError(
            f"{name} has messages that stay for at least {longest:g}, and `delay` allows {law.value:g}; allow more"
        )
    rng, budget = np.random.default_rng(seed), MAX_SUBSETS
    by_sender, anonymity = np.zeros((n, len(log.senders))), []
    for start, stop in batches:
        rows, columns = entering[start:stop], leaving[start:stop]
        W = law.weights(log.entered[rows], log.left[columns])
        is_exact = len(W) <= MAX_EXACT_CANDIDATES and 1 << len(W) <= budget
        budget -= 1 << len(W) if is_exact else 0
        marginals = MatchingAttack("exact").marginals(W) if is_exact else sample_matchings(W, rng=rng)
        np.add.at(by_sender[start:stop].T, log.sender[rows], marginals.probability)
        described = _describe_batch(W, marginals.probability, log.sender[rows], log.receiver[columns], is_exact)
        anonymity.append(described._replace(standard_error=marginals.standard_error))
    prior = np.bincount(log.sender, minlength=len(log.senders)) / n
    by_sender /= by_sender.sum(axis=1, keepdims=True)
    belief = Posterior.from_dense(by_sender, prior=prior, status="model", provenance={"attack": "matching"})
    return MatchedMessages(log, law, belief, log.sender[leaving], tuple(anonymity))


def _describe_batch(W: Floats, marginals: Floats, sender: Ints, receiver: Ints, is_exact: bool) -> BatchAnonymity:
    n = len(W)
    if not is_exact:
        return BatchAnonymity(n)
    entropy = bagai_entropy(W)
    by_user = gierlichs_degree(W, sender=sender, receiver=receiver).degree if n <= MAX_LISTED_MESSAGES else math.nan
    return BatchAnonymity(
        n, edman_degree(W, kind="possible"), edman_degree(marginals, kind="stochastic"), entropy.entropy_bits,
        entropy.degree, by_user,
    )  # fmt: skip


def _system_rows(name: str, batches: Sequence[BatchAnonymity]) -> list[Row]:
    """Return the mean over batches of each system measure, each batch by its messages."""
    rows, sizes = [], np.array([batch.n for batch in batches], dtype=np.float64)
    for measure in SYSTEM_MEASURES:
        values = np.array([getattr(batch, measure) for batch in batches])
        is_known = ~np.isnan(values)
        if is_known.any():
            value = float(np.average(values[is_known], weights=sizes[is_known]))
            note = f"mean over {plural(int(is_known.sum()), 'batch', 'batches')}, each by its messages"
            rows.append(
                make_row(name, MATCHED, measure, value, n=int(sizes[is_known].sum()), status="model", note=note)
            )
    return rows


def _not_run(matched: Mapping[str, MatchedMessages]) -> tuple[tuple[str, str], ...]:
    sizes = [batch.n for item in matched.values() for batch in item.batches]
    entropies = [batch.bagai_entropy_bits for item in matched.values() for batch in item.batches]
    not_run = []
    if np.isnan(entropies).any():
        not_run.append(
            ("edman_degree and bagai_entropy_bits of large batches", "their matchings are too many to be summed")
        )
    if max(sizes) > MAX_LISTED_MESSAGES:
        not_run.append(
            (f"gierlichs_degree of batches above {MAX_LISTED_MESSAGES} messages", "their matchings are not listed")
        )
    return tuple(not_run)


def _describe_delay(delay: Delay, *, is_estimated: bool) -> str:
    if delay.kind == "fixed":
        return f"at most {number(delay.value)}, and otherwise anything"
    source = ", the mean of all times of leaving minus that of entering" if is_estimated else ""
    return f"exponential with mean {number(delay.value)}{source}"


def _evidence_table(matched: Mapping[str, MatchedMessages]) -> Table:
    columns = (
        Column("name", "System"),
        Column("form", "Form"),
        Column("messages", "Messages", "number"),
        Column("batches", "Batches", "number"),
        Column("senders", "Senders", "people"),
        Column("receivers", "Receivers", "people"),
        Column("mean_delay", "Mean delay", "number"),
        Column("chance", "Most common sender", "share"),
    )
    records = (
        (name, "messages", len(item.log.sender), len(item.batches), len(item.log.senders), len(item.log.receivers),
         item.log.mean_delay, float(np.bincount(item.log.sender).max() / len(item.log.sender)))
        for name, item in matched.items()
    )  # fmt: skip
    return Table.from_records("evidence", columns, records)


def _batch_table(batches: Sequence[BatchAnonymity]) -> Table:
    """Return the mean anonymity of the batches of each size."""
    columns = (
        Column("messages", "Messages", "number"),
        Column("batches", "Batches", "number"),
        Column("edman_possible", "Edman, possible pairs", "number"),
        Column("edman_degree", "Edman, marginals", "number"),
        Column("bagai_entropy_bits", "Entropy", "number", unit="bits"),
        Column("bagai_degree", "Entropy / log2 n!", "number"),
        Column("gierlichs_degree", "Gierlichs", "number"),
        Column("standard_error", "Largest standard error", "number"),
    )
    records = []
    for size in sorted({batch.n for batch in batches}):
        values = np.array([batch for batch in batches if batch.n == size], dtype=np.float64)
        means = [None if math.isnan(value) else float(value) for value in values[:, 1:].mean(axis=0)]
        records.append((size, len(values), *means))
    return Table.from_records("batches", columns, records)


def _batch_block(table: Table, matched: MatchedMessages) -> Block:
    n_single = sum(batch.n == 1 for batch in matched.batches)
    single = (
        f" {plural(n_single, 'message', 'messages')} crossed no other, so that time alone gives the sender."
        if n_single
        else ""
    )
    sentence = f"The messages form {plural(len(matched.batches), 'batch', 'batches')} that no message leaves.{single}"
    note = (
        "Messages of different batches cannot be confused. A degree of 1 is full anonymity of the batch, and 0 is no "
        "anonymity. The degree describes the batch: one message of it may still be exposed."
    )
    return Block("batches", "Batch by batch", sentence, (), (table.name,), notes=(note,))
