"""Audits of channels and of evidence about systems in files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.channels.audit.channel_audit import UNIFORM, audit
from unmask.channels.audit.rows import make_row
from unmask.channels.channel import Channel
from unmask.channels.evidence.forms import COLUMNS, Evidence, Form, recognize_form
from unmask.channels.evidence.logs import MessageLog, RoundLog, TraceLog, read_messages, read_rounds, read_traces
from unmask.channels.loss_model import read_distortion, read_loss_model
from unmask.channels.matrix_files import match_names, read_channel, read_joint, read_prior
from unmask.channels.named_mechanisms import NamedMechanism, is_mechanism, make_channel, parse_mechanism
from unmask.core.errors import UnmaskError
from unmask.core.signatures import with_parameters
from unmask.data.event_logs import Lines, read_lines
from unmask.domains import name_files
from unmask.measures.losses import LOSS_NAMES
from unmask.ranges import Option
from unmask.results import Result, Row
from unmask.results.names import EAVESDROPPER

_log = logging.getLogger(__name__)

EventLog = TraceLog | RoundLog | MessageLog

LOGS: Mapping[str, Callable[[Path, Lines], EventLog]] = {
    "traces": read_traces,
    "rounds": read_rounds,
    "messages": read_messages,
}
"""Form of a log -> its reader."""


@with_parameters(audit, only=("gain", "dmax", "distortion", "mechanism", "unpaired", "delay", "measures", "seed"))
@with_parameters(read_loss_model, only=("loss", "coordinates", "unit"))
def audit_files(
    channels: Sequence[Path],
    *,
    prior: Annotated[Path | None, Option("Input")] = None,
    joint: Annotated[Path | None, Option("Input")] = None,
    evidence: Annotated[Evidence, Option("Input")] = "auto",
    no_limit: bool = False,
    **stakes: Any,
) -> Result:
    r"""Attack channels of the same secrets: what the best adversary can still estimate.

    A channel is a CSV: a line of output names behind an empty cell, then a line for each secret, its name and the
    probability of each output. From counts of runs (whole numbers) or samples (lines secret,output) the leakage is
    estimated. A mechanism by name takes the place of a file. A loss has answers in lines and secrets in columns.

    \b
    unmask audit channel response.csv
    unmask audit channel rounds.csv --policy 'realized_success_at_3<=0.5'
    unmask audit channel messages.csv --delay exponential:2.5
    unmask audit channel traces.csv --mechanism RandomizedResponse:epsilon=1:n=3
    unmask audit channel samples.csv --policy 'leakage_bits.high<=0.1'
    unmask audit channel Crowds:n=20:submit=0.3:corrupted=2
    unmask audit channel response.csv --gain gain.csv --policy 'expected_gain<=0.5'
    unmask audit channel a.csv b.csv --prior prior.csv --loss euclidean --coordinates places.csv --report out.html

    Parameters
    ----------
    channels : sequence of paths
        Files of channels or of evidence, or mechanisms NAME:KEY=VALUE.
    prior : path, optional
        CSV of secret and probability (default: uniform)
    joint : path, optional
        CSV of the probability of each secret (lines) with each input of the channel (columns), if the channel shows
        other data than the secret
    evidence : {"auto", "channel", "counts", "samples", "traces", "rounds", "messages"}
        form of the files, recognized by their column names and shape when left out
    no_limit : bool
        leave out the limit that no mechanism passes, which may take minutes
    **stakes
        See `read_loss_model` and `audit`.
    """
    mechanisms = {path: parse_mechanism(path) for path in channels if is_mechanism(path)}
    files = {path: read_lines(path) for path in channels if path not in mechanisms}
    forms: dict[Path, Form] = {
        path: recognize_form(path, lines) if evidence == "auto" else evidence for path, lines in files.items()
    }
    names = _name_sources(channels, mechanisms)
    logs = {names[path]: _read_log(path, lines, forms[path]) for path, lines in files.items() if forms[path] in LOGS}
    if logs:
        if len(logs) < len(channels) or len(set(forms.values())) > 1:
            raise UnmaskError(f"{next(iter(logs))} is a log and another source has another form; audit them apart")
        if joint is not None:
            raise UnmaskError("a log has no joint distribution of secret and data; leave `joint` out")
        if prior is not None:
            raise UnmaskError("logs contain their own prior; leave `prior` out")
        return audit(logs, **stakes)
    read, notes = _read_channels(names, files, forms, mechanisms, prior, stakes.get("coordinates"))
    if joint is not None:
        read, stakes = _join_secrets(read, joint, prior, stakes)
        no_limit = True  # it would be that of mechanisms that see the secret
    is_uniform = prior is None and joint is None and all(channel.samples is None for channel in read.values())
    for note in ([f"No prior was given. {UNIFORM}"] if is_uniform else []) + notes:
        _log.warning("note: %s", note)
    result = audit(read, **stakes, limit=not no_limit, assumptions=notes)
    delays = tuple(_delay_rows({names[path]: mechanism for path, mechanism in mechanisms.items()}))
    return replace(result, rows=result.rows + delays)


def _read_log(path: Path, lines: Lines, form: Form) -> EventLog:
    """Return the evidence of a log, with a note on how it was read."""
    log = LOGS[form](path, lines)
    size = f"{len(lines) - 1:,} lines{_describe_size(log)}"
    ignored = len(lines[0][1]) - len(COLUMNS[form]) - (form == "traces" and getattr(log, "shown", None) is not None)
    columns = f", {ignored} columns ignored" if ignored else ""
    _log.warning("note: %s is read as %s: %s%s.", path.name, form, size, columns)
    return log


def _describe_size(log: EventLog) -> str:
    """Return the numbers of secrets and outputs, or of rounds; never of people."""
    if isinstance(log, TraceLog):
        return f", {len(log.places):,} places, {len(log.outputs):,} outputs"
    return f", {log.n_rounds:,} rounds" if isinstance(log, RoundLog) else ""


def _name_sources(sources: Sequence[Path], mechanisms: Mapping[Path, NamedMechanism]) -> dict[Path, str]:
    """Return short names of files, and the texts of mechanisms."""
    files = [path for path in sources if path not in mechanisms]
    names = dict(zip(files, name_files(files), strict=True))
    return {path: mechanisms[path].text if path in mechanisms else names[path] for path in sources}


def _read_channels(
    names: Mapping[Path, str],
    files: Mapping[Path, Lines],
    forms: Mapping[Path, Form],
    mechanisms: Mapping[Path, NamedMechanism],
    prior: Path | None,
    coordinates: Path | None,
) -> tuple[dict[str, Channel], list[str]]:
    """Return channels by name, of the secrets of the first one, and notes on how they were read."""
    chances = None if prior is None else read_prior(prior)
    notes = [] if chances is None else [chances.note]
    channels: dict[str, Channel] = {}
    for path, name in names.items():
        if path in mechanisms:
            channels[name] = make_channel(mechanisms[path], chances, coordinates)
            continue
        order = next(iter(channels.values())).x_labels if channels else None
        channels[name], note = read_channel(path, files[path], forms[path], chances, order)
        notes.append(note)
    return channels, [note for note in notes if note]


def _join_secrets(
    channels: Mapping[str, Channel], path: Path, prior: Path | None, stakes: Mapping[str, Any]
) -> tuple[dict[str, Channel], dict[str, Any]]:
    """Return the channel from the secret to the output, and the distortion of the data behind the secret.

    The distortion of an output for a secret is its mean over the data behind it, so that its expectation is exact.
    """
    secrets, data, table = read_joint(path)
    (name, channel), *further_channels = channels.items()
    if prior is not None:
        raise UnmaskError("a joint distribution contains the prior; leave `prior` out")
    if further_channels:
        raise UnmaskError(f"a joint distribution is for one channel, given {len(channels)}; audit them apart")
    if channel.samples is not None:
        raise UnmaskError(f"{name} has samples, and a joint distribution needs a channel; leave `joint` out")
    chance = table.sum(axis=1)
    if not chance.all():
        raise UnmaskError(f"a secret of {path.name} has probability 0; leave its line out")
    forward = table[:, match_names(channel.x_labels or (), data, path, "data")] / chance[:, None]
    joined = Channel(forward, chance, x_labels=secrets, y_labels=channel.x_labels).then(channel)
    if stakes.get("gain") is not None or stakes.get("dmax") is not None:
        return {name: joined}, dict(stakes)
    return {name: joined}, {**stakes, "distortion": _average_cost(channel, joined, forward, stakes)}


def _average_cost(
    channel: Channel, joined: Channel, forward: NDArray[np.float64], stakes: Mapping[str, Any]
) -> NDArray[np.float64] | None:
    """Return E[d(x', y) given x and y] of shape (n_secrets, n_outputs); None if no distortion of the data is known."""
    loss, coordinates = stakes.get("loss", "hamming"), stakes.get("coordinates")
    distortion = stakes.get("distortion")
    if distortion is not None:
        cost = read_distortion(distortion, channel)
    elif isinstance(loss, str) and loss in LOSS_NAMES:
        cost_of_loss = read_loss_model(loss, channel.x_labels, coordinates=coordinates).cost(channel)
        if cost_of_loss is None:
            return None
        cost = cost_of_loss
    else:
        return None
    probability = joined.dense()
    total: NDArray[np.float64] = forward @ (channel.dense() * cost)
    return np.divide(total, probability, out=np.zeros_like(total), where=probability > 0)


def _delay_rows(mechanisms: Mapping[str, NamedMechanism]) -> Sequence[Row]:
    """Return the expected delay of each mechanism that delays messages."""
    delays = {name: mechanism.expected_delay for name, mechanism in mechanisms.items()}
    return [
        make_row(name, EAVESDROPPER, "expected_delay", delay) for name, delay in delays.items() if delay is not None
    ]
