"""Colors of badges as a table and a block."""

import numpy as np

from tests.badges import N_COLORS, Badges
from unmask.results import Block, Column, Table, View

COLUMNS = (Column("color", "Color"), Column("people", "People", kind="group", exact=True))


def color_table(badges: Badges) -> Table:
    """Return how many people wear each color; colors of few people are left out of shared pages."""
    counts = np.bincount(badges.color, minlength=N_COLORS).tolist()
    return Table.from_records("badges_colors", COLUMNS, enumerate(counts))


def color_block(table: Table) -> Block:
    """Return the number of people and colors, with the table."""
    sentence = f"{sum(table.values('people')):,} people wear {len(table)} colors."
    return Block("badges", "What people wear", sentence, tables=(View("badges_colors", title="People by color"),))
