"""Intersection attack on several releases of the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import chunks, ranges
from unmask.core.errors import NotRunError
from unmask.core.grouping import first_rows_of, group
from unmask.core.posterior import Posterior
from unmask.core.tolerances import PRIOR_ROUNDING
from unmask.tables.attacks.classes import ClassAttack
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.table import Table

MAX_SWEEPS, MIN_CHANGE = 500, 1e-4
"""Largest number of sweeps of proportional fitting; it stops earlier if no number changes by this many people."""

RECORDS_AT_ONCE, MAX_COMBINATIONS = 1 << 18, 1 << 23
"""Records that are combined in one block, and the largest number of combinations in memory."""


@dataclass(frozen=True)
class IntersectionAttack:
    """Linkage attack of an adversary who has several releases of the same people.

    The adversary combines records: a combination has one record of each release. All records of a combination fit the
    person, and agree in the columns `by`, which every release leaves unchanged. The adversary knows the
    quasi-identifiers of all people, and considers all assignments of people to combinations equally likely in which
    each record belongs to one person.

    The number of people expected for each combination e is found by iterative proportional fitting:

        f_e = w_e a_o b_r1 b_r2 ...

    o is a group of n_o people with equal quasi-identifiers, r_i is a group of equal records in release i. The factors a
    and b are chosen so that f sums to n_o for each o, and to the number of records for each r_i. The start w_e is the
    product of the probabilities of `ClassAttack` for each record, times the share of all records that have the same
    values in `by`. The belief is f_e / n_o. Its status is `model`: proportional fitting gives the most probable
    numbers, which are close to the expected numbers if the groups are not small.

    If a release has fewer records than people, a combination may lack a record of it. If a person
    has no combination, for example because cells were changed, the belief of `ClassAttack` about the attacked release
    is used.

    Assumes: what `ClassAttack` assumes. All people of the releases are known. The cells of `by` are unchanged.

    Fails when: a sensitive value depends on several releases jointly, and on none of them alone. An example is an
        illness of the old in one town, and of the young in the next.

    Parameters
    ----------
    others : tuple of Table
        The other releases.
    by : tuple of str or None
        Columns that all releases leave unchanged. The default is the columns that are kept or sensitive in all of them.

    References
    ----------
    S. R. Ganta, S. P. Kasiviswanathan & A. Smith, "Composition attacks and auxiliary information in data privacy", KDD
    2008. W. E. Deming & F. F. Stephan, "On a least squares adjustment of a sampled frequency table", 1940.

    Examples
    --------
    >>> by_age = Table.read({"age": ["20-29"] * 2, "ill": ["flu", "none"]}, quasi_identifiers="age", sensitive="ill")
    >>> by_sex = Table.read({"sex": ["f", "m"], "ill": ["flu", "none"]}, quasi_identifiers="sex", sensitive="ill")
    >>> people = Table.read({"age": [24, 27], "sex": ["m", "f"]}, quasi_identifiers=["age", "sex"])
    >>> belief = IntersectionAttack((by_sex,))(by_age, Background(people))
    >>> [candidate.candidate for target in (0, 1) for candidate in belief.candidates(target)]
    [1, 0]
    """

    others: tuple[Table, ...]
    by: tuple[str, ...] | None = None

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each person, from their quasi-identifiers."""
        people, releases = people_of(knowledge, self), (release, *self.others)
        links = [ClassAttack().of_classes(table, Background(people)) for table in releases]
        observations, observed = np.unique(np.stack([link.observation for link in links]), axis=1, return_inverse=True)
        observed, values = observed.reshape(-1), _value_numbers(releases, self.by)
        sides = [_Records.of(*arguments) for arguments in zip(links, values, observations, strict=True)]
        share = np.bincount(np.concatenate(values)) / sum(map(len, values))
        combinations, n_o = _combine(sides, share), np.bincount(observed)
        f = _fit_proportionally(combinations, n_o, [side.sizes for side in sides])
        return _make_belief(
            sides[0], combinations, f, observed, provenance={"attack": type(self).__name__, "by": self.by}
        )


def _value_numbers(releases: Sequence[Table], columns_by: Sequence[str] | None) -> list[Integers]:
    """Return (n_rows,) numbers for each release; rows with the same number agree in the unchanged columns."""
    names = columns_by
    if names is None:
        released_names = [[column.name for column in (*table.sensitive, *table.kept)] for table in releases]
        names = [name for name in released_names[0] if all(name in further for further in released_names)]
    if not names:
        raise NotRunError("no column is unchanged in all releases, so that records of one person cannot be recognized")
    codes = []
    for name in names:
        columns = [table.column(name) for table in releases]
        labels = dict.fromkeys(label for column in columns for label in column.levels.labels)
        code = {label: number for number, label in enumerate(labels)}
        codes.append(np.concatenate([np.array([code[x] for x in c.levels.labels], np.int32)[c.codes] for c in columns]))
    of_row = group(codes, [int(table.max(initial=0)) + 1 for table in codes])[0]
    return np.split(of_row.astype(np.int64), np.cumsum([table.n_rows for table in releases])[:-1])


class _Records(NamedTuple):
    """Records of a release in groups: a group is compatible with the same people and agrees in the unchanged columns.

    Group 0 represents people without a record.

    group_of    : (n_rows,) group of each record, from 1
    sizes       : (n_groups + 1,) records in each group
    observation : (n_o,) observation of this release for each group of people
    first       : (n_observations + 1,) entries first[y]:first[y + 1] belong to observation y, sorted by value
    group, value, weight : (n_entries + 1,) group, its value, and the probability of one of its records. The last entry
        is for people without a record
    """

    group_of: Integers
    sizes: Integers
    observation: Integers
    first: Integers
    group: Integers
    value: Integers
    weight: Floats

    @classmethod
    def of(cls, link: Posterior, values: Integers, observations: Integers) -> Self:
        """Return the groups of the records of one release; values : (n_rows,) see `_value_numbers`."""
        if link.n_candidates > link.n_targets:
            raise NotRunError(f"a release has {link.n_candidates:,} rows, and {link.n_targets:,} people are known")
        value = values.astype(np.int32)
        group_of_record, sizes, codes = group(
            [link.representatives, value], [link.n_candidates, int(value.max(initial=0)) + 1]
        )
        begin = np.searchsorted(codes[:, 0], np.arange(link.n_candidates + 1))
        count = np.diff(begin)[link.candidate]
        entry, y = ranges(begin[link.candidate], count), np.repeat(link.row, count)
        order = np.lexsort((codes[entry, 1], y))
        return cls(
            group_of=group_of_record.astype(np.int64) + 1,
            sizes=np.append(link.n_targets - link.n_candidates, sizes),
            observation=observations,
            first=np.concatenate(([0], np.cumsum(np.bincount(y, minlength=link.n_observations)))),
            group=np.append(entry[order] + 1, 0),
            value=np.append(codes[entry[order], 1], -1),
            weight=np.append(np.repeat(np.exp(link.log_probability, dtype=np.float64), count)[order], 1.0),
        )

    def extend(self, o: Integers, values: Integers) -> tuple[Integers, Integers]:
        """Extend combinations by a record of this release.

        o      : (n,) group of people of each combination
        values : (n,) value of each combination in the unchanged columns; -1 if it has no record yet

        Returns the position in `o` of each extended combination, and the entry that extends it. If some people have no
        record, each combination is also extended without a record.
        """
        n = max(int(self.value.max()), int(values.max(initial=0))) + 1
        keys = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)) * n + self.value[:-1]
        low = np.searchsorted(keys, self.observation[o] * n + np.maximum(values, 0))
        high = np.searchsorted(keys, self.observation[o] * n + np.where(values < 0, n - 1, values), side="right")
        size = high - low
        _check_size(int(size.sum()))
        entries = np.arange(len(o) if self.sizes[0] else 0)
        row = np.concatenate([np.repeat(np.arange(len(o)), size), entries])
        return row, np.concatenate([ranges(low, size), np.full(len(entries), len(keys))])


class _Combinations(NamedTuple):
    """Combinations of records.

    o : (n,) group of people
    weight : (n,) start of the proportional fitting
    group : (n_releases, n) group of the record of each release
    """

    o: Integers
    weight: Floats
    group: Integers


def _combine(sides: Sequence[_Records], share: Floats) -> _Combinations:
    """Return all combinations of records that agree in the unchanged columns.

    share : (n_values,) share of the records with each value
    """
    n_entries = np.diff(sides[0].first)[sides[0].observation] + 1
    parts, n = [], 0
    for start, stop in chunks(np.concatenate(([0], np.cumsum(n_entries))), RECORDS_AT_ONCE):
        o = np.arange(start, stop)
        value, weight, groups = np.full(len(o), -1), np.ones(len(o)), np.empty((0, len(o)), dtype=np.int64)
        for side in sides:
            row, entry = side.extend(o, value)
            o, weight, value = o[row], weight[row] * side.weight[entry], np.maximum(value[row], side.value[entry])
            groups = np.vstack([groups[:, row], side.group[entry]])
        parts.append(_Combinations(o, weight * np.append(share, 1.0)[value], groups))
        n += len(o)
        _check_size(n)
    return _Combinations(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))


def _fit_proportionally(combinations: _Combinations, n_o: Integers, sizes: Sequence[Integers]) -> Floats:
    """Return the expected number of people of each combination, by proportional fitting."""
    f = combinations.weight.copy()
    for _ in range(MAX_SWEEPS):
        previous = f.copy()
        for groups, total in (*zip(combinations.group, sizes, strict=True), (combinations.o, n_o)):
            sums = np.bincount(groups, weights=f, minlength=len(total))
            f *= np.divide(total, sums, out=np.ones(len(total)), where=sums > 0)[groups]
        if np.abs(f - previous).max(initial=0.0) < MIN_CHANGE:
            break
    return f


def _make_belief(
    side: _Records, combinations: _Combinations, f: Floats, observation: Integers, *, provenance: Mapping[str, Any]
) -> Posterior:
    """Return the belief about the records of a release.

    observation : (n_people,) group of each person
    """
    n_o, n_groups = np.bincount(observation), len(side.sizes)
    is_listed = (combinations.group[0] > 0) & (f > 0)
    o_listed, f_listed = combinations.o[is_listed], f[is_listed]
    unmatched = np.flatnonzero(np.bincount(combinations.o, weights=f, minlength=len(n_o)) == 0)
    n_entries = np.diff(side.first)[side.observation[unmatched]]
    entry = ranges(side.first[side.observation[unmatched]], n_entries)
    key = np.concatenate([o_listed, np.repeat(unmatched, n_entries)]) * n_groups
    key += np.concatenate([combinations.group[0][is_listed], side.group[entry]])
    mass = side.weight[entry] * side.sizes[side.group[entry]]
    pairs, pair = np.unique(key, return_inverse=True)
    p = np.bincount(pair, np.concatenate([f_listed / n_o[o_listed], mass]), minlength=len(pairs))
    o, group_of_pair = np.divmod(pairs, n_groups)
    first_record = np.append(-1, first_rows_of((side.group_of - 1).astype(np.int32), n_groups - 1))
    order = np.lexsort((first_record[group_of_pair], o))
    o, group_of_pair, p = o[order], group_of_pair[order], p[order]
    mass_of_people = np.bincount(o, weights=p, minlength=len(n_o))
    return Posterior.from_entries(
        np.concatenate(([0], np.cumsum(np.bincount(o, minlength=len(n_o))))),
        first_record[group_of_pair],
        np.log(p / side.sizes[group_of_pair]),
        unlisted=np.where(mass_of_people < 1.0 - PRIOR_ROUNDING, 1.0 - mass_of_people, 0.0),
        observation=observation,
        n_candidates=len(side.group_of),
        log_prior=-float(np.log(len(observation))),
        status="model",
        provenance=provenance,
        representative=first_record[side.group_of].astype(np.int32),
    )


def _check_size(n: int) -> None:
    if n > MAX_COMBINATIONS:
        raise NotRunError(f"more than {MAX_COMBINATIONS:,} combinations of records fit people")
