"""What `unmask.catalog` lists of badges."""

from tests.badges import Look, Repaint, crowd

ATTACKS = (Look(),)
PROTECTIONS = (Repaint(),)
DATASETS = (crowd,)
