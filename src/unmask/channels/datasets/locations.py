"""Secrets: numbers with a Zipf prior, grids of square cells, and check-ins of real users on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from unmask.channels._matrices import Floats, Ints, Sparse
from unmask.channels.evidence.forms import CHECK_INS
from unmask.core.errors import UnmaskError
from unmask.data import files
from unmask.data.databases import open_database
from unmask.data.event_logs import Log, parse_log, read_lines

EARTH_RADIUS = 6_371_008.8
"""Mean radius of the Earth in meters (IUGG)."""

AUSTIN = (30.27, -97.74)
"""Latitude and longitude of the town with the most check-ins of the Gowalla sample."""

_SHA256 = {
    "checkins": "d4f484f7f818e293fb822144c1571ca037cafbc0d9f8567c6a3cd9816e84e1c0",
    "places": "51e6b65384a3c1215e806e1d57d8b68c39189e52410d58a28012336bacd5f399",
}


@dataclass(frozen=True)
class Grid:
    """A grid of square cells. Cell (i, j), i-th from the west and j-th from the south, has number i * m + j.

    Parameters
    ----------
    n, m : int
        Numbers of columns (eastward) and rows (northward).
    size : float
        Width of a cell in meters.
    corner : (float, float)
        South-west corner in meters.

    Examples
    --------
    >>> Grid(2, 3, 100.0).points[:2]
    array([[ 50.,  50.],
           [ 50., 150.]])
    """

    n: int
    m: int
    size: float = 1.0
    corner: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if min(self.n, self.m) < 1 or not (np.isfinite(self.size) and self.size > 0):
            raise UnmaskError(
                f"the grid has {self.n} x {self.m} cells of width {self.size}, expected 1 x 1 or more, width above 0"
            )

    def __len__(self) -> int:
        return self.n * self.m

    @property
    def east_edges(self) -> Floats:
        """Return the (n + 1,) edges from west to east, in meters."""
        return self.corner[0] + self.size * np.arange(self.n + 1, dtype=np.float64)

    @property
    def north_edges(self) -> Floats:
        """Return the (m + 1,) edges from south to north, in meters."""
        return self.corner[1] + self.size * np.arange(self.m + 1, dtype=np.float64)

    @cached_property
    def points(self) -> Floats:
        """Return the (n * m, 2) centers of the cells: meters east, meters north."""
        east = self.corner[0] + self.size * (np.arange(self.n) + 0.5)
        north = self.corner[1] + self.size * (np.arange(self.m) + 0.5)
        return np.stack(np.meshgrid(east, north, indexing="ij"), axis=-1).reshape(-1, 2)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names "i,j" of the cells."""
        return tuple(f"{i},{j}" for i in range(self.n) for j in range(self.m))

    def cell_of(self, points: Floats) -> Ints:
        """Return the cell of each point (..., 2), -1 outside the grid. West and south edges belong to the cell.

        >>> Grid(2, 3, 100.0).cell_of(np.array([[150.0, 20.0], [0.0, 100.0], [200.0, 0.0]]))
        array([ 3,  1, -1])
        """
        index = np.floor((np.asarray(points, dtype=np.float64) - np.array(self.corner)) / self.size)
        inside = np.all((index >= 0) & (index < np.array([self.n, self.m])), axis=-1)
        return np.where(inside, np.where(inside[..., None], index, 0.0) @ np.array([self.m, 1.0]), -1).astype(np.int64)

    def blocks(self, n: int, m: int) -> tuple[int, ...]:
        """Return the block of n x m cells of each cell, for `Generalize`; blocks at the far edges may be smaller.

        >>> Grid(2, 4).blocks(2, 2)
        (0, 0, 1, 1, 0, 0, 1, 1)
        """
        if min(n, m) < 1:
            raise UnmaskError(f"a block has {n} x {m} cells, expected at least 1 x 1")
        blocks_north = -(-self.m // m)
        return tuple((i // n) * blocks_north + j // m for i in range(self.n) for j in range(self.m))


def alphabet(n: int, exponent: float = 0.0) -> Floats:
    """Return the prior of the secrets 0, 1, ... n - 1 by Zipf's law: p(x) proportional to (x + 1)^(-exponent).

    Parameters
    ----------
    n : int
        number of secrets
    exponent : float
        0 for equal probabilities; the larger, the more the adversary knows in advance

    Returns
    -------
    (n,) array
        The prior.

    Raises
    ------
    UnmaskError
        If there is no secret, or the exponent is not finite.

    Examples
    --------
    >>> alphabet(3, 1.0).round(4)
    array([0.5455, 0.2727, 0.1818])
    """
    if n < 1 or not math.isfinite(exponent):
        raise UnmaskError(f"n is {n} and the exponent {exponent}, expected at least 1 secret and a finite number")
    weight = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return np.asarray(weight / weight.sum())


def grid(n: int, m: int | None = None, size: float = 1.0) -> Grid:
    """Make a grid of square cells with the south-west corner at (0, 0).

    Parameters
    ----------
    n : int
        number of columns
    m : int, optional
        number of rows, n by default
    size : float
        width of a cell in meters

    Returns
    -------
    Grid
        The grid.
    """
    return Grid(n, n if m is None else m, size)


def to_meters(degrees: Floats, *, center: tuple[float, float]) -> Floats:
    """Convert latitudes and longitudes to meters east and north of a center.

    The local equirectangular projection: east = R cos(lat0) (lon - lon0), north = R (lat - lat0). Distances from the
    center are wrong by about tan(lat0) north / (2 R): 0.2 % at 40 km from the center at latitude 30.

    Parameters
    ----------
    degrees : (..., 2) array
        Latitudes and longitudes.
    center : (float, float)
        Latitude and longitude of the origin.

    Returns
    -------
    (..., 2) array
        Meters.

    Examples
    --------
    >>> to_meters(np.array([[0.0, 1.0]]), center=(0.0, 0.0)).round()
    array([[111195.,      0.]])
    """
    radians = np.radians(np.asarray(degrees, dtype=np.float64))
    lat0, lon0 = np.radians(center)
    turn = (radians[..., 1] - lon0 + np.pi) % (2 * np.pi) - np.pi  # the short way round
    return np.asarray(EARTH_RADIUS * np.stack((np.cos(lat0) * turn, radians[..., 0] - lat0), axis=-1))


@dataclass(frozen=True, eq=False)
class Visits:
    """Visits of users to the cells of a grid, by user and then by time.

    Parameters
    ----------
    grid : Grid
        The grid.
    user : (n_visits,) array
        Users, ascending.
    cell : (n_visits,) array
        Cells.
    time : (n_visits,) array
        Seconds, ascending for each user.
    """

    grid: Grid
    user: Ints
    cell: Ints
    time: Floats

    @cached_property
    def users(self) -> Ints:
        """Return the users who have a visit, ascending."""
        return np.unique(self.user)

    def prior(self, *, pseudocount: float = 0.0) -> Floats:
        """Return the (n_cells,) shares of visits, with `pseudocount` visits added to each cell."""
        counts = np.bincount(self.cell, minlength=len(self.grid)) + pseudocount
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def transitions(self, *, user: int | None = None, max_seconds: float | None = None) -> Sparse:
        """Count the (n_cells, n_cells) pairs of consecutive visits of a user.

        user : this user alone, all users if None
        max_seconds : largest time between the two visits, no limit if None
        """
        follows = self.user[1:] == self.user[:-1]
        if max_seconds is not None:
            follows &= np.diff(self.time) <= max_seconds
        if user is not None:
            if user not in self.users:
                raise UnmaskError("the user asked for has no visit on this grid; `users` lists those who have")
            follows &= self.user[1:] == user
        pairs = (self.cell[:-1][follows], self.cell[1:][follows])
        return csr_array(coo_array((np.ones(len(pairs[0])), pairs), shape=(len(self.grid), len(self.grid))))


def gowalla(*, center: tuple[float, float] = AUSTIN, cells: int = 20, size: float = 1_000.0) -> Visits:
    """Read check-ins of 1,000 Gowalla users, February 2009 to October 2010, on a square grid around a town.

    Repeated lines (70) count once. Check-ins outside the grid are left out.

    Parameters
    ----------
    center : (float, float)
        latitude and longitude of the middle of the grid. By default Austin, which has the most check-ins
    cells : int
        number of cells along each side
    size : float
        width of a cell in meters

    Returns
    -------
    Visits
        The check-ins.

    Raises
    ------
    UnmaskError
        If the grid holds no check-in.

    References
    ----------
    Y. Liu et al., "An experimental evaluation of point-of-interest recommendation", VLDB 2017 (data); SNAP Gowalla.
    """
    column = _checkins()
    degrees = np.stack((column["lat"], column["lon"]), axis=-1)
    return _to_visits(column["user"], column["time"], degrees, center=center, cells=cells, size=size)


def read_check_ins(
    path: Path, *, center: tuple[float, float] | None = None, cells: int = 20, size: float = 1_000.0
) -> Visits:
    """Read check-ins of a file on a square grid around a place.

    Check-ins outside the grid are left out.

    Parameters
    ----------
    path : Path
        File with the columns user, time, lat and lon, a line for each check-in. Times are numbers or ISO dates.
    center : (float, float), optional
        Latitude and longitude of the middle of the grid. By default the medians of the check-ins.
    cells : int
        Number of cells along each side.
    size : float
        Width of a cell in meters.

    Returns
    -------
    Visits
        The check-ins on the grid.

    Raises
    ------
    UnmaskError
        If a column or a cell is missing, a coordinate is not a latitude or longitude, or the grid holds no check-in.
    """
    log = parse_log(path, read_lines(path), CHECK_INS)
    degrees = np.stack((_read_degrees(log, "lat", 90.0), _read_degrees(log, "lon", 180.0)), axis=-1)
    middle = center or (float(np.median(degrees[:, 0])), float(np.median(degrees[:, 1])))
    user, time = log.codes("user")[1], log.times("time")
    order = np.lexsort((time, user))
    return _to_visits(user[order], time[order], degrees[order], center=middle, cells=cells, size=size)


def _read_degrees(log: Log, name: str, largest: float) -> Floats:
    """Return a column of latitudes or longitudes."""
    degrees = np.full(len(log.numbers), np.nan)
    for i, text in enumerate(log.columns[name]):
        try:
            degrees[i] = float(text)
        except ValueError:
            break
    is_wrong = ~(np.abs(degrees) <= largest)
    if is_wrong.any():
        number = log.numbers[int(np.argmax(is_wrong))]
        raise UnmaskError(
            f"line {number} of {log.path.name} has a {name} that is not a number from -{largest:g} to {largest:g}; "
            "give degrees, such as 48.8584"
        )
    return degrees


def _to_visits(
    user: NDArray[Any], time: NDArray[Any], degrees: Floats, *, center: tuple[float, float], cells: int, size: float
) -> Visits:
    """Return the check-ins inside a square grid; they are sorted by user and time."""
    side = Grid(cells, cells, size, (-cells * size / 2, -cells * size / 2))
    cell = side.cell_of(to_meters(degrees, center=center))
    inside = cell >= 0
    if not inside.any():
        raise UnmaskError("the grid holds no check-in, expected at least 1: move the center or widen the grid")
    return Visits(side, user[inside].astype(np.int64), cell[inside], time[inside].astype(np.float64))


def _checkins() -> dict[str, NDArray[Any]]:
    """Read the distinct rows of user, lat, lon and time, by user, time and place."""
    path = {
        name: str(files.locate(f"traces/gowalla1000/{name}.txt.gz", sha256=digest)) for name, digest in _SHA256.items()
    }
    with open_database() as connection:
        rows = connection.execute(
            'select "user", lat, lon, "time" from (select distinct * from read_csv($checkins, delim=\'\t\', '
            "header=false, columns={'user': 'bigint', 'place': 'bigint', 'time': 'double'})) join "
            "read_csv($places, delim='\t', header=false, columns={'place': 'bigint', 'lat': 'double', "
            "'lon': 'double'}) using (place) order by \"user\", \"time\", place",
            path,
        )
        return dict(rows.fetchnumpy())
