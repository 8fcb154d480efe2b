"""Sparse rows without SciPy equal SciPy's arrays, the oracle, on random matrices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_array

from unmask.core.csr_rows import CsrRows, list_members

MATRICES = arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 3))


@given(MATRICES, st.data())
def test_rows_are_taken_turned_and_sorted_as_those_of_scipy(matrix, data):
    rows, taken = CsrRows.of_dense(matrix), data.draw(st.lists(st.integers(0, len(matrix) - 1)))
    assert np.array_equal(rows.to_scipy().toarray(), matrix)
    assert np.array_equal(rows.take(np.array(taken, dtype=np.int64)).to_scipy().toarray(), matrix[taken])
    turned, oracle = rows.transpose(), csr_array(matrix.T)
    assert [*map(np.ndarray.tolist, turned[:3])] == [
        *map(np.ndarray.tolist, (oracle.data, oracle.indices, oracle.indptr))
    ]
    place = data.draw(st.permutations(range(matrix.shape[1])))
    moved = rows._replace(indices=np.array(place)[rows.indices]).sort_columns()
    expected = np.zeros_like(matrix)
    expected[:, place] = matrix
    assert np.array_equal(moved.to_scipy().toarray(), expected)
    assert moved.to_scipy().has_canonical_format


@given(st.lists(st.integers(0, 4)))
def test_members_of_classes_are_a_stable_sort(classes):
    class_of = np.array(classes, dtype=np.int32)
    assert list_members(class_of).tolist() == sorted(range(len(classes)), key=classes.__getitem__)
