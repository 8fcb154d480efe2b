"""Pipelines get the verdict in their own forms: SARIF, annotations, a summary, an exit code."""

import gzip
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.commands import run

ROOT = Path(__file__).parent.parent

DOCUMENT = """
[data]
file = "release.csv"
[columns]
age = "quasi-identifier"
ill = "sensitive"
[[policy]]
require = "k >= 5"
source = "board: 100 %, 2026"
[[policy]]
require = "realized_success.excess <= 0.02"
name = "Values | inferred"
[[policy]]
require = "l_distinct >= 2"
"""

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}

SARIF = {  # what section 3 of SARIF 2.1.0 requires of the objects that are written
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"pattern": "sarif-schema-2.1.0.json$"},
        "runs": {"items": {"$ref": "#/$defs/run"}},
    },
    "additionalProperties": False,
    "$defs": {
        "run": {
            "required": ["tool", "results"],
            "properties": {"tool": {"$ref": "#/$defs/tool"}, "results": {"items": {"$ref": "#/$defs/result"}}},
            "additionalProperties": False,
        },
        "tool": {
            "required": ["driver"],
            "properties": {
                "driver": {"required": ["name"], "properties": {"rules": {"items": {"$ref": "#/$defs/rule"}}}}
            },
        },
        "rule": {
            "required": ["id"],
            "properties": {"id": {"type": "string"}, "shortDescription": TEXT, "fullDescription": TEXT},
            "additionalProperties": False,
        },
        "result": {
            "required": ["message", "locations"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": TEXT,
                "locations": {"minItems": 1, "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"additionalProperties": {"type": "string"}},
            },
            "if": {"properties": {"kind": {"const": "fail"}}},
            "else": {"properties": {"level": {"const": "none"}}},  # 3.27.10
            "additionalProperties": False,
        },
        "location": {
            "properties": {
                "physicalLocation": {
                    "required": ["artifactLocation"],
                    "properties": {
                        "artifactLocation": {"properties": {"uri": {"pattern": "^[^ \\\\/][^ \\\\]*$"}}},
                        "region": {"required": ["startLine"], "properties": {"startLine": {"minimum": 1}}},
                    },
                }
            }
        },
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{30 + i // 3},{'ab'[i % 2]}\n" for i in range(60))
    (tmp_path / "release.csv").write_text("age,ill\n" + rows)
    (tmp_path / "unmask.toml").write_text(DOCUMENT)
    return tmp_path


def sarif(path: Path) -> tuple[list[dict], list[dict]]:
    """Its rules and its results, both in the form that the standard requires."""
    log = json.loads(path.read_text())
    jsonschema.validate(log, SARIF)
    (run_logged,) = log["runs"]
    rules = run_logged["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run_logged["results"])
    return rules, run_logged["results"]


def test_sarif_has_a_rule_for_each_condition_and_a_result_for_each_that_is_not_met(folder: Path) -> None:
    (folder / "of us").mkdir()
    for name in ("release.csv", "unmask.toml"):
        (folder / name).rename(folder / "of us" / name)
    assert run("audit", "of us/unmask.toml", "--sarif", "x.sarif")[0] == 3
    rules, results = sarif(folder / "x.sarif")
    conditions = ("k>=5", "realized_success.excess<=0.02", "l_distinct>=2")
    assert [rule["id"] for rule in rules] == [f"the policy of the document/{condition}" for condition in conditions]
    assert [(result["ruleIndex"], result["kind"], result["level"]) for result in results] == [
        (0, "fail", "error"),
        (1, "open", "none"),
    ]
    assert results[0]["message"]["text"] == "release: k is 3, limit 5."
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert places == {"of%20us/unmask.toml"}


def test_without_a_document_a_result_is_at_its_release(folder: Path) -> None:
    (folder / "other.csv").write_text("age,ill\n" + "30,a\n30,b\n" * 20)
    (folder / "release.csv.gz").write_bytes(gzip.compress((folder / "release.csv").read_bytes()))
    command = [
        "audit",
        "other.csv",
        "release.csv.gz",
        "-q",
        "age",
        "-s",
        "ill",
        "--policy",
        "k >= 5",
        "--sarif",
        "x.sarif",
    ]
    assert run(*command)[0] == 3
    ((result,), again) = sarif(folder / "x.sarif")[1], run(*command)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "release.csv.gz"
    assert (again[0], "exists" in again[2]) == (2, True)
    (folder / "items.csv").write_text("item,cluster,subject\n1,a,x\n2,a,y\n3,b,x\n")
    linked = ["audit", "linkage", "--truth", "items.csv", "--guess", "items.csv", "--policy", "breached >= 2"]
    assert run(*linked, "--sarif", "y.sarif")[0] == 3
    assert len(sarif(folder / "y.sarif")[1]) == 1


def test_met_conditions_leave_no_result_and_a_run_without_conditions_is_refused(folder: Path) -> None:
    command = ["audit", "release.csv", "-q", "age", "-s", "ill", "--sarif", "x.sarif"]
    assert run(*command, "--policy", "k >= 2")[0] == 0
    rules, results = sarif(folder / "x.sarif")
    assert (len(rules), results) == (1, [])
    code, _, error = run(*command, "--force")
    assert (code, "give --policy" in error) == (2, True)


# --- the action -------------------------------------------------------------------------------------------------------


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())

STEPS = {step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]}


def test_the_action_names_only_what_it_has() -> None:
    text = (ROOT / "action.yml").read_text()
    inputs_used = set(re.findall(r"\$\{\{[^}]*?inputs\.([\w-]+)", text))
    assert inputs_used == set(ACTION["inputs"])
    assert all("${{" not in step.get("run", "") for step in STEPS.values())  # an input would be run as a program
    assert all("@" in step["uses"] for step in STEPS.values() if "uses" in step)
    assert all(step["shell"] == "bash" for step in STEPS.values() if "run" in step)


def act(folder: Path, **inputs: str) -> tuple[int, str, dict[str, str], str]:
    """Exit code and output of the step that audits, as a runner runs it, its outputs and the summary of the job."""
    bin_ = folder / "temp/unmask/bin"
    bin_.mkdir(parents=True)
    for name, code in (("unmask", f'exec {sys.executable} -m unmask "$@"'), ("python", f'exec {sys.executable} "$@"')):
        (bin_ / name).write_text(f"#!/bin/sh\n{code}\n")
        (bin_ / name).chmod(0o755)
    files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment_inputs = {"DOCUMENT": "unmask.toml", "AUDIT": "", "POLICY": "", **inputs}
    known = {"RUNNER_TEMP": folder / "temp", "GITHUB_ACTION_PATH": ROOT, **files, "PYTHONPATH": ROOT / "src"}
    script = folder / "step.sh"
    script.write_text(STEPS["Audit"]["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    environment = {**os.environ, **environment_inputs, **{name: str(value) for name, value in known.items()}}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    summary = files["GITHUB_STEP_SUMMARY"]
    return done.returncode, done.stdout, outputs, summary.read_text() if summary.exists() else ""


def test_the_action_annotates_summarizes_and_fails(folder: Path) -> None:
    code, output, outputs, summary = act(folder)
    assert code == 3
    missed, untested = output.splitlines()
    assert missed == "::error file=unmask.toml,title=the policy of the document%3A missed::release: k is 3, limit 5."
    assert untested.startswith(
        "::warning file=unmask.toml,title=the policy of the document%3A not tested::release: Values | inferred could"
    )
    assert outputs["verdict"] == "not acceptable"
    assert {path.name for path in Path(outputs["folder"]).iterdir()} == {"unmask.html", "unmask.json", "unmask.sarif"}
    assert summary.startswith(
        "### release: Not acceptable under the policy of the document: 1 of 3 conditions is missed"
    )
    assert "| missed | k | 3 | 5 | board: 100 %, 2026 |" in summary
    assert "Values \\| inferred" in summary


def test_policies_of_the_action_take_the_place_of_the_document_s(folder: Path) -> None:
    code, output, outputs, summary = act(folder, POLICY="k >= 2\n\nunique_rows <= 0\n")
    assert (code, output, outputs["verdict"]) == (0, "", "acceptable")
    assert "all 2 conditions are met" in summary


def test_no_audit_is_no_pass(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENT.partition("[[policy]]")[0])
    code, output, outputs, summary = act(folder)
    assert (code, output) == (2, "::error::no audit took place, exit code 2\n")
    assert ("verdict" in outputs, summary) == (False, "")


def test_a_text_of_others_writes_no_command_of_a_workflow() -> None:
    spec = importlib.util.spec_from_file_location("verdict", ROOT / ".github/verdict.py")
    verdict = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verdict)
    line = {"release": "a\n::set-env name=x::", "name": "n", "state": "untested", "why": "b", "policy": "p,file=/etc::"}
    annotation = verdict.annotation(line | {"condition": "k>=5"}, "r.csv")
    assert annotation.count("\n") == 0
    assert "title=p%2Cfile=/etc%3A%3A%3A not tested::" in annotation


# --- hooks and the image ----------------------------------------------------------------------------------------------


HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


def hooked(name: str) -> int:
    """The exit code of a hook as it is declared."""
    program, *words = [*shlex.split(HOOKS[name]["entry"]), *HOOKS[name]["args"]]
    assert program == "unmask"
    return run(*words)[0]


def test_a_hook_refuses_what_the_document_does_not_accept(folder: Path) -> None:
    assert hooked("unmask-audit") == 3
    (folder / "unmask.toml").write_text(DOCUMENT.partition("[[policy]]")[0] + '[[policy]]\nrequire = "k >= 3"\n')
    assert hooked("unmask-audit") == 0
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    assert hooked("unmask-certify") == 0
    with (folder / "release.csv").open("a") as file:
        file.write("77,a\n")
    assert (hooked("unmask-audit"), hooked("unmask-certify")) == (3, 1)
    (folder / "unmask.toml").write_text(DOCUMENT.partition("[[policy]]")[0])
    assert hooked("unmask-audit") == 2  # nothing to judge by is no pass


def test_hooks_watch_releases_documents_and_nothing_else() -> None:
    watched = HOOKS["unmask-audit"]["files"]
    assert all(re.search(watched, name) for name in ("a/release.csv", "r.csv.gz", "r.parquet", "unmask.toml"))
    assert not any(re.search(watched, name) for name in ("main.py", "README.md", "csv.txt"))


def test_the_image_runs_unmask_without_privileges() -> None:
    lines = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text()).splitlines()
    commands = [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]
    last = dict(commands)
    assert commands[0][0] == "FROM"
    assert last["USER"] not in ("root", "0")
    assert json.loads(last["ENTRYPOINT"]) == ["unmask"]
    copied = [command.split()[:-1] for word, command in commands if word == "COPY" and not command.startswith("--from")]
    assert all((ROOT / source).exists() for sources in copied for source in sources)
