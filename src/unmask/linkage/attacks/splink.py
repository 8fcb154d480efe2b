"""Record linkage with Splink."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.data.databases import open_database
from unmask.extras import import_extra
from unmask.linkage.attacks.pairs import Linker, Links, count_pairs, no_links
from unmask.linkage.items import Feature, Items

LEAST = 0.01
"""Probability below which pairs are dropped."""


@dataclass(frozen=True)
class SplinkLinkage(Linker):
    """Linkage of pseudonyms with Splink, a published tool for probabilistic record linkage.

    Texts are compared by Jaro-Winkler similarity at 0.9 and 0.7; categories and numbers are equal or different.
    Training uses the release only: u from random pairs, m by expectation maximization over the pairs of each blocking
    rule, and the prior from the trained values of the last rule. Give at least two rules without a common feature;
    features in the only rule stay untrained. The clusters are the connected components of the links. Probabilities may
    differ in the last digits between numbers of threads.

    Needs Splink: install unmask with the extra [link].

    Assumes: the assumptions of `RecordLinkage`; similar texts often belong to one person.

    Fails when: there are too few rows for training, or only one rule, whose features stay untrained.

    Parameters
    ----------
    blocks : Blocks
        Blocking rules, each a tuple of feature names; a pair that agrees on all features of a rule is compared.
    threshold : float
        Smallest probability of a link. `link` has no pairs below `LEAST`.
    features : tuple of str
        Names of the features to compare. Default: all.

    Examples
    --------
    >>> SplinkLinkage(blocks=(("name",), ("born",)))
    SplinkLinkage(blocks=(('name',), ('born',)), threshold=0.9, features=())

    References
    ----------
    R. Linacre et al., "Splink: free software for probabilistic record linkage at scale", IJPDS 7(3), 2022.
    """

    def link(self, release: Items) -> Links:
        """Return the pairs that Splink predicts, with its probabilities."""
        splink, library = import_extra("splink", "link"), import_extra("splink.comparison_library", "link")
        features = self.select(release)
        alias = {feature.name: f"f{i}" for i, feature in enumerate(features)}
        used_rules = [rule for rule in self.blocks if count_pairs(tuple(f for f in features if f.name in rule))]
        if not used_rules:
            return no_links(release)  # Splink raises if a rule has no pairs
        rules = [splink.block_on(*(alias[name] for name in rule)) for rule in used_rules]
        settings = splink.SettingsCreator(
            link_type="dedupe_only",
            comparisons=[_compare(library, feature, alias[feature.name]) for feature in features],
            blocking_rules_to_generate_predictions=rules,
            retain_matching_columns=False,
        )
        columns = {alias[feature.name]: _list_cells(feature) for feature in features}
        *ends, probability = _predict(splink, settings, columns, rules)
        first, second = np.minimum(*ends), np.maximum(*ends)
        order = np.lexsort((second, first))
        return Links(release, first[order], second[order], np.clip(probability[order], 0.0, 1.0))


def _compare(library: Any, feature: Feature, name: str) -> Any:
    if feature.kind == "text":
        return library.JaroWinklerAtThresholds(name, [0.9, 0.7])
    return library.ExactMatch(name)


def _list_cells(feature: Feature) -> list[str | float | None]:
    if feature.kind == "numeric":
        return [None if value != value else value for value in feature.values.tolist()]
    labels: list[str | None] = [*feature.labels.tolist(), None]
    return [labels[code] for code in feature.values.tolist()]  # code -1 (missing) selects the last label, None


def _predict(
    splink: Any, settings: Any, columns: dict[str, list[str | float | None]], rules: list[Any]
) -> tuple[Integers, Integers, Floats]:
    """Return the two pseudonyms and the probability of each pair, predicted by Splink after training on these
    columns.
    """
    arrow = import_extra("pyarrow", "link")
    table = arrow.table({"unique_id": list(range(len(next(iter(columns.values()))))), **columns})
    backend = import_extra("splink.backends.duckdb", "link")
    with open_database() as connection:
        linker = splink.Linker(backend.DuckDBAPI(connection).register(table), settings, log_level=logging.ERROR)
        linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=0)
        for i, rule in enumerate(rules):
            linker.training.estimate_parameters_using_expectation_maximisation(
                rule, populate_probability_two_random_records_match_from_trained_values=i == len(rules) - 1
            )
        predicted = linker.inference.predict(threshold_match_probability=LEAST).as_duckdbpyrelation()
        pairs = predicted.select("unique_id_l, unique_id_r, match_probability").fetchnumpy()
    first, second, probability = (np.asarray(pairs[name]) for name in pairs)
    return first.astype(np.int64), second.astype(np.int64), probability.astype(np.float64)
