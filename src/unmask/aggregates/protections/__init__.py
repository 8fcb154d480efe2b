"""Protections of published tables: suppression, rounding and cell keys, and the information that they lose."""

from unmask.aggregates.protections.cell_key import draw_cell_keys, perturb_counts, transition_matrix
from unmask.aggregates.protections.complementary_suppression import Demand, Suppression, suppress_cells
from unmask.aggregates.protections.count_protections import PerturbByCellKeys, RoundCounts, SuppressSmallCounts
from unmask.aggregates.protections.information_loss import TableLoss, measure_loss
from unmask.aggregates.protections.linked_cells import LinkedCells, outsider
from unmask.aggregates.protections.release_check import compute_intervals
from unmask.aggregates.protections.rounding import round_controlled, round_randomly

__all__ = [
    "Demand",
    "LinkedCells",
    "PerturbByCellKeys",
    "RoundCounts",
    "SuppressSmallCounts",
    "Suppression",
    "TableLoss",
    "compute_intervals",
    "draw_cell_keys",
    "measure_loss",
    "outsider",
    "perturb_counts",
    "round_controlled",
    "round_randomly",
    "suppress_cells",
    "transition_matrix",
]
