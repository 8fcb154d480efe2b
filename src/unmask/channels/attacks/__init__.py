"""Attacks on channels: from observations to beliefs about the secrets, without the truth."""

from unmask.channels.attacks.bayes import BayesChannelAttack
from unmask.channels.attacks.disclosure import (
    LeastSquaresDisclosure,
    Round,
    RoundDisclosure,
    Rounds,
    StatisticalDisclosure,
    expected_leaving,
)
from unmask.channels.attacks.learning import FrequencyAttack, NearestNeighborAttack, Samples, learn_chain
from unmask.channels.attacks.matching import MatchingAttack, MatchingMarginals, log_permanent
from unmask.channels.attacks.profiles import Profiles
from unmask.channels.attacks.sampled_matchings import sample_matchings
from unmask.channels.attacks.system_anonymity import SystemAnonymity, bagai_entropy, edman_degree, gierlichs_degree
from unmask.channels.hidden_markov import HiddenMarkovAttack, most_likely_path

__all__ = [
    "BayesChannelAttack",
    "FrequencyAttack",
    "HiddenMarkovAttack",
    "LeastSquaresDisclosure",
    "MatchingAttack",
    "MatchingMarginals",
    "NearestNeighborAttack",
    "Profiles",
    "Round",
    "RoundDisclosure",
    "Rounds",
    "Samples",
    "StatisticalDisclosure",
    "SystemAnonymity",
    "bagai_entropy",
    "edman_degree",
    "expected_leaving",
    "gierlichs_degree",
    "learn_chain",
    "log_permanent",
    "most_likely_path",
    "sample_matchings",
]
