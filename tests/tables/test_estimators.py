"""Anybody's estimator as an attacker: what it is given, and what its answers become."""

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.tables import Background, ModelAttribute, Table


class Lookup:
    """Predictor of the values of rows with exactly these features; without such rows every value is equally likely."""

    random_state = None

    def fit(self, x, y):
        self.classes_, self.rows, self.values = np.unique(y), x, y
        return self

    def predict_proba(self, x):
        hits = [self.values[(self.rows == row).all(axis=1)] for row in x]
        shares = [[np.mean(mine == c) if len(mine) else 1 / len(self.classes_) for c in self.classes_] for mine in hits]
        return np.array(shares)


ROLES = ("age", "sex")
RELEASE = Table.read(
    {"age": [1, 1, 2, 2], "sex": list("ffmm"), "s": list("uvvv")}, quasi_identifiers=("age", "sex"), sensitive="s"
)
PEOPLE = Table.read({"age": [1, 2], "sex": list("fm"), "s": list("uw")}, quasi_identifiers=ROLES, sensitive="s")


def test_the_estimator_is_trained_on_rows_and_asked_about_people():
    attack = ModelAttribute("s", Lookup())
    belief = attack(RELEASE, Background(PEOPLE))
    p = np.array([[4 * 1 / 2 + 1.5 / 5, 4 * 1 / 2 + 3.5 / 5], [1.5 / 5, 4 + 3.5 / 5]])
    p *= np.array([1 / 4, 3 / 4]) / np.array([1.5 / 5, 3.5 / 5])
    assert belief.to_dense() == pytest.approx(p / p.sum(axis=1, keepdims=True))
    assert not hasattr(attack.estimator, "rows")


def test_values_that_only_the_population_has_are_believed_a_little():
    belief = ModelAttribute("s", Lookup())(RELEASE, Background(PEOPLE, PEOPLE))
    assert belief.candidate_label == ("u", "v", "w")
    assert np.all(belief.to_dense()[:, [0, 2]] > 0)


def test_of_a_box_values_are_drawn_as_the_population_has_them():
    cells = {"sex": ["{f, m}"] * 3000 + ["f"], "s": ["u"] * 3000 + ["v"]}
    release = Table.read(cells, quasi_identifiers="sex", sensitive="s")
    people = Table.read({"sex": list("fmm")}, quasi_identifiers="sex")
    weights = {}

    class Spy(Lookup):
        def fit(self, x, y):
            weights["rows"] = x
            return super().fit(x, y)

    ModelAttribute("s", Spy())(release, Background(people))
    assert sorted(weights["rows"][:3000].mean(axis=0)) == pytest.approx([1 / 3, 2 / 3], abs=0.03)
    assert sorted(weights["rows"][3000].tolist()) == [0, 1]


def test_an_invalid_estimator_is_refused():
    with pytest.raises(UnmaskError, match="scikit-learn"):
        ModelAttribute("s", "sklearn.nothing:Forest")(RELEASE, Background(PEOPLE))
    with pytest.raises(UnmaskError, match="another of its classes"):
        ModelAttribute("s", "sklearn.utils:show_versions")(RELEASE, Background(PEOPLE))
    with pytest.raises(UnmaskError, match="predict_proba"):
        ModelAttribute("s", "sklearn.preprocessing:StandardScaler")(RELEASE, Background(PEOPLE))
    with pytest.raises(UnmaskError, match="one of scikit-learn"):
        ModelAttribute("s", "collections:OrderedDict")(RELEASE, Background(PEOPLE))


def test_a_release_of_one_value_needs_no_training():
    release = Table.read({"age": [1, 2], "s": list("uu")}, quasi_identifiers="age", sensitive="s")
    assert ModelAttribute("s", Lookup())(release, Background(PEOPLE)).to_dense()[:, 0] == pytest.approx(1)
