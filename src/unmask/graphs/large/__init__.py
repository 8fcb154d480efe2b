"""Networks that need not fit the memory: an engine holds links, seeds and truth, and attacks are joins of them."""

from unmask.engines.room import check_output, engine_share
from unmask.graphs.large.attacks import Mapped, attack, check_adversary
from unmask.graphs.large.checkpoints import Checkpoint
from unmask.graphs.large.components import largest_component
from unmask.graphs.large.evaluation import Found, evaluate, read_seeds, read_truth, write_pairs
from unmask.graphs.large.loading import Network, load
from unmask.graphs.large.planning import Plan, plan

__all__ = [
    "Checkpoint",
    "Found",
    "Mapped",
    "Network",
    "Plan",
    "attack",
    "check_adversary",
    "check_output",
    "engine_share",
    "evaluate",
    "largest_component",
    "load",
    "plan",
    "read_seeds",
    "read_truth",
    "write_pairs",
]
