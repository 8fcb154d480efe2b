"""Commands that run in the background, one list of them at a time for each screen; what became of them is on disk."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from unmask.core.errors import UnmaskError
from unmask.kept import FOLDER, KEPT
from unmask.writing import write_text

State = Literal["running", "finished", "failed", "stopped"]

Command = Sequence[str]

EXIT_ABOVE = 3
"""What an audit ends with that did its work, and found too much."""

BEGIN = b"\n"
"""What a command is told that is loaded."""

ALLOCATED = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": f"{32 << 20}",
    "MALLOC_TRIM_THRESHOLD_": f"{512 << 20}",
}
"""Bytes up to which glibc keeps the memory of an array for the next one, which need not be cleared again; in one lot
for all threads, each of which would keep its own.
"""


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
        with self._process(command, None) as process:
            _begin(process)
            code = _ended(process, said)
        if code:
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
        """One command after the other; while the first runs the others are loaded, and those not begun are ended."""
        with ExitStack() as stack:

            def load(at: int) -> subprocess.Popen[bytes]:
                process = stack.enter_context(self._process(job.commands[at], to.get(at)))
                stack.callback(process.terminate)
                return process

            loaded = [load(0)]
            for at in range(len(job.commands)):
                process = loaded[at]
                with self.lock:
                    if self._stopped(job):
                        return
                    job = replace(job, at=at)
                    self._keep(job)
                    self.processes[job.name], self.said[job.name] = process, []
                    _begin(process)
                if not at:  # which makes the release on one core
                    loaded += map(load, range(1, len(job.commands)))
                code = _ended(process, self.said[job.name])
                spent = time.time() - job.started
                with self.lock:
                    if self._stopped(job):
                        return
                    if code not in (0, EXIT_ABOVE):
                        self._keep(replace(job, state="failed", message=_error(self.said[job.name]), seconds=spent))
                        return
                    if at == len(job.commands) - 1:
                        then(code)
                        self._keep(replace(job, state="finished", seconds=spent))

    def _stopped(self, job: Job) -> bool:
        now = self.find(job.name)
        return now is None or now.state != "running"

    def _process(self, command: Command, to: str | None) -> subprocess.Popen[bytes]:
        """A command that is loaded, and begins when it is told to. to : file for its standard output"""
        root, paths = self.folder.parent, os.pathsep.join(filter(None, sys.path))
        keeps = {} if command[0] == "count" else {KEPT: str(root / FOLDER)}  # of all columns, which nobody reads again
        out = subprocess.DEVNULL if to is None else os.open(root / to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            return subprocess.Popen(
                [sys.executable, "-m", "unmask.app.child", *command],
                cwd=root, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE, bufsize=0,
                env={**os.environ, **ALLOCATED, **keeps, "TMPDIR": str(root), "PYTHONPATH": paths},
            )  # fmt: skip
        finally:
            if to is not None:
                os.close(out)


def _begin(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # it has ended, and says why
        process.stdin.write(BEGIN)


def _ended(process: subprocess.Popen[bytes], said: list[str]) -> int:
    """The exit code of a process; what it says on its standard error is added line by line.

    Its standard input stays open meanwhile: its end would end the process.
    """
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line.decode(errors="replace").rstrip())  # noqa: PERF401  # seen while there are more to come
    return process.wait()


def _error(said: Sequence[str]) -> str:
    """What a command said went wrong, without the word before it."""
    errors = [line.removeprefix("Error: ") for line in said if line.startswith("Error: ")]
    return errors[-1] if errors else (said[-1] if said else "the command ended without a word")
