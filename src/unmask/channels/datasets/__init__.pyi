"""Public names of `unmask.channels.datasets`."""

from unmask.channels.datasets.anonymity_systems import Crowds as Crowds
from unmask.channels.datasets.anonymity_systems import MixRun as MixRun
from unmask.channels.datasets.anonymity_systems import PoolMix as PoolMix
from unmask.channels.datasets.anonymity_systems import Traffic as Traffic
from unmask.channels.datasets.locations import AUSTIN as AUSTIN
from unmask.channels.datasets.locations import Grid as Grid
from unmask.channels.datasets.locations import Visits as Visits
from unmask.channels.datasets.locations import alphabet as alphabet
from unmask.channels.datasets.locations import gowalla as gowalla
from unmask.channels.datasets.locations import grid as grid
from unmask.channels.datasets.locations import read_check_ins as read_check_ins
from unmask.channels.datasets.locations import to_meters as to_meters
