"""Errors of the library name parameters in backquotes; a command writes its options in their place."""

import ast
from pathlib import Path

import pytest

import unmask
from tests.commands import check_one_sentence, invoke
from unmask.aggregates.protections.protect_files import protect_files
from unmask.channels.design.files import read_problem
from unmask.core.errors import UnmaskError
from unmask.data.duckdb_engine import DuckDBEngine
from unmask.data.engine import EngineOptions
from unmask.graphs.audit.files import audit_files as audit_graph
from unmask.tables.audit.files import audit_files as audit_tables

SOURCE = Path(unmask.__file__).parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,sex,ill\n30,f,a\n31,m,b\n")
    Path("numbers.csv").write_text("30,1\n31,2\n32,3\n")
    Path("edges.csv").write_text("u,v\n0,1\n1,2\n")
    return tmp_path


def _read_names(path):
    with DuckDBEngine.open() as engine:
        return engine.names(path)


@pytest.mark.parametrize(
    ("call", "named", "command", "written"),
    [
        (
            lambda: protect_files(Path("people.csv"), tables=["sex"], value="age", base=5),
            "`threshold`, `base`, `cell_key` and `geography` are about counts; leave them or `value` out",
            ("protect", "aggregates", "people.csv", "--tables", "sex", "--value", "age", "--round", 5, "-o", "out"),
            "--threshold, --round, --cell-key and --geography are about counts; leave them or --value out",
        ),
        (
            lambda: protect_files(Path("people.csv"), tables=["sex"], value="age"),
            "no rule was given, expected `dominance`, `p_percent`, `prior_posterior` or `min_contributors`",
            ("protect", "aggregates", "people.csv", "--tables", "sex", "--value", "age", "-o", "out"),
            "no rule was given, expected --dominance, --p-percent, --prior-posterior or --min-contributors",
        ),
        (
            lambda: audit_tables(["people.csv"], quasi_identifiers="age", origins=[Path("people.csv")]),
            "`origins` gives rows of the original, and no `original` was given; give both",
            ("audit", "people.csv", "-q", "age", "--origin", "people.csv"),
            "--origin gives rows of the original, and no --original was given; give both",
        ),
        (
            lambda: EngineOptions(memory_limit="1GiB"),
            "`memory_limit` is for tables in an engine; add engine='duckdb', or remove this option",
            ("audit", "people.csv", "-q", "age", "--memory-limit", "1GiB"),
            "--memory-limit is for tables in an engine; add --engine duckdb, or remove this option",
        ),
        (
            lambda: _read_names("numbers.csv"),
            "add a line of names, or header=False for the names column 1, column 2, ...",
            ("audit", "numbers.csv", "-q", "column 1", "--engine", "duckdb"),
            "add a line of names, or --no-header for the names column 1, column 2, ...",
        ),
        (
            lambda: audit_graph(Path("edges.csv"), truth_partial=True),
            "`truth_partial` needs an attack, and an attack needs `auxiliary` or `overlaps`; add one of them",
            ("audit", "graph", "edges.csv", "--truth-partial"),
            "--truth-partial needs an attack, and an attack needs --auxiliary or --overlap; add one of them",
        ),
        (
            lambda: audit_graph(Path("edges.csv"), overlaps=["0.5,0.5"], protections=["RandomWalk"], auxiliary="a.csv"),
            "both of `auxiliary` and `overlaps` were given",
            ("audit", "graph", "edges.csv", "--overlap", "0.5,0.5", "--auxiliary", "edges.csv"),
            "both of --auxiliary and --overlap were given",
        ),
        (
            lambda: read_problem(prior=None, joint=None, loss="zero-one", coordinates=None, budget=0.1),
            "a design needs either a prior (`prior`) or a joint distribution (`joint`), expected one",
            ("design", "--budget", 0.1, "-o", "mechanism.csv"),
            "a design needs either a prior (--prior) or a joint distribution (--joint), expected one",
        ),
    ],
)
def test_a_program_reads_the_parameter_and_a_user_of_the_command_line_the_option(folder, call, named, command, written):
    with pytest.raises(UnmaskError) as raised:
        call()
    assert named in str(raised.value)
    check_one_sentence(invoke(*command), written)


OPTIONS_NAMED = {"catalog.py", "protecting.py", "attacks/classes.py", "attacks/pairing.py", "tables/audit/files.py"}
"""Modules whose errors name an option that no parameter of Python has, or a command."""


def test_errors_of_the_library_name_no_option():
    """Errors about two readings list the options that select one; reasons not to run are sentences of a result."""
    named = set()
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in ("cli", "app"):
            continue
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("UnmaskError", "FailedError"):
                texts = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
                named |= {path.as_posix() for text in texts if isinstance(text, str) and "--" in text}
    assert [path for path in named if not path.endswith(tuple(OPTIONS_NAMED))] == []
