"""Objects that `unmask.catalog` lists for badges."""

from tests.badges import Look, Repaint, crowd

ATTACKS = (Look(),)
PROTECTIONS = (Repaint(),)
DATASETS = (crowd,)
