"""Jobs: commands that run in the background, each in a process; their state is a file in the project's folder."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from unmask.app.private_folder import replace_text
from unmask.core.errors import UnmaskError

State = Literal["running", "finished", "failed", "stopped"]

Command = Sequence[str]

EXIT_ABOVE = 3
"""Exit code of an audit whose policy is not met."""

SUCCESS_CODES = (0, EXIT_ABOVE)

STOP_SECONDS = 5.0
"""Seconds for which the end of a stopped process is awaited."""


@dataclass(frozen=True)
class Job:
    """Commands that were started, and their state.

    digest   : digest of their input; a result with another digest is outdated
    position : index of the command that runs, or ran last
    message  : error of a failed command
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    digest: str
    state: State = "running"
    position: int = 0
    message: str = ""
    started: float = 0.0
    seconds: float = 0.0

    @property
    def version(self) -> str:
        """Text that differs between two commands of any jobs with this name."""
        return f"{self.started}-{self.position}"


def format_command(command: Command) -> str:
    """Return a command as a line of a shell."""
    return shlex.join(["unmask", *command])


@dataclass(eq=False)
class Jobs:
    """The jobs of a folder: `jobs/NAME.json` has the state of each.

    A job that runs according to its file, and has no process here, was interrupted with its server: it is stopped.

    logs : name of a job -> lines on the standard error of its current or last command
    """

    folder: Path
    logs: dict[str, list[str]] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    threads: dict[str, threading.Thread] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def find(self, name: str) -> Job | None:
        """Return the job with this name, if it was ever started."""
        try:
            values = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            job = Job(**{**values, "commands": tuple(map(tuple, values["commands"]))})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        is_interrupted = job.state == "running" and not self._is_alive(name)
        return replace(job, state="stopped", message="unmask was closed meanwhile") if is_interrupted else job

    def find_current(self, name: str, digest: str) -> Job | None:
        """Return the job with this name and digest of its input; stop one with another digest."""
        job = self.find(name)
        if job is None or job.digest == digest:
            return job
        self.stop(name)
        return None

    def start(
        self, name: str, commands: Sequence[Command], *, digest: str, outputs: Mapping[int, str] | None = None,
        then: Callable[[int], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """Run commands one after the other in the folder of the project, unless a job with this name runs.

        outputs : index of a command -> file for its standard output
        then    : called with the exit code of the last command, if all succeeded
        """
        job = Job(name, tuple(map(tuple, commands)), digest, started=time.time())
        with self.lock:
            if not self._is_alive(name):
                self._write(job)
                self.threads[name] = threading.Thread(target=self._run, args=(job, outputs or {}, then), daemon=True)
                self.threads[name].start()

    def check(self, command: Command) -> None:
        """Run a short command, and raise its error."""
        log: list[str] = []
        if _wait(self._open_process(command, None), log):
            raise UnmaskError(_find_error(log))

    def stop(self, name: str) -> None:
        """End the process of a job, and wait until it has cleaned up."""
        with self.lock:
            job, process = self.find(name), self.processes.get(name)
            if job is None or job.state != "running":
                return
            self._write(replace(job, state="stopped", message="stopped by you"))
        if process is not None:
            with suppress(OSError):
                process.terminate()
        self.wait(name, STOP_SECONDS)

    def close(self) -> None:
        """End all processes."""
        for name in list(self.threads):
            self.stop(name)

    def wait(self, name: str, seconds: float | None = None) -> None:
        """Wait until a job has ended."""
        if (thread := self.threads.get(name)) is not None:
            thread.join(seconds)

    def _is_alive(self, name: str) -> bool:
        thread = self.threads.get(name)
        return thread is not None and thread.is_alive()

    def _write(self, job: Job) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        replace_text(self.folder / f"{job.name}.json", json.dumps(asdict(job)))

    def _run(self, job: Job, outputs: Mapping[int, str], then: Callable[[int], None]) -> None:
        """Run commands until one fails or the job is stopped."""
        code, log = 0, list[str]()
        for position, command in enumerate(job.commands):
            job, log = replace(job, position=position), []
            with self.lock:
                if self._is_stopped(job):
                    return
                self._write(job)
                process = self._open_process(command, outputs.get(position))
                self.processes[job.name], self.logs[job.name] = process, log
            code = _wait(process, log)
            if code not in SUCCESS_CODES:
                break
        with self.lock:
            if self._is_stopped(job):
                return
            job = replace(job, seconds=time.time() - job.started)
            if code in SUCCESS_CODES:
                then(code)
                self._write(replace(job, state="finished"))
            else:
                self._write(replace(job, state="failed", message=_find_error(log)))

    def _is_stopped(self, job: Job) -> bool:
        current = self.find(job.name)
        return current is None or current.state != "running"

    def _open_process(self, command: Command, output: str | None) -> subprocess.Popen[bytes]:
        """Start a process that ends with this server. output : private file for its standard output"""
        root, paths = self.folder.parent, os.pathsep.join(filter(None, sys.path))
        path = os.devnull if output is None else root / output
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            return subprocess.Popen(
                [sys.executable, "-m", "unmask.app.worker_process", *command],
                cwd=root, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE, bufsize=0,
                env={**os.environ, "TMPDIR": str(root), "PYTHONPATH": paths},
            )  # fmt: skip


def _wait(process: subprocess.Popen[bytes], log: list[str]) -> int:
    """Return the exit code of a process; add the lines of its standard error to a list.

    The standard input of the process stays open meanwhile: its end would end the process.
    """
    assert process.stderr is not None
    with process:
        for line in process.stderr:
            log.append(line.decode(errors="replace").rstrip())  # noqa: PERF401  # a screen reads them meanwhile
        return process.wait()


def _find_error(log: Sequence[str]) -> str:
    """Return the error message of a command."""
    errors = [line.removeprefix("Error: ") for line in log if line.startswith("Error: ")]
    return next(reversed([*log[-1:], *errors]), "the command ended without a message")
