"""Public names of `unmask.tables.protections`."""

from unmask.tables.protections.constraints import AlphaK as AlphaK
from unmask.tables.protections.constraints import BetaLikeness as BetaLikeness
from unmask.tables.protections.constraints import Constraint as Constraint
from unmask.tables.protections.constraints import DeltaDisclosure as DeltaDisclosure
from unmask.tables.protections.constraints import DistinctL as DistinctL
from unmask.tables.protections.constraints import EntropyL as EntropyL
from unmask.tables.protections.constraints import KAnonymity as KAnonymity
from unmask.tables.protections.constraints import RecursiveL as RecursiveL
from unmask.tables.protections.constraints import TCloseness as TCloseness
from unmask.tables.protections.generalization import Generalize as Generalize
from unmask.tables.protections.generalization import Identity as Identity
from unmask.tables.protections.lattice import Lattice as Lattice
from unmask.tables.protections.microaggregation import Microaggregate as Microaggregate
from unmask.tables.protections.mondrian import Mondrian as Mondrian
from unmask.tables.protections.noisy_marginals import NoisyMarginals as NoisyMarginals
from unmask.tables.protections.perturbations import PRAM as PRAM
from unmask.tables.protections.perturbations import AddNoise as AddNoise
from unmask.tables.protections.perturbations import RankSwap as RankSwap
from unmask.tables.protections.shuffling import Shuffle as Shuffle
from unmask.tables.protections.suppression import Suppress as Suppress
from unmask.tables.protections.suppression import SuppressCells as SuppressCells
from unmask.tables.protections.top_bottom import TopBottomCode as TopBottomCode
