"""Public names of `unmask.aggregates.audit`."""

from unmask.aggregates.audit.aggregate_audit import audit as audit
from unmask.aggregates.audit.files import audit_files as audit_files
from unmask.aggregates.audit.study import ADVERSARY as ADVERSARY
from unmask.aggregates.audit.study import COLUMNS as COLUMNS
from unmask.aggregates.audit.study import DATASET as DATASET
from unmask.aggregates.audit.study import MEASURES as MEASURES
from unmask.aggregates.audit.study import ROLES as ROLES
from unmask.aggregates.audit.study import attack as attack
from unmask.aggregates.audit.study import check as check
from unmask.aggregates.audit.study import columns as columns
from unmask.aggregates.audit.study import load as load
from unmask.aggregates.audit.study import protect as protect
