"""Public names of `unmask.channels.mechanisms`."""

from unmask.channels.mechanisms.alphabet import Coin as Coin
from unmask.channels.mechanisms.alphabet import Generalize as Generalize
from unmask.channels.mechanisms.alphabet import Geometric as Geometric
from unmask.channels.mechanisms.alphabet import RandomizedResponse as RandomizedResponse
from unmask.channels.mechanisms.planar import PlanarGaussian as PlanarGaussian
from unmask.channels.mechanisms.planar import PlanarLaplace as PlanarLaplace
from unmask.channels.mechanisms.planar import Shrink as Shrink
