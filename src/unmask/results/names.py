"""Names that results of several domains share: targets, adversaries, states of rows, and limits."""

from __future__ import annotations

from typing import Final

# --- targets ---------------------------------------------------------------------------------------------------------

IDENTITY: Final = "identity"

ADOPTERS: Final = "adopters"
"""The target of an adversary who looks for people with several identities."""

SECRET: Final = "secret"
"""The target of attacks on channels: neither an identity nor a column."""

MEMBERSHIP: Final = "membership"
"""The target of adversaries who infer if a person is in the table."""

RARE: Final = "membership of the rare"
"""Membership of the most vulnerable people only."""

SINGLING, PARTS = "singling out", "linkability"
"""Targets of adversaries who single people out, and who link two parts of a record."""

LINKAGE: Final = "linkage"
"""The target of adversaries who put items of a subject together."""

GROUPS: Final = frozenset({ADOPTERS, RARE})
"""Targets that are a part of the people; rows about a small part are left out."""

# --- adversaries -----------------------------------------------------------------------------------------------------

PROSECUTOR: Final = "prosecutor"
"""The adversary who knows that a person is in the table, and their quasi-identifiers."""

ACQUAINTANCE: Final = "acquaintance"
"""The adversary who knows every released column of a person except sensitive ones."""

INSIDER: Final = "insider"
"""The adversary who knows every released column of a person except the sensitive one that they infer."""

MODELER: Final = "modeler"
"""The adversary who learns from all rows what is typical of similar people, and needs no person's record."""

JOURNALIST: Final = "journalist"
"""The adversary who looks people up in a register, and does not know who is in the table."""

MATCHER: Final = "matcher"
"""The adversary who picks the record that is most similar to a person."""

EXPERT: Final = "expert"
"""The adversary who knows the protection of a release, but not its random numbers."""

ORDER_READER: Final = "order reader"
"""The adversary who has the original in its order, and reads the order of the rows only."""

OBSERVER: Final = "observer"
"""The adversary who has seen each person several times, and knows which rows belong to one person."""

COLLECTOR: Final = "collector"
"""The adversary who combines several releases of the same people."""

EAVESDROPPER: Final = "eavesdropper"
"""The adversary who sees the output of a channel, knows the channel and the prior, and decides best under the loss."""

FORMER_NAMES: Final = {
    "all columns": ACQUAINTANCE,
    "learner": MODELER,
    "register": JOURNALIST,
    "nearest": MATCHER,
    "mechanism": EXPERT,
    "order": ORDER_READER,
    "several rows": OBSERVER,
    "crossing": COLLECTOR,
    "bayes": EAVESDROPPER,
}
"""Name of an adversary in earlier documents -> its name."""

APART: Final = frozenset({INSIDER})
"""Adversaries who know in advance what others learn. Their rows do not lead the findings, and gates and summaries are
about them only by name.
"""

# --- measures and criteria -------------------------------------------------------------------------------------------

MEASURES: Final = "measures"
"""The name of the table of all rows."""

FAILURES: Final = ("failed", "skipped", "timed out", "not run")
"""A row of such a status has no value; the page says the word instead."""

PROBABILITIES: Final = frozenset({"success_probability", "realized_success"})
"""Measures whose limits are limits for the probability of a person, too."""

COUNTS: Final = frozenset({"unique_rows", "population_uniques", "rows_missing", "rows_excluded"})
"""Criteria that count people of one kind."""

ATTACKED: Final = frozenset({"rational_access"})
"""Measures whose mean is a share of people with something in common."""

LIMITS: Final = {"identity": 0.09, "value": 0.5}
"""Success probabilities above which a person is at risk: that of EMA's policy 0070, and more likely than not."""

MIN_COVERAGE: Final = 0.95
"""Share of the people that a verdict needs."""

# --- certificate -----------------------------------------------------------------------------------------------------

CERTIFICATE_TEXTS: Final = {
    "released_by": "Released by",
    "recipient": "Released to",
    "purpose": "Purpose",
    "access": "Access and contract",
    "method": "How it was made",
    "contact": "Contact",
    "review": "To be reviewed by",
}
"""Key in [certificate] of the document -> its words on the page; a missing one is a blank to fill in."""


NO_ATTACK: Final = "(release)"
"""Target of rows that describe a release and no belief."""
