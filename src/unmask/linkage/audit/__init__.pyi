"""Public names of `unmask.linkage.audit`."""

from unmask.linkage.audit.facts import Sensitivity as Sensitivity
from unmask.linkage.audit.files import audit_files as audit_files
from unmask.linkage.audit.judged_guess import JudgedGuess as JudgedGuess
from unmask.linkage.audit.judged_guess import compare_guesses as compare_guesses
from unmask.linkage.audit.linkage_audit import audit as audit
from unmask.linkage.audit.linkage_audit import audit_contingencies as audit_contingencies
from unmask.linkage.audit.partition_scores import further_measures as further_measures
from unmask.linkage.audit.study import ADVERSARY as ADVERSARY
from unmask.linkage.audit.study import COLUMNS as COLUMNS
from unmask.linkage.audit.study import DATASET as DATASET
from unmask.linkage.audit.study import MEASURES as MEASURES
from unmask.linkage.audit.study import ROLES as ROLES
from unmask.linkage.audit.study import attack as attack
from unmask.linkage.audit.study import check as check
from unmask.linkage.audit.study import columns as columns
from unmask.linkage.audit.study import load as load
from unmask.linkage.audit.study import protect as protect
