"""A certificate: what an audit found, as one page to sign, made of the JSON that can be checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from unmask.findings.verdict_words import STATE, describe_outcome, format_line, name_line
from unmask.languages import LANGUAGES, Language, mark, retranslate, use_language
from unmask.languages import gettext as _
from unmask.measures.registry import SHARES
from unmask.policy.verdict import State
from unmask.render.page import written
from unmask.render.page_parts import Bullets, Grid, Page, Section, Terms, Words, grid, lead, parts
from unmask.results.formats import SPACE, estimate, percent
from unmask.results.names import CERTIFICATE_TEXTS, IDENTITY, LINKAGE, MEMBERSHIP, PARTS, RARE, SECRET, SINGLING
from unmask.results.rows import ORIGINAL
from unmask.results.scope import describe_subject
from unmask.results.words import as_sentences, wrong_by

BLANK = "\u2026" * 22

CLAUSES = (
    ("ISO/IEC 27559:2022, 6.2, 7.3", mark("threat and attack modeling"), mark("who attacked, and what they know")),
    (
        "ISO/IEC 27559:2022, 7.3.2",
        mark("maximum or average risk"),
        mark("highest risk is the maximum, what they reach the average"),
    ),
    (
        "ISO/IEC 27559:2022, 8.2.2, 8.2.3",
        mark("quantified identifiability, adversarial testing"),
        mark("what they reach"),
    ),
    (
        "ISO/IEC 27559:2022, 8.3.4",
        mark("re-evaluation"),
        mark("date of the next review; the command that checks"),
    ),
    (
        mark("Harmonized anonymization report (EMA, Health Canada)"),
        mark("method, threshold, residual risk"),
        mark("release; conditions"),
    ),
    (
        "HIPAA, 45 CFR 164.514(b)(1)(i)",
        mark("an expert finds the risk very small"),
        mark("what they reach, for the expert"),
    ),
    (
        "HIPAA, 45 CFR 164.514(b)(1)(ii)",
        mark("methods and results documented"),
        mark("this page and its JSON, signed"),
    ),
    (mark("ICO, anonymisation guidance"), mark("motivated intruder test"), mark("the strongest adversary")),
)
"""Requirements of rules, and the part of the certificate that answers them. Uncertain clause numbers are left out.

ISO/IEC 27559:2022, table of contents. 45 CFR 164.514(b)(1).
"""

REACHED = ("success_probability", "realized_success", "recall", "singled_out", "parts_linked")
"""Measures of what an adversary reaches, the one that is shown last."""

ERROR = "estimation_error"
"""Expected error of the adversary."""

WP216: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    mark("singling out"): lambda row: row["measure"].startswith("singled_out"),
    mark("linkability"): lambda row: row["measure"] == "parts_linked" or row["target"] == "linkage",
    mark("inference"): lambda row: (
        row["measure"] in REACHED and row["target"] not in ("identity", "linkage", "membership")
    ),
}
"""A risk of Opinion 05/2014 -> whether a row of results is about it."""

TARGETS = (IDENTITY, LINKAGE, MEMBERSHIP, RARE, SECRET, SINGLING, PARTS)
"""Targets that are not the name of a column."""

Table = Sequence[Mapping[str, Any]]


def certificate(audit: Mapping[str, Any], digest: str, language: Language = "en") -> str:
    """Return the page of an audit's JSON.

    Parameters
    ----------
    audit : mapping
        The JSON, which is in English in every language.
    digest : str
        SHA-256 of the file that holds it.
    language : {"en", "de", "fr", "es"}
        Language of the page. Names of columns, files and policies of the user are as in the JSON.
    """
    with use_language(language):
        title = _("Certificate: {title}", title=retranslate(_table(audit, "about")[0]["title"]))
        return written(Page(title, (), tuple(_sections(audit, digest)), style="certificate", language=language))


def read_language(page: str) -> Language:
    """Return the language of the page of a certificate.

    >>> read_language('<html lang="fr">'), read_language("")
    ('fr', 'en')
    """
    return next((language for language in LANGUAGES if f'<html lang="{language}">' in page), "en")


def _sections(audit: Mapping[str, Any], digest: str) -> Iterator[Section]:
    warnings = Bullets(as_sentences(map(retranslate, audit["warnings"])))
    verdict = parts(Words(_verdict(audit), "contrast"), _conditions(audit), warnings)
    yield Section("verdict", _("Is it acceptable?"), verdict)
    yield Section("release", _("What was released"), parts(_released(audit), _answers(audit)))
    yield Section("adversaries", _("Who attacked, and what they reach"), parts(_knowledge(audit), _reached(audit)))
    if audit["not_run"]:
        rows = [(retranslate(item["what"]), retranslate(item["why"])) for item in audit["not_run"]]
        yield Section("not-run", _("What was not tested"), (grid((_("What"), _("Why")), rows, text=2),))
    yield Section("clauses", _("Which rules this answers"), parts(lead(_(NO_LAW)), _clauses(audit)))
    lines = tuple((label, (BLANK,)) for label in (_("Date"), _("Name"), _("Signature")))
    yield Section("signed", _("Signatures"), (Terms(lines),))
    heading = _("How to check this certificate")
    yield Section("check", heading, (Terms(tuple(_check(audit, digest)), "reproduce"),))


NO_LAW = mark("These are measurements of the attacks named here. Whether they are enough is for people to decide.")


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
        return _("No verdict: the audit has no policy.")
    return " ".join(
        _("{name}: {text}", name=release, text=describe_outcome(policy, states))
        for (release, policy), states in groups.items()
    )


def _conditions(audit: Mapping[str, Any]) -> Grid:
    head = (_("Release"), _("Condition"), _("Required by"), _("Verdict"), _("Value"), _("Limit"))
    lines = _table(audit, "verdicts")
    first = int(len({line["release"] for line in lines}) <= 1)  # the name of a single release is left out
    return grid(head[first:], (_condition(line)[first:] for line in lines), text=4 - first)


def _condition(line: Mapping[str, Any]) -> tuple[str, ...]:
    source, state = line["source"], STATE[line["state"]]
    return line["release"], name_line(line), _(source) if source else "\u2013", _(state), *format_line(line)


def _released(audit: Mapping[str, Any]) -> Terms:
    """Return the files of the audit, with the digests of those that may be shown."""
    unit = _table(audit, "about")[0].get("unit")
    counted = ((_("Unit of counting"), (retranslate(unit),)),) if unit else ()
    return Terms((*((file["name"], (_file(file),)) for file in audit["inputs"]), *counted), "reproduce")


def _file(file: Mapping[str, Any]) -> str:
    rows = _("{n} rows", n=file["rows"]) if file["rows"] else ""
    digest = f"SHA-256 {file['sha256']}" if file["sha256"] else _("kept by the owner")
    role = file["role"]
    return ", ".join(filter(None, (_(role), rows, digest)))


def _answers(audit: Mapping[str, Any]) -> Terms:
    answers = {answer["what"]: answer["said"] for answer in _table(audit, "certificate")}
    return Terms(tuple((_(words), (answers.get(key, BLANK),)) for key, words in CERTIFICATE_TEXTS.items()))


def _knowledge(audit: Mapping[str, Any]) -> Terms:
    adversaries = _table(audit, "known")
    names = [(item["adversary"], item["knows"]) for item in adversaries]
    return Terms(tuple((_(name), (_describe(name, words),)) for name, words in names))


def _describe(adversary: str, words: str) -> str:
    """Return an adversary as a phrase of its own, with a capital."""
    subject = describe_subject(adversary, words).removesuffix(",")
    return subject[0].upper() + subject[1:]


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
    head = (
        _("Release"), _("Adversary"), _("Target"), _("Reaches"), _("Guessing"), _("Control"), _("Highest risk"),
    )  # fmt: skip
    is_shown = [
        len({row[0] for row in rows}) > 1,
        *(any(row[i] != "\u2013" for row in rows) for i in range(1, len(head))),
    ]
    return grid(compress(head, is_shown), (compress(row, is_shown) for row in rows), text=2 + is_shown[0])


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["release"], row["adversary"], row["target"]


def _name(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the release, and adversary and target in the language of the page."""
    adversary, target = row["adversary"], row["target"]
    return row["release"], _(adversary), _(target) if target in TARGETS else target


def _is_number(row: Mapping[str, Any]) -> bool:
    return isinstance(row["posterior"], int | float)


def _reach(row: Mapping[str, Any], believed: object) -> tuple[str, ...]:
    control = "\u2013" if row.get("control") is None else percent(row["control"])
    reached = estimate(row["posterior"], row["unit"], row["low"], row["high"])
    worst = percent(believed) if isinstance(believed, int | float) else "\u2013"
    return (*_name(row), reached, percent(row["prior"]), control, worst)


def _away(row: Mapping[str, Any]) -> tuple[str, ...]:
    reached, prior, worst = (
        wrong_by(row[name], row["unit"]) if isinstance(row[name], int | float) else "\u2013"
        for name in ("posterior", "prior", "worst")
    )
    return (*_name(row), reached, prior, "\u2013", worst)


def _clauses(audit: Mapping[str, Any]) -> Grid:
    rows = [row for row in audit["results"] if row["release"] != ORIGINAL and _is_number(row)]
    tested = {risk: any(map(about, rows)) for risk, about in WP216.items()}
    answers = [
        _("{name}: {text}", name=_(risk), text=_("what they reach") if is_tested else _("not tested"))
        for risk, is_tested in tested.items()
    ]
    wp216 = ("WP216 (Opinion 05/2014)", _("singling out, linkability and inference"), "; ".join(answers))
    clauses = [tuple(map(_, clause)) for clause in CLAUSES]
    return grid((_("Rule"), _("Asks for"), _("Here")), (*clauses[:4], wp216, *clauses[4:]), text=3)


def _check(audit: Mapping[str, Any], digest: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield _("Version"), (f"unmask{SPACE}{audit['unmask']}",)
    yield _("Command"), ("unmask certify unmask.toml --check certificate.json",)
    yield _("SHA-256 of the JSON"), (digest,)
