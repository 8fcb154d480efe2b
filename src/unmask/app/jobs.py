"""Commands that run in the background, one list of them at a time for each screen; what became of them is on disk."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from unmask.core.errors import UnmaskError
from unmask.data.writing import write_text

State = Literal["running", "finished", "failed", "stopped"]

Command = Sequence[str]

EXIT_ABOVE = 3
"""What an audit ends with that did its work, and found too much."""

DONE = (0, EXIT_ABOVE)
"""Exit codes of commands that did their work."""

END = b"\x04"
"""First byte of the line with which a process says that a command ended, before its exit code."""


@dataclass(frozen=True)
class Job:
    """Commands that were started, and what became of them.

    of      : digest of what they work on: whatever else is there later is something else
    at      : the command that runs, or ran last
    message : what it said went wrong
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    of: str
    state: State = "running"
    at: int = 0
    message: str = ""
    started: float = 0.0
    seconds: float = 0.0

    @property
    def began(self) -> str:
        """Tells apart the commands of all jobs of this name."""
        return f"{self.started}-{self.at}"

    @property
    def typed(self) -> str:
        """The commands, as they would be typed."""
        return "\n".join(shown(command) for command in self.commands)


def shown(command: Command) -> str:
    """A command as it would be typed."""
    return shlex.join(["unmask", *command])


@dataclass(eq=False)
class Jobs:
    """The jobs of a folder: `jobs/NAME.json` says what became of each, and holds for whoever opens it next.

    A job that runs by the file and has no process here was cut off with its server: it is stopped, and can be run again

    said : name -> lines that the command which runs, or ran last, has written on its standard error
    """

    folder: Path
    said: dict[str, list[str]] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    threads: dict[str, threading.Thread] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def find(self, name: str) -> Job | None:
        """The job of this name, if there was one."""
        try:
            said = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        found = Job(**{**said, "commands": tuple(map(tuple, said["commands"]))})
        cut_off = found.state == "running" and not self._is_alive(name)
        return replace(found, state="stopped", message="unmask was closed meanwhile") if cut_off else found

    def start(
        self, name: str, commands: Sequence[Command], *, of: str, to: Mapping[int, str] | None = None,
        then: Callable[[int], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """Run commands one after the other in the folder above; nothing happens while a job of this name runs.

        to   : number of a command -> file for its standard output
        then : called with the exit code of the last one, once all did their work
        """
        with self.lock:
            if self._is_alive(name):
                return
            job = Job(name, tuple(map(tuple, commands)), of, started=time.time())
            self._keep(job)
            self.threads[name] = threading.Thread(target=self._run, args=(job, to or {}, then), daemon=True)
            self.threads[name].start()

    def call(self, name: str, function: Callable[[], object], *, of: str) -> None:
        """Call a function in the background, as a job that cannot be stopped."""
        with self.lock:
            if self._is_alive(name):
                return
            job = Job(name, ((name,),), of, started=time.time())
            self._keep(job)
            self.threads[name] = threading.Thread(target=self._called, args=(job, function), daemon=True)
            self.threads[name].start()

    def ask(self, command: Command) -> None:
        """Run a command that is soon done; its error is one here."""
        said: list[str] = []
        with self._process([command], {}) as process:
            codes = list(_exit_codes(process, said))
        if codes != [0]:
            raise UnmaskError(_error(said))

    def _called(self, job: Job, function: Callable[[], object]) -> None:
        with suppress(FileNotFoundError):  # the folder is gone, and whoever asked with it
            try:
                function()
                self._keep(replace(job, state="finished", seconds=time.time() - job.started))
            except UnmaskError as error:
                self._keep(replace(job, state="failed", message=str(error)))

    def stop(self, name: str) -> None:
        """End the process of a job, and wait for what it cleans up."""
        with self.lock:
            job, process = self.find(name), self.processes.get(name)
            if job is None or job.state != "running" or job.commands == ((name,),):
                return
            self._keep(replace(job, state="stopped", message="stopped by you"))
        if process is not None:
            with suppress(OSError):
                process.terminate()
        self.wait(name, 5.0)

    def close(self) -> None:
        """End all processes."""
        for name in list(self.threads):
            self.stop(name)

    def wait(self, name: str, seconds: float | None = None) -> None:
        """Until a job has ended."""
        if (thread := self.threads.get(name)) is not None:
            thread.join(seconds)

    def _is_alive(self, name: str) -> bool:
        thread = self.threads.get(name)
        return thread is not None and thread.is_alive()

    def _keep(self, job: Job) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        beside = self.folder / f".{job.name}-{threading.get_ident()}"
        beside.unlink(missing_ok=True)
        write_text(beside, json.dumps(asdict(job)), private=True)
        beside.replace(self.folder / f"{job.name}.json")

    def _run(self, job: Job, to: Mapping[int, str], then: Callable[[int], None]) -> None:
        """Run the commands in one process, one after the other, until one fails or the job is stopped."""
        with self.lock:
            if self._stopped(job):
                return
            process, said = self._process(job.commands, to), list[str]()
            self.processes[job.name], self.said[job.name] = process, said
        codes: list[int] = []
        with process:
            for code in _exit_codes(process, said):
                codes.append(code)
                if code in DONE and len(codes) < len(job.commands):
                    with self.lock:
                        if self._stopped(job):
                            return
                        job = replace(job, at=len(codes))
                        self._keep(job)
                        said.clear()
        with self.lock:
            if self._stopped(job):
                return
            spent = time.time() - job.started
            if len(codes) < len(job.commands) or codes[-1] not in DONE:
                self._keep(replace(job, state="failed", message=_error(said), seconds=spent))
                return
            then(codes[-1])
            self._keep(replace(job, state="finished", seconds=spent))

    def _stopped(self, job: Job) -> bool:
        now = self.find(job.name)
        return now is None or now.state != "running"

    def _process(self, commands: Sequence[Command], to: Mapping[int, str]) -> subprocess.Popen[bytes]:
        """Start a process for commands, which ends with this server. to : number -> file for the standard output"""
        root, paths = self.folder.parent, os.pathsep.join(filter(None, sys.path))
        listed = json.dumps([(command, to.get(at)) for at, command in enumerate(commands)])
        return subprocess.Popen(
            [sys.executable, "-m", "unmask.app.child", listed],
            cwd=root, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0,
            env={**os.environ, "TMPDIR": str(root), "PYTHONPATH": paths},
        )  # fmt: skip


def _exit_codes(process: subprocess.Popen[bytes], said: list[str]) -> Iterator[int]:
    """Yield the exit code of each command that ended; add each other line of the standard error to a list.

    The standard input of the process stays open meanwhile: its end would end the process.
    """
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(END):
            yield int(line[1:])
        else:
            said.append(line.decode(errors="replace").rstrip())


def _error(said: Sequence[str]) -> str:
    """What a command said went wrong, without the word before it."""
    errors = [line.removeprefix("Error: ") for line in said if line.startswith("Error: ")]
    return errors[-1] if errors else (said[-1] if said else "the command ended without a word")
