"""Names of measures that other packages compute.

The direction of a criterion is that in which a class discloses more. A suffix in brackets, as in "t_equal
(occupation)", names a column.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Literal

from unmask.measures.registry import CRITERIA, SHARES, UTILITIES, Quantity, declare, declare_all


def _share(name: str, label: str, meaning: str, direction: Literal["high", "low"] = "high") -> Quantity:
    return Quantity(name, label, meaning, "share", direction, range=(0.0, 1.0))


# --- criteria and losses of a release -------------------------------------------------------------------------------

REIDENTIFY = "probability of re-identifying a row, for one known to be in the"

declare_all(
    Quantity("rows", "Rows", "rows of the release", "rows"),
    Quantity("classes", "Classes", "groups of rows alike in all quasi-identifiers", "classes"),
    Quantity("reference", "Compared with", "whose sensitive values t, δ, β and the error without the release refer to"),
    Quantity("missing", "Missing cells", "how a missing cell is compared"),
    Quantity("rows_missing", "Rows with a missing cell", "in any quasi-identifier", "rows"),
    Quantity("rows_excluded", "Rows left out", "because of a missing cell", "rows"),
    Quantity("k", "k", "rows that fit the person who hides among the fewest", "rows", "low"),
    Quantity("k_people", "k, people", "different people in the class that has the fewest, where some have several rows",
             "people", "low"),
    Quantity("person_share", "One person's share",
             "largest share of one person in the rows of a class: the probability of re-identifying this person by k",
             "probability"),
    Quantity("unique_rows", "Unique rows", "rows without an equal row of another person", "rows"),
    Quantity("prosecutor_average", "Prosecutor risk, average", f"{REIDENTIFY} release", "probability"),
    Quantity("prosecutor_max", "Prosecutor risk, largest", "the same for the worst-off row, 1 / k", "probability"),
    Quantity("journalist_average", "Journalist risk, average", f"{REIDENTIFY} population", "probability"),
    Quantity("journalist_max", "Journalist risk, largest", "the same for the worst-off row", "probability"),
    Quantity("marketer", "Marketer risk",
             "share of rows re-identified by linking all of them to the population", "share"),
    Quantity("sample_weight_average", "Sample risk, average",
             "probability of re-identifying a row by survey weights; too low where many are unique in the population",
             "probability"),
    Quantity("sample_weight_max", "Sample risk, largest", "the same for the worst-off row", "probability"),
    Quantity("distortion", "Distortion", "expected cost of what a channel shows in place of the truth", "", "low"),
    Quantity("leakage_bits", "Leakage",
             "mutual information of an observation and the secret: bits learned on average", "bits"),
    Quantity("epsilon", "Epsilon", "largest log ratio between the probabilities of one observation, in nats", "nats"),
    Quantity("share_of_limit", "Share of the limit",
             "error that is left, as a share of what the best channel of the same distortion leaves", "share", "low"),
    Quantity("l_distinct", "l, distinct", "fewest different sensitive values in a class", "values", "low"),
    Quantity("l_entropy", "l, entropy",
             "equally likely values that the least diverse class amounts to", "values", "low"),
    Quantity("l_recursive", "c, recursive", "rows with the commonest value for each row with a rarer one, worst class"),
    Quantity("p_sensitive", "p-sensitive", "fewest different values in a class", "values", "low"),
    Quantity("alpha", "α", "largest share of one sensitive value in a class", "share"),
    Quantity("t_equal", "t, equal distance", "farthest class from the whole table; 0 alike, 1 nothing in common"),
    Quantity("t_ordered", "t, ordered", "the same, where distant values count more"),
    Quantity("t_hierarchical", "t, hierarchical", "the same, over the value hierarchy"),
    Quantity("t_kl", "t, Kullback-Leibler", "the same as a relative entropy, in nats", "nats"),
    Quantity("delta_disclosure", "δ-disclosure",
             "largest log change of a value's frequency; unbounded if a class lacks a value", "nats"),
    Quantity("delta_up", "δ, upward", "largest log rise of a value's frequency in a class, in nats", "nats"),
    Quantity("beta_likeness", "β-likeness", "largest relative rise of a value's frequency, against its own bound"),
    Quantity("beta_basic", "β, basic", "largest relative rise of a value's frequency"),
    Quantity("near_average", "Near guesses, average",
             "how often the best guess of a number by its class is within 10 % of it; for the column told best",
             "share"),
    Quantity("near_prior", "Near guesses without the release", "the same by the numbers of the table alone", "share"),
    Quantity("near_of", "Number guessed", "the column that both are of"),
    Quantity("near_max", "Near guesses, largest", "the same for the class, and the column, where most are near",
             "share"),
    Quantity("map_error", "Error by class", "how often the commonest value of the class is wrong", "share", "low"),
    Quantity("average_privacy_risk", "Average privacy risk",
             "how often the commonest value of the class is right", "share"),
    Quantity("prior_error", "Error without the release", "how often the commonest value of the table is wrong",
             "share", "low"),
    Quantity("replicated_uniques", "Replicated uniques (repU)",
             "people who are unique in the original and whose combination one synthetic row has", "share"),
    Quantity("correctly_disclosed", "Correctly disclosed (DiSCO)",
             "people whose combination is released with one single value, and that value is theirs", "share"),
    Quantity("information_bits", "Information", "bits that the class tells about the value, on average", "bits"),
    registry=CRITERIA,
)  # fmt: skip

declare_all(
    Quantity(
        "gcp", "Information lost (GCP)", "global certainty penalty: 0 % nothing, 100 % everything generalized", "share"
    ),
    Quantity("suppressed", "Rows suppressed", "share of rows left out", "share"),
    Quantity("discernibility", "Discernibility", "sum of squared class sizes"),
    Quantity("average_class_size", "Average class size", "rows divided by classes"),
    Quantity("width_number", "Width", "what a released cell leaves open, on average, in the unit of the column"),
    Quantity("width_years", "Width, years", "time that a released cell leaves open, on average", "years"),
    Quantity("width_days", "Width, days", "time that a released cell leaves open, on average", "days"),
    Quantity("width_hours", "Width, hours", "time that a released cell leaves open, on average", "hours"),
    Quantity("width_characters", "Hidden characters", "characters of a code that a released cell hides, on average"),
    Quantity("width_values", "Open values", "values that a released cell may stand for, on average", "values"),
    Quantity("utility_lost", "Utility lost", "the greatest of the losses of a network", "share"),
    Quantity("edges_lost", "Edges lost", "1 - true and released edges, of those that are true or released", "share"),
    Quantity("degrees_lost", "Degrees lost", "largest difference of the two distribution functions", "share"),
    Quantity("clustering_lost", "Clustering lost", "difference of the clustering coefficients", "share"),
    Quantity("distances_lost", "Distances lost", "degrees lost, but of the shortest paths from 50 people", "share"),
    Quantity("assortativity_lost", "Assortativity lost", "half the difference of the degrees' correlation", "share"),
    Quantity("communities_lost", "Communities lost", "change of the modularity of the original's communities", "share"),
    Quantity("ranks_lost", "Order lost", "half of 1 - rank correlation of people's PageRank", "share"),
    Quantity("contagion_lost", "Contagion lost", "difference of the shares that a disease reaches", "share"),
    registry=UTILITIES,
)

# --- attacks on graphs ----------------------------------------------------------------------------------------------

declare_all(
    Quantity("error_hops", "Distance to the right person", "edges from the match to the right person", "hops", "low"),
    _share("disclosure", "Disclosed", "share of the contacts of people with several identities that the attack tells"),
    _share("adopter_recall", "Adopters found", "share of the people with several identities found by one of them"),
    _share("decoyed", "Decoy found", "share of the people with a decoy who are found by it, the node that they show"),
    _share("exposed", "Hidden node found", "share of the people with a decoy who are found by the node that they hide"),
    _share("discovery", "Identities found", "share of runs that find an identity, mean over identities"),
    Quantity(
        "discovery_score", "Discovery score", "runs that find an identity less runs that match a wrong node", "runs"
    ),
    _share("reversed", "Separation undone", "share of people all of whose identities every run finds, one at a time"),
    needs_truth=True,
)

# --- anonymity systems and traces -------------------------------------------------------------------------------------

declare_all(
    Quantity("expected_delay", "Expected delay", "forwards, or rounds, that a message waits on average", "", "low"),
    Quantity("entropy_rate_bits", "Entropy rate",
             "uncertainty about the whole trace, for each step; before: without what was shown", "bits", "low",
             source="T. M. Cover & J. A. Thomas, 'Elements of Information Theory', 2006, chapter 4"),
    Quantity("edman_degree", "Edman's degree", "anonymity of a whole system by a permanent: 0 none, 1 the most", "",
             "low", range=(0.0, 1.0), source="M. Edman et al., 'A combinatorial approach', 2007"),
    Quantity("bagai_entropy_bits", "Entropy of matchings",
             "uncertainty about which message that left is which one that entered", "bits", "low",
             source="R. Bagai et al., 'An accurate system-wide anonymity metric', 2011"),
    Quantity("gierlichs_degree", "Gierlichs' degree", "anonymity of who sent how many messages to whom", "", "low",
             range=(0.0, 1.0), source="B. Gierlichs et al., 'Revisiting a combinatorial approach', 2008"),
)  # fmt: skip

declare_all(
    _share("receivers_found", "Receivers found", "share of a sender's receivers among as many with the highest share"),
    _share("path_success", "Whole traces right", "share of traces whose most likely path is right at every step"),
    Quantity("rounds_needed", "Rounds needed", "rounds after which a sender's main receiver stands out, median",
             "rounds", "low", source="G. Danezis, 'Statistical disclosure attacks', 2003"),
    needs_truth=True,
)  # fmt: skip

# --- linkage of items -----------------------------------------------------------------------------------------------

declare_all(
    _share("breached", "Breached", "share of subjects with the threshold of their items in one cluster already"),
    _share("clean_breach", "Cleanly breached", "breached by a cluster without a single item of others"),
    _share("linked_now", "Linked now", "share of a subject's items in its most relevant cluster"),
    _share("foreign_share", "Foreign share", "share of items of others in that cluster", "low"),
    Quantity("merges", "Merges to the threshold", "clusters to merge until the threshold is linked; 0 if breached",
             "merges", "low"),
    Quantity("risk_slope", "Risk slope", "how steeply linking rises with every merge: 0 hidden, 1 breached"),
    Quantity("miss", "Misses", "items of a subject that its most relevant cluster lacks", "items", "low"),
    Quantity("include", "Includes", "items of others in the most relevant cluster of a subject", "items", "low"),
    Quantity("foreign_subjects", "Foreign subjects",
             "other subjects with items in the most relevant cluster of a subject", "subjects", "low"),
    Quantity("effective_foreign_subjects", "Foreign subjects, effective",
             "so many with equally many items would be as hard to tell apart; 0 if none", "subjects", "low"),
    needs_truth=True,
)  # fmt: skip

PARTITION_SCORES: dict[str, Quantity] = {}
"""Scores of a whole partition: see `clustering.metrics`."""

declare_all(
    Quantity("ari", "ARI", "adjusted Rand index, pairs treated alike beyond chance; 1 equal, 0 as by chance"),
    Quantity("rand", "Rand index", "share of the pairs of items that guess and truth treat alike"),
    Quantity("pair_precision", "Pair precision", "share of the pairs put together that belong together"),
    Quantity("pair_recall", "Pair recall", "share of the pairs that belong together and are put together"),
    Quantity("voi", "VOI, bits", "variation of information between guess and truth; 0 equal", "bits"),
    Quantity("voi_over_log_n", "VOI / log2 n", "variation of information as a share of its maximum; 0 equal"),
    Quantity("transfer", "Items to move",
             "items that must change their cluster until guess and truth are equal", "items"),
    Quantity("transfer_over_n", "Items to move / (n − 1)",
             "items that must change their cluster until both are equal, as a share of the most; 0 equal"),
    Quantity("bcubed_precision", "B³ precision", "mean over items: share of the item's cluster that is of its subject"),
    Quantity("bcubed_recall", "B³ recall", "mean over items: share of the item's subject that is in its cluster"),
    Quantity("bcubed_f", "B³ F", "harmonic mean of the two"),
    Quantity("homogeneity", "Homogeneity", "1 where clusters hold one subject only"),
    Quantity("completeness", "Completeness", "1 where subjects are in one cluster only"),
    Quantity("nmi", "NMI", "mutual information over the mean entropy; 1 equal"),
    Quantity("expected_missing", "Missing items",
             "mean over items: items of the same subject that are not in its cluster", "items"),
    Quantity("expected_extra", "Foreign items", "mean over items: items of other subjects in its cluster", "items"),
    registry=PARTITION_SCORES,
)  # fmt: skip

# --- singling out: Opinion 05/2014 on anonymisation techniques (WP216), section 2 ------------------------------------

singled_out = declare(
    replace(
        _share("singled_out", "Singled out", "share of the guesses that fit exactly one person of the table"),
        source='A. Cohen & K. Nissim, "Towards formalizing the GDPR\'s notion of singling out", PNAS 2020',
        needs_truth=True,
    )
)

singled_out_of_as_many = declare(
    replace(
        singled_out,
        name="singled_out_of_as_many",
        label="Singled out, of as many",
        meaning="the same share for a random sample of the table, as large as the control group",
    )
)

# --- rational attackers: `unmask.audit.price_measures` ---------------------------------------------------------------

RATIONAL_SOURCE = "W. Xia et al., 'Process-driven data privacy', 2015, sections 4 and 5"
REIDENTIFIED = "Re-identified by a rational attacker"


def _declare_rational(
    name: str, label: str, meaning: str, unit: str = "probability", *, realizes: str = "", more: str = ""
) -> Quantity:
    limits = (0.0, 1.0) if unit in SHARES else (0.0, inf)
    source, needs_truth = RATIONAL_SOURCE + more, bool(realizes)
    return declare(
        Quantity(name, label, meaning, unit, range=limits, source=source, realizes=realizes, needs_truth=needs_truth)
    )


rational_access = _declare_rational(
    "rational_access", "Worth attacking", "share of people that a rational attacker attacks", "share"
)
rational_success = _declare_rational(
    "rational_success", REIDENTIFIED, "probability that they re-identify the person while they do what pays"
)
realized_rational_success = _declare_rational(
    "realized_rational_success", REIDENTIFIED, "share of people that a rational attacker re-identifies, by the truth",
    realizes="rational_success",
)  # fmt: skip
rational_payoff = _declare_rational(
    "rational_payoff", "Rational payoff", "what attacking the person is worth to them", "money"
)
rational_tries = _declare_rational(
    "rational_tries", "Rational tries", "candidates tried to re-identify the person", "tries"
)
campaign_success = _declare_rational(
    "campaign_success", "Re-identified by one campaign",
    "largest probability that the best campaign of one rational attacker against all re-identifies a person",
    more=", for all targets together",
)  # fmt: skip
