"""Look of the command line: whole lines of help, completion, a quiet run, colors on a terminal, the next command."""

import re
import shlex

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from tests.render_options import list_commands
from unmask.cli import main


def unmask(*words, **options):
    return CliRunner().invoke(main, [str(word) for word in words], **options)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    rows = [f"{20 + i * 7 % 40},{'fm'[i % 2]},{'abc'[i * i % 5 % 3]}" for i in range(90)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,job", *rows]) + "\n")
    return tmp_path


def test_help_lists_every_command_with_its_whole_line():
    text = " ".join(unmask("--help", terminal_width=110).stdout.split()).replace("- ", "-")
    for name, command in list_commands().items():
        line = command.get_short_help_str(limit=1000)
        assert f"{name} {line}".replace("- ", "-") in text
        assert "..." not in line


def test_every_option_says_what_it_is():
    openers = re.compile(r"Of |Instead|With --|Each |Also |Between |Into |The |An? |It ")
    helps = {
        (name, option.opts[0], option.help)
        for name, command in list_commands().items()
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    }
    assert [
        help_text
        for help_text in helps
        if not help_text[2] or openers.match(help_text[2]) or not help_text[2].endswith(".")
    ] == []


@pytest.mark.parametrize(
    ("words", "begun", "result"),
    [
        ([], "au", ["audit"]),
        (["audit"], "g", ["graph"]),
        (["audit"], "", ["aggregates", "channel", "graph", "linkage"]),
        (["choose"], "c", ["columns"]),
        (["advise"], "i", ["identity"]),
        (["audit", "graph"], "--sim", ["--similarity"]),
    ],
)
def test_a_shell_completes_both_words(words, begun, result):
    items = ShellComplete(main, {}, "unmask", "_UNMASK_COMPLETE").get_completions(words, begun)
    assert [item_type.value for item_type in items if item_type.type == "plain"] == result
    assert [item_type.type for item_type in items if item_type.type != "plain"] == ["file"] * (
        words in (["audit"], ["choose"])
    )


def test_a_quiet_run_says_results_errors_and_warnings_alone(people):
    command = ("people.csv", "-q", "age,sex", "-s", "job", "--k", 5)
    message = unmask("protect", *command, "-o", "release.csv", "--origin", "own/origin.csv").stderr
    assert "wrote release.csv" in message
    assert unmask("protect", *command, "-o", "quiet.csv", "--quiet").stderr == ""
    next_to_release = unmask("protect", *command, "-o", "beside.csv", "--origin", "origin.csv", "--quiet")
    assert next_to_release.stderr.startswith("warning: origin.csv lies in the folder of the release")
    audited = unmask("audit", "release.csv", "-q", "age,sex", "-s", "job", "--quiet", "--policy", "k>=90")
    assert (audited.exit_code, audited.stderr.count("\n")) == (3, 1)
    assert audited.stderr.startswith("missed: release: ")
    assert "prosecutor" in audited.stdout
    assert unmask("audit", "nothing.csv", "-q", "age", "--quiet").stderr.startswith("Error: ")


def test_every_command_can_be_quiet():
    assert all(any("--quiet" in option.opts for option in command.params) for command in list_commands().values())


def test_colors_are_for_terminals(people, monkeypatch):
    command = ("audit", "people.csv", "-q", "age,sex", "-s", "job")
    assert "\x1b" not in unmask(*command).stdout
    colored = unmask(*command, color=True).stdout
    assert "\x1b[31mprosecutor" in colored
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in unmask(*command, color=True).stdout


def next_of(done):
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("next: ")]
    return shlex.split(line.removeprefix("next: unmask "))


def test_the_next_command_runs(people):
    protected = unmask(
        *("protect", "people.csv", "-q", "age,sex", "-s", "job", "--k", 30, "-o", "r.csv", "--origin", "own/o.csv")
    )
    audit = next_of(protected)
    assert audit[:2] == ["audit", "r.csv"]
    audited = unmask(*audit)
    assert audited.exit_code == 0
    following = next_of(audited)
    assert unmask(*following).exit_code == 0
    assert next_of(unmask("audit", "people.csv", "-q", "age,sex"))[:2] == ["choose", "columns"]


def test_after_a_page_with_changes_the_best_of_them_is_next(people):
    roles = ("-q", "age,sex", "-s", "job")
    unmask("protect", "people.csv", *roles, "--k", 3, "-o", "r.csv", "--origin", "own/o.csv")
    command = ("audit", "r.csv", *roles, "--original", "people.csv", "--policy", "k >= 8")
    done = unmask(*command, "--origin", "own/o.csv", "--report", "page.html")
    following = next_of(done)
    assert (done.exit_code, following[:2], "--k" in following) == (3, ["protect", "people.csv"], True)
    assert unmask(*following).exit_code == 0
    without_policy = unmask(*command, "--origin", "own/o.csv")
    assert next_of(without_policy)[:3] == ["choose", "columns", "people.csv"]


def test_piped_input_has_no_next_command(people):
    done = unmask("audit", "-", "-q", "age,sex", input=(people / "people.csv").read_text())
    assert (done.exit_code, "next:" in done.stderr) == (0, False)


@pytest.mark.parametrize("command", ["audit", "audit graph", "audit linkage", "audit channel"])
def test_the_help_of_an_audit_has_its_options_below_headings(command: str) -> None:
    text = CliRunner().invoke(main, [*command.split(), "--help"]).output
    headings = re.findall(r"^([A-Z]\w+):$", text, flags=re.MULTILINE)
    assert [heading for heading in headings if heading != "Knowledge"] == ["Input", "Policy", "Output", "Options"]
    assert text.index("Policy:") < text.index("  --policy") < text.index("Output:") < text.index("  --report PATH")
