"""The files of the fuzzer: tables, networks, items, channels and plans, whole or broken in many ways, oddly named."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np

CANARY = "CANARY77"
"""A word that stands in cells alone."""

COLUMNS = ["age", "sex", "zip", "diagnosis", "name", "no such column"]

HOSTILE_NAMES = (
    "-", "--", "", " ", ".", "..", "/", "/dev/null", "/dev/full", "/dev/zero", "/proc/self/mem", "/dev/null/x",
    "x" * 300, "\u202egnp.csv", "\x1b[31m", "../x.csv", "~", "*", "[", "'", '"', ";", "::", "a::b", "x.xlsx::y",
    "\udce9.csv",
    "http://127.0.0.1:9/x.csv", "s3://x/y.parquet", "$(id)", "{{7*7}}", "<script>", "%s%s", "é" * 90,
)  # fmt: skip

_STEMS = ("t", "[b]", "*", "a?b", "it's", "two\nlines", "-dash", ".dot", "zip=9", "größe", "a b", "\u202ex", "{{x}}")
_CELLS = (
    "1", "2", "30", "30", "41", "0", "-1", "1e308", "-1e999", "nan", "inf", "", "NA", "?", "*", "[20, 30)", "[1, 2",
    "{a, b}", "{", "a", "b", f"{CANARY}", f"={CANARY}", f"{CANARY}\u202e", "1,5", "01234", "2020-02-30", "31.12.2020",
    "2020-01-01", "\x00", "\x1b[0m", "x" * 3000, '"', "'", "é", "e\u0301", "\ufeff", "1_000", "٣", "0x1F", "9" * 30,
    "true", "a\nb", "a,b", "a;b", " 7 ", "-",
)  # fmt: skip


class Files:
    """Draws files into a folder; the same from the same random numbers."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        """Set the random numbers of every draw."""
        self.rng, self.folder, self.made = rng, folder, 0

    def make(self, name: str, command: str) -> Path:
        """Make a file for an option of a command; one in ten is of another kind, or unreadable."""
        if self.rng.random() < 0.1:
            return self.any()
        if name == "run":
            return self._new("run", "")
        if name == "plan":
            return self.plan()
        if "channel" in command or command == "design":
            return self.matrix()
        if "graph" in command or "identity" in command:
            return self.links()
        if name == "origin" or name == "origins":
            return self._text("origin.csv", "row\n" + "".join(f"{i}\n" for i in self.rng.sample(range(12), 12)))
        return self.items() if command == "audit linkage" else self.table()

    def any(self) -> Path:
        """Make no file, a file of another kind, or one with an odd name."""
        kind = self.rng.randrange(5)
        if kind == 0:
            return Path(self.rng.choice(HOSTILE_NAMES) or ".")
        path = self._new("odd", self.rng.choice((".csv", ".parquet", ".xlsx", ".gz", "")))
        if kind == 1:
            path.mkdir()
        elif kind == 2:
            path.symlink_to(self.rng.choice(("nowhere", path.name, "/dev/zero", "..")))
        elif kind == 3:
            path.write_bytes(self.rng.randbytes(self.rng.choice((0, 1, 7, 5000))))
        else:
            path.write_bytes(
                self.rng.choice((b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\xff\xfe", b"\xd0\xcf\x11\xe0")) + b"\0" * 40
            )
        return path

    def output(self, name: str) -> Path:
        """Return an output path: mostly a fresh name, sometimes one that exists or is impossible."""
        if self.rng.random() < 0.15:
            odd = self.rng.choice(HOSTILE_NAMES)
            return Path(odd if not odd.startswith("/") or odd == "/dev/null/x" else "out.csv")
        suffix = {"report": ".html", "curve": ".csv", "export": "", "folder": "", "pairs": ".parquet"}.get(name)
        ends = (".csv", ".csv", ".parquet", ".tsv.gz", ".txt", ".net", ".html", ".xlsx", "")
        path = self._new("out", self.rng.choice(ends) if suffix is None else suffix)
        if self.rng.random() < 0.15:
            path.write_text("old") if self.rng.random() < 0.7 else path.mkdir()
        return path

    def stdin(self) -> bytes:
        """Return the content of a pipe."""
        return self.rng.choice(
            (b"", b"\n", b"identity\nhamming\none\n", b"age,sex\n1,f\n1,f\n", b"\xff\xfe\0", b"PAR1")
        )

    def table(self) -> Path:
        """Write rows about people in one of the formats, with odd cells in one of three files."""
        rng = self.rng
        odd = rng.random() < 0.35
        names = (
            COLUMNS[:5]
            if rng.random() < 0.9
            else rng.choice((["age", "age"], ["=age", "zip"], ["", "age"], ["age"], ["a\u202eb"] * 2))
        )
        rows = [self._person(len(names), odd=odd) for _ in range(rng.choice((0, 1, 12, 12, 40)))]
        if rng.random() < 0.12:
            return self._parquet(names, rows)
        text = io.StringIO()
        delimiter = rng.choice(",,,;\t|")
        csv.writer(text, delimiter=delimiter, lineterminator=rng.choice(("\n", "\r\n"))).writerows([names, *rows])
        content = text.getvalue().encode(
            rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig", "cp1252")), errors="replace"
        )
        suffix = rng.choice((".csv", ".csv", ".csv", ".tsv", ".csv.gz", ".xlsx", ".txt"))
        return self._bytes(suffix, gzip.compress(content) if suffix.endswith("gz") else content)

    def items(self) -> Path:
        """Write items and their subjects or clusters."""
        head = self.rng.choice(("item,subject,cluster", "item,subject,cluster,probability", "item,cluster"))
        names = head.split(",")
        rows = "".join(
            f"{i}{CANARY},{','.join(self.rng.choice(('a', 'b', '', '0.5', 'nan')) for _ in names[1:])}\n"
            for i in range(9)
        )
        return self._text(".csv", f"{head}\n{rows}")

    def links(self) -> Path:
        """Write a network, or the identities of two."""
        rng = self.rng
        ids = range(12) if rng.random() < 0.7 else [f"{CANARY}{i}" for i in range(12)]
        gap = rng.choice((" ", "\t", ",", " "))
        lines = [f"{u}{gap}{v}" for u, v in (rng.sample(list(ids), 2) for _ in range(rng.choice((0, 1, 30))))]
        if rng.random() < 0.2:
            lines.insert(0, rng.choice(("u,v", "# comment", "*vertices 3", "<graphml>", "x", f"{CANARY}")))
        return self._text(rng.choice((".txt", ".csv", ".tsv", ".net", ".graphml", ".txt.gz")), "\n".join(lines) + "\n")

    def matrix(self) -> Path:
        """Write a channel, a loss or a prior: names and numbers."""
        rng = self.rng
        number = lambda: rng.choice(("0.5", "0.5", "0.5", "1", "0", "nan", "inf", "-1", "1e308", "", f"{CANARY}"))  # noqa: E731
        clean = rng.random() < 0.6
        lines = rng.choice(
            (["secret,p", "a,0.5", "b,0.5"], [",a,b", "a,0.5,0.5", "b,0.5,0.5"], ["n,x,y", "a,0,1", "b,1,0"])
        )
        if not clean:
            lines = [
                lines[0],
                *(",".join([line.split(",")[0], *(number() for _ in line.split(",")[1:])]) for line in lines[1:]),
            ]
        return self._text(".csv", "\n".join(lines) + "\n")

    def hierarchy(self) -> Path:
        """Write leaves and their generalizations."""
        return self._text(
            ".csv",
            self.rng.choice(("1;a;*\n2;a;*\n", "f;*\nm;*\n", "", f"{CANARY};*\n", "a;b\nb;a\n", "1;*;*\n1;x;*\n")),
        )

    def plan(self) -> Path:
        """Write a study or an attacker: TOML that can rarely be run."""
        text = self.rng.choice(
            (
                "",
                "title = 'x'\n",
                "[[data]]\nname = 'd'\n",
                "a = [",
                f"[attacker]\nfine = '{CANARY}'\n",
                "[attacker]\nfine = nan\n",
            )
        )
        return self._text(".toml", text)

    def _person(self, width: int, *, odd: bool) -> list[str]:
        cells_of_person = [
            str(20 + self.rng.randrange(4)),
            self.rng.choice("fm"),
            str(1000 + self.rng.randrange(3)),
            f"{CANARY}{self.rng.randrange(3)}",
            f"{CANARY}{self.rng.random()}",
        ]
        cells = [self.rng.choice(_CELLS) if odd and self.rng.random() < 0.4 else cell for cell in cells_of_person]
        return cells[: width - (odd and self.rng.random() < 0.05)]

    def _parquet(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
        kind = self.rng.choice(("varchar", "varchar", "double", "date", "blob"))
        columns = {
            f"c{index}": np.array([row[index] if index < len(row) else None for row in rows], dtype=object)
            for index in range(len(names))
        }
        cells = ", ".join(
            f'coalesce(try_cast(c{index}::varchar as {kind})::{kind}, null) as "{name}{index if not name else ""}"'
            for index, name in enumerate(names)
        )
        plain = self.folder / "plain.parquet"
        with duckdb.connect() as connection:
            connection.register("cells", columns)
            connection.execute(f"copy (select {cells} from cells) to '{plain}' (format parquet)")
        content = plain.read_bytes()
        plain.unlink()
        return self._bytes(".parquet", content)

    def _text(self, suffix: str, text: str) -> Path:
        content = text.encode()
        return self._bytes(suffix, gzip.compress(content) if suffix.endswith(".gz") else content)

    def _bytes(self, suffix: str, content: bytes) -> Path:
        """Write a file of this content, one in eight damaged."""
        damage = self.rng.random()
        if damage < 0.04:
            content = content[: self.rng.randrange(len(content) + 1)]
        elif damage < 0.08 and content:
            position = self.rng.randrange(len(content))
            content = content[:position] + self.rng.randbytes(3) + content[position + 1 :]
        elif damage < 0.12:
            content += self.rng.choice((b"\0", b'"', b"a,b,c,d,e,f,g\n", b"\xff"))
        path = self._new("", suffix)
        path.write_bytes(content)
        return path

    def _new(self, stem: str, suffix: str) -> Path:
        self.made += 1
        odd = self.rng.choice(_STEMS) if self.rng.random() < 0.3 else "f"
        return self.folder / f"{odd}{stem}{self.made}{suffix}"
