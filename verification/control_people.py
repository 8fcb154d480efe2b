"""Effect of a person's own record, compared with a control group.

    UNMASK_DATA=... python verification/control_people.py

Members are people of the original of a release, the control group are other people of the same population. Numbers of
an independent prototype on the same data are published next to ours. Parts: the CTGAN release of Adult, audits of it
and of Mondrian's boxes, the original as its own release, two questions of WP216, and the cost of a control group.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from populations import (
    CTGAN,
    EXCESS_HEADER,
    assign_roles,
    compare_groups,
    format_excess,
    know,
    no_excess,
    read_adult,
    read_ctgan,
    within,
)
from show import Section, Verdict, main

import unmask
from unmask import Truth
from unmask.measures.excess import Excess
from unmask.results import Result, Row
from unmask.tables import AttributeInference, Linkability, Mondrian, Parts, SinglingOut, Table, datasets
from unmask.tables.control.singling_trials import SinglingTrial, judge_singling_out
from unmask.tables.knowledge import attribute_truth


def verify_inference() -> Section:
    """Compare members and control group through a generator that hardly memorizes a person."""
    release, everybody, members = read_ctgan()
    people, released = (assign_roles(table, "occupation", CTGAN) for table in (everybody, release))
    belief = AttributeInference("occupation")(released, know(people, people))
    truth = attribute_truth(people, np.arange(people.n_rows), belief, "occupation")
    result, n_control = compare_groups(belief, truth, members), int((~members).sum())
    return Section(
        "Occupation through a CTGAN release of Adult",
        EXCESS_HEADER,
        (("CTGAN", *format_excess(result)),),
        (),
        (
            Verdict("every person of the control group is found in Adult", 9758, n_control, n_control == 9758),
            no_excess("occupation: members are known no better", result.low, result.high),
        ),
    )


# --- audits ----------------------------------------------------------------------------------------------------------


def _index_rows(report: Result) -> dict[tuple[str, str, str], Row]:
    return {(row.adversary, row.target, row.measure): row for row in report.rows if row.release == "release"}


def verify_audits() -> Section:
    """Audit both releases with a control group."""
    release, everybody, members = read_ctgan()
    people, released = (assign_roles(table, "occupation", CTGAN) for table in (everybody, release))
    report = unmask.audit(released, original=people.take(members), control=people.take(~members), synthetic=True)
    rows = _index_rows(report)
    learner, error, loss = (
        rows["modeler", "occupation", name] for name in ("realized_success", "calibration_error", "log_loss_bits")
    )
    n_identity = sum(target == "identity" for _, target, _ in rows)
    return Section(
        "Audits with a control group",
        notes=(f"The prototype's 0.2443 and 0.2452 are of another learner; here {learner.posterior:.4f}.",),
        verdicts=(
            Verdict("CTGAN: rows about identity", 0, n_identity, n_identity == 0),
            no_excess("CTGAN: occupation of members and control group", learner.excess_low, learner.excess_high),
            Verdict("CTGAN: calibration error of occupation", 0.03, error.posterior, error.posterior <= 0.03),
            Verdict("CTGAN: log loss, bits", "finite", loss.posterior, bool(np.isfinite(loss.posterior))),
            *_boxes(),
        ),
    )


def _boxes() -> Iterator[Verdict]:
    columns, n = read_adult()
    table = {name: columns[name] for name in (*datasets.Q5, "occupation")}
    people = Table.read(table, quasi_identifiers=datasets.Q5, sensitive="occupation", na=())
    members = people.take(slice(0, n))
    release, origin = Mondrian(k=10)(members, rng=np.random.default_rng(0))
    report = unmask.audit(release, original=members, origin=origin, control=people.take(slice(n, None)))
    row = _index_rows(report)["prosecutor", "occupation", "realized_success"]
    assert row.control is not None
    assert row.excess is not None
    assert row.baseline is not None
    yield within("Mondrian k = 10: members", 0.351, 0.001, row.posterior)
    yield within("Mondrian k = 10: control group, 0.283 by the margin, 0.287 by a model", 0.285, 0.003, row.control)
    yield within("Mondrian k = 10: excess", 0.069, 0.01, row.excess)
    yield within("Mondrian k = 10: above the best on the control group", 0.039, 0.006, row.posterior - row.baseline)


def verify_original() -> Section:
    """Audit the original as its own release, with a control group of other people, and of its own people."""
    columns, n = read_adult()
    people = Table.read(columns, quasi_identifiers=tuple(columns), na=())
    members, control = people.take(slice(0, 4000)), people.take(slice(n, None))
    key = ("prosecutor", "membership", "membership_auc")
    others, same = (
        _index_rows(unmask.audit(members, original=members, origin=np.arange(4000), control=group, targets=1000)).get(
            key
        )
        for group in (control, members)
    )
    auc = 0.0 if others is None else others.posterior
    ours = "every record has an equal in the control group" if same is None else f"{same.posterior:.3f}"
    holds = same is None or abs(same.posterior - 0.5) < 0.03
    return Section(
        "The original as its release",
        verdicts=(
            Verdict("no exception, for any control group", "none", "none", holds=True),
            Verdict("control group of members: AUC, or no person is left to judge", "0.5", ours, holds),
            Verdict("other control group: AUC", "1", f"{auc:.4f}", auc > 0.999),
        ),
    )


# --- questions of WP216 ----------------------------------------------------------------------------------------------


def verify_questions() -> Section:
    """Test linkability and singling out, on the CTGAN release and on the members themselves."""
    release, everybody, mask = read_ctgan()
    rng = np.random.default_rng(0)
    members, others = rng.permutation(np.flatnonzero(mask)), rng.permutation(np.flatnonzero(~mask))
    rows, verdicts = [], []
    for name, table in (("CTGAN", release), ("the members themselves", everybody.take(members[:10_000]))):
        linked = _link(table, everybody.take(np.concatenate([members[:1000], others[:1000]])), rng)
        predicates = SinglingOut()(table, rng=rng)
        groups = (everybody.take(members[:4000]), everybody.take(others[:4000]), everybody.take(others[4000:]))
        single = judge_singling_out(SinglingTrial.of(predicates, *groups, rng=rng))
        ends = f"{single.low:.4f} to {single.high:.4f}"
        shares = (f"{x:.4f}" for x in (single.share, single.control, single.share - single.control))
        rows.append((f"{name}: linkability", *format_excess(linked)))
        rows.append((f"{name}: singling out, {single.guesses} guesses, baseline {single.baseline:.3f}", *shares, ends))
        if table is release:
            verdicts.append(no_excess("CTGAN: parts of members are linked no better", linked.low, linked.high))
            verdicts.append(no_excess("CTGAN: members are singled out no oftener", single.low, single.high))
        else:
            assert linked.low is not None
            verdicts.append(Verdict("members themselves: linked better", "above 0", linked.low, linked.low > 0))
            verdicts.append(Verdict("members themselves: singled out", "above 0", ends, single.low > 0))
    return Section("Two questions of WP216, with a control group", EXCESS_HEADER, rows, (), verdicts)


def _link(release: Table, people: Table, rng: np.random.Generator) -> Excess:
    """Link parts of people; the first half are members."""
    order = rng.permutation(people.n_rows)
    first, second = (
        replace(people, quasi_identifiers=tuple(people.column(name) for name in names))
        for names in (("age", "marital", "sex"), ("education_num", "race", "occupation"))
    )
    belief = Linkability()(release, Parts(first, other=second.take(order)))
    return compare_groups(belief, Truth(np.argsort(order)), np.arange(people.n_rows) < people.n_rows // 2)


# --- cost ------------------------------------------------------------------------------------------------------------

AUDIT = ("audit", "release.csv", "-q", ",".join(datasets.Q5), "-s", "occupation", "--original", "people.csv")
ROUNDS = 9


def verify_cost() -> Section:
    """Compare CPU seconds of an audit of Adult, k = 10, with its test part as control group and without.

    They run in turn, so that other work on the machine affects both. The ratio is the median over rounds.
    """
    columns, n = read_adult()
    table = {name: columns[name] for name in (*datasets.Q5, "occupation")}
    people = Table.read(table, quasi_identifiers=datasets.Q5, sensitive="occupation", na=())
    members, control = people.take(slice(0, n)), people.take(slice(n, None))
    release, origin = Mondrian(k=10)(members, rng=np.random.default_rng(0))
    with TemporaryDirectory() as folder:
        for name, part in (("release", release), ("people", members), ("others", control)):
            part.to_frame(library="pandas").to_csv(Path(folder, f"{name}.csv"), index=False)
        Path(folder, "origin.csv").write_text("\n".join(["row", *map(str, origin.tolist())]) + "\n")
        calls: dict[str, Callable[[], object]] = {
            "in process, without": lambda: unmask.audit(release, original=members, origin=origin),
            "in process, with": lambda: unmask.audit(release, original=members, origin=origin, control=control),
            "the whole command, without": lambda: _run_audit(folder),
            "the whole command, with": lambda: _run_audit(folder, "--control", "others.csv"),
        }
        rounds = [{name: _time(call) for name, call in calls.items()} for _ in range(ROUNDS)]
    medians = {name: float(np.median([times[name] for times in rounds])) for name in calls}
    ratios = {
        kind: float(np.median([times[f"{kind}, with"] / times[f"{kind}, without"] for times in rounds]))
        for kind in ("in process", "the whole command")
    }
    note = "OPENBLAS_NUM_THREADS=1 in the command, and expected of this program; several threads only wait in CPU time."
    verdicts = (Verdict(f"{kind}: times as long", "2.0", f"{x:.2f}", x <= 2) for kind, x in ratios.items())
    rows = ((name, f"{seconds:.2f}") for name, seconds in medians.items())
    return Section("An audit with a control group", ("audit", "CPU s"), rows, (note,), verdicts)


def _time(call: Callable[[], object]) -> float:
    """Return CPU seconds of this process and of its commands."""
    start = sum(os.times()[:4])
    call()
    return sum(os.times()[:4]) - start


def _run_audit(folder: str, *options: str) -> None:
    command = (sys.executable, "-m", "unmask_command", *AUDIT, "--origin", "origin.csv", "--json", *options)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


PARTS = {
    "inference": verify_inference,
    "audits": verify_audits,
    "original": verify_original,
    "questions": verify_questions,
    "cost": verify_cost,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
