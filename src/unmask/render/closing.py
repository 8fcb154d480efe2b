"""Last sections of a page: assumptions, missing results, and reproduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unmask.findings.row_words import measure_name
from unmask.render.page_parts import Bullets, Section, Terms, grid, lead, parts
from unmask.results.words import plural

Group = tuple[list[str], str, str]
"""Things that share a reason, the word for them, and the reason."""


def not_run_section(not_run: Sequence[tuple[str, str]]) -> Section | None:
    """Return a section with one line for each reason."""
    rows = [("; ".join(things), word, reason) for things, word, reason in not_run_groups(not_run)]
    table = grid(("What", "Status", "Why"), rows, text=3)
    heading = "What was not run, and what failed"
    meaning = lead("\u201cNot run\u201d and \u201cfailed\u201d do not mean zero risk.")
    n_failed = sum(status == "failed" for _, status, _ in rows)
    reasons = f"{plural(len(rows), 'reason')} for missing results"
    finding = f"{reasons}, {n_failed} of them a failure." if n_failed else f"{reasons}. Nothing failed."
    return Section("not-run", heading, parts(meaning, table), finding) if rows else None


def not_run_groups(not_run: Sequence[tuple[str, str]]) -> list[Group]:
    """Return what was not run, its status, and the reason: one group for each reason, failures first.

    Lists of measures that differ only in their subjects become one line, as in "rank, log_loss_bits (register,
    identity)" and "rank, log_loss_bits (register, pay)", and measures go by their names.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for thing, reason in not_run:
        names, subjects = _measures_of(thing)
        groups.setdefault(reason, {}).setdefault(names, []).extend([subjects] if subjects else [])
    ordered = [
        (
            [f"{names} \u2013 {'; '.join(subjects)}" if subjects else names for names, subjects in things.items()],
            "failed" if reason.lower().startswith("failed") else "not run",
            reason,
        )
        for reason, things in groups.items()
    ]
    return sorted(ordered, key=lambda group: group[1] != "failed")


def _measures_of(thing: str) -> tuple[str, str]:
    """Split "rank, log_loss_bits (register, identity)" into names for readers and the subject; return other texts
    unchanged.
    """
    measures, _, subjects = thing.removesuffix(")").partition(" (")
    names = [measure_name(name) for name in measures.split(", ")]
    if not subjects or not all(names):
        return thing, ""
    text = ", ".join(name for name in names if name)
    return text[0].upper() + text[1:], subjects


def closing(
    assumptions: Sequence[str], not_run: Section | None, reproduce: Mapping[str, object]
) -> tuple[Section | None, ...]:
    """Return the last sections: assumptions, what was not run, and how the page was made."""
    lines = tuple((name, (str(value),)) for name, value in reproduce.items())
    finding = f"{plural(len(assumptions), 'assumption')}."
    assumed = (
        Section("assumptions", "What was assumed", (Bullets(tuple(assumptions)),), finding) if assumptions else None
    )
    version = f"By {reproduce['Version']}." if "Version" in reproduce else f"{plural(len(lines), 'line')}."
    terms = (Terms(lines, "reproduce"),)
    reproduction = Section("reproduce", "How this page was made", terms, version) if lines else None
    return assumed, not_run, reproduction


def describe_readers(smallest_group: int, *, cases: bool = False) -> str:
    """Return the intended readers of a page; `cases` for a page about a mechanism and not about people."""
    if cases:
        return "You can share this page. It is about a mechanism, and shows no secret, file path or seed."
    if smallest_group <= 1:
        return "For the owner of the data only: this page shows groups of any size, and single people."
    return (
        "You can share this page with people who decide about the release or receive it. It shows no record, file path "
        f"or seed. It describes no fewer than {smallest_group:,} people, except in k, the highest risk, shares, and "
        "expected or matched numbers."
    )
