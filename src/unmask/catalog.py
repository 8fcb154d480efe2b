"""Plain lists, name -> example: what `unmask list` shows and the conformance tests walk. The one file that knows all
wings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from unmask import channels, graphs, pseudonyms, tables
from unmask.audit import STANDARD, price_measures
from unmask.economics import read_attacker
from unmask.economics.profile import EMBEDDED
from unmask.measures import Measure
from unmask.measures.rates import RATES, coverage
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
    measure.name: measure for measure in (*STANDARD, *RATES, coverage, *price_measures(read_attacker(EMBEDDED)))
}

ATTACKS: Mapping[str, object] = {
    "tables.ClassAttack": attacks.ClassAttack(),
    "tables.RegisterAttack": attacks.RegisterAttack(coverage=0.2),
    "tables.BayesAttack": attacks.BayesAttack(),
    "tables.NearestNeighbor": attacks.NearestNeighbor(),
    "tables.StringLinkage": attacks.StringLinkage(),
    "tables.OrderAttack": attacks.OrderAttack(),
    "tables.AttributeInference": attacks.AttributeInference("diagnosis"),
    "pseudonyms.ExactMatch": ExactMatch(),
    "pseudonyms.Threshold": Threshold(0.1),
    "pseudonyms.FeatureClustering": FeatureClustering("kmeans", n_clusters=12),
    "pseudonyms.RecordLinkage": RecordLinkage((("place",), ("x0",))),
    "channels.BayesChannelAttack": channels.BayesChannelAttack(channels.Channel(np.eye(2))),
    "graphs.Nar09": graphs.Nar09(),
    "graphs.Grasshopper": graphs.Grasshopper(),
    "graphs.Bumblebee": graphs.Bumblebee(),
    "graphs.Rematch": graphs.Rematch(),
    "graphs.Irma": graphs.Irma(),
    "graphs.KorulaLattanzi": graphs.KorulaLattanzi(),
    "graphs.GraphMatching": graphs.GraphMatching(),
    "graphs.DirectedNar09": graphs.DirectedNar09(),
    "graphs.Iterated": graphs.Iterated(graphs.Nar09()),
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
    "channels.RandomizedResponse": channels.RandomizedResponse(1.0, 4),
    "channels.Geometric": channels.Geometric(1.0, 4),
    "channels.Coin": channels.Coin(0.5),
    "channels.PlanarLaplace": channels.PlanarLaplace(0.001),
    "channels.PlanarGaussian": channels.PlanarGaussian(1000.0),
    "graphs.IdentitySeparation": graphs.IdentitySeparation(),
    "graphs.Decoy": graphs.Decoy(),
    "graphs.EgoPatterns": graphs.EgoPatterns(),
    "graphs.Together": graphs.Together(((0.5, graphs.IdentitySeparation()), (0.5, graphs.Decoy()))),
    "channels.Shrink": channels.Shrink(1000.0, 3000.0),
}

DATASETS: Mapping[str, Callable[..., Any]] = {
    "tables.synthetic_census": tables.datasets.synthetic_census,
    "tables.adult": tables.datasets.adult,
    "tables.fertility1980": tables.datasets.fertility1980,
    "tables.nist_national2019": tables.datasets.nist_national2019,
    "pseudonyms.synthetic_traces": pseudonyms.datasets.synthetic_traces,
    "pseudonyms.gowalla": pseudonyms.datasets.gowalla,
    "pseudonyms.rldata": pseudonyms.datasets.rldata,
    "pseudonyms.febrl": pseudonyms.datasets.febrl,
    "channels.alphabet": channels.datasets.alphabet,
    "channels.grid": channels.datasets.grid,
    "channels.gowalla": channels.datasets.gowalla,
    "graphs.network": graphs.datasets.network,
    "graphs.pair": graphs.datasets.pair,
    "graphs.barabasi_albert": graphs.datasets.barabasi_albert,
    "graphs.erdos_renyi": graphs.datasets.erdos_renyi,
    "graphs.watts_strogatz": graphs.datasets.watts_strogatz,
}
"""Public sets and generators by name; `rng` is given to those that draw."""
