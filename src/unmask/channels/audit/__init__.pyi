"""Public names of `unmask.channels.audit`."""

from unmask.channels.audit.channel_audit import UNIFORM as UNIFORM
from unmask.channels.audit.channel_audit import audit as audit
from unmask.channels.audit.channel_audit import audit_channels as audit_channels
from unmask.channels.audit.files import audit_files as audit_files
from unmask.channels.audit.rows import further_measures as further_measures
from unmask.channels.audit.study import ADVERSARY as ADVERSARY
from unmask.channels.audit.study import COLUMNS as COLUMNS
from unmask.channels.audit.study import DATASET as DATASET
from unmask.channels.audit.study import MEASURES as MEASURES
from unmask.channels.audit.study import ROLES as ROLES
from unmask.channels.audit.study import attack as attack
from unmask.channels.audit.study import believed as believed
from unmask.channels.audit.study import check as check
from unmask.channels.audit.study import columns as columns
from unmask.channels.audit.study import load as load
from unmask.channels.audit.study import protect as protect
