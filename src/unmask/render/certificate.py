"""A certificate: what an audit found, as one page to sign, made of the JSON that can be checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from unmask.findings.verdict_words import STATE, describe_outcome, format_line, name_line
from unmask.measures.registry import SHARES
from unmask.policy.verdict import State
from unmask.render.page import written
from unmask.render.page_parts import Bullets, Grid, Page, Section, Terms, Words, grid, lead, parts
from unmask.results.formats import SPACE, estimate, percent
from unmask.results.names import CERTIFICATE_TEXTS
from unmask.results.rows import ORIGINAL
from unmask.results.words import as_sentences, join_names, wrong_by

BLANK = "\u2026" * 22

CLAUSES = (
    ("ISO/IEC 27559:2022, 6.2, 7.3", "threat and attack modeling", "who attacked, and what they know"),
    (
        "ISO/IEC 27559:2022, 7.3.2",
        "maximum or average risk",
        "highest risk is the maximum, what they reach the average",
    ),
    ("ISO/IEC 27559:2022, 8.2.2, 8.2.3", "quantified identifiability, adversarial testing", "what they reach"),
    ("ISO/IEC 27559:2022, 8.3.4", "re-evaluation", "date of the next review; the command that checks"),
    ("Harmonized anonymization report (EMA, Health Canada)", "method, threshold, residual risk", "release; conditions"),
    ("HIPAA, 45 CFR 164.514(b)(1)(i)", "an expert finds the risk very small", "what they reach, for the expert"),
    ("HIPAA, 45 CFR 164.514(b)(1)(ii)", "methods and results documented", "this page and its JSON, signed"),
    ("ICO, anonymisation guidance", "motivated intruder test", "the strongest adversary"),
)
"""Requirements of rules, and the part of the certificate that answers them. Uncertain clause numbers are left out.

ISO/IEC 27559:2022, table of contents. 45 CFR 164.514(b)(1).
"""

REACHED = ("success_probability", "realized_success", "recall", "singled_out", "parts_linked")
"""Measures of what an adversary reaches, the one that is shown last."""

ERROR = "estimation_error"
"""Expected error of the adversary."""

WP216: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "singling out": lambda row: row["measure"].startswith("singled_out"),
    "linkability": lambda row: row["measure"] == "parts_linked" or row["target"] == "linkage",
    "inference": lambda row: row["measure"] in REACHED and row["target"] not in ("identity", "linkage", "membership"),
}
"""A risk of Opinion 05/2014 -> whether a row of results is about it."""

Table = Sequence[Mapping[str, Any]]


def certificate(audit: Mapping[str, Any], digest: str) -> str:
    """Return the page of an audit's JSON; digest : the SHA-256 of the file that holds it."""
    title = f"Certificate: {_table(audit, 'about')[0]['title']}"
    return written(Page(title, (), tuple(_sections(audit, digest)), style="certificate"))


def _sections(audit: Mapping[str, Any], digest: str) -> Iterator[Section]:
    verdict = parts(Words(_verdict(audit), "contrast"), _conditions(audit), _warned(audit))
    yield Section("verdict", "Is it acceptable?", verdict)
    yield Section("release", "What was released", parts(_released(audit), _answers(audit)))
    yield Section("adversaries", "Who attacked, and what they reach", parts(_knowledge(audit), _reached(audit)))
    if audit["not_run"]:
        not_tested = grid(("What", "Why"), [(item["what"], item["why"]) for item in audit["not_run"]], text=2)
        yield Section("not-run", "What was not tested", (not_tested,))
    yield Section("clauses", "Which rules this answers", parts(lead(NO_LAW), _clauses(audit)))
    yield Section("signed", "Signatures", (Terms((("Date", (BLANK,)), ("Name", (BLANK,)), ("Signature", (BLANK,)))),))
    yield Section("check", "How to check this certificate", (Terms(tuple(_check(audit, digest)), "reproduce"),))


NO_LAW = "These are measurements of the attacks named here. Whether they are enough is for people to decide."


def _table(audit: Mapping[str, Any], name: str) -> Table:
    table: Table = audit["tables"].get(name, ())
    return table


def _verdict(audit: Mapping[str, Any]) -> str:
    """Return the verdict on each release in a sentence."""
    lines = _table(audit, "verdicts")
    groups: dict[tuple[str, str], list[State]] = {}
    for line in lines:
        groups.setdefault((line["release"], line["policy"]), []).append(line["state"])
    if not groups:
        return "No verdict: the audit has no policy."
    return " ".join(f"{release}: {describe_outcome(policy, states)}" for (release, policy), states in groups.items())


def _warned(audit: Mapping[str, Any]) -> Bullets | None:
    """Return the warnings of the audit."""
    return Bullets(as_sentences(audit["warnings"])) if audit["warnings"] else None


def _conditions(audit: Mapping[str, Any]) -> Grid:
    head, lines = ("Release", "Condition", "Required by", "Verdict", "Value", "Limit"), _table(audit, "verdicts")
    first = int(len({line["release"] for line in lines}) <= 1)  # the name of a single release is left out
    return grid(head[first:], (_condition(line)[first:] for line in lines), text=4 - first)


def _condition(line: Mapping[str, Any]) -> tuple[str, ...]:
    return line["release"], name_line(line), line["source"] or "\u2013", STATE[line["state"]], *format_line(line)


def _released(audit: Mapping[str, Any]) -> Terms:
    """Return the files of the audit, with the digests of those that may be shown."""
    unit = _table(audit, "about")[0].get("unit")
    counted = (("Unit of counting", (unit,)),) if unit else ()
    return Terms((*((file["name"], (_file(file),)) for file in audit["inputs"]), *counted), "reproduce")


def _file(file: Mapping[str, Any]) -> str:
    rows = f"{file['rows']:,} rows" if file["rows"] else ""
    digest = f"SHA-256 {file['sha256']}" if file["sha256"] else "kept by the owner"
    return ", ".join(filter(None, (file["role"], rows, digest)))


def _answers(audit: Mapping[str, Any]) -> Terms:
    answers = {answer["what"]: answer["said"] for answer in _table(audit, "certificate")}
    return Terms(tuple((words, (answers.get(key, BLANK),)) for key, words in CERTIFICATE_TEXTS.items()))


def _knowledge(audit: Mapping[str, Any]) -> Terms:
    return Terms(tuple((adversary["adversary"], (adversary["knows"],)) for adversary in _table(audit, "known")))


def _reached(audit: Mapping[str, Any]) -> Grid:
    """Return the success of each adversary, realized if the truth is known, else expected; or an error.

    The highest risk is always the adversary's belief: realized success is 0 or 1 for each person, and its highest value
    means nothing. The name of a single release is left out, and so is a column in which nothing is known.
    """
    strongest: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for measure in REACHED:
        strongest |= {_key(row): row for row in audit["results"] if row["measure"] == measure and _is_number(row)}
    rows_with_values = [row for row in audit["results"] if _is_number(row)]
    worst = {_key(row): row["worst"] for row in rows_with_values if row["measure"] == REACHED[0]}
    rows = [_reach(row, worst.get(_key(row))) for row in strongest.values() if row["release"] != ORIGINAL]
    rows += [_away(row) for row in rows_with_values if row["measure"] == ERROR and row["unit"] not in SHARES]
    head = ("Release", "Adversary", "Target", "Reaches", "Guessing", "Control", "Highest risk")
    is_shown = [
        len({row[0] for row in rows}) > 1,
        *(any(row[i] != "\u2013" for row in rows) for i in range(1, len(head))),
    ]
    return grid(compress(head, is_shown), (compress(row, is_shown) for row in rows), text=2 + is_shown[0])


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["release"], row["adversary"], row["target"]


def _is_number(row: Mapping[str, Any]) -> bool:
    return isinstance(row["posterior"], int | float)


def _reach(row: Mapping[str, Any], believed: object) -> tuple[str, ...]:
    control = "\u2013" if row.get("control") is None else percent(row["control"])
    reached = estimate(row["posterior"], row["unit"], row["low"], row["high"])
    worst = percent(believed) if isinstance(believed, int | float) else "\u2013"
    return (*_key(row), reached, percent(row["prior"]), control, worst)


def _away(row: Mapping[str, Any]) -> tuple[str, ...]:
    reached, prior, worst = (
        wrong_by(row[name], row["unit"]) if isinstance(row[name], int | float) else "\u2013"
        for name in ("posterior", "prior", "worst")
    )
    return (*_key(row), reached, prior, "\u2013", worst)


def _clauses(audit: Mapping[str, Any]) -> Grid:
    rows = [row for row in audit["results"] if row["release"] != ORIGINAL and _is_number(row)]
    tested = {risk: any(map(about, rows)) for risk, about in WP216.items()}
    answers = "; ".join(
        f"{risk}: {'what they reach' if is_tested else 'not tested'}" for risk, is_tested in tested.items()
    )
    wp216 = ("WP216 (Opinion 05/2014)", join_names(list(WP216)), answers)
    return grid(("Rule", "Asks for", "Here"), (*CLAUSES[:4], wp216, *CLAUSES[4:]), text=3)


def _check(audit: Mapping[str, Any], digest: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "Version", (f"unmask{SPACE}{audit['unmask']}",)
    yield "Command", ("unmask certify unmask.toml --check certificate.json",)
    yield "SHA-256 of the JSON", (digest,)
