"""Requests that no person would make by hand, for the screens of `unmask open`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

STEPS = ("open", "roles", "adversaries", "verdict", "protect", "sign")
PATHS = (
    *(f"/{step}" for step in STEPS), "/", "/job/verdict", "/job/..", "/events/study", "/files/release.csv",
    "/files/unmask.toml", "/static/app.css", "/report.css", "/%00", "/roles/", "//roles", "/\u00e9",
)  # fmt: skip
FIELDS = {
    "open": ("do", "path", "upload", "folder", "encoding", "delimiter", "decimal", "missing", "workflow"),
    "roles": (
        "do", *(f"role-{index}" for index in range(10)), "role-999", "type-0", "type-1", "type-8", "hierarchy",
        "column", "level", "node", "group", "new", "name-0", "start", "size", "widths", "origin", "finest",
        "linkage.truth", "linkage.item", "linkage.clusters", "linkage.guesses", "linkage.missing",
        "aggregates.tables", "aggregates.original",
        "protections.adopters", "protections.model", "protections.budget", "channel.loss", "channel.prior",
    ),
    "adversaries": (
        "do", "register-on", "register.file", "register.coverage", "control-on", "control.file", "data.hold_back",
        "parts-on",
        "part-0", "part-1", "attacker-on", "gain", "fine", "colleague-on", "error", "audit.targets", "policy",
        "require",
        "aggregates.sensitive", "aggregates.group_size",
        "linkage.beta", "linkage.min_size", "linkage.wanted", "breached<=", "graph.seeds",
        "graph.attacks", "recall<=", "estimation_error>=",
    ),
    "verdict": ("do", "change"),
    "protect": ("do", "point", "against"),
    "sign": ("purpose", "released_by"),
}  # fmt: skip
OTHERS = ("back", "version", "\u0000", "", "key")
USUAL = {
    "roles": {"role-0": "drop", "role-8": "drop"} | {f"role-{index}": "quasi-identifier" for index in range(1, 8)},
    "adversaries": {"policy": "ema-0.09", "register.coverage": "100", "data.hold_back": "20", "error": "10"},
}
"""A request as a page sends it; a generated form changes a part."""

VALUES = (
    "", "0", "1", "-1", "1e999", "nan", "inf", "99999999999999999999", "0x10", "\u0661", "\u00b2", "\x00", "\u202e",
    "'\"<>&",
    "drop", "quasi-identifier", "sensitive", "keep", "weight", "continue", "apply", "open", "read", "another", "demo",
    "workflow", "linkage", "graph", "channel", "aggregates",
    "zip", "sex", "alone", "alphabetical", "rare", "parts", "intervals", "move", "rename", "add", "finest", "import",
    "resume", "discard", "start", "again", "use", "change", "own", "ema-0.09", "strict", "k >= 5", "k >= ",
    "utf-16", "hex", "idna", "rot13", "\t", ";", "date", "ordinal", "date:day-first", "/etc/passwd", "/dev/zero", "/",
    "~", "~nobody", "..", "no.csv", "unmask.toml", "x" * 5_000, "{{ 7 * 7 }}", "%s%n", "\U0001f600", "a\r\nb: c",
)  # fmt: skip
SENT = ("upload", "register.file file", "file", "linkage.guesses file", "channel.prior file", "aggregates.tables file")
DESCRIPTION = b"[domain]\na = ['b']\n[[tables]]\nfile = 't.csv'\ncolumns = ['a']\n"
FILES = (
    b"", b"a\n1\n", b"PAR1PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\xff\xfe", b"\x00" * 100, b'a,"b\n', b"[data]\n",
    DESCRIPTION,
)  # fmt: skip


def generated(n: int, *, seed: int) -> Iterator[dict[str, Any]]:
    """Requests as `httpx` takes them; half of the forms have what the page has in it."""
    rng = np.random.default_rng(seed)

    def choose_from(options: tuple[Any, ...]) -> Any:
        return options[int(rng.integers(len(options)))]

    for _ in range(n):
        step = choose_from(STEPS)
        names = FIELDS[step] if rng.random() < 0.8 else (*OTHERS, *FIELDS[choose_from(STEPS)])
        fields = {choose_from(names): choose_from(VALUES) for _ in range(rng.integers(0, 6))}
        if rng.random() < 0.4:
            yield {"method": "GET", "url": choose_from(PATHS), "params": fields}
            continue
        files = {choose_from(SENT): (choose_from(VALUES), choose_from(FILES))}
        sent = {"files": files} if rng.random() < 0.4 else {}
        is_whole = bool(rng.random() < 0.9)
        fields = {**USUAL.get(step, {}), **fields} if rng.random() < 0.8 else fields
        yield {"method": "POST", "url": f"/{step}", "data": fields, "whole": is_whole, **sent}
