"""Public names of `unmask.aggregates.protections`."""

from unmask.aggregates.protections.cell_key import draw_cell_keys as draw_cell_keys
from unmask.aggregates.protections.cell_key import perturb_counts as perturb_counts
from unmask.aggregates.protections.cell_key import transition_matrix as transition_matrix
from unmask.aggregates.protections.complementary_suppression import Demand as Demand
from unmask.aggregates.protections.complementary_suppression import Suppression as Suppression
from unmask.aggregates.protections.complementary_suppression import suppress_cells as suppress_cells
from unmask.aggregates.protections.count_protections import PerturbByCellKeys as PerturbByCellKeys
from unmask.aggregates.protections.count_protections import RoundCounts as RoundCounts
from unmask.aggregates.protections.count_protections import SuppressSmallCounts as SuppressSmallCounts
from unmask.aggregates.protections.information_loss import TableLoss as TableLoss
from unmask.aggregates.protections.information_loss import measure_loss as measure_loss
from unmask.aggregates.protections.linked_cells import LinkedCells as LinkedCells
from unmask.aggregates.protections.linked_cells import outsider as outsider
from unmask.aggregates.protections.release_check import compute_intervals as compute_intervals
from unmask.aggregates.protections.rounding import round_controlled as round_controlled
from unmask.aggregates.protections.rounding import round_randomly as round_randomly
