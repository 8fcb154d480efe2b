"""Plain lists, name -> example: what `unmask list` shows and the conformance tests walk. The one file that knows all
wings.
"""

from __future__ import annotations

from collections.abc import Mapping

from unmask.audit import STANDARD, price_measures
from unmask.economics import read_attacker
from unmask.economics.profile import EMBEDDED
from unmask.graphs import Bumblebee, Grasshopper, Nar09
from unmask.measures import Measure
from unmask.pseudonyms import (
    ExactMatch,
    FeatureClustering,
    PerContext,
    PerItem,
    PerPeriod,
    RecordLinkage,
    SplinkLinkage,
    Split,
    Threshold,
)
from unmask.tables import attacks, protections

MEASURES: Mapping[str, Measure] = {
    measure.name: measure for measure in (*STANDARD, *price_measures(read_attacker(EMBEDDED)))
}

ATTACKS: Mapping[str, object] = {
    "tables.ClassAttack": attacks.ClassAttack(),
    "tables.RegisterAttack": attacks.RegisterAttack(),
    "tables.BayesAttack": attacks.BayesAttack(),
    "tables.NearestNeighbour": attacks.NearestNeighbour(),
    "tables.StringLinkage": attacks.StringLinkage(),
    "tables.AttributeInference": attacks.AttributeInference("diagnosis"),
    "pseudonyms.ExactMatch": ExactMatch(),
    "pseudonyms.Threshold": Threshold(0.1),
    "pseudonyms.FeatureClustering": FeatureClustering("kmeans", n_clusters=12),
    "pseudonyms.RecordLinkage": RecordLinkage((("place",), ("x0",))),
    "graphs.Nar09": Nar09(),
    "graphs.Grasshopper": Grasshopper(),
    "graphs.Bumblebee": Bumblebee(),
    "pseudonyms.SplinkLinkage": SplinkLinkage((("place",), ("x0",))),
}

PROTECTIONS: Mapping[str, object] = {
    "tables.Mondrian": protections.Mondrian(),
    "tables.Suppress": protections.Suppress(),
    "tables.SuppressCells": protections.SuppressCells(),
    "tables.Generalize": protections.Generalize(),
    "tables.Identity": protections.Identity(),
    "pseudonyms.PerItem": PerItem(),
    "pseudonyms.PerPeriod": PerPeriod(0.25),
    "pseudonyms.PerContext": PerContext(),
    "pseudonyms.Split": Split(2),
}
