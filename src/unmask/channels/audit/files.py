"""Audits of channels in files."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from unmask.channels.audit.channel_audit import UNIFORM, audit
from unmask.channels.matrix_files import Evidence, read_channels
from unmask.core.signatures import with_parameters
from unmask.domains import name_files
from unmask.ranges import Option
from unmask.results import AuditResult

_log = logging.getLogger(__name__)


@with_parameters(audit, only=("loss", "coordinates", "distortion", "unit"))
def audit_files(
    channels: Sequence[Path],
    *,
    prior: Annotated[Path | None, Option("Input")] = None,
    evidence: Annotated[Evidence, Option("Input")] = "auto",
    no_limit: bool = False,
    **stakes: Any,
) -> AuditResult:
    r"""Attack channels of the same secrets: what the best adversary can still estimate.

    A channel is a CSV: a line of output names behind an empty cell, then a line for each secret, its name and the
    probability of each output. From counts of runs (whole numbers) or samples (lines secret,output) the leakage is
    estimated. A loss has answers in lines and secrets in columns.

    \b
    unmask audit channel response.csv
    unmask audit channel a.csv b.csv --prior prior.csv --loss euclidean --coordinates places.csv --report out.html

    Parameters
    ----------
    channels : sequence of paths
        Files of channels.
    prior : path, optional
        CSV of secret and probability; uniform when left out
    evidence : {"auto", "channel", "counts", "samples"}
        form of the files: probabilities, counts of runs, or a line secret,output for each run
    no_limit : bool
        leave out the limit that no mechanism passes, which may take minutes
    **stakes
        See `audit`.
    """
    read, notes = read_channels(channels, prior, evidence=evidence)
    is_uniform = prior is None and read[0].samples is None
    for note in ([f"No prior was given. {UNIFORM}"] if is_uniform else []) + notes:
        _log.warning("note: %s", note)
    return audit(dict(zip(name_files(channels), read, strict=True)), **stakes, limit=not no_limit, assumptions=notes)
