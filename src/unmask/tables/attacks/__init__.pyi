"""Public names of `unmask.tables.attacks`."""

from unmask.tables.attacks.attribute import AttributeInference as AttributeInference
from unmask.tables.attacks.backoff import BackOff as BackOff
from unmask.tables.attacks.classes import ClassAttack as ClassAttack
from unmask.tables.attacks.classes import RegisterAttack as RegisterAttack
from unmask.tables.attacks.estimators import ModelAttribute as ModelAttribute
from unmask.tables.attacks.linkability import Linkability as Linkability
from unmask.tables.attacks.linkability import Parts as Parts
from unmask.tables.attacks.mechanism import MechanismAttack as MechanismAttack
from unmask.tables.attacks.membership import ClosestRecord as ClosestRecord
from unmask.tables.attacks.membership import MarginalRatio as MarginalRatio
from unmask.tables.attacks.noisy import BayesAttack as BayesAttack
from unmask.tables.attacks.noisy import CellError as CellError
from unmask.tables.attacks.noisy import NearestNeighbor as NearestNeighbor
from unmask.tables.attacks.order import OrderAttack as OrderAttack
from unmask.tables.attacks.shadows import ShadowMembership as ShadowMembership
from unmask.tables.attacks.singling_out import SinglingOut as SinglingOut
from unmask.tables.attacks.strings import StringLinkage as StringLinkage
from unmask.tables.attacks.unicity import SeveralRows as SeveralRows
from unmask.tables.attacks.unicity import Traces as Traces
from unmask.tables.attacks.unicity import link_pseudonyms as link_pseudonyms
