"""The server: pages, forms, files, and the progress of jobs; every answer is made of the folder and its document."""

from __future__ import annotations

import asyncio
import errno
import hmac
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from unmask.app import pages
from unmask.app.guard import Door, Guard
from unmask.app.kind import Step
from unmask.app.kinds import kind_of
from unmask.app.progress import progress
from unmask.app.project import Project, ago, left_behind
from unmask.core.errors import UnmaskError, visible

STATIC = {
    "app.css": ("app/static", "text/css"),
    "app.js": ("app/static", "text/javascript"),
    "chart.css": ("render", "text/css"),
    "chart.js": ("render", "text/javascript"),
}
"""File -> its folder in the package, and its type."""

MOST_FIELDS = 20_000
"""Fields of a form, and files: cards of a wide table have several fields each, and a box for a file."""

ANEW = 0.4
"""Seconds between two looks at a job."""


@dataclass(eq=False)
class Server:
    """The pages of one project, for one user.

    lock : forms are taken one after the other
    """

    project: Project
    door: Door

    def __post_init__(self) -> None:
        self.lock = threading.RLock()

    @property
    def app(self) -> Guard:
        """The application, behind its guard."""
        routes = [Route(f"/{name}", self._screen(name), methods=["GET", "POST"]) for name in pages.NAMES]
        routes += [
            Route("/", self._start),
            Route("/job/{name}", self._job, methods=["POST"]),
            Route("/events/{name}", self._events),
            Route("/files/{name}", self._file),
            Route("/report.css", self._report_style),
            Route("/static/{name}", self._static),
        ]
        handlers: Any = {HTTPException: self._refused, UnmaskError: self._failed, Exception: self._failed}
        uploads = tuple(f"/{name}" for name in pages.NAMES)
        return Guard(Starlette(routes=routes, exception_handlers=handlers), self.door, uploads)

    # ----- screens

    def _screen(self, name: str) -> Any:
        async def screen(request: Request) -> Response:
            if request.method == "POST":
                async with request.form(max_files=MOST_FIELDS, max_fields=MOST_FIELDS) as form:
                    self._check(request, form)
                    return await run_in_threadpool(self._take, name, request, form)
            return await run_in_threadpool(self._show, name, request, "")

        return screen

    def _step(self, name: str) -> Step | None:
        """The screen of this name, if what is open has one and it can be shown."""
        step = kind_of(self.project.given).step(name)
        return step if step and step.is_open(self.project) else None

    def _show(self, name: str, request: Request, message: str) -> Response:
        step = self._step(name)
        if step is None:
            return RedirectResponse(f"/{pages.first_open(self.project)}", 303)
        values = step.screen.show(self.project, dict(request.query_params))
        hidden = {"form": request.scope["form"], "of": pages.digest(self.project.given)}
        text = pages.page(step, self.project, {**values, **hidden, "message": message})
        return Response(text, 422 if message else 200, media_type="text/html")

    def _take(self, name: str, request: Request, form: FormData) -> Response:
        """What a form changes; where it cannot, the screen again, with the reason."""
        with self.lock:
            step = self._step(name)
            if step is None:
                return RedirectResponse(f"/{pages.first_open(self.project)}", 303)
            try:
                if form.get("of") not in (None, pages.digest(self.project.given)):
                    raise UnmaskError("the settings were changed in another window; this is how they are now")
                where = step.screen.take(self.project, form)
            except UnmaskError as error:
                return self._show(name, request, str(error))
        return RedirectResponse(f"/{where}", 303)

    async def _start(self, _request: Request) -> Response:
        return RedirectResponse(f"/{pages.first_open(self.project)}", 303)

    def _check(self, request: Request, form: FormData) -> None:
        """Refuse a form that is none of this session's pages."""
        if not hmac.compare_digest(str(form.get("form", "")).encode(), request.scope["form"].encode()):
            raise HTTPException(403, "This form is of another session; load the page again.")

    # ----- jobs

    async def _job(self, request: Request) -> Response:
        """Stop a job."""
        async with request.form() as form:
            self._check(request, form)
            await run_in_threadpool(self.project.jobs.stop, request.path_params["name"])
            back = str(form.get("back", ""))
        return RedirectResponse(f"/{back if back in pages.NAMES else ''}", 303)

    async def _events(self, request: Request) -> Response:
        """What a command of a job is doing, as it changes, until it ends and there may be more to show."""
        return StreamingResponse(self._told(request.path_params["name"], request), media_type="text/event-stream")

    async def _told(self, name: str, request: Request) -> AsyncIterator[str]:
        said, seen = "", request.query_params.get("seen")
        while not await request.is_disconnected():
            job = self.project.jobs.find(name)
            if job is None or job.state != "running" or job.began != seen:
                yield "event: end\ndata: \n\n"
                return
            now = await run_in_threadpool(progress, self.project, job)
            if now != said:
                said = now
                yield f"data: {now}\n\n"
            await asyncio.sleep(ANEW)

    # ----- files

    async def _file(self, request: Request) -> Response:
        """A file that was made here, one of those that are listed."""
        name = request.path_params["name"]
        path = self.project.folder / name
        if name not in pages.FILES or not path.is_file():
            raise HTTPException(404, "There is no such file; run the step that makes it.")
        shown = "show" in request.query_params and name.endswith(".html")
        inside = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-modals"
        return FileResponse(
            path, filename=name, content_disposition_type="inline" if shown else "attachment",
            headers={"content-security-policy": inside} if shown else {},
        )  # fmt: skip

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404, "There is no such page.")
        folder, kind = STATIC[name]
        return FileResponse(Path(__file__).parents[1] / folder / name, media_type=kind)

    async def _report_style(self, _request: Request) -> Response:
        return Response(await run_in_threadpool(pages.report_style, self.project), media_type="text/css")

    # ----- what goes wrong

    async def _refused(self, request: Request, error: Any) -> Response:
        return self._problem(request, error.status_code, str(error.detail))

    async def _failed(self, request: Request, error: Exception) -> Response:
        if isinstance(error, UnmaskError):
            return self._problem(request, 422, str(error))
        return self._problem(request, 500, "This is a fault of unmask; nothing is lost. The terminal has the details.")

    def _problem(self, request: Request, status: int, message: str) -> Response:
        text = pages.problem(self.project, message, str(request.scope.get("form", "")))
        return Response(text, status, media_type="text/html")


def serve(file: str | None, *, port: int, browser: bool) -> None:
    """Print a file that leads to the address, open it, and answer until the end of the process; then nothing is left.

    file : table or document to open; port : 0 for a free one
    """
    from unmask.app.opening import open_path

    sockets, elsewhere = _listening(port), tempfile.tempdir
    project = Project.new()
    try:
        for folder, name, moment in left_behind(project):
            _say(f"{folder} is left of a run that was killed ({name or 'no file'}, {ago(moment)}); remove it, or go on "
                 "with it on the first screen")  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="unmask-key-", dir=project.folder.parent) as room:
            tempfile.tempdir = str(project.folder)  # where forms with files are kept while they come
            if file is not None:
                open_path(project, Path(file))
            door = Door(sockets[0].getsockname()[1], Path(room) / "open.html")
            print(door.file.as_uri(), flush=True)  # noqa: T201  # the first line, for whoever started it
            _say("It leads a browser to unmask, and you alone can read it. Ctrl-C ends unmask.")
            if browser:
                _open_browser(door.file.as_uri())
            with suppress(KeyboardInterrupt):  # which is how it ends
                _run(Server(project, door).app, sockets)
    finally:
        for one in sockets:
            one.close()
        tempfile.tempdir = elsewhere
        project.remove()


def _say(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)  # noqa: T201


def _listening(port: int) -> list[socket.socket]:
    """Sockets that this machine alone can reach: a browser asks both addresses for a name below localhost."""
    sockets: list[socket.socket] = []
    try:
        sockets.append(socket.create_server(("127.0.0.1", port), backlog=64))
        port = sockets[0].getsockname()[1]
        sockets.append(socket.create_server(("::1", port), family=socket.AF_INET6, backlog=64))
    except OSError as error:
        if sockets and error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):  # without IPv6
            return sockets
        for one in sockets:
            one.close()
        raise UnmaskError(
            f"port {port} cannot be used: {error.strerror}; choose another, or leave --port out"
        ) from None
    return sockets


def _run(app: Guard, sockets: list[socket.socket]) -> None:
    config = uvicorn.Config(
        app, lifespan="off", ws="none", http="h11", loop="asyncio", log_config=None, access_log=False,
        server_header=False, date_header=False, timeout_graceful_shutdown=1, proxy_headers=False,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=sockets)


def _open_browser(address: str) -> None:
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
