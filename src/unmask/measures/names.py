"""Names, labels and definitions of the measures that other packages compute.

The direction of a criterion is the one in which a class discloses more. A suffix in brackets names a column, as in
"t_equal (occupation)".
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Literal

from unmask.measures.registry import CRITERIA, SHARES, UTILITIES, Quantity, declare, declare_all


def _share(name: str, label: str, meaning: str, direction: Literal["high", "low"] = "high") -> Quantity:
    return Quantity(name, label, meaning, "share", direction, range=(0.0, 1.0))


# --- criteria and losses of a release -------------------------------------------------------------------------------

declare_all(
    Quantity("rows", "Rows", "rows of the release", "rows"),
    Quantity("classes", "Classes",
             "equivalence classes: groups of rows that agree in all quasi-identifiers", "classes"),
    Quantity("reference", "Compared with",
             "table whose distribution of sensitive values is the reference of t, δ, β and of guessing"),
    Quantity("missing", "Missing cells", "how missing cells are compared"),
    Quantity("rows_missing", "Rows with a missing cell", "rows with a missing cell in any quasi-identifier", "rows"),
    Quantity("rows_excluded", "Rows left out", "rows left out because of a missing cell", "rows"),
    Quantity("k", "k", "smallest number of rows that fit a person", "rows", "low"),
    Quantity("k_people", "k, people",
             "smallest number of people in a class, if people have several rows", "people", "low"),
    Quantity("person_share", "One person's share",
             "largest share of a class's rows that belong to one person", "probability"),
    Quantity("unique_rows", "Unique rows", "rows without an equal row of another person", "rows"),
    Quantity("prosecutor_average", "Prosecutor risk, average",
             "mean probability of re-identifying a row, if its person is known to be in the release", "probability"),
    Quantity("prosecutor_max", "Prosecutor risk, largest",
             "largest probability of re-identifying a row, if its person is known to be in the release: 1 / k",
             "probability"),
    Quantity("journalist_average", "Journalist risk, average",
             "mean probability of re-identifying a row, if its person is known to be in the population", "probability"),
    Quantity("journalist_max", "Journalist risk, largest",
             "largest probability of re-identifying a row, if its person is known to be in the population",
             "probability"),
    Quantity("marketer", "Marketer risk",
             "expected share of rows that are re-identified if all are matched with the population", "share"),
    Quantity("k_map", "k-map", "smallest number of people of the population (the register) who fit a row", "people",
             "low"),
    Quantity("population_uniques", "Population uniques",
             "rows that fit a single person of the population (the register)", "rows"),
    Quantity("population_uniques_low", "Population uniques, at least",
             "lower end of a 95 % interval for people who are unique in the population, by no model", "people"),
    Quantity("population_uniques_high", "Population uniques, at most",
             "upper end of a 95 % interval for people who are unique in the population, by no model", "people"),
    Quantity("population_uniques_pitman", "Population uniques, Pitman",
             "people who are unique in the population, estimated by Pitman's model", "people"),
    Quantity("population_uniques_zayatz", "Population uniques, Zayatz",
             "people who are unique in the population, estimated by Zayatz' method", "people"),
    Quantity("population_uniques_negative_binomial", "Population uniques, SNB",
             "people who are unique in the population, estimated by the slide negative binomial model", "people"),
    Quantity("unique_probability_low", "Unique rows that are population uniques, at least",
             "lower end of a 95 % interval for the share of unique rows that are unique in the population", "share"),
    Quantity("unique_probability_high", "Unique rows that are population uniques, at most",
             "upper end of a 95 % interval for the share of unique rows that are unique in the population", "share"),
    Quantity("individual_risk_average", "Individual risk, average",
             "mean probability of re-identifying a row by survey weights; too low if many people are unique in "
             "the population", "probability"),
    Quantity("individual_risk_max", "Individual risk, largest",
             "largest probability of re-identifying a row by survey weights", "probability"),
    Quantity("expected_reidentifications", "Expected re-identifications",
             "sum over rows of the probability of re-identifying them by survey weights", "rows"),
    Quantity("expected_reidentifications_low", "Expected re-identifications, at least",
             "lower end of a 95 % interval for them over samples of the same kind; households are clusters", "rows"),
    Quantity("expected_reidentifications_high", "Expected re-identifications, at most",
             "upper end of a 95 % interval for them over samples of the same kind; households are clusters", "rows"),
    Quantity("dis_suda_max", "DIS-SUDA, largest",
             "largest score of a special unique; needs survey weights or the population size, and rows in pairs"),
    Quantity("household_k", "k, households", "smallest number of households with the same members", "households",
             "low"),
    Quantity("household_risk_average", "Household risk, average",
             "mean probability that a member of a person's household is re-identified, who reveals the others",
             "probability"),
    Quantity("household_risk_max", "Household risk, largest",
             "largest probability that a member of a person's household is re-identified", "probability"),
    Quantity("distortion", "Distortion",
             "expected cost of showing the output of the channel instead of the truth", "", "low"),
    Quantity("leakage_bits", "Leakage", "mutual information of output and secret: bits learned on average", "bits"),
    Quantity("epsilon", "Epsilon",
             "largest log ratio of the probabilities of one output under two secrets, in nats", "nats"),
    Quantity("share_of_limit", "Share of the limit",
             "adversary's error, as a share of the largest possible error at the same distortion", "share", "low"),
    Quantity("l_distinct", "l, distinct", "smallest number of distinct sensitive values in a class", "values", "low"),
    Quantity("l_entropy", "l, entropy",
             "effective number of equally likely sensitive values in the least diverse class", "values", "low"),
    Quantity("l_recursive", "c, recursive",
             "largest ratio, over classes, of rows with the most common value to rows with the less common values"),
    Quantity("p_sensitive", "p-sensitive", "smallest number of distinct sensitive values in a class", "values", "low"),
    Quantity("alpha", "α", "largest share of one sensitive value in a class", "share"),
    Quantity("t_equal", "t, equal distance",
             "largest distance between the distribution of values in a class and in the table; 0 equal, 1 disjoint"),
    Quantity("t_ordered", "t, ordered",
             "largest earth mover's distance between a class and the table, over ordered values"),
    Quantity("t_hierarchical", "t, hierarchical",
             "largest earth mover's distance between a class and the table, over the value hierarchy"),
    Quantity("t_kl", "t, Kullback-Leibler",
             "largest Kullback-Leibler divergence of a class from the table, in nats", "nats"),
    Quantity("delta_disclosure", "δ-disclosure",
             "largest log ratio of a value's frequency in a class and in the table; unbounded if a class lacks a value",
             "nats"),
    Quantity("delta_up", "δ, upward", "largest log increase of a value's frequency in a class, in nats", "nats"),
    Quantity("beta_likeness", "β-likeness",
             "largest relative increase of a value's frequency in a class, compared with the bound of this value"),
    Quantity("beta_basic", "β, basic", "largest relative increase of a value's frequency in a class"),
    Quantity("near_average", "Near guesses, average",
             "share of numbers guessed within 10 % by their class, for the column where this share is largest",
             "share"),
    Quantity("near_prior", "Near guesses without the release",
             "share of numbers guessed within 10 % by the distribution of the table", "share"),
    Quantity("near_of", "Number guessed", "column with the largest share of near guesses"),
    Quantity("near_max", "Near guesses, largest", "largest share of numbers guessed within 10 % in a class", "share"),
    Quantity("map_error", "Error by class",
             "share of rows whose value is not the most common one of their class", "share", "low"),
    Quantity("average_privacy_risk", "Average privacy risk",
             "share of rows whose value is the most common one of their class", "share"),
    Quantity("prior_error", "Error without the release",
             "share of rows whose value is not the most common one of the table", "share", "low"),
    Quantity("replicated_uniques", "Replicated uniques (repU)",
             "share of people who are unique in the original and whose combination occurs once in the synthetic table",
             "share"),
    Quantity("correctly_disclosed", "Correctly disclosed (DiSCO)",
             "share of people whose combination occurs with a single value in the release, which is their own",
             "share"),
    Quantity("cap", "Correct attribution (CAP)",
             "mean share of the released rows with a person's combination that have their value; values that most "
             "people of a class have raise it without any disclosure", "share"),
    Quantity("cap_control", "CAP, control group",
             "CAP of people who are not in the original; a higher CAP of the original is due to their own records",
             "share"),
    Quantity("cap_prior", "CAP without quasi-identifiers", "mean share of all released rows that have a person's value",
             "share"),
    Quantity("tcap", "Targeted attribution (TCAP)",
             "CAP in the original, mean over the released rows whose combination is released with one value only; "
             "other rows are not counted", "share"),
    Quantity("tcap_control", "TCAP, control group", "TCAP in the control group", "share"),
    Quantity("identifiable_share", "Identifiability",
             "share of people who are closer to a released row than to another person of the original; compare it with "
             "that of the control group", "share"),
    Quantity("identifiable_control", "Identifiability, control group",
             "share of the control group who are closer to a released row than to a person of the original", "share"),
    Quantity("closer_to_members", "Closer to members (DCR share)",
             "share of released rows that are closer to the original than to as many people of the control group; a "
             "half does not prove safety, and a small control group finds few copies", "share"),
    Quantity("information_bits", "Information",
             "mutual information of class and value: bits learned on average", "bits"),
    registry=CRITERIA,
)  # fmt: skip

declare_all(
    Quantity("gcp", "Information lost (GCP)",
             "global certainty penalty: 0 % nothing, 100 % everything generalized", "share"),
    Quantity("suppressed", "Rows suppressed", "share of rows left out", "share"),
    Quantity("discernibility", "Discernibility", "sum of squared class sizes"),
    Quantity("average_class_size", "Average class size", "rows divided by classes"),
    Quantity("width_number", "Width", "mean width of a released interval, in the unit of the column"),
    Quantity("width_years", "Width, years", "mean width of a released period", "years"),
    Quantity("width_days", "Width, days", "mean width of a released period", "days"),
    Quantity("width_hours", "Width, hours", "mean width of a released period", "hours"),
    Quantity("width_characters", "Hidden characters", "mean number of hidden characters in a released code"),
    Quantity("width_values", "Open values", "mean number of values that a released cell covers", "values"),
    Quantity("utility_lost", "Utility lost", "largest utility loss of a network", "share"),
    Quantity("edges_lost", "Edges lost", "Jaccard distance of the edges before and after protection", "share"),
    Quantity("degrees_lost", "Degrees lost",
             "largest difference of the degrees' distribution functions before and after protection", "share"),
    Quantity("clustering_lost", "Clustering lost",
             "difference of the clustering coefficients before and after protection", "share"),
    Quantity("distances_lost", "Distances lost",
             "largest difference of the distribution functions of shortest paths from 50 people", "share"),
    Quantity("assortativity_lost", "Assortativity lost", "half the difference of the degree assortativity", "share"),
    Quantity("communities_lost", "Communities lost", "change of the modularity of the original communities", "share"),
    Quantity("ranks_lost", "Order lost",
             "half of 1 minus the rank correlation of PageRank before and after protection", "share"),
    Quantity("contagion_lost", "Contagion lost",
             "difference of the shares of people that a simulated disease reaches", "share"),
    registry=UTILITIES,
)  # fmt: skip

# --- criteria of graphs ---------------------------------------------------------------------------------------------


def _class_of_people(name: str, label: str, knowledge: str, source: str) -> Quantity:
    return Quantity(name, label, f"smallest number of people with the same {knowledge}", "people", "low", source=source)


HAY = "M. Hay et al., 'Resisting structural re-identification in anonymized social networks', 2008"

declare_all(
    _class_of_people("k_degree", "k, degree", "number of edges", "K. Liu & E. Terzi, 'Towards identity anonymization "
                     "on graphs', 2008"),
    _class_of_people("k_neighborhood", "k, neighborhood", "edges among their contacts", "B. Zhou & J. Pei, "
                     "'Preserving privacy in social networks against neighborhood attacks', 2008"),
    _class_of_people("k_candidate_1", "k, candidates, 1 round", "degree and degrees of contacts", HAY),
    _class_of_people("k_candidate_2", "k, candidates, 2 rounds", "surroundings up to two edges away", HAY),
    _class_of_people("k_candidate", "k, candidates, all rounds", "surroundings at any distance", HAY),
    _class_of_people("k_twins", "k, structural twins", "contacts", "F. Lorrain & H. C. White, 'Structural equivalence "
                     "of individuals in social networks', 1971"),
    Quantity("lta_a", "LTA A", "smallest local anonymity: similarity of a person's edges to those of friends of "
             "friends", "", "low", range=(0.0, 1.0), source="G. Gulyas, 2015, (4.3)"),
)  # fmt: skip

# --- attacks on graphs ----------------------------------------------------------------------------------------------

declare_all(
    Quantity("stable_seeds", "Seeds to spread", "fewest seeds from which at least 90 % of the runs spread", "seeds",
             "low", source="G. Gulyas, 2015, section 4.2.2"),
)  # fmt: skip

declare_all(
    Quantity("error_hops", "Distance to the right person", "edges from the match to the right person", "hops", "low"),
    _share(
        "disclosure",
        "Disclosed",
        "share of the contacts of adopters that the attack reveals; adopters have several identities",
    ),
    _share("adopter_recall", "Adopters found", "share of adopters with at least one re-identified identity"),
    _share("decoyed", "Decoy found", "share of people with a decoy whose public node is re-identified"),
    _share("exposed", "Hidden node found", "share of people with a decoy whose hidden node is re-identified"),
    _share("discovery", "Identities found", "mean over identities of the share of runs that re-identify it"),
    Quantity(
        "discovery_score",
        "Discovery score",
        "runs that re-identify an identity minus runs that match a wrong node",
        "runs",
    ),
    _share(
        "reversed",
        "Separation undone",
        "share of people with all identities re-identified in every run, attacked one at a time",
    ),
    needs_truth=True,
)

# --- anonymity systems and traces -------------------------------------------------------------------------------------

declare_all(
    equal_cells := Quantity("equal_cells", "Equal cells",
                            "cells of known people with the text of a linked class", "cells",
                            source="R. Pasupuleti, 'Linkage attack analysis'"),
    expected_gain := Quantity("expected_gain", "Gain", "expected gain of the adversary's best answer", "gain",
                              range=(-inf, inf), source="Rebollo-Monedero et al. 2012, section IV-C"),
    reduction_bound := Quantity("reduction_bound", "Bound of the error's reduction",
                                "bound of the fall of the adversary's error under any loss: dmax TV", "loss",
                                source="Rebollo-Monedero et al. 2012, section V-B"),
    regret_bound := Quantity("regret_bound", "Bound of the regret",
                             "bound of what an adversary loses who ignores the output, under any loss: 2 dmax TV",
                             "loss", source="Rebollo-Monedero et al. 2012, section V-B"),
    Quantity("expected_delay", "Expected delay", "forwards, or rounds, that a message waits on average", "", "low"),
    Quantity("entropy_rate_bits", "Entropy rate",
             "uncertainty about the whole trace, for each step; before: without what was shown", "bits", "low",
             source="T. M. Cover & J. A. Thomas, 'Elements of Information Theory', 2006, chapter 4"),
    Quantity("edman_degree", "Edman's degree", "anonymity of a whole system by a permanent: 0 none, 1 the most", "",
             "low", range=(0.0, 1.0), source="M. Edman et al., 'A combinatorial approach', 2007"),
    Quantity("bagai_entropy_bits", "Entropy of matchings",
             "uncertainty about which message that left is which one that entered", "bits", "low",
             source="R. Bagai et al., 'An accurate system-wide anonymity metric', 2011"),
    Quantity("gierlichs_degree", "Gierlichs' degree",
             "anonymity of the number of messages from each sender to each receiver", "", "low", range=(0.0, 1.0),
             source="B. Gierlichs et al., 'Revisiting a combinatorial approach', 2008"),
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
    _share("breached", "Breached", "share of subjects with at least the threshold share of their items in one cluster"),
    _share("clean_breach", "Cleanly breached",
           "share of subjects breached by a cluster without items of other subjects"),
    _share("linked_now", "Linked now", "share of a subject's items in its most relevant cluster"),
    _share("foreign_share", "Foreign share",
           "share of other subjects' items in the most relevant cluster of a subject", "low"),
    Quantity("merges", "Merges to the threshold",
             "number of clusters to merge until the threshold share is linked; 0 if breached", "merges", "low"),
    Quantity("risk_slope", "Risk slope", "normalized slope of the linked share over merges: 0 hidden, 1 breached"),
    Quantity("miss", "Misses", "items of a subject outside its most relevant cluster", "items", "low"),
    Quantity("include", "Includes", "other subjects' items in the most relevant cluster of a subject", "items", "low"),
    Quantity("foreign_subjects", "Foreign subjects",
             "other subjects with items in the most relevant cluster of a subject", "subjects", "low"),
    Quantity("effective_foreign_subjects", "Foreign subjects, effective",
             "effective number of equally represented other subjects in that cluster; 0 without any",
             "subjects", "low"),
    needs_truth=True,
)  # fmt: skip

PARTITION_SCORES: dict[str, Quantity] = {}
"""Scores of a whole partition: see `clustering.metrics`."""

declare_all(
    Quantity("adjusted_rand_index", "ARI",
             "adjusted Rand index: agreement on pairs beyond chance; 1 equal, 0 as by chance"),
    Quantity("rand_index", "Rand index", "share of pairs of items on which guess and truth agree"),
    Quantity("pair_precision", "Pair precision", "share of linked pairs that belong together"),
    Quantity("pair_recall", "Pair recall", "share of pairs that belong together and are linked"),
    Quantity("variation_of_information", "VOI, bits",
             "variation of information between guess and truth; 0 equal", "bits", "low"),
    Quantity("normalized_variation_of_information", "VOI / log2 n",
             "variation of information as a share of its maximum; 0 equal", "", "low"),
    Quantity("transfer_distance", "Items to move",
             "smallest number of items to move to make guess and truth equal", "items", "low"),
    Quantity("normalized_transfer_distance", "Items to move / (n − 1)",
             "smallest number of items to move to make both equal, as a share of its maximum; 0 equal", "", "low"),
    Quantity("bcubed_precision", "B³ precision",
             "mean over items of the share of its cluster that belongs to its subject"),
    Quantity("bcubed_recall", "B³ recall", "mean over items of the share of its subject's items in its cluster"),
    Quantity("bcubed_f", "B³ F", "harmonic mean of B³ precision and recall"),
    Quantity("homogeneity", "Homogeneity", "1 if every cluster has items of one subject only"),
    Quantity("completeness", "Completeness", "1 if every subject's items are in one cluster"),
    Quantity("normalized_mutual_information", "NMI", "mutual information divided by the mean entropy; 1 equal"),
    Quantity("expected_missing", "Missing items",
             "mean over items of the same subject's items outside its cluster", "items", "low"),
    Quantity("expected_extra", "Foreign items",
             "mean over items of other subjects' items in its cluster", "items", "low"),
    registry=PARTITION_SCORES,
)  # fmt: skip

declare_all(
    *PARTITION_SCORES.values(),
    Quantity("combined_error", "Combined error", "misses and includes of a subject, weighted by alpha", "items", "low"),
    Quantity("normalized_error", "Normalized error", "combined error of a subject divided by n - 1 items", "", "low",
             range=(0.0, 1.0)),
    Quantity("certainty", "Certainty of the view",
             "1 if one partition has all probability, 0 if all are equally likely",
             range=(0.0, 1.0), source="L. Fischer et al., 'Measuring unlinkability revisited', 2008"),
    Quantity("consistency", "Consistency of the view",
             "1 - expected variation of information between two draws / log2 n; 1 if all partitions are equal",
             range=(0.0, 1.0), source="L. Fischer et al., 'Measuring unlinkability revisited', 2008"),
    Quantity("expected_distance", "Distance of the view",
             "expected variation of information between the truth and a partition of the view", "bits", "low",
             source="L. Fischer et al., 'Measuring unlinkability revisited', 2008"),
    needs_truth=True,
)  # fmt: skip

# --- published tables ------------------------------------------------------------------------------------------------

areas_reconstructed = declare(
    _share("areas_reconstructed", "Areas with one solution", "share of areas whose tables fit only one set of records")
)
records_reconstructed = declare(
    replace(
        _share("records_reconstructed", "Records reconstructed",
               "expected share of an area's records that a reconstruction has, too"),
        needs_truth=True,
    )
)  # fmt: skip
values_certain = declare(
    _share("values_certain", "Certain values",
           "share of people whose sensitive value is the same in all records that fit the tables")
)  # fmt: skip

# --- singling out: Opinion 05/2014 on anonymisation techniques (WP216), section 2 ------------------------------------

singled_out = declare(
    replace(
        _share("singled_out", "Singled out", "share of predicates that hold for exactly one person of the table"),
        source='A. Cohen & K. Nissim, "Towards formalizing the GDPR\'s notion of singling out", PNAS 2020',
        needs_truth=True,
    )
)

singled_out_of_as_many = declare(
    replace(
        singled_out,
        name="singled_out_of_as_many",
        label="Singled out, of as many",
        meaning="share of predicates that hold for exactly one person of a sample as large as the control group",
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
    "rational_success", REIDENTIFIED, "probability that a rational attacker re-identifies the person"
)
realized_rational_success = _declare_rational(
    "realized_rational_success", REIDENTIFIED, "share of people that a rational attacker re-identifies, by the truth",
    realizes="rational_success",
)  # fmt: skip
rational_payoff = _declare_rational(
    "rational_payoff", "Rational payoff", "expected payoff of attacking the person", "money"
)
rational_tries = _declare_rational(
    "rational_tries", "Rational tries", "expected number of candidates that a rational attacker tries", "tries"
)
campaign_success = _declare_rational(
    "campaign_success", "Re-identified by one campaign",
    "largest probability that the best campaign against all people re-identifies a person",
    more=", for all targets together",
)  # fmt: skip
