"""What a job is doing, in words."""

from __future__ import annotations

from unmask.app.jobs import Job
from unmask.app.project import PRICED, Project

CHANGES = "changes"
"""The job that tries other protections of a release that is not acceptable."""

WORDS = {
    "protect": "Making the release",
    "design": "Designing mechanisms",
    "audit": "Attacking the release",
    "columns": "Reading and counting the columns",
    "count": "Reading and counting the columns",
    "game": "Weighing what to release against every attacker",
    "certify": "Running the audit once more for the certificate",
}
"""Command -> what it is doing."""


def progress(project: Project, job: Job) -> str:
    """What a job is doing; of a study how many attacks, its cells, have finished."""
    if job.name == CHANGES:
        return "Trying other protections, to say what to do next"
    command = job.commands[job.at]
    if "--targets" in command:
        return f"Attacking {int(command[-1]):,} people drawn at random, to be followed by everybody"
    if command[0] == "game":
        return f"{WORDS['game']}: {priced(project, job)}"
    if command[0] != "study":
        return WORDS[command[0]]
    from unmask.app.studying import cells

    done, of = cells(project)
    return f"{done:,} of {of:,} attacks on releases finished"


def priced(project: Project, job: Job) -> str:
    """How many of the releases that the game weighs are made and attacked, the one at work among them."""
    from unmask.studies.reading import read_plan

    n = sum(line.startswith("pricing ") for line in project.jobs.said.get(job.name, ()))
    return f"{n} of {len(read_plan(project.folder / PRICED).protections)} releases"


def busy_with(project: Project, job: Job | None) -> dict[str, str] | None:
    """What a screen says of a job that runs. events : where it is told what becomes of what this screen has shown"""
    if job is None or job.state != "running":
        return None
    return {"name": job.name, "said": progress(project, job), "events": f"/events/{job.name}?seen={job.began}"}
