"""Examples of each graph attack, protection and data set, as listed by `unmask.catalog`."""

from unmask import graphs

ATTACKS = (
    graphs.Nar09(), graphs.Grasshopper(), graphs.Bumblebee(), graphs.Rematch(), graphs.Climb(), graphs.Irma(),
    graphs.KorulaLattanzi(), graphs.GraphMatching(), graphs.Refinement(),
    graphs.Iterated(graphs.Nar09()), graphs.Ensemble(rounds=1), graphs.DegreeMatching(),
)  # fmt: skip

PROTECTIONS = (
    graphs.IdentitySeparation(), graphs.Decoy(), graphs.EgoPatterns(), graphs.PerturbEdges(), graphs.SwitchEdges(),
    graphs.KDegree(), graphs.GroupNodes(), graphs.RandomWalk(), graphs.RandomizeEdges(), graphs.NoisyDegrees(),
    graphs.Together(((0.5, graphs.IdentitySeparation()), (0.5, graphs.Decoy()))),
)  # fmt: skip

DATASETS = (
    graphs.datasets.network, graphs.datasets.pair, graphs.datasets.barabasi_albert,
    graphs.datasets.erdos_renyi, graphs.datasets.watts_strogatz,
)  # fmt: skip
