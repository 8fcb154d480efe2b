"""Plans, and the errors of wrong ones."""

from datetime import date

import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.plan import NOTHING, digest
from unmask.studies.reading import read_plan

CENSUS = """
[[data]]
name = "census"
use = "tables.synthetic_census"
with = { n = 300 }
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis"]
"""
NEIGHBOR = """
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
knows = { targets = 50 }
"""


def plan_of(tmp_path, text):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return read_plan(path)


def test_a_grid_is_every_combination_and_names_say_which(tmp_path):
    plan = plan_of(
        tmp_path,
        f"seeds = 2\n{CENSUS}{NEIGHBOR}"
        '[[protections]]\nuse = "tables.Mondrian"\nwith = {strict = false}\ngrid = {k = [3, 5], t = [0.2, 0.4, 0.6]}\n',
    )
    assert [part.name for part in plan.protections][:2] == ["Mondrian k=3 t=0.2", "Mondrian k=3 t=0.4"]
    assert all(part.parameters["strict"] is False for part in plan.protections)
    assert len(plan.cells()) == 1 * 6 * 1 * 2


def test_parts_of_one_class_without_a_name_are_named_by_the_parameters_in_which_they_differ(tmp_path):
    mondrian = '[[protections]]\nuse = "tables.Mondrian"\n'
    plan = plan_of(
        tmp_path,
        CENSUS
        + NEIGHBOR
        + f"{mondrian}with = {{ k = 12, l = 2 }}\n{mondrian}with = {{ l = 2 }}\ngrid = {{ k = [5, 20] }}\n"
        + f'{mondrian}name = "ours"\nwith = {{ k = 50 }}\n',
    )
    assert [part.name for part in plan.protections] == ["Mondrian k=12", "Mondrian k=5", "Mondrian k=20", "ours"]


def test_without_protections_the_release_is_the_data_itself(tmp_path):
    (protection,) = plan_of(tmp_path, CENSUS + NEIGHBOR).protections
    assert protection.use == NOTHING


def test_only_parts_of_one_wing_meet_in_a_cell(tmp_path):
    tables_text = '[[data]]\nuse = "channels.alphabet"\nwith = {n = 4}\n'
    tables_text += '[[adversaries]]\nuse = "channels.BayesChannelAttack"\n'
    cells = plan_of(tmp_path, CENSUS + NEIGHBOR + tables_text).cells()
    assert [(cell.dataset.name, cell.adversary.name) for cell in cells] == [
        ("census", "neighbor"),
        ("alphabet", "BayesChannelAttack"),
    ]


def test_a_key_is_the_content_not_the_name(tmp_path):
    (cell,) = plan_of(tmp_path, CENSUS + NEIGHBOR).cells()
    (renamed,) = plan_of(tmp_path, (CENSUS + NEIGHBOR).replace('"census"', '"people"')).cells()
    (larger,) = plan_of(tmp_path, (CENSUS + NEIGHBOR).replace("n = 300", "n = 301")).cells()
    assert cell.key == renamed.key != larger.key


def test_a_file_that_changes_is_another_dataset(tmp_path):
    text = '[[data]]\nuse = "tables.file"\nfile = "people.csv"\nquasi_identifiers = ["age"]\n' + NEIGHBOR
    (tmp_path / "people.csv").write_text("age\n1\n2\n")
    (plain_cell,) = plan_of(tmp_path, text).cells()
    (tmp_path / "people.csv").write_text("age\n1\n3\n")
    (after,) = plan_of(tmp_path, text).cells()
    assert plain_cell.key != after.key


def test_a_place_is_no_content_and_a_hierarchy_is(tmp_path):
    text = '[[data]]\nuse = "tables.file"\nfile = "people.csv"\nquasi_identifiers = ["zip"]\n'
    text += 'hierarchies = { zip = "zip.csv" }\n' + NEIGHBOR
    keys = []
    for folder, root in (("here", "*"), ("there", "*"), ("other", "all")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "people.csv").write_text("zip\n1\n2\n")
        (tmp_path / folder / "zip.csv").write_text(f"1;{root}\n2;{root}\n")
        (cell,) = plan_of(tmp_path / folder, text).cells()
        keys.append(cell.key)
    assert keys[0] == keys[1] != keys[2]
    with pytest.raises(FailedError, match=r"gone\.csv"):
        plan_of(tmp_path / "here", text.replace("zip.csv", "gone.csv"))


def test_the_order_of_measures_does_not_count(tmp_path):
    first, two = (
        plan_of(tmp_path, f'measures = ["{a}", "{b}"]\n' + CENSUS + NEIGHBOR).cells()[0]
        for a, b in (("utility", "kept"), ("kept", "utility"))
    )
    assert first.key == two.key


def test_the_fine_of_an_attacker_in_a_file_is_part_of_the_content(tmp_path):
    text = CENSUS + NEIGHBOR + 'attacker = "him.toml"\n'
    (tmp_path / "him.toml").write_text("[attacker]\ngain = 100\nfine = 5\nmax_fines = 1\ndetection = [0.1]\n")
    (plain_cell,) = plan_of(tmp_path, text).cells()
    (tmp_path / "him.toml").write_text("[attacker]\ngain = 100\nfine = 6\nmax_fines = 1\ndetection = [0.1]\n")
    (after,) = plan_of(tmp_path, text).cells()
    assert plain_cell.key != after.key


def test_draws_are_shared_by_words_and_differ_between_seeds(tmp_path):
    first, two = plan_of(tmp_path, "seeds = 2\n" + CENSUS + NEIGHBOR).cells()
    assert first.rng("knowledge").random() == first.rng("knowledge").random()
    assert first.rng("knowledge").random() != first.rng("protection").random()
    assert first.rng("knowledge").random() != two.rng("knowledge").random()


def test_the_order_of_keys_does_not_change_a_digest():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 2, "b": 1})
    assert digest(date(2026, 1, 1)) != digest(date(2026, 1, 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("synthetic_census", "synthetic_consus"), "synthetic_census"),
        (lambda text: text.replace("ClassAttack", "ClassAtack"), "did you mean 'tables.ClassAttack'"),
        (lambda text: text.replace("targets", "target"), "did you mean 'targets'"),
        (lambda text: text.replace("n = 300", "m = 300"), "tables.synthetic_census has a key 'm'"),
        (lambda text: text.replace("quasi_identifiers", "quasi_identifier"), "did you mean 'quasi_identifiers'"),
        (lambda text: "seed = 3\n" + text, "did you mean 'seeds'"),
        (lambda text: "seeds = 0\n" + text, "seeds is 0"),
        (lambda text: text.replace("targets = 50", "targets = 0"), "targets is 0, expected a whole number at least 1"),
        (
            lambda text: text.replace("[[data]]", "data = 3\n[columns]"),
            "data is 3, expected a table",
        ),
        (lambda text: text + NEIGHBOR, "two of the adversaries have the name 'neighbor'"),
        (
            lambda text: text.replace("tables.ClassAttack", "channels.BayesChannelAttack").replace("knows", "#"),
            "0 cells",
        ),
        (
            lambda text: text + '[[protections]]\nuse = "tables.Mondrian"\ngrid = {k = 3}\n',
            "k is 3, expected a list",
        ),
        (lambda text: text + '[[protections]]\nuse = "tables.Mondrian"\nwith = {k = 0}\n', "Mondrian"),
        (lambda text: text + "attacker = {gain = 5, fines = 3}\n", "did you mean 'fine'"),
        (lambda text: text + "[budget]\nseconds = -1\n", "budget.seconds is -1"),
        (lambda text: "datasets == 3\n" + text, "is not TOML"),
        (lambda text: CENSUS, "it has no adversaries"),
        (lambda text: 'measures = ["utilty"]\n' + text, "did you mean 'utility'"),
        (
            lambda text: "seeds = [99999999999999999999]\n" + text,
            "expected a whole number from 0",
        ),
        (lambda text: text.replace("{ targets = 50 }", "5"), "knows is 5, expected a table"),
        (lambda text: text.replace("targets = 50", 'targets = "all"'), "targets is a text, expected a whole number"),
        (lambda text: text.replace("tables.ClassAttack", "nothing.ClassAttack"), "did you mean 'tables.ClassAttack'"),
        (lambda text: text + "[budget]\nmemory_gib = inf\n", "budget.memory_gib"),
        (
            lambda text: text + '[[data]]\nuse = "graphs.SocialGraph.read"\nname = "friends"\n',
            "graphs.watts_strogatz, graphs.file",
        ),
        (lambda text: text + '[[adversaries]]\nuse = "graphs.Nar09"\nknows = {edge_overlap = 0}\n', "above 0 and at"),
    ],
)
def test_a_wrong_plan_is_reported_in_one_sentence_with_the_place(tmp_path, change, message):
    with pytest.raises(UnmaskError, match=r"document 'plan\.toml'") as caught:
        plan_of(tmp_path, change(CENSUS + NEIGHBOR))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


PEOPLE = """
[[data]]
name = "people"
use = "tables.file"
file = "people.csv"
quasi_identifiers = ["age", "sex"]
sensitive = ["job"]
identifiers = "name"
types = { age = "number" }
orders = { job = ["a", "b"] }
hierarchies = { zip = "zip.csv" }
"""
GENERAL = '[[protections]]\nuse = "tables.Generalize"\nwith = { levels = { age = 10 } }\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('age", ', 'agee", '), "data[1] (people): quasi_identifiers: column 'agee' is not in file 'people.csv'; "),
        (('["job"]', '["jo"]'), "sensitive: column 'jo' is not in file 'people.csv'; did you mean 'job'?"),
        (
            ('"name"\ntypes', '"nam"\ntypes'),
            "identifiers: column 'nam' is not in file 'people.csv'; did you mean 'name'?",
        ),
        (('{ age = "n', '{ agee = "n'), "types: column 'agee' is not in file 'people.csv'; did you mean 'age'?"),
        (("{ job = [", "{ jobs = ["), "orders: column 'jobs' is not in file 'people.csv'; did you mean 'job'?"),
        (("{ zip =", "{ zipp ="), "hierarchies: column 'zipp' is not in file 'people.csv'; did you mean 'zip'?"),
        (("targets = 50", 'columns = ["agge"]'), "neighbor: columns: column 'agge' is not in the quasi_identifiers"),
        (("targets = 50", 'columns = ["job"]'), "neighbor: columns: column 'job' is not in the quasi_identifiers"),
        (
            ("{ age = 10", "{ ages = 10"),
            "Generalize: levels: column 'ages' is not in the quasi_identifiers of the plan; ",
        ),
        (('"age", ', "5, "), "quasi_identifiers[1] is 5, expected a text"),
    ],
)
def test_a_missing_column_is_reported_before_anything_runs(tmp_path, change, message):
    (tmp_path / "people.csv").write_text("name,age,sex,zip,job\nx,1,f,1,a\ny,2,m,2,b\n")
    (tmp_path / "zip.csv").write_text("1;*\n2;*\n")
    text = PEOPLE + NEIGHBOR + GENERAL
    assert len(plan_of(tmp_path, text).cells()) == 1
    assert text.count(change[0]) == 1
    with pytest.raises(UnmaskError, match=r"document 'plan\.toml'") as caught:
        plan_of(tmp_path, text.replace(*change))
    assert message in str(caught.value)


def test_columns_of_items_and_of_generated_tables_are_checked_too(tmp_path):
    items = '[[data]]\nuse = "linkage.file"\nfile = "items.csv"\npseudonym = "who"\nfeatures = ["x"]\n'
    items += '[[adversaries]]\nuse = "linkage.Threshold"\nwith = { distance = 0.5, features = ["x"] }\n'
    (tmp_path / "items.csv").write_text("who,x\na,1\nb,2\n")
    assert len(plan_of(tmp_path, items).cells()) == 1
    with pytest.raises(UnmaskError, match=r"pseudonym: column 'whom' is not in file 'items\.csv'; did you mean 'who'"):
        plan_of(tmp_path, items.replace('"who"', '"whom"'))
    with pytest.raises(UnmaskError, match="Threshold: features: column 'y' is not in the features of the plan"):
        plan_of(tmp_path, items.replace('features = ["x"] }', 'features = ["y"] }'))
    guess = '[[adversaries]]\nuse = "tables.AttributeInference"\nwith = { sensitive = "diagnosi" }\n'
    with pytest.raises(UnmaskError, match=r"sensitive: column 'diagnosi' is not in .* did you mean 'diagnosis'"):
        plan_of(tmp_path, CENSUS + guess)


def test_a_file_of_a_study_of_channels_must_be_a_channel(tmp_path):
    (tmp_path / "x.csv").write_text("x\n1\n")
    text = '[[data]]\nuse = "channels.file"\nfile = "x.csv"\n[[adversaries]]\nuse = "channels.BayesChannelAttack"\n'
    with pytest.raises(UnmaskError, match="has no numbers"):
        plan_of(tmp_path, text)


def test_a_plan_or_file_that_is_not_there_is_a_failure(tmp_path):
    with pytest.raises(FailedError, match=r"none\.toml"):
        read_plan(tmp_path / "none.toml")
    with pytest.raises(FailedError, match=r"people\.csv"):
        plan_of(tmp_path, '[[data]]\nuse = "tables.file"\nfile = "people.csv"\n' + NEIGHBOR)
