"""What the adversary sees of a channel -> his belief about the secrets. No attack ever sees the truth."""

from unmask.channels.attacks.bayes import BayesChannelAttack, draw_answers
from unmask.channels.attacks.degrees import SystemAnonymity, bagai_entropy, edman_degree, gierlichs_degree
from unmask.channels.attacks.disclosure import (
    LeastSquaresDisclosure,
    Profiles,
    RoundDisclosure,
    Rounds,
    StatisticalDisclosure,
    expected_leaving,
    rounds_needed,
)
from unmask.channels.attacks.learning import (
    FrequencyAttack,
    LearnedRisk,
    NearestNeighborAttack,
    cover_hart_bound,
    learned_risk,
)
from unmask.channels.attacks.matching import MatchingAttack, MatchingMarginals, log_permanent, matching_marginals
from unmask.channels.attacks.sequence import HiddenMarkovAttack, Rate

__all__ = [
    "BayesChannelAttack",
    "FrequencyAttack",
    "HiddenMarkovAttack",
    "LearnedRisk",
    "LeastSquaresDisclosure",
    "MatchingAttack",
    "MatchingMarginals",
    "NearestNeighborAttack",
    "Profiles",
    "Rate",
    "RoundDisclosure",
    "Rounds",
    "StatisticalDisclosure",
    "SystemAnonymity",
    "bagai_entropy",
    "cover_hart_bound",
    "draw_answers",
    "edman_degree",
    "expected_leaving",
    "gierlichs_degree",
    "learned_risk",
    "log_permanent",
    "matching_marginals",
    "rounds_needed",
]
