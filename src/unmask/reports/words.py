"""How a report speaks: names and meanings of what was measured, numbers with no more digits than they bear."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from unmask.results import Row

SPACE = "\u00a0"

MINUS = "\u2212"

SHARES = frozenset({"probability", "share"})
"""Units that are written in percent."""

IDENTITY = "identity"

ADOPTERS = "adopters"
"""The target of an adversary who looks for people with several identities."""

SECRET = "secret"
"""The target of adversaries who look at a channel: nobody's name, and no column."""

Value = float | int | str | None

FAILURES = ("failed", "skipped", "timed out", "not run")
"""A row of such a status has no value; the page says the word instead."""

MEASURES = {
    "success": ("Success", "chance that the adversary's best guess is right"),
    "error": ("Error", "expected loss of the adversary's best estimate"),
    "hartley_entropy_bits": ("Candidates left", "Hartley entropy: log2 of the candidates still possible, in bits"),
    "shannon_entropy_bits": ("Uncertainty", "Shannon entropy: bits the adversary still lacks on average"),
    "min_entropy_bits": ("Min-entropy", "minus log2 of the best guess's chance"),
    "effective_set_size": ("Effective anonymity set", "how many equally likely candidates the uncertainty amounts to"),
    "information_gain_bits": ("Information gained", "bits the release adds to what was known before"),
    "total_variation": ("Shift of belief, t", "largest change of the probability of any event (total variation)"),
    "delta_up": ("Strongest confirmation", "log ratio by which the likeliest rise of a candidate grew, in nats"),
    "delta_down": ("Strongest refutation", "log ratio by which a candidate became less likely, in nats"),
    "rank": ("Guesses needed", "place of the truth among the candidates, from most to least likely"),
    "log_loss_bits": ("Log loss", "minus log2 of the probability given to the truth"),
    "rational_access": ("Worth attacking", "share of people whom a rational attacker attacks, each for himself"),
    "campaign_success": (
        "Re-identified by one campaign",
        "largest probability that the best campaign of one rational attacker against all people re-identifies a person",
    ),
    "rational_success": ("Named by a rational attacker", "chance that he names the person while he does what pays"),
    "rational_payoff": ("Rational payoff", "what attacking the person is worth to him"),
    "rational_tries": ("Rational tries", "candidates he tries to name the person"),
    "calibration_error": ("Calibration error", "how far announced success is from success that came true"),
}
"""`quantity` of a measure -> name and meaning for readers; others show the name they were filed under."""

LINKAGE = {
    "breached": ("Breached", "share of subjects of whose items the threshold is linked already"),
    "clean_breach": ("Cleanly breached", "breached by a cluster without a single foreign item"),
    "linked_now": ("Linked now", "share of a subject's items in its most relevant cluster"),
    "foreign_share": ("Foreign share", "share of foreign items in that cluster"),
    "mergings": (
        "Mergings to the threshold",
        "clusters to merge until the threshold is linked; 0 if breached",
    ),
    "risk_slope": ("Risk slope", "how steeply linking rises with every merging: 0 hidden, 1 breached"),
    "slope": ("Risk slope", "how steeply linking rises with every merging: 0 hidden, 1 breached"),
    "miss": ("Misses", "items of a subject that its most relevant cluster lacks"),
    "include": ("Includes", "foreign items in the most relevant cluster of a subject"),
    "foreign_subjects": ("Foreign subjects", "other subjects with items in the most relevant cluster of a subject"),
    "effective_foreign_subjects": (
        "Foreign subjects, effective",
        "so many with equally many items there would be as hard to tell apart; 0 if there are none",
    ),
    "bcubed_precision": ("B-cubed precision", "share of a subject in the clusters of its items, mean over items"),
    "bcubed_recall": (
        "B-cubed recall",
        "part of a subject that is in its item's cluster, mean over items",
    ),
    "split": ("Split", "bits that the clusters of a subject's items differ by; 0 if all are together"),
    "mix": ("Mixed", "bits by which foreign items hide a subject in its clusters; 0 if there are none"),
}
"""What is measured of adversaries who cluster items, always against the truth -> name and meaning."""

MEASURES |= LINKAGE

GRAPHS = {
    "recall": ("Named", "share of the people in both networks, seeds aside, whom the adversary names rightly"),
    "precision": ("Names right", "share of all names the adversary gives that are right"),
    "false_positives": (
        "False positives",
        "share of the names the adversary gives of people not in the release",
    ),
    "error_hops": ("Distance to the right person", "ties between the person named and the right one, in hops"),
    "named_wrongly": ("Named wrongly", "share of the people in both networks who are taken for somebody else"),
    "disclosure": ("Disclosed", "share of the contacts of people with several identities that the attack tells"),
    "spread": ("Spread in", "share of the runs in which the attack ran through the network; recall is over all runs"),
    "adopter_recall": ("Adopters found", "share of the people with several identities who are found by one of them"),
    "decoyed": ("Decoy found", "share of the people with a decoy who are found by it, the node that they show"),
    "exposed": ("Hidden node found", "share of the people with a decoy who are found by the node that they hide"),
    "discovery": ("Identities found", "share of runs that find an identity, mean over those looked for one at a time"),
    "discovery_score": (
        "Discovery score",
        "runs that find an identity less runs that name another node, mean over them",
    ),
    "reversed": ("Separation undone", "share of people all of whose identities every run finds, one at a time"),
}
"""What is measured of attacks on networks, always against the truth -> name and meaning."""

MEASURES |= GRAPHS
MEASURES["coverage"] = ("Given a name", "share of all other people of the adversary's network whom he gives a name")

CRITERIA = {
    "rows": ("Rows", "people in the release"),
    "classes": ("Classes", "groups of rows alike in all quasi-identifiers"),
    "reference": (
        "Compared with",
        "whose sensitive values t, \u03b4, \u03b2 and the error without the release refer to",
    ),
    "missing": ("Missing cells", "how a missing cell is compared"),
    "rows_missing": ("Rows with a missing cell", "in any quasi-identifier"),
    "rows_excluded": ("Rows left out", "because of a missing cell"),
    "k": ("k", "rows that fit the person who hides among the fewest"),
    "unique_rows": ("Unique rows", "rows that nobody else is like"),
    "prosecutor_average": ("Prosecutor risk, average", "chance of naming a row, for one known to be in the release"),
    "prosecutor_max": ("Prosecutor risk, largest", "the same for the worst-off row, 1 / k"),
    "journalist_average": ("Journalist risk, average", "chance of naming a row, for one known to be in the population"),
    "journalist_max": ("Journalist risk, largest", "the same for the worst-off row"),
    "marketer": ("Marketer risk", "share of rows named by linking all of them to the population"),
    "sample_weight_average": (
        "Sample risk, average",
        "chance of naming a row, by survey weights; too low where many people are unique in the population",
    ),
    "sample_weight_max": ("Sample risk, largest", "the same for the worst-off row"),
    "l_distinct": ("l, distinct", "fewest different sensitive values in a class"),
    "l_entropy": ("l, entropy", "equally likely values that the least diverse class amounts to"),
    "l_recursive": ("c, recursive", "rows with the commonest value for each row with a rarer one, worst class"),
    "p_sensitive": ("p-sensitive", "fewest different values in a class"),
    "alpha": ("\u03b1", "largest share of one sensitive value in a class"),
    "t_equal": ("t, equal distance", "farthest class from the whole table; 0 alike, 1 nothing in common"),
    "t_ordered": ("t, ordered", "the same, where distant values count more"),
    "t_hierarchical": ("t, hierarchical", "the same, over the value hierarchy"),
    "t_kl": ("t, Kullback-Leibler", "the same as a relative entropy, in nats"),
    "delta_disclosure": (
        "\u03b4-disclosure",
        "largest log change of a value's frequency; unbounded if a class lacks a value",
    ),
    "delta_up": ("\u03b4, upward", "largest log rise of a value's frequency in a class, in nats"),
    "beta_likeness": ("\u03b2-likeness", "largest relative rise of a value's frequency, against its own bound"),
    "beta_basic": ("\u03b2, basic", "largest relative rise of a value's frequency"),
    "map_error": ("Error by class", "how often the commonest value of the class is wrong"),
    "average_privacy_risk": ("Average privacy risk", "how often the commonest value of the class is right"),
    "prior_error": ("Error without the release", "how often the commonest value of the table is wrong"),
    "information_bits": ("Information", "bits that the class tells about the value, on average"),
}
"""Criterion -> name and meaning; a suffix in brackets, as in "t_equal (occupation)", is kept."""

UTILITIES = {
    "gcp": ("Information lost (GCP)", "global certainty penalty: 0 % nothing generalized, 100 % everything"),
    "suppressed": ("Rows suppressed", "share of rows left out"),
    "discernibility": ("Discernibility", "sum of squared class sizes"),
    "average_class_size": ("Average class size", "rows divided by classes"),
    "width_number": ("Width", "what a released cell leaves open, on average, in the unit of the column"),
    "width_years": ("Width, years", "time that a released cell leaves open, on average"),
    "width_days": ("Width, days", "time that a released cell leaves open, on average"),
    "width_hours": ("Width, hours", "time that a released cell leaves open, on average"),
    "width_characters": ("Hidden characters", "characters of a code that a released cell hides, on average"),
    "width_values": ("Open values", "values that a released cell may stand for, on average"),
}
"""Measure of lost utility -> name and meaning. All are losses: the higher, the less is left."""

PERCENT = frozenset(
    {"alpha", "map_error", "average_privacy_risk", "prior_error", "marketer", "gcp", "suppressed"}
    | {f"{kind}_{which}" for kind in ("prosecutor", "journalist", "sample_weight") for which in ("average", "max")}
)
"""Criteria and losses that are written in percent."""


def decimals(low: float, high: float) -> int:
    """Decimals worth printing for a value known to [low, high]: a step of the last is at most a quarter of that.

    >>> decimals(3.1, 5.1), decimals(0.45, 0.58), decimals(23.0, 33.0)
    (1, 2, 0)
    """
    half = (high - low) / 2
    return 2 if not half > 0 else min(2, max(0, -math.floor(math.log10(half / 2))))


def number(value: float, places: int | None = None) -> str:
    """A value without unit: `places` decimals, or three significant digits, thousands apart, "unbounded" if infinite.

    A value that is not zero is never printed as zero, nor one below 100 as 100 where `places` is asked for.

    >>> number(4.04, 1), number(0.0004, 2), number(0.0), number(30162), number(float("inf"))
    ('4.0', '<0.01', '0', '30,162', 'unbounded')
    """
    if math.isnan(value):
        return "undefined"
    sign = MINUS if value < 0 else ""
    size = abs(value)
    if math.isinf(size):
        return sign + "unbounded"
    if size == 0 or (places is None and size == int(size)):
        return f"{sign}{int(size):,}"
    if places is None:
        places = max(0, 2 - math.floor(math.log10(size)))
        return f"{sign}{size:,.{places}f}" if places <= 5 else f"{sign}{size:.2e}"
    text = f"{size:,.{places}f}"
    return f"{sign}<{10.0**-places:.{places}f}" if float(text.replace(",", "")) == 0 else sign + text


def percent(share: float, places: int | None = None) -> str:
    """A share in percent; without `places`, one decimal from 1 % on and two below.

    >>> " | ".join(percent(share) for share in (0.04, 0.0025, 1 / 30162, 0.99999)).replace(SPACE, " ")
    '4.0 % | 0.25 % | <0.01 % | >99.9 %'
    """
    return f"{_percent(share, places)}{SPACE}%" if math.isfinite(share) else number(share)


def _percent(share: float, places: int | None) -> str:
    if places is None:
        places = 1 if abs(share) >= 0.01 else 2
    text = number(100 * share, places)
    if share == 1:
        return "100"
    return f">{100 - 10.0**-places:.{places}f}" if 0 < share < 1 and float(text.lstrip("<" + MINUS)) == 100 else text


def estimate(value: float, unit: str, low: float | None = None, high: float | None = None) -> str:
    """A value with its 95 % interval, and with as many digits as the interval bears.

    >>> estimate(0.04, "probability", 0.031, 0.051).replace(SPACE, " "), estimate(3.4217, "bits")
    ('4.0 % [3.1, 5.1]', '3.42')
    """
    share = unit in SHARES
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return percent(value) if share else number(value)
    if share:
        places = decimals(100 * low, 100 * high)
        return f"{percent(value, places)} [{_percent(low, places)}, {_percent(high, places)}]".replace(
            " [", SPACE + "["
        )
    places = decimals(low, high)
    return f"{number(value, places)}{SPACE}[{number(low, places)}, {number(high, places)}]"


def row_estimate(row: Row) -> str:
    """The posterior of a row with its interval."""
    return estimate(row.posterior, row.unit, row.low, row.high)


def row_value(row: Row) -> str:
    """The posterior of a row without its interval, with the digits that the interval bears."""
    return row_estimate(row).partition(f"{SPACE}[")[0]


def gain(row: Row) -> str:
    """What the release gave the adversary, signed, in percentage points where the unit is a share."""
    if not math.isfinite(row.gain):
        return number(row.gain)
    scale = 100 if row.unit in SHARES else 1
    places = None if scale == 1 else 1 if abs(row.gain) >= 0.01 else 2
    if row.low is not None and row.high is not None and row.high > row.low:
        places = decimals(scale * row.low, scale * row.high)
    text = number(scale * row.gain, places)
    return ("+" if row.gain > 0 else "") + text + (f"{SPACE}points" if scale == 100 else "")


def lettered(text: str, style: int, n_adversaries: int) -> str:
    """The text behind the letter of its adversary, where there are several to tell apart."""
    return f"{letter(style)}  {text}" if n_adversaries > 1 else text


def letter(style: int) -> str:
    """A for the first adversary, B for the second, AA after Z."""
    return (letter(style // 26 - 1) if style >= 26 else "") + chr(ord("A") + style % 26)


def release_name(release: str) -> str:
    """The name of a release inside a sentence: in quotes where it could be read as part of it."""
    return release if re.fullmatch(r"[\w=.+-]+", release) else f"\u201c{release}\u201d"


def what(target: str) -> str:
    """What success means for a target: the heading of its tables and charts."""
    if target == "linkage":
        return "Linkage: items of a subject linked"
    if target == SECRET:
        return "Secret: guessed right"
    if target == ADOPTERS:
        return "Adopters: people with several identities found"
    return "Identity: people named" if target == IDENTITY else f"{target}: value inferred"


def quantity(measure: str) -> str:
    """What the self-assessed and the realized measure of one thing share: "success", "error", or the name itself."""
    name = re.sub(r"^(realized|expected)_", "", measure)
    return {"success_probability": "success", "estimation_error": "error"}.get(name, name)


def needs_truth(measure: str) -> bool:
    """Whether it is a realized measure."""
    return measure.startswith("realized") or measure in {
        "rank",
        "log_loss_bits",
        "calibration_error",
        *LINKAGE,
        *GRAPHS,
    }


def described(stem: str) -> tuple[str, str] | None:
    """Name and meaning of a quantity; those that come in a series are named by their number. None: unknown.

    >>> described("success_at_3")
    ('Success within 3 guesses', "chance that the truth is among the adversary's 3 likeliest candidates")
    """
    if stem in MEASURES:
        return MEASURES[stem]
    if found := re.fullmatch(r"success_at_(\d+)", stem):
        chance = f"chance that the truth is among the adversary's {found[1]} likeliest candidates"
        return f"Success within {found[1]} guesses", chance
    if found := re.fullmatch(r"renyi_entropy_(.+)_bits", stem):
        lacks = "bits the adversary still lacks; the higher the order, the more the likeliest candidates count"
        return f"R\u00e9nyi entropy of order {found[1]}", lacks
    return None


def measure_name(measure: str) -> str | None:
    """A measure by name, as one would list it: "realized success", "guesses needed"; None if it is unknown."""
    known = described(quantity(measure))
    if known is None:
        return None
    name = known[0][0].lower() + known[0][1:]
    return f"realized {name}" if measure.startswith("realized_") else name


def measure_line(stem: str, row: Row) -> str:
    """The line above the rows of one measure: its name, what it means, its unit, and what the adversary wants."""
    name, meaning = described(stem) or (stem.replace("_", " "), f"in {row.unit}")
    unit = "" if row.unit in SHARES or row.unit in meaning else f" ({row.unit})"
    return f"{name} \u2013 {meaning}{unit}; the adversary wants it {row.direction}"


def name_of(name: str, names: Mapping[str, tuple[str, str]]) -> str:
    """A name for readers; what follows a space, as in "t_equal (occupation)", is kept."""
    stem, _, suffix = name.partition(" ")
    return f"{names.get(stem, (stem.replace('_', ' '), ''))[0]} {suffix}".strip()


def written(stem: str, value: Value) -> str:
    """A criterion or loss as a cell of a table."""
    if value is None:
        return "not run"
    if isinstance(value, str):
        return value
    return percent(value) if stem in PERCENT else number(value)
