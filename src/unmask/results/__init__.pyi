"""Public names of `unmask.results`."""

from unmask.results.blocks import Block as Block
from unmask.results.blocks import Chart as Chart
from unmask.results.blocks import Fact as Fact
from unmask.results.blocks import View as View
from unmask.results.envelope import SCHEMA as SCHEMA
from unmask.results.envelope import as_json as as_json
from unmask.results.envelope import plain as plain
from unmask.results.first_screen import Advice as Advice
from unmask.results.first_screen import Alternative as Alternative
from unmask.results.first_screen import AtRisk as AtRisk
from unmask.results.first_screen import Decision as Decision
from unmask.results.first_screen import DecisionItem as DecisionItem
from unmask.results.result import Result as Result
from unmask.results.rows import Row as Row
from unmask.results.rows import StudyRow as StudyRow
from unmask.results.table import Column as Column
from unmask.results.table import Table as Table
