"""An example of each attack and protection of tables, and its datasets: what `unmask.catalog` lists."""

from unmask import tables

ATTACKS = (
    tables.ClassAttack(), tables.RegisterAttack(coverage=0.2), tables.BayesAttack(), tables.NearestNeighbor(),
    tables.StringLinkage(), tables.OrderAttack(), tables.AttributeInference("diagnosis"),
    tables.BackOff("diagnosis"), tables.ModelAttribute("diagnosis"),
    tables.MarginalRatio(), tables.ClosestRecord(), tables.ShadowMembership(tables.Mondrian(), shadows=20),
    tables.Linkability(), tables.SinglingOut(), tables.SeveralRows(), tables.MechanismAttack(tables.PRAM(0.9)),
)  # fmt: skip

PROTECTIONS = (
    tables.Mondrian(), tables.Suppress(), tables.SuppressCells(), tables.Generalize(), tables.Identity(),
    tables.PRAM(), tables.AddNoise(sd={"age": 1.0}), tables.RankSwap(), tables.Shuffle(),
    tables.Microaggregate(), tables.Lattice(), tables.TopBottomCode(),
    tables.NoisyMarginals(bounds={"age": (0, 100)}),
)  # fmt: skip

DATASETS = (tables.datasets.synthetic_census, tables.datasets.adult)
