"""One document for all verbs: what it says to a command, what is refused, and what --as-plan and init write."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands import run
from unmask import economics
from unmask.core.errors import UnmaskError
from unmask.document import derive_audit_options, derive_protect_options, group_by_role, list_datasets, load
from unmask.policy import read_policy
from unmask.toml_text import format_document, format_value

PEOPLE = """\
id,age,zip,ill
1,30,01067,flu
2,31,01067,none
3,30,01069,none
4,31,01069,flu
"""

DOCUMENT = """\
[data]
file = "people.csv"
[columns]
id = "identifier"
age = "quasi-identifier"
zip = { role = "quasi-identifier", type = "code" }
ill = "sensitive"
[[protections]]
use = "tables.Mondrian"
with = { k = 2 }
[[policy]]
require = "identity:success_probability.worst <= 0.09"
source = "EMA policy 0070"
"""

OPTIONS = ["-q", "age,zip", "-s", "ill", "--identifiers", "id", "--type", "zip=code"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "unmask.toml").write_text(DOCUMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_protect_reads_the_document_and_options_win(folder: Path) -> None:
    assert run("protect", "unmask.toml", "-o", "two.csv")[0] == 0
    assert run("protect", "people.csv", *OPTIONS, "--k", "2", "-o", "same.csv")[0] == 0
    assert (folder / "two.csv").read_text() == (folder / "same.csv").read_text()
    _, output, _ = run("protect", "unmask.toml", "-o", "four.csv", "--k", "4", "--json")
    assert '"k": 4' in output


def test_audit_of_a_document_is_the_audit_of_its_options_and_keeps_its_policy(folder: Path) -> None:
    code, output, message = run("audit", "unmask.toml", "--json")
    plain = run("audit", "people.csv", *OPTIONS, "--json")
    data = json.loads(output)
    assert [entry["state"] for entry in data["tables"].pop("verdicts")] == ["missed"]
    assert data == json.loads(plain[1])
    assert (code, plain[0]) == (3, 0)
    assert "success_probability.worst" in message


def test_the_releases_of_a_document_are_attacked_and_its_data_are_the_original(folder: Path) -> None:
    assert run("protect", "unmask.toml", "-o", "r.csv", "--origin", "o.csv")[0] == 0
    text = DOCUMENT.replace("[[policy]]", '[[releases]]\nfile = "r.csv"\norigin = "o.csv"\n[[policy]]')
    (folder / "unmask.toml").write_text(text)
    command = ["audit", "r.csv", *OPTIONS, "--original", "people.csv", "--origin", "o.csv", "--json"]
    message = json.loads(run("audit", "unmask.toml", "--json")[1])
    assert message["tables"].pop("verdicts")
    assert message == json.loads(run(*command)[1])


def test_the_document_of_a_command_runs_the_same_command(folder: Path) -> None:
    command = ["audit", "people.csv", *OPTIONS, "--policy", "k>=3", "--register", "people.csv", "--coverage", "0.5"]
    (folder / "again.toml").write_text(run(*command, "--as-plan")[1])
    again, first = run("audit", "again.toml", "--json"), run(*command, "--json")
    assert (again[0], again[1].replace("the policy of the document", "the conditions given")) == first[:2]
    command = ["audit", "people.csv", *OPTIONS, "--original", "people.csv", "--control", "people.csv"]
    (folder / "again.toml").write_text(run(*command, "--as-plan")[1])
    assert json.loads(run("audit", "again.toml", "--json")[1]) == json.loads(run(*command, "--json")[1])
    asked = ["protect", "people.csv", *OPTIONS, "--k", "2", "--l", "2", "--relaxed", "-o", "x.csv"]
    (folder / "again.toml").write_text(run(*asked, "--as-plan")[1])
    assert not (folder / "x.csv").exists()
    assert (
        derive_protect_options(load(folder / "again.toml"), folder)[1] | {"strict": False, "k": 2, "l": 2}
        == derive_protect_options(load(folder / "again.toml"), folder)[1]
    )


def test_options_without_a_place_in_a_document_are_named(folder: Path) -> None:
    code, _, message = run("audit", "people.csv", *OPTIONS, "--seed", "1", "--engine", "duckdb", "--json", "--as-plan")
    assert code == 0
    assert "--engine, --json are not stored in the document: pass them again" in message


@pytest.mark.parametrize(
    "options",
    [
        ("--targets", "3", "--seed", "7"),
        ("--attacker", "case-study", "--targets", "2"),
        ("--attacker", "attacker.toml"),
        ("--synthetic", "--policy", "ill:realized_success<=0.5"),
    ],
    ids=" ".join,
)
def test_options_of_a_table_audit_are_in_its_document(folder: Path, options) -> None:
    (folder / "attacker.toml").write_text(Path(economics.__file__).with_name("case-study.toml").read_text())
    (folder / "r.csv").write_text("age,zip,ill\n30,01067,flu\n31,01067,none\n30,01069,flu\n31,01069,flu\n")
    roles = [word for word in OPTIONS if word not in ("--identifiers", "id")]
    command = ["audit", "r.csv", *roles, "--original", "people.csv", *options]
    code, text, message = run(*command, "--as-plan")
    assert (code, message) == (0, "")
    (folder / "again.toml").write_text(text)
    again, first = run("audit", "again.toml", "--json"), run(*command, "--json")
    assert (again[0], again[1].replace("the policy of the document", "the conditions given")) == first[:2]
    assert run("audit", "again.toml", "--as-plan")[1] == text
    assert f"{options[0].removeprefix('--')} = " in text


def test_a_policy_may_be_about_one_audit_of_several(folder: Path) -> None:
    (folder / "ring.txt").write_text(RING)
    graph = '[graph]\nrelease = "ring.txt"\noverlaps = ["1.0,0.8"]\nattacks = ["Nar09"]\nruns = 1\nseeds = "random:5"\n'
    policy = '[[policy]]\nrequire = "recall <= 1"\ndomain = "graphs"\n'
    (folder / "unmask.toml").write_text(DOCUMENT + graph + policy)
    assert run("audit", "unmask.toml")[0] == 3  # by the policy of tables, which it has
    assert (
        "this measure was not evaluated" in run("audit", "graph", "unmask.toml")[2]
    )  # that of tables is about every audit
    (folder / "unmask.toml").write_text(DOCUMENT + 'domain = "tables"\n' + graph + policy)
    assert run("audit", "unmask.toml")[0] == 3
    assert run("audit", "graph", "unmask.toml")[0] == 0
    (folder / "unmask.toml").write_text(DOCUMENT + 'domain = "graph"\n')
    assert "policy is about the domain 'graph'; did you mean 'graphs'?" in run("audit", "unmask.toml")[2]


RING = "".join(f"{a} {(a + step) % 30}\n" for a in range(30) for step in (1, 2, 5, 9))

OF_DOMAINS = {
    "graph": ("ring.txt", "--overlap", "0.9,0.9", "--overlap", "1.0,0.8", "--seeds", "random:5", "--attack", "Nar09",
              "--runs", "2", "--with", "IdentitySeparation:model=best:adopters=0.2", "--policy", "recall<=0.001"),
    "channel": ("channel.csv", "--loss", "squared", "--unit", "m", "--no-limit"),
    "linkage": ("--truth", "items.csv", "--guess", "items.csv", "--cluster", "subject", "--beta", "0.5"),
}  # fmt: skip


@pytest.mark.parametrize("word", OF_DOMAINS)
def test_every_audit_is_asked_by_a_document_as_by_its_options(folder: Path, word: str) -> None:
    (folder / "ring.txt").write_text(RING)
    (folder / "channel.csv").write_text(",0,1\n0,0.8,0.2\n1,0.3,0.7\n")
    (folder / "items.csv").write_text("item,subject\n" + "".join(f"i{n},s{n // 3}\n" for n in range(12)))
    command = ("audit", word, *OF_DOMAINS[word])
    code, text, message = run(*command, "--json", "--as-plan")
    assert (code, message) == (0, "--json is not stored in the document: pass it again\n")
    (folder / "again.toml").write_text(text)
    again, first = run("audit", word, "again.toml", "--json"), run(*command, "--json")
    assert again[0] == first[0]
    assert again[1].replace("the policy of the document", "the conditions given") == first[1]
    assert run("audit", word, "again.toml", "--as-plan")[1] == text
    (folder / "again.toml").write_text(text.replace(f"[{word}]\n", f"[{word}]\nseedz = 3\n"))
    assert "has a key 'seedz' that does not exist" in run("audit", word, "again.toml")[2]
    (folder / "again.toml").write_text(f"[{word}]\n")
    assert run("audit", word, "again.toml")[0] == 2
    (folder / "again.toml").write_text('title = "x"\n')
    assert f"the document has no [{word}]" in run("audit", word, "again.toml")[2]


def test_values_of_a_document_may_be_numbers_and_lists(folder: Path) -> None:
    (folder / "ring.txt").write_text(RING)
    text = '[graph]\nrelease = "ring.txt"\noverlaps = "0.9,0.9"\nattacks = ["Nar09", "Rematch"]\nruns = 2\n'
    (folder / "unmask.toml").write_text(text + 'seeds = "random:5"\ntransition = [7, 9]\n')
    options = ("--overlap", "0.9,0.9", "--attack", "Nar09,Rematch", "--runs", "2", "--seeds", "random:5")
    plain = run("audit", "graph", "ring.txt", *options, "--transition", "7,9", "--json")
    assert run("audit", "graph", "unmask.toml", "--json") == plain
    (folder / "unmask.toml").write_text(text + "seeds = 5\n")
    code, output, message = run("audit", "graph", "unmask.toml")
    assert (code, output) == (2, "")
    assert "line 6: graph.seeds is 5, expected a text" in message
    (folder / "unmask.toml").write_text('[data]\nfile = "people.csv"\nna = 5\n[columns]\nage = "quasi-identifier"\n')
    assert "data.na is 5, expected a text, or a list, each a text" in run("audit", "unmask.toml")[2]


def test_the_order_of_numbers_is_a_list_of_numbers(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENT.replace('type = "code"', "order = [1067, 1069]"))
    assert run("columns", "unmask.toml")[0] == 0


@pytest.mark.parametrize(
    ("word", "text", "message"),
    [
        ("linkage", "beta = [0.5]", "linkage.beta is a list, expected a number above 0 and at most 1"),
        ("linkage", "beta = { a = 1 }", "linkage.beta is a table, expected a number above 0 and at most 1"),
        ("linkage", 'document = "x.toml"', "has a key 'document' that does not exist"),
        ("linkage", "own = 3", "linkage.own is 3, expected a text, or a list, each a text, or a table"),
        ("linkage", 'gates = ["breached>1"]', "has a key 'gates' that does not exist"),
        ("linkage", "quiet = true", "has a key 'quiet' that does not exist"),
        ("graph", 'release = ["ring.txt", "people.csv"]', "line 2: graph.release is a list, expected a text"),
        ("graph", 'runs = "x"', "line 2: graph.runs is a text, expected a whole number at least 1"),
        ("graph", "truth_partial = 1", "line 2: graph.truth_partial is 1, expected true or false"),
        ("graph", 'form = "list"', "line 2: graph.form is 'list', did you mean 'links'?"),
        ("graph", 'watched = "x"', "line 2: graph has a key 'watched' that does not exist"),
    ],
)
def test_sections_that_an_audit_does_not_read_are_refused_in_a_sentence(
    folder: Path, word: str, text: str, message: str
) -> None:
    (folder / "unmask.toml").write_text(f'[{word}]\n{text}\n[[policy]]\nrequire = "breached <= 0.1"\n')
    code, output, sentence = run("audit", word, "unmask.toml")
    assert (code, output) == (2, "")
    assert message in sentence


def test_the_files_of_a_document_are_relative_to_it(folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "channel.csv").write_text(",0,1\n0,0.8,0.2\n1,0.3,0.7\n")
    (folder / "there" / "loss.csv").write_text(",0,1\n0,0,2\n1,1,0\n")
    command = ("audit", "channel", "there/channel.csv", "--loss", "there/loss.csv")
    (folder / "there" / "a.toml").write_text('[channel]\nchannels = "channel.csv"\nloss = "loss.csv"\n')
    assert run("audit", "channel", "there/a.toml", "--json") == run(*command, "--json")
    (folder / "there" / "a.toml").write_text('[channel]\nchannels = "channel.csv"\nloss = "absolute"\n')
    assert run("audit", "channel", "there/a.toml")[0] == 0


def test_items_are_named_by_options(folder: Path) -> None:
    message = run("audit", "linkage", "people.csv", "--truth", "people.csv", "--guess", "people.csv")[2]
    assert "'people.csv' is not a document such as unmask.toml; name files by options" in message


def test_settings_of_a_column_without_a_role_are_refused(folder: Path) -> None:
    code, output, message = run("audit", "people.csv", "-q", "age", "--order", "ill=a,b", "--as-plan")
    assert (code, output) == (2, "")
    assert "the order of column 'ill' was given, and no role" in message


def test_init_writes_a_document_that_every_verb_reads(folder: Path) -> None:
    (folder / "unmask.toml").unlink()
    assert run("init", "people.csv", "-q", "age,zip", "-s", "ill")[0] == 0
    assert run("init", "people.csv")[0] != 0  # it is there already
    assert run("columns", "unmask.toml")[0] == 0
    assert run("choose", "columns", "unmask.toml")[0] == 0
    assert run("protect", "unmask.toml", "--k", "2", "-o", "r.csv")[0] == 0
    assert run("study", "unmask.toml", "-o", "run", "--dry-run")[0] == 0


def test_choose_requires_the_policy_of_the_study(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENT + '[[adversaries]]\nname = "near"\nuse = "tables.ClassAttack"\n')
    assert run("study", "unmask.toml", "-o", "run")[0] == 0
    code, output, _ = run("choose", "run")
    assert code == 1
    assert "identity:success_probability.worst<=0.09 is missed" in output
    assert run("choose", "run", "--policy", "success_probability.worst<=1")[0] == 0


def test_a_study_keeps_what_its_policy_requires_wherever_its_file_lies(folder: Path) -> None:
    (folder / "house.toml").write_text(
        'title = "House"\n[[policy]]\nrequire = "success_probability.worst <= 0.01"\nsource = "board"\n'
        '[[policy]]\nrequire = "recall <= 0.1"\ndomain = "graphs"\n'
    )
    study = DOCUMENT.replace(
        'require = "identity:success_probability.worst <= 0.09"\nsource = "EMA policy 0070"', 'use = "house.toml"'
    )
    (folder / "unmask.toml").write_text(study + '[[adversaries]]\nname = "near"\nuse = "tables.ClassAttack"\n')
    assert run("study", "unmask.toml", "-o", "runs/today")[0] == 0
    (folder / "house.toml").unlink()  # nor does a later change of it count
    code, output, error = run("choose", "runs/today")
    assert (code, error) == (1, "")
    assert "success_probability.worst<=0.01 is missed" in output
    assert read_policy(folder / "runs/today/policy.toml").requirements[0].source == "board"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[dat]\n", "a key 'dat' that does not exist"),
        ("data = 3\n", "data is 3, expected a table"),
        (
            '[data]\nfile = "people.csv"\n[columns]\nage = "quasi"\n',
            "columns.age is 'quasi', expected one of",
        ),
        (
            '[data]\nfile = "people.csv"\n[columns]\nage = 3\n',
            "columns.age is 3, expected one of",
        ),
        ('[data]\nfile = "people.csv"\n[columns]\nage = {role = "keep", typ = "date"}\n', "a key 'typ'"),
        ('[data]\nfile = "people.csv"\n[columns]\na = "weight"\nb = "weight"\n', "a and b are weights"),
        (DOCUMENT + "[[releases]]\nfile = 3\n", "releases[1].file is 3, expected a text"),
        (DOCUMENT + '[register]\nfil = "x"\n', "a key 'fil'"),
        (DOCUMENT.replace(" <= ", " about "), "the condition is"),
        ('[data]\nuse = "tables.adult"\n', "no file of a table"),
        (DOCUMENT.replace('file = "people.csv"', 'file = "people.csv"\nmising = "wildcard"'), "a key 'mising'"),
        ("register = 3\n" + DOCUMENT, "register is 3, expected a table"),
        (DOCUMENT.replace('type = "code"', "order = 3"), "columns.zip.order is 3, expected a list"),
        (DOCUMENT.replace('type = "code"', 'order = ["a,b", "c"]'), "the order of column 'zip' has a comma in a value"),
    ],
)
def test_unknown_keys_of_a_document_are_refused_in_a_sentence(folder: Path, text: str, message: str) -> None:
    (folder / "unmask.toml").write_text(text)
    code, output, sentence = run("audit", "unmask.toml")
    assert code not in (0, 3)
    assert message in sentence
    assert not output


def test_protect_refuses_several_protections(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENT.replace("with = { k = 2 }", "grid = { k = [2, 4] }"))
    assert "several protections" in run("protect", "unmask.toml", "-o", "r.csv")[2]


def test_a_document_is_no_output(folder: Path) -> None:
    code, _, message = run("audit", "unmask.toml", "--report", "unmask.toml", "--force")
    assert code != 0
    assert "input" in message
    assert (folder / "unmask.toml").read_text() == DOCUMENT


def test_several_populations_have_their_own_columns() -> None:
    text = """
    [[data]]
    use = "tables.adult"
    [[data]]
    file = "a.csv"
    columns = { age = "quasi-identifier" }
    """
    first, second = list_datasets(tomllib.loads(text))
    assert "quasi_identifiers" not in first
    assert (second["use"], second["quasi_identifiers"]) == ("tables.file", ["age"])


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.recursive(
            st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=5,
    )
)
def test_a_written_document_is_read_back(settings: dict[str, object]) -> None:
    assert tomllib.loads(format_document({"a": settings})) == {"a": settings}


def test_roles_of_columns() -> None:
    assert group_by_role({"w": "weight", "a": "keep"}) == {"keep": ["a"], "weight": "w"}
    assert format_value({"a b": [1, "x"]}) == '{ "a b" = [1, "x"] }'


def test_levels_are_kept_where_an_audit_tries_others():
    document = {"data": {"file": "a.csv"}, "columns": {"age": "quasi-identifier"}, "releases": [{"file": "r.csv"}]}
    document["protections"] = [{"use": "tables.Mondrian", "with": {"levels": {"age": 5, "birth": "decade"}}}]
    for derive in (derive_audit_options, derive_protect_options):
        assert derive(document, Path("here"))[1]["levels"] == ["age=5", "birth=decade"]
    document["protections"][0]["with"]["levels"] = "year"
    with pytest.raises(UnmaskError, match="levels is not a table"):
        derive_protect_options(document, Path("here"))


MADE = ("audit", "release.csv", *OPTIONS, "--original", "people.csv", "--origin", "origin.csv")


@pytest.fixture
def released(folder: Path) -> Path:
    assert run("protect", "people.csv", *OPTIONS, "--k", "2", "-o", "release.csv", "--origin", "origin.csv")[0] == 0
    return folder


@pytest.mark.parametrize("protection_text", ["tables.Mondrian:k=2", "tables.AddNoise:sd={age=2.5}", "mine:Made:k=3"])
def test_a_document_says_what_made_a_release(released: Path, protection_text: str) -> None:
    code, text, _ = run(*MADE, "--protection", protection_text, "--as-plan")
    assert code == 0
    (released / "again.toml").write_text(text)
    assert run("audit", "again.toml", "--as-plan")[1] == text
    name, _, settings = protection_text.rpartition(":")
    assert f'protection = "{name}"' in text
    assert settings.split("=")[0] in text


def test_an_audit_attacks_by_the_protection_that_made_the_release(released: Path) -> None:
    code, result, _ = run(*MADE, "--protection", "tables.Mondrian:k=2", "--json")
    assert code == 0
    reasons = {line["what"]: line["why"] for line in json.loads(result)["not_run"]}
    assert "has the same beliefs as the prosecutor" in reasons["An adversary who knows what made release"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("graphs.Decoy",), "belongs to graphs, expected one of the protections of tables"),
        (("tables.Nope",), "the protection 'tables.Nope' is unknown"),
        (("tables.Mondrian:k",), "'k' is not a parameter of tables.Mondrian"),
        (("tables.Mondrian:k=2:l",), "'l' is not a parameter of tables.Mondrian"),
        (("tables.Mondrian:z=2",), "tables.Mondrian has a key"),
        (("tables.Mondrian", "tables.PRAM"), "2 protections were given for 1 release"),
    ],
)
def test_an_impossible_protection_of_a_release_is_refused(
    released: Path, options: tuple[str, ...], reason: str
) -> None:
    code, _, message = run(*MADE, *(part for protection in options for part in ("--protection", protection)))
    assert code == 2
    assert reason in message


def test_a_release_that_names_no_protection_of_the_document_is_refused(released: Path) -> None:
    text = run(*MADE, "--protection", "tables.Mondrian:k=2", "--as-plan")[1]
    (released / "again.toml").write_text(text.replace('protection = "tables.Mondrian"', 'protection = "other"'))
    code, _, message = run("audit", "again.toml")
    assert code == 2
    assert "a release was made by 'other', and the document has 0 protections of that name" in message


# --- sections of other domains ---

LINKAGE = {"linkage": {"truth": "items.csv", "guesses": "items.csv", "clusters": "subject", "noise": -1}}
CHANNEL = {"channel": {"channels": "channel.csv", "evidence": "channel", "no_limit": True}}


@pytest.fixture
def sections(folder: Path) -> Path:
    Path("items.csv").write_text("item,subject,w\n" + "".join(f"i{i},s{i // 3},0.5\n" for i in range(12)))
    Path("channel.csv").write_text(",a,b\nx,0.9,0.1\ny,0.2,0.8\n")
    return folder


def write_sections(*sections: dict[str, Any]) -> None:
    Path("unmask.toml").write_text(format_document({key: value for item in sections for key, value in item.items()}))


@pytest.mark.parametrize(("section", "word"), [(LINKAGE, "linkage"), (CHANNEL, "channel")])
def test_an_audit_runs_the_only_section_of_a_document(sections: Path, section: dict[str, Any], word: str) -> None:
    write_sections(section)
    plain, by_name = run("audit", "unmask.toml", "--json"), run("audit", word, "unmask.toml", "--json")
    assert plain == by_name
    assert plain[0] == 0
    assert json.loads(plain[1])["command"] == f"audit {word}"


def test_several_sections_need_the_word_of_one(sections: Path) -> None:
    write_sections(LINKAGE, CHANNEL)
    code, _, error = run("audit", "unmask.toml")
    assert code == 2
    assert "describes 2 audits: run unmask audit linkage unmask.toml or unmask audit channel unmask.toml" in error
    assert run("audit", "channel", "unmask.toml")[0] == 0


def test_a_table_of_a_document_comes_before_its_other_sections(sections: Path) -> None:
    write_sections({"data": {"file": "people.csv"}, "columns": {"age": "quasi-identifier"}}, CHANNEL)
    assert json.loads(run("audit", "unmask.toml", "--json")[1])["command"] == "audit"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beta": 2}, "linkage.beta is 2, expected a number above 0 and at most 1"),
        ({"betta": 0.5}, "linkage has a key 'betta' that does not exist; did you mean 'beta'?"),
        ({"missing": "eror"}, "linkage.missing is 'eror', did you mean 'error'?"),
    ],
)
def test_a_section_has_the_parameters_of_its_audit(sections: Path, changes: dict[str, Any], message: str) -> None:
    write_sections({"linkage": LINKAGE["linkage"] | changes})
    for command in (("audit", "unmask.toml"), ("audit", "linkage", "unmask.toml"), ("audit", "channel", "unmask.toml")):
        code, _, error = run(*command)
        assert (code, message in error) == (2, True), error


def test_values_by_name_are_a_table_or_a_list(sections: Path) -> None:
    results = []
    for weights in ({"weight": "w"}, ["weight=w"], "weight=w"):
        write_sections({"linkage": LINKAGE["linkage"] | {"own": weights}})
        results.append(json.loads(run("audit", "unmask.toml", "--json")[1])["results"])
    assert results[0] == results[1] == results[2]
