"""Public names of `unmask.tables.audit`."""

from unmask.tables.audit.files import audit_files as audit_files
from unmask.tables.audit.study import ADVERSARY as ADVERSARY
from unmask.tables.audit.study import COLUMNS as COLUMNS
from unmask.tables.audit.study import CRITERIA as CRITERIA
from unmask.tables.audit.study import DATASET as DATASET
from unmask.tables.audit.study import MEASURES as MEASURES
from unmask.tables.audit.study import MORE as MORE
from unmask.tables.audit.study import PROTECTION as PROTECTION
from unmask.tables.audit.study import ROLES as ROLES
from unmask.tables.audit.study import answers as answers
from unmask.tables.audit.study import attack as attack
from unmask.tables.audit.study import believed as believed
from unmask.tables.audit.study import check as check
from unmask.tables.audit.study import columns as columns
from unmask.tables.audit.study import criteria as criteria
from unmask.tables.audit.study import divide as divide
from unmask.tables.audit.study import load as load
from unmask.tables.audit.study import protect as protect
from unmask.tables.audit.table_audit import audit as audit
from unmask.tables.audit.table_audit import further_measures as further_measures
