"""What is measured of adversaries who cluster items, always against the truth: see `unmask.measures.unlinkability`."""

from __future__ import annotations

from typing import Literal

from unmask.measures.registry import Quantity, declare_all


def _share(name: str, label: str, meaning: str, direction: Literal["high", "low"] = "high") -> Quantity:
    return Quantity(name, label, meaning, "share", direction, range=(0.0, 1.0))


declare_all(
    _share("breached", "Breached", "share of subjects with the threshold of their items in one cluster already"),
    _share("clean_breach", "Cleanly breached", "breached by a cluster without a single item of others"),
    _share("linked_now", "Linked now", "share of a subject's items in its most relevant cluster"),
    _share("foreign_share", "Foreign share", "share of items of others in that cluster", "low"),
    Quantity("merges", "Merges to the threshold", "clusters to merge until the threshold is linked; 0 if breached",
             "merges", "low"),
    Quantity("risk_slope", "Risk slope", "how steeply linking rises with every merge: 0 hidden, 1 breached"),
    Quantity("slope", "Risk slope", "how steeply linking rises with every merge: 0 hidden, 1 breached"),
    Quantity("miss", "Misses", "items of a subject that its most relevant cluster lacks", "items", "low"),
    Quantity("include", "Includes", "items of others in the most relevant cluster of a subject", "items", "low"),
    Quantity("foreign_subjects", "Foreign subjects",
             "other subjects with items in the most relevant cluster of a subject", "subjects", "low"),
    Quantity("effective_foreign_subjects", "Foreign subjects, effective",
             "so many with equally many items would be as hard to tell apart; 0 if none", "subjects", "low"),
    _share("bcubed_precision", "B-cubed precision", "share of a subject in the clusters of its items, mean over items"),
    _share("bcubed_recall", "B-cubed recall", "part of a subject that is in its item's cluster, mean over items"),
    Quantity("split", "Split",
             "bits that the clusters of a subject's items differ by; 0 if all are together", "bits", "low"),
    Quantity("mix", "Mixed",
             "bits by which items of others hide a subject in its clusters; 0 if there are none", "bits", "low"),
    needs_truth=True,
)  # fmt: skip

WHOLE: dict[str, Quantity] = {}
"""Scores of a whole partition, by those who know it as clustering: see `unlinkability.companions`."""

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
    among=WHOLE,
)  # fmt: skip
