"""The tutorial does what it says: its Python, its plan and its commands are run one after the other."""

import doctest
import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from unmask.cli import main

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.md"


def test_from_a_table_to_a_decision(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = TUTORIAL.read_text(encoding="utf-8")
    ran = []
    names = {}
    for language, block in re.findall(r"```(\w*)\n(.*?)```", text, flags=re.DOTALL):
        if language == "python":
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            test = doctest.DocTestParser().get_doctest(block, names, "tutorial", None, 0)
            assert doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed == 0
            names = test.globs
        elif language == "toml":
            Path("plan.toml").write_text(block, encoding="utf-8")
        else:
            for line in block.strip().splitlines():
                program, *arguments = shlex.split(line)
                assert program == "unmask"
                done = CliRunner().invoke(main, arguments)
                assert done.exit_code == 0, (line, done.output)
                ran.append((arguments[0], done.output))
    output = dict(ran)
    assert [name for name, _ in ran] == [
        "protect", "audit", "choose", "study", "study", "report", "choose", "protect", "audit",
    ]  # fmt: skip
    assert "take Mondrian k=10" in output["choose"]
    audit = ran[1][1].replace("\xa0", " ")
    assert all(figure in text and figure in audit for figure in ("95.7 %", "19.6 %", "62.4 %", "57.3 %"))
    assert {"report.html", "study.html", "run"} <= {path.name for path in tmp_path.iterdir()}
