"""A hospital's table as a spreadsheet of western Windows writes it: semicolons, decimal commas, dd.mm.yyyy, cp1252."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np

WARDS = ("Chirurgie", "Innere", "Pädiatrie", "Kardiologie", "Urologie")
INSURERS = ("Nord", "Süd", "Ost", "West")


def write_hospital(path: Path, n: int = 600, *, seed: int = 1) -> Path:
    """Write a table of n discharges of invented people."""
    rng = np.random.default_rng(seed)
    day = np.vectorize(lambda index: (date(1970, 1, 1) + timedelta(days=int(index))).strftime("%d.%m.%Y"))
    birth = day(-365.25 * 35 + 365.25 * np.clip(rng.normal(15, 22, n), -15, 84))
    admission = day(365.25 * 53 + rng.integers(0, 365, n))
    ill = np.minimum(rng.geometric(0.25, n), 12)
    chapter = np.array(list("IJKECMNFGSTZ"))[ill - 1]
    code = np.char.add(chapter, np.char.add(np.char.mod("%02d", 10 + ill), np.char.mod(".%d", rng.integers(0, 4, n))))
    columns = {
        "patient_id": np.char.mod("%06d", rng.permutation(n) + 100_000),
        "birth_date": birth,
        "sex": rng.choice(["f", "m"], n),
        "zip": np.char.mod("%05d", 1_000 + 7 * np.minimum(rng.geometric(0.05, n), 60)),
        "admission": admission,
        "ward": np.array(WARDS)[rng.integers(0, len(WARDS), n)],
        "insurer": np.array(INSURERS)[rng.integers(0, len(INSURERS), n)],
        "diagnosis": code,
        "cost": np.char.replace(np.char.mod("%.2f", np.round(rng.lognormal(7.5, 0.8, n), 2)), ".", ","),
    }
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return path
