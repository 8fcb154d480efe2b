"""Several releases of the same people, crossed: the records of a person say the same where cells were left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import chunks, ranges
from unmask.core.errors import NotRunError
from unmask.core.posterior import Posterior, equal_weights, stored
from unmask.core.tolerances import PRIOR_ROUNDING
from unmask.tables.attacks.classes import ClassAttack
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.grouping import first_of, group
from unmask.tables.table import Table

MAX_SWEEPS, MIN_CHANGE = 500, 1e-4
"""Sweeps of proportional fitting at most; change in people below which it stops."""

RECORDS_AT_ONCE, MAX_WAYS = 1 << 18, 1 << 23
"""Records from which on ways are followed in turn, and ways at most that are held."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Crossing:
    """Linkage attack of an adversary who has other releases of the same people.

    A *way* is one record of each release that fits a person, all of them alike in the columns `by`, which every
    release leaves as they are. A world gives each person a way and each record a person; the adversary, who knows the
    quasi-identifiers of everybody, takes all worlds for equally likely. Let n_o people be known as o, n_r records of a
    release be alike (r: of one class and alike in `by`), and w_e be what `ClassAttack` believes of the records of a way
    e, each apart, times the share of all records that say the same. The belief is f_e / n_o, with f the number of
    people expected of each way,

        f_e = w_e a_o b_r1 b_r2 ..., with a and b such that the f of each o sum to n_o, those of each r to n_r,

    by iterative proportional fitting. These are the likeliest numbers: a world of them can be had in most ways. Where
    groups are small, the numbers expected are near them, not equal to them: a `model`.

    Where a release has fewer records than there are people, a way may be without a record of it, too; these people are
    one more r. (That is why w_e has a share: two records that go together say once what two apart say twice.) Of a
    person who has no way at all, as cells were changed, is believed what the release alone says.

    others : the other releases
    by     : columns that all releases leave as they are; those that are kept or sensitive in all of them if left out

    Assumes: what `ClassAttack` assumes; that all people of the releases are known, and cells of `by` are as they were.

    Fails when: what people have depends on several releases together in a way that none of them shows alone, as an
    illness of the old in one town and the young in the next does.

    >>> one = Table.read({"age": ["20-29"] * 2, "ill": ["flu", "none"]}, quasi_identifiers="age", sensitive="ill")
    >>> other = Table.read({"sex": ["f", "m"], "ill": ["flu", "none"]}, quasi_identifiers="sex", sensitive="ill")
    >>> people = Table.read({"age": [24, 27], "sex": ["m", "f"]}, quasi_identifiers=["age", "sex"])
    >>> belief = Crossing((other,))(one, Background(people))
    >>> [one.candidate for target in (0, 1) for one in belief.candidates(target)]
    [1, 0]

    S. R. Ganta, S. P. Kasiviswanathan & A. Smith, "Composition attacks and auxiliary information in data privacy", KDD
    2008. W. E. Deming & F. F. Stephan, "On a least squares adjustment of a sampled frequency table", 1940.
    """

    others: tuple[Table, ...]
    by: tuple[str, ...] | None = None

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each person known, by their quasi-identifiers alone."""
        people, releases = people_of(knowledge, self), (release, *self.others)
        links = [ClassAttack().of_classes(table, Background(people)) for table in releases]
        observations, observed = np.unique(np.stack([link.observation for link in links]), axis=1, return_inverse=True)
        observed, values = observed.reshape(-1), _value_numbers(releases, self.by)
        sides = [_Side.from_link(*arguments) for arguments in zip(links, values, observations, strict=True)]
        share = np.bincount(np.concatenate(values)) / sum(map(len, values))
        way, n_o = _ways(sides, share), np.bincount(observed)
        f = _fitted(way, n_o, [side.sizes for side in sides])
        return _believed(sides[0], way, f, observed, provenance={"attack": type(self).__name__, "by": self.by})


def _value_numbers(releases: Sequence[Table], columns_by: Sequence[str] | None) -> list[Ints]:
    """Return (n_rows,) for each release, equal for rows that are equal in the unchanged columns."""
    names = columns_by
    if names is None:
        released_names = [[column.name for column in (*table.sensitive, *table.kept)] for table in releases]
        names = [name for name in released_names[0] if all(name in names_left for names_left in released_names[1:])]
    if not names:
        raise NotRunError("no column is unchanged in all releases, by which records of one person are alike")
    codes = []
    for name in names:
        columns = [table.column(name) for table in releases]
        number = {
            label: number_of_label
            for number_of_label, label in enumerate(dict.fromkeys(x for c in columns for x in c.levels.labels))
        }
        codes.append(
            np.concatenate([np.array([number[x] for x in c.levels.labels], np.int32)[c.codes] for c in columns])
        )
    of_row = group(codes, [int(table.max(initial=0)) + 1 for table in codes])[0]
    return np.split(of_row.astype(np.int64), np.cumsum([table.n_rows for table in releases])[:-1])


class _Side(NamedTuple):
    """A release as it is crossed: its records in groups, alike for whoever is known and in what they say; group 0 is of
    the people without a record.

    group_of, sizes : (n_rows,) the group of each record, from 1; (1 + G,) those of each group
    observation : (O,) what each o is to this release, an observation
    first     : (n_observations + 1,) those of observation y are entries first[y]:first[y + 1], by what they say
    group, value, weight : (n_entries + 1,) a group, what it says, what is believed of a record of it; the last is empty
    """

    group_of: Ints
    sizes: Ints
    observation: Ints
    first: Ints
    group: Ints
    value: Ints
    weight: Floats

    @classmethod
    def from_link(cls, link: Posterior, values: Ints, observations: Ints) -> Self:
        """Build from the belief about the release alone; values : (n_rows,) as of `_value_numbers`."""
        if link.n_candidates > link.n_targets:
            raise NotRunError(f"a release has {link.n_candidates:,} rows, and {link.n_targets:,} people are known")
        says = values.astype(np.int32)
        stands = link.representatives
        group_of_record, sizes, codes = group([stands, says], [link.n_candidates, int(says.max(initial=0)) + 1])
        begin = np.searchsorted(codes[:, 0], np.arange(link.n_candidates + 1))
        count = np.diff(begin)[link.candidate]
        fits, y = ranges(begin[link.candidate], count), np.repeat(link.row, count)
        order = np.lexsort((codes[fits, 1], y))
        return cls(
            group_of=group_of_record.astype(np.int64) + 1,
            sizes=np.append(link.n_targets - link.n_candidates, sizes),
            observation=observations,
            first=np.concatenate(([0], np.cumsum(np.bincount(y, minlength=link.n_observations)))),
            group=np.append(fits[order] + 1, 0),
            value=np.append(codes[fits[order], 1], -1),
            weight=np.append(np.repeat(np.exp(link.log_probability, dtype=np.float64), count)[order], 1.0),
        )

    def fitting(self, o: Ints, values: Ints) -> tuple[Ints, Ints]:
        """Return (n_found,) the place in o of each way that goes on, and the entry; values : -1 for none so far.

        Each way may go on without a record if some people have none.
        """
        n = max(int(self.value.max()), int(values.max(initial=0))) + 1
        keys = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)) * n + self.value[:-1]
        low = np.searchsorted(keys, self.observation[o] * n + np.maximum(values, 0))
        high = np.searchsorted(keys, self.observation[o] * n + np.where(values < 0, n - 1, values), side="right")
        size = high - low
        _check_ways(int(size.sum()))
        entries = np.arange(len(o) if self.sizes[0] else 0)
        row = np.concatenate([np.repeat(np.arange(len(o)), size), entries])
        return row, np.concatenate([ranges(low, size), np.full(len(entries), len(keys))])


class _Ways(NamedTuple):
    """(n_ways,) person of each, what `ClassAttack` believes of it, and (n_releases, n_ways) its groups."""

    o: Ints
    weight: Floats
    group: Ints


def _ways(sides: Sequence[_Side], share: Floats) -> _Ways:
    """Return all ways of all people; share : (n_said,) of the records that say each."""
    fits = np.diff(sides[0].first)[sides[0].observation] + 1
    parts, n_ways = [], 0
    for start, stop in chunks(np.concatenate(([0], np.cumsum(fits))), RECORDS_AT_ONCE):
        o = np.arange(start, stop)
        value, weight, groups = np.full(len(o), -1), np.ones(len(o)), np.empty((0, len(o)), dtype=np.int64)
        for side in sides:
            row, entry = side.fitting(o, value)
            o, weight, value = o[row], weight[row] * side.weight[entry], np.maximum(value[row], side.value[entry])
            groups = np.vstack([groups[:, row], side.group[entry]])
        parts.append(_Ways(o, weight * np.append(share, 1.0)[value], groups))
        n_ways += len(o)
        _check_ways(n_ways)
    return _Ways(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))


def _fitted(way: _Ways, n_o: Ints, sizes: Sequence[Ints]) -> Floats:
    """Return (n_ways,) how many people are expected of each, by proportional fitting; those of each o sum to n_o."""
    f = way.weight.copy()
    for _ in range(MAX_SWEEPS):
        previous = f.copy()
        for groups, wanted in (*zip(way.group, sizes, strict=True), (way.o, n_o)):
            sums = np.bincount(groups, weights=f, minlength=len(wanted))
            f *= np.divide(wanted, sums, out=np.ones(len(wanted)), where=sums > 0)[groups]
        if np.abs(f - previous).max(initial=0.0) < MIN_CHANGE:
            break
    return f


def _believed(side: _Side, way: _Ways, f: Floats, observation: Ints, *, provenance: Mapping[str, Any]) -> Posterior:
    """Return the belief about the records of a release; observation : (n_people,) as which o each is known."""
    n_o, n_groups, is_listed = np.bincount(observation), len(side.sizes), (way.group[0] > 0) & (f > 0)
    lone = np.flatnonzero(np.bincount(way.o, weights=f, minlength=len(n_o)) == 0)
    fits = np.diff(side.first)[side.observation[lone]]
    entry = ranges(side.first[side.observation[lone]], fits)
    key = np.concatenate([way.o[is_listed], np.repeat(lone, fits)]) * n_groups
    key += np.concatenate([way.group[0][is_listed], side.group[entry]])
    mass = side.weight[entry] * side.sizes[side.group[entry]]
    pairs, pair_of_way = np.unique(key, return_inverse=True)
    p = np.bincount(pair_of_way, np.concatenate([f[is_listed] / n_o[way.o[is_listed]], mass]), minlength=len(pairs))
    o, group_of_pair = np.divmod(pairs, n_groups)
    first = np.append(-1, first_of((side.group_of - 1).astype(np.int32), n_groups - 1))  # who stands for each group
    order = np.lexsort((first[group_of_pair], o))
    o, group_of_pair, p = o[order], group_of_pair[order], p[order]
    inside = np.bincount(o, weights=p, minlength=len(n_o))
    return Posterior(
        indptr=np.concatenate(([0], np.cumsum(np.bincount(o, minlength=len(n_o))))),
        candidate=first[group_of_pair].astype(np.int32),
        log_probability=stored(np.log(p / side.sizes[group_of_pair])),
        unlisted=np.where(inside < 1.0 - PRIOR_ROUNDING, 1.0 - inside, 0.0),
        n_unlisted=np.zeros(len(n_o), dtype=np.int64),
        observation=observation,
        weight=equal_weights(len(observation)),
        n_candidates=len(side.group_of),
        log_prior=-float(np.log(len(observation))),
        status="model",
        provenance=provenance,
        representative=first[side.group_of].astype(np.int32),
    )


def _check_ways(n_ways: int) -> None:
    if n_ways > MAX_WAYS:
        raise NotRunError(f"people have more than {MAX_WAYS:,} ways to have a record of each release")
