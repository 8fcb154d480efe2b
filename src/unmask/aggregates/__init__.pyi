"""Public names of `unmask.aggregates`."""

from unmask.aggregates.attacks.reconstructor import Reconstructor as Reconstructor
from unmask.aggregates.domain import Domain as Domain
from unmask.aggregates.protections.count_protections import PerturbByCellKeys as PerturbByCellKeys
from unmask.aggregates.protections.count_protections import RoundCounts as RoundCounts
from unmask.aggregates.protections.count_protections import SuppressSmallCounts as SuppressSmallCounts
from unmask.aggregates.release import AggregateRelease as AggregateRelease
from unmask.aggregates.release import Tabulation as Tabulation
from unmask.aggregates.release import count_records as count_records
from unmask.aggregates.release import tabulate as tabulate
from unmask.aggregates.rules import Marker as Marker
from unmask.aggregates.rules import Rule as Rule
from unmask.aggregates.statistics import Statistic as Statistic
from unmask.aggregates.table_files import read_release as read_release
from unmask.aggregates.table_files import write_release as write_release
