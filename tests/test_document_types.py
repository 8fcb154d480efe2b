"""A document whose values are of another type than their places is refused in one sentence, through every door."""

import datetime as dt
import json
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from copy import deepcopy
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.commands import invoke
from unmask.core.errors import UnmaskError
from unmask.document import build_json_schema, load
from unmask.economics import read_attacker
from unmask.policy import read_policy
from unmask.studies.game.document import parse_game
from unmask.studies.journal import Journal
from unmask.studies.reading import read_plan
from unmask.toml_text import format_key, format_value

TABLE: dict[str, Any] = {
    "title": "t",
    "data": {"file": "people.csv", "missing": "own", "na": ["NA"], "decimal": ".", "encoding": "utf-8"},
    "columns": {"age": {"role": "quasi-identifier", "type": "number"}, "ill": "sensitive", "w": {"role": "weight"}},
    "releases": [{"file": "release.csv", "origin": "origin.csv", "synthetic": False, "protection": "P"}],
    "register": {"file": "people.csv", "coverage": 0.5},
    "control": {"file": "people.csv"},
    "linkability": {"parts": [["age"], ["ill"]]},
    "audit": {"targets": 5, "attacker": "case-study", "seed": 0, "without": ["modeler"], "together": False},
    "protections": [{"name": "P", "use": "tables.Mondrian", "with": {"k": 4, "levels": {"age": 2}}}],
    "adversaries": [{"name": "n", "use": "tables.ClassAttack", "knows": {"targets": 3, "error": 0.1}}],
    "policy": [{"require": "k>=2", "source": "us"}],
    "certificate": {"released_by": "us"},
    "seeds": 1,
    "measures": ["success_probability"],
    "budget": {"seconds": 5, "memory_gib": 2},
    "publisher": {"benefit": 1000, "loss": {"from": 1, "to": 2}, "prices": [0, 1]},
    "attackers": [{"name": "b", "attacker": "case-study", "gain": 4, "number": 1}],
}

OTHERS: dict[str, dict[str, Any]] = {
    "graph": {"graph": {"release": "ring.txt", "overlaps": "0.9,0.9", "runs": 1, "attacks": ["Nar09"], "seed": 1}},
    "channel": {"channel": {"channels": ["m.csv"], "loss": "hamming", "unit": "m"}},
    "linkage": {"linkage": {"truth": "truth.csv", "guesses": "guess.csv", "beta": 0.8}},
}

NESTED: dict[str, Any] = {"use": "tables.SeveralRows", "with": {"attack": {"use": "tables.ClassAttack", "with": {}}}}

values = st.recursive(
    st.one_of(
        st.none(),  # the key is left out
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(),
        st.sampled_from(["", "x", "a:b", "tables.Mondrian", "\0", "unmask.toml", "9" * 5000, dt.date(2020, 1, 1)]),
        st.text(st.characters(codec="utf-8"), max_size=5),
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "from", "role", "use"]), inner),
    max_leaves=4,
)


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return ([place] if place else []) + [
        inner_place for key, item in inner for inner_place in places(item, (*place, key))
    ]


def changed(document: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = deepcopy(document)
    index: Any = changed
    for key in place[:-1]:
        index = index[key]
    index[place[-1]] = value
    return changed


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{format_key(key)} = {toml(item)}" for key, item in value.items() if item is not None)
            + " }"
        )
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in value if item is not None)}]"
    if isinstance(value, float | dt.date):
        return str(value)
    return format_value(value)


def write(document: dict[str, Any]) -> Path:
    path = Path("unmask.toml")
    path.write_text(
        "\n".join(f"{format_key(key)} = {toml(value)}" for key, value in document.items() if value is not None)
    )
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("documents")
    folder_before = Path.cwd()
    os.chdir(folder)
    Path("people.csv").write_text("age,ill,w\n" + "".join(f"{30 + i // 4},{'ab'[i % 2]},{i % 3}\n" for i in range(40)))
    Path("ring.txt").write_text("".join(f"{i} {(i + step) % 40}\n" for i in range(40) for step in (1, 2, 5)))
    roles = ("-q", "age", "-s", "ill")
    assert (
        invoke("protect", "people.csv", *roles, "--k", "4", "-o", "release.csv", "--origin", "origin.csv").exit_code
        == 0
    )
    yield folder
    os.chdir(folder_before)


fuzzed = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@fuzzed
@given(data=st.data())
def test_readers_of_documents_raise_nothing_but_their_own_error(folder: Path, data: st.DataObject) -> None:
    document = changed(TABLE, data.draw(st.sampled_from(places(TABLE))), data.draw(values))
    path = write(document)
    for read in (
        lambda: parse_game(load(path), folder),
        lambda: read_policy(path),
        lambda: read_plan(path),
        lambda: read_attacker(path),
    ):
        with suppress(UnmaskError):
            read()


@fuzzed
@given(data=st.data())
def test_commands_say_one_sentence_about_a_wrong_document(folder: Path, data: st.DataObject) -> None:
    plan = changed(TABLE, ("adversaries", 0), NESTED)
    document = changed(plan, data.draw(st.sampled_from(places(plan))), data.draw(values))
    write(document)
    words = data.draw(
        st.sampled_from(
            [
                ("audit", "unmask.toml", "--as-plan"),
                ("protect", "unmask.toml", "-o", "new.csv", "--as-plan"),
                ("columns", "unmask.toml"),
            ]
        )
    )
    _one_sentence(invoke(*words))


@fuzzed
@given(data=st.data())
def test_tables_of_other_domains_are_refused_in_one_sentence(folder: Path, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(sorted(OTHERS)))
    write(changed(OTHERS[word], data.draw(st.sampled_from(places(OTHERS[word]))), data.draw(values)))
    _one_sentence(invoke("audit", word, "unmask.toml", "--as-plan"))


def _one_sentence(done: Result) -> None:
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (0, 1, 2)
    if done.exit_code:
        assert len([line for line in done.stderr.splitlines() if line.startswith("Error: ")]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("protections = [{ with = [1] }]", "protections[1].with is a list, expected a table"),
        ("title = 3", "title is 3, expected a text"),
        ("measures = [1]", "measures[1] is 1, expected a text"),
        (
            "policy = { require = 'k>=2' }",
            "policy is a table, expected a list of tables: [[policy]]",
        ),
        ("budget = 3", "budget is 3, expected a table"),
        ("releases = [{ synthetic = 'no' }]", "releases[1].synthetic is a text, expected true or false"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("title = '\udcff'", "not UTF-8"),
        ("seeds = " + "9" * 5000, "not TOML"),
    ],
)
def test_the_error_names_the_place_and_the_type(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "unmask.toml").write_text(text, errors="surrogateescape")
    with pytest.raises(UnmaskError) as caught:
        load(tmp_path / "unmask.toml")
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, "9" * 5000, "[]", "3", '{"tables": []}', '{"results": 1e999}', ""]
)
def test_a_wrong_certificate_is_no_traceback(folder: Path, text: str) -> None:
    write({"data": {"file": "people.csv"}, "columns": {"age": "quasi-identifier"}})
    Path("certificate.json").write_text(text)
    done = invoke("certify", "unmask.toml", "--check", "certificate.json")
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code in (1, 2)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
def test_a_pipe_device_folder_or_socket_is_not_a_document(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:  # a socket's name is short
        monkeypatch.chdir(short)
        make = {
            "pipe": lambda: os.mkfifo("unmask.toml"),
            "device": lambda: Path("unmask.toml").symlink_to("/dev/zero"),
            "folder": lambda: Path("unmask.toml").mkdir(),
            "socket": lambda: server.bind("unmask.toml"),
        }
        make[kind]()
        shutil.copyfile(__file__, "data.csv")
        for words in (("audit", "unmask.toml"), ("study", "unmask.toml", "-o", "out"), ("game", "unmask.toml")):
            done = invoke(*words)
            assert done.exit_code == 1
            assert "not a regular file" in done.stderr
        done = invoke("audit", "data.csv", "-q", "age", "--policy", "unmask.toml")
        assert "not a regular file" in done.stderr


def test_a_journal_that_never_ends_is_refused_and_a_line_of_another_form_is_damaged(tmp_path: Path) -> None:
    import zlib

    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(UnmaskError, match="not a regular file"):
        Journal(tmp_path / "endless")
    wrong_lines = [b"[]", b"{}", b'{"cell": 1, "rows": 3}', b"[" * 10_000, b'{"rows": [1]}']
    (tmp_path / "journal").write_bytes(
        b"".join(b"%08x %s\n" % (zlib.crc32(content), content) for content in wrong_lines)
    )
    assert Journal(tmp_path / "journal").damaged == len(wrong_lines)


@pytest.mark.parametrize(
    "words", [("audit", "deep.json", "-q", "a"), ("audit", "graph", "long.csv", "--overlap", "1,1")]
)
def test_an_input_of_one_endless_field_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep.json").write_text('{"links":' + "[" * 200_000)
    Path("long.csv").write_text("u,v\n1,2\n2," + "x" * 200_000 + "\n")
    done = invoke(*words)
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code == 2


@pytest.mark.parametrize(("error", "code"), [(MemoryError(), 1), (RecursionError(), 2)])
def test_a_limit_of_the_machine_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("unmask.tables.risk.column_facts", fail)
    done = invoke("columns", "people.csv", "-q", "age")
    assert isinstance(done.exception, SystemExit)
    assert (done.exit_code, done.stderr.splitlines()[-1][:6]) == (code, "Error:")


def test_the_json_schema_of_documents_is_up_to_date_and_takes_them() -> None:
    file = Path(str(resources.files("unmask"))) / "document.schema.json"
    if os.environ.get("WRITE_SCHEMA"):
        file.write_text(json.dumps(build_json_schema(), indent=1) + "\n")
    schema = json.loads(file.read_text())
    assert schema == build_json_schema(), "a parameter changed: run this test with WRITE_SCHEMA=1"
    jsonschema.Draft202012Validator.check_schema(schema)
    for document in (TABLE, *OTHERS.values()):
        jsonschema.validate(document, schema)
    for section, value in (("seeds", 0), ("budget", {"second": 1}), ("register", {"coverage": 0})):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(TABLE | {section: value}, schema)
