"""Public names of `unmask`."""

from unmask import channels as channels
from unmask import economics as economics
from unmask import graphs as graphs
from unmask import linkage as linkage
from unmask import measures as measures
from unmask import tables as tables
from unmask.api import audit as audit
from unmask.api import read_channel as read_channel
from unmask.api import read_graph as read_graph
from unmask.api import read_items as read_items
from unmask.api import read_table as read_table
from unmask.api import study as study
from unmask.core.errors import FailedError as FailedError
from unmask.core.errors import UnmaskError as UnmaskError
from unmask.core.partition import Partition as Partition
from unmask.core.partition import View as View
from unmask.core.posterior import Posterior as Posterior
from unmask.core.truth import ABSENT as ABSENT
from unmask.core.truth import UNKNOWN as UNKNOWN
from unmask.core.truth import Truth as Truth
from unmask.protecting import Protected as Protected
from unmask.protecting import protect as protect
from unmask.results import Row as Row
from unmask.scoring import Audit as Audit
from unmask.suggestions import suggest as suggest
from unmask.version import __version__ as __version__
