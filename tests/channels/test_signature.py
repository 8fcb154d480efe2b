"""One signature for every attack and protection of channels, walked over the catalog."""

from copy import deepcopy

import numpy as np
import pytest

from unmask import channels
from unmask.catalog import examples

ATTACKS, PROTECTIONS = examples("attacks"), examples("protections")

N = 12
RNG = np.random.default_rng(0)
CHANNEL = channels.Channel(RNG.dirichlet(np.ones(N), N))
SENT = RNG.multinomial(5, np.full(4, 0.25), 60)
ROUNDS = channels.Rounds(SENT, SENT @ np.roll(np.eye(4), 1, axis=1))
SAMPLES = channels.Samples(RNG.integers(0, N, 200), RNG.integers(0, N, 200), N, N)
GIVEN = {
    "channels.BayesChannelAttack": (np.arange(N), CHANNEL),
    "channels.MatchingAttack": (np.arange(N), CHANNEL),
    "channels.HiddenMarkovAttack": (np.arange(N)[None], channels.Chain(np.eye(N), CHANNEL)),
    "channels.FrequencyAttack": (np.arange(N), SAMPLES),
    "channels.NearestNeighborAttack": (np.arange(N), SAMPLES),
    "channels.StatisticalDisclosure": (ROUNDS, np.full(4, 0.25)),
    "channels.LeastSquaresDisclosure": (ROUNDS, None),
    "channels.RoundDisclosure": (
        channels.Round(np.arange(4), np.arange(4)),
        channels.LeastSquaresDisclosure().estimate(ROUNDS),
    ),
}


@pytest.mark.parametrize("name", [name for name in ATTACKS if name.startswith("channels.")])
def test_every_attack_takes_a_release_and_knowledge_and_leaves_them_alone(name):
    attack, (release, knowledge) = ATTACKS[name], GIVEN[name]
    initial = deepcopy(release)
    belief = attack(release, knowledge, rng=np.random.default_rng(1))
    again = attack(release, knowledge)
    assert belief.log_probability.tolist() == again.log_probability.tolist()
    assert belief.candidate.tolist() == again.candidate.tolist()
    assert repr(release) == repr(initial)
    assert eval(repr(attack), vars(channels)) == attack
    assert len(type(attack).__doc__.split()) > 30


@pytest.mark.parametrize("name", [name for name in PROTECTIONS if name.startswith("channels.")])
def test_every_protection_takes_a_population_and_draws_from_its_channel(name):
    protection = PROTECTIONS[name]
    planar = isinstance(protection, channels.PlanarLaplace | channels.PlanarGaussian | channels.Shrink)
    population = RNG.normal(size=(400, 2)) if planar else np.arange(4).repeat(100)
    initial = population.copy()
    released = protection(population, rng=np.random.default_rng(2))
    assert released.tolist() == protection(population, rng=np.random.default_rng(2)).tolist()
    assert released.shape == population.shape
    assert population.tolist() == initial.tolist()
    assert eval(repr(protection), vars(channels)) == protection
    if not planar:
        channel = protection.channel(np.full(4, 0.25))
        share = np.stack([np.bincount(released[population == x], minlength=channel.n_y) / 100 for x in range(4)])
        np.testing.assert_allclose(share, channel.dense(), atol=0.16)
