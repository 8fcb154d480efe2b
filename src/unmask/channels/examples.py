"""An example of each attack and protection of channels, and its datasets: what `unmask.catalog` lists."""

from unmask import channels

ATTACKS = (
    channels.BayesChannelAttack(), channels.MatchingAttack(), channels.HiddenMarkovAttack(),
    channels.FrequencyAttack(), channels.NearestNeighborAttack(), channels.StatisticalDisclosure(),
    channels.LeastSquaresDisclosure(), channels.RoundDisclosure(),
)  # fmt: skip

PROTECTIONS = (
    channels.RandomizedResponse(1.0, 4), channels.Geometric(1.0, 4), channels.Coin(0.5),
    channels.Generalize(("low", "low", "high", "high")), channels.PlanarLaplace(0.001),
    channels.PlanarGaussian(1000.0), channels.Shrink(1000.0, 3000.0),
    channels.Crowds(4, 0.5), channels.PoolMix(2, 1),
)  # fmt: skip

DATASETS = (
    channels.datasets.alphabet, channels.datasets.grid, channels.datasets.gowalla,
)  # fmt: skip
