"""Release and what the adversary knows -> belief. No attack ever sees the truth."""

from unmask.tables.attacks.attribute import AttributeInference
from unmask.tables.attacks.backoff import BackOff
from unmask.tables.attacks.classes import ClassAttack, RegisterAttack
from unmask.tables.attacks.estimators import ModelAttribute
from unmask.tables.attacks.linkability import Linkability, Parts
from unmask.tables.attacks.mechanism import MechanismAttack
from unmask.tables.attacks.membership import ClosestRecord, MarginalRatio
from unmask.tables.attacks.noisy import BayesAttack, CellError, NearestNeighbor
from unmask.tables.attacks.order import OrderAttack
from unmask.tables.attacks.shadows import ShadowMembership
from unmask.tables.attacks.singling_out import SinglingOut
from unmask.tables.attacks.strings import StringLinkage
from unmask.tables.attacks.unicity import SeveralRows, Traces, of_pseudonyms

__all__ = [
    "AttributeInference",
    "BackOff",
    "BayesAttack",
    "CellError",
    "ClassAttack",
    "ClosestRecord",
    "Linkability",
    "MarginalRatio",
    "MechanismAttack",
    "ModelAttribute",
    "NearestNeighbor",
    "OrderAttack",
    "Parts",
    "RegisterAttack",
    "SeveralRows",
    "ShadowMembership",
    "SinglingOut",
    "StringLinkage",
    "Traces",
    "of_pseudonyms",
]
