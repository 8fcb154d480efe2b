"""Criteria of a release, which need no adversary, and what a release has lost: what `unmask.tables` counts.

The direction of a criterion is that in which a class discloses more. A suffix in brackets, as in "t_equal
(occupation)", names a column.
"""

from __future__ import annotations

from unmask.measures.registry import CRITERIA, UTILITIES, Quantity, declare_all

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
             "largest share of the rows of a class that are one person's: the probability of re-identifying them by k",
             "probability"),
    Quantity("unique_rows", "Unique rows", "rows that nobody else is like", "rows"),
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
             "bits that an observation tells of the secret on average (mutual information)", "bits"),
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
    among=CRITERIA,
)  # fmt: skip

declare_all(
    Quantity(
        "gcp", "Information lost (GCP)", "global certainty penalty: 0 % nothing generalized, 100 % everything", "share"
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
    Quantity(
        "clustering_lost", "Clustering lost", "difference of how many contacts of one person are contacts", "share"
    ),
    Quantity("distances_lost", "Distances lost", "degrees lost, but of the shortest paths from 50 people", "share"),
    Quantity("assortativity_lost", "Assortativity lost", "half the difference of the degrees' correlation", "share"),
    Quantity("communities_lost", "Communities lost", "change of the modularity of the original's communities", "share"),
    Quantity("ranks_lost", "Order lost", "half of 1 - rank correlation of people's PageRank", "share"),
    Quantity("contagion_lost", "Contagion lost", "difference of the shares that a disease reaches", "share"),
    among=UTILITIES,
)
