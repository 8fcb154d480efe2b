"""Public names of `unmask.tables.utility`."""

from unmask.tables.utility.evaluation import InformationLoss as InformationLoss
from unmask.tables.utility.evaluation import Utility as Utility
from unmask.tables.utility.evaluation import Width as Width
from unmask.tables.utility.evaluation import average_class_size as average_class_size
from unmask.tables.utility.evaluation import discernibility as discernibility
from unmask.tables.utility.evaluation import evaluate as evaluate
from unmask.tables.utility.evaluation import information_loss as information_loss
