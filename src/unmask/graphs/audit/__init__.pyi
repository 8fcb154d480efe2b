"""Public names of `unmask.graphs.audit`."""

from unmask.graphs.audit.files import audit_files as audit_files
from unmask.graphs.audit.network_audit import audit as audit
from unmask.graphs.audit.network_audit import audit_networks as audit_networks
from unmask.graphs.audit.network_audit import further_measures as further_measures
from unmask.graphs.audit.study import ADVERSARY as ADVERSARY
from unmask.graphs.audit.study import COLUMNS as COLUMNS
from unmask.graphs.audit.study import DATASET as DATASET
from unmask.graphs.audit.study import MEASURES as MEASURES
from unmask.graphs.audit.study import ROLES as ROLES
from unmask.graphs.audit.study import attack as attack
from unmask.graphs.audit.study import believed as believed
from unmask.graphs.audit.study import check as check
from unmask.graphs.audit.study import columns as columns
from unmask.graphs.audit.study import load as load
from unmask.graphs.audit.study import protect as protect
