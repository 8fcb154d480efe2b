"""The server: screens, forms, downloads, and the progress of jobs of one project."""

from __future__ import annotations

import asyncio
import errno
import hmac
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
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
from unmask.app.jobs import Job
from unmask.app.private_folder import format_age
from unmask.app.project import Project, list_interrupted
from unmask.app.workflow import Step
from unmask.app.workflows import find_workflow
from unmask.core.errors import UnmaskError, visible
from unmask.languages import Language, choose_language, use_language

STATIC = {
    "app.css": ("app/static", "text/css"),
    "app.js": ("app/static", "text/javascript"),
    "chart.css": ("render/charts", "text/css"),
    "chart.js": ("render/charts", "text/javascript"),
}
"""File -> its folder in the package, and its type."""

MAX_FIELDS = 20_000
"""Fields of a form, and files: cards of a wide table have several fields each, and a box for a file."""

WITH_COMMANDS = ("verdict", "game", "sign")
"""Screens whose forms start commands that write pages; the other forms write the document, in English."""

POLL_SECONDS = 0.4
"""Seconds between two readings of the state of a job."""

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-modals"
"""Content policy of a downloaded page that is shown."""


@dataclass(eq=False)
class Server:
    """Routes of one project, for one user. Forms are handled one after the other."""

    project: Project
    door: Door

    def __post_init__(self) -> None:
        self.lock = threading.RLock()

    @property
    def app(self) -> Guard:
        """Application behind its guard."""
        routes = [Route(f"/{name}", self._handle_screen(name), methods=["GET", "POST"]) for name in pages.NAMES]
        routes += [
            Route("/", self._redirect_to_next),
            Route("/job/{name}", self._stop_job, methods=["POST"]),
            Route("/events/{name}", self._stream_events),
            Route("/files/{name}", self._send_file),
            Route("/report.css", self._send_report_style),
            Route("/static/{name}", self._send_static),
        ]
        handlers: Any = dict.fromkeys((HTTPException, UnmaskError, Exception), self._show_problem)
        uploads = tuple(f"/{name}" for name in pages.NAMES)
        return Guard(Starlette(routes=routes, exception_handlers=handlers), self.door, uploads)

    # ----- screens

    def _handle_screen(self, name: str) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            if request.method == "POST":
                async with request.form(max_files=MAX_FIELDS, max_fields=MAX_FIELDS) as form:
                    self._check_secret(request, form)
                    return await run_in_threadpool(self._submit, name, request, form)
            return await run_in_threadpool(self._show, name, request, "")

        return handle

    def _find_step(self, name: str) -> Step | None:
        """Return the step with this name, if it is open."""
        step = find_workflow(self.project.document).step(name, self.project)
        return step if step and step.is_open else None

    def _screen(self, name: str) -> Any:
        """Return the object with the functions `show` and `submit` of a screen."""
        form = find_workflow(self.project.document).forms.get(name)
        if form is None:
            return import_module(f"unmask.app.{name}_screen")
        return import_module("unmask.app.form_screen").FormScreen(form, name)

    def _show(self, name: str, request: Request, message: str) -> Response:
        step = self._find_step(name)
        if step is None:
            return RedirectResponse(f"/{pages.find_next_step(self.project)}", 303)
        language = _read_language(request)
        with use_language(language):
            values = self._screen(name).show(self.project, dict(request.query_params))
            hidden = {"form": request.scope["form"], "version": pages.hash_document(self.project.document)}
            text = pages.render_screen(step, self.project, {**values, **hidden, "message": message}, language)
        return Response(text, 422 if message else 200, media_type="text/html")

    def _submit(self, name: str, request: Request, form: FormData) -> Response:
        """Apply a form, or show its screen again with the error."""
        with self.lock:
            if self._find_step(name) is None:
                return RedirectResponse(f"/{pages.find_next_step(self.project)}", 303)
            try:
                if form.get("version") not in (None, pages.hash_document(self.project.document)):
                    raise UnmaskError("another window changed the settings; this page shows them as they are now")
                language = _read_language(request) if name in WITH_COMMANDS else "en"
                with use_language(language):
                    address = self._screen(name).submit(self.project, form)
            except UnmaskError as error:
                return self._show(name, request, str(error))
        return RedirectResponse(f"/{address}", 303)

    async def _redirect_to_next(self, _request: Request) -> Response:
        return RedirectResponse(f"/{pages.find_next_step(self.project)}", 303)

    def _check_secret(self, request: Request, form: FormData) -> None:
        """Refuse a form that is not from a page of this session."""
        if not hmac.compare_digest(str(form.get("form", "")).encode(), request.scope["form"].encode()):
            raise HTTPException(403, "This form is from another session; load the page again.")

    # ----- jobs

    async def _stop_job(self, request: Request) -> Response:
        async with request.form() as form:
            self._check_secret(request, form)
            await run_in_threadpool(self.project.jobs.stop, request.path_params["name"])
            back = str(form.get("back", ""))
        return RedirectResponse(f"/{back if back in pages.NAMES else ''}", 303)

    async def _stream_events(self, request: Request) -> Response:
        events = self._list_events(request.path_params["name"], request)
        return StreamingResponse(events, media_type="text/event-stream")

    async def _list_events(self, name: str, request: Request) -> AsyncIterator[str]:
        """Yield the progress of a command when it changes, until the command ends."""
        previous, version = "", request.query_params.get("version")
        while not await request.is_disconnected():
            job = self.project.jobs.find(name)
            if job is None or job.state != "running" or job.version != version:
                yield "event: end\ndata: \n\n"
                return
            progress = await run_in_threadpool(self._describe_progress, job, _read_language(request))
            if progress != previous:
                previous = progress
                yield f"data: {progress}\n\n"
            await asyncio.sleep(POLL_SECONDS)

    def _describe_progress(self, job: Job, language: Language) -> str:
        with use_language(language):
            return pages.describe_progress(self.project, job)

    # ----- files

    async def _send_file(self, request: Request) -> Response:
        """Send an output of a command."""
        name = request.path_params["name"]
        path = self.project.folder / name
        if name in pages.MADE:
            from unmask.app.downloads import make_file  # here: it imports what the first screen does not need

            await run_in_threadpool(make_file, self.project, name)
        if name not in (*pages.DOWNLOADS, *self.project.hierarchies.values()) or not path.is_file():
            raise HTTPException(404, "There is no such file; run the step that makes it.")
        is_shown = "show" in request.query_params and name.endswith(".html")
        return FileResponse(
            path, filename=name, content_disposition_type="inline" if is_shown else "attachment",
            headers={"content-security-policy": REPORT_POLICY} if is_shown else {},
        )  # fmt: skip

    async def _send_static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404, "There is no such page.")
        folder, media_type = STATIC[name]
        return FileResponse(Path(__file__).parents[1] / folder / name, media_type=media_type)

    async def _send_report_style(self, _request: Request) -> Response:
        return Response(await run_in_threadpool(pages.read_report_style, self.project), media_type="text/css")

    # ----- errors

    async def _show_problem(self, request: Request, error: Exception) -> Response:
        status, message = 500, "This is a fault of unmask. Nothing is lost. The terminal has the details."
        if isinstance(error, HTTPException):
            status, message = error.status_code, str(error.detail)
        elif isinstance(error, UnmaskError):
            status, message = 422, str(error)
        values = {"message": message, "form": str(request.scope.get("form", "")), "version": ""}
        language = _read_language(request)
        with use_language(language):
            text = pages.render_screen(None, self.project, values, language)
        return Response(text, status, media_type="text/html")


def _read_language(request: Request) -> Language:
    """Return the language of the user's browser, English without a catalog for it."""
    return choose_language(request.headers.get("accept-language", ""))


def serve(file: str | None, *, port: int, browser: bool) -> None:
    """Print a file that leads to the address, open it, and answer until the process ends; then remove the folder.

    file : table or document to open
    port : 0 for a free one
    """
    from unmask.app.file_loading import open_path

    sockets, previous = _open_sockets(port), tempfile.tempdir
    project = Project.new()
    try:
        for folder, name, moment in list_interrupted(project):
            _print(f"{folder} is from an interrupted run ({name or 'no file'}, {format_age(moment)}); "
                   "continue or remove it on the first screen")  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="unmask-key-", dir=project.folder.parent) as key_folder:
            tempfile.tempdir = str(project.folder)  # holds uploads while they arrive
            if file is not None:
                open_path(project, Path(file))
            door = Door(sockets[0].getsockname()[1], Path(key_folder) / "open.html")
            print(door.file.as_uri(), flush=True)  # noqa: T201  # the first line, for scripts
            _print("It leads a browser to unmask. Only you can read it. Ctrl-C ends unmask.")
            if browser:
                _open_browser(door.file.as_uri())
            with suppress(KeyboardInterrupt):  # the usual end
                _run(Server(project, door).app, sockets)
    finally:
        for listener in sockets:
            listener.close()
        tempfile.tempdir = previous
        project.remove()


def _print(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)  # noqa: T201


def _open_sockets(port: int) -> list[socket.socket]:
    """Return sockets of the loopback interface: a browser tries both addresses for a name below localhost."""
    sockets: list[socket.socket] = []
    try:
        sockets.append(socket.create_server(("127.0.0.1", port), backlog=64))
        port = sockets[0].getsockname()[1]
        sockets.append(socket.create_server(("::1", port), family=socket.AF_INET6, backlog=64))
    except OSError as error:
        if sockets and error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):  # without IPv6
            return sockets
        for listener in sockets:
            listener.close()
        reason = f"port {port} cannot be used: {error.strerror}"
        raise UnmaskError(f"{reason}; choose another port, or omit --port") from None
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
