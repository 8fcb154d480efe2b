"""Public names of `unmask.channels.criteria`."""

from unmask.channels.criteria.advice import TABLE_IV as TABLE_IV
from unmask.channels.criteria.advice import Advice as Advice
from unmask.channels.criteria.advice import Entry as Entry
from unmask.channels.criteria.advice import advise as advise
from unmask.channels.criteria.conversion import CRITERIA as CRITERIA
from unmask.channels.criteria.conversion import Criterion as Criterion
from unmask.channels.criteria.conversion import ErrorRange as ErrorRange
from unmask.channels.criteria.conversion import error_of as error_of
from unmask.channels.criteria.logs import path_entropy_bits as path_entropy_bits
from unmask.channels.criteria.logs import rounds_needed as rounds_needed
from unmask.channels.criteria.samples import CountedInformation as CountedInformation
from unmask.channels.criteria.samples import counted_information as counted_information
from unmask.channels.criteria.typical_sets import TypicalSet as TypicalSet
from unmask.channels.criteria.typical_sets import conditional_entropy as conditional_entropy
from unmask.channels.criteria.typical_sets import conditional_typical_log2_size as conditional_typical_log2_size
from unmask.channels.criteria.typical_sets import entropy as entropy
from unmask.channels.criteria.typical_sets import markov_entropy_rate as markov_entropy_rate
from unmask.channels.criteria.typical_sets import stationary as stationary
from unmask.channels.criteria.typical_sets import typical_set as typical_set
