"""Access control of the server: only the user's browser, at its address, with forms of its pages, gets an answer."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unmask.app.private_folder import MAX_UPLOAD_BYTES, replace_text

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Policy of a page: it loads files of this server, has no script or style inside, and nothing from other sites."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

COOKIE = "unmask"
"""Name of the cookie of a session."""

MAX_FORM_BYTES = 4 << 20
"""Bytes of a form without a file."""

SILENCE_SECONDS = 1.0
"""Seconds without a byte after which a refused request is answered."""


@dataclass(eq=False)
class Door:
    """Access to the session: a file that only the user can read leads a browser there, with a key for one use.

    Browsers send cookies to every port of a host, so the host has a random name that no other server has.

    file : page that opens the address, with a new key after each use
    session : value of the cookie
    """

    port: int
    file: Path
    host: str = field(default_factory=lambda: f"{secrets.token_hex(16)}.localhost")
    key: str = field(default_factory=secrets.token_urlsafe)
    session: str = field(default_factory=secrets.token_urlsafe)

    def __post_init__(self) -> None:
        self._write()

    @property
    def origin(self) -> str:
        """Address of the server."""
        return f"http://{self.host}:{self.port}"

    def opens(self, key: str) -> bool:
        """Return whether the key is right, and replace a right one."""
        is_right = hmac.compare_digest(key.encode(), self.key.encode())
        if is_right:
            self.key = secrets.token_urlsafe()
            self._write()
        return is_right

    def _write(self) -> None:
        replace_text(self.file, _build_redirect(f"{self.origin}/?key={self.key}"))


@dataclass(frozen=True)
class Guard:
    """Filter of requests: it checks the browser and the size of a request, and adds headers to every answer.

    uploads : paths whose forms may hold files
    """

    app: ASGIApp
    door: Door
    uploads: tuple[str, ...] = ()

    @property
    def secret(self) -> str:
        """Hidden value of every form of this session."""
        return hmac.new(self.door.session.encode(), b"form", sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with a reason."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        key, cookie = request.query_params.get("key", ""), request.cookies.get(COOKIE, "")
        refusal = self._find_refusal(request)
        if refusal is None and key and request.method == "GET" and self.door.opens(key):
            cookie = f"{COOKIE}={self.door.session}; Path=/; HttpOnly; SameSite=Strict"
            page = _build_redirect("/")  # a redirect by status would lose the cookie
            await HTMLResponse(page, 200, {**HEADERS, "set-cookie": cookie})(scope, receive, send)
            return
        if refusal is None and not hmac.compare_digest(cookie.encode(), self.door.session.encode()):
            refusal = 403, "Open the file that unmask open printed in the terminal: it holds the key."
        limit = MAX_UPLOAD_BYTES if scope["path"] in self.uploads else MAX_FORM_BYTES
        reason = f"The form has more than {limit >> 20:,} MiB; open a larger file by its path, or use the command line."
        length = request.headers.get("content-length", "0")
        if refusal is None and (not length.isdigit() or int(length) > limit):
            refusal = 413, reason
        if refusal is None:
            await self._forward(scope, receive, send, limit=limit, reason=reason)
        else:
            await _drain(receive)
            await _build_refusal(*refusal)(scope, receive, send)

    def _find_refusal(self, request: Request) -> tuple[int, str] | None:
        """Return the status and the reason if a request is refused unread."""
        headers = request.headers
        if headers.get("host") != self.door.origin.removeprefix("http://"):
            return 421, "This name does not belong to unmask; open the printed file."
        is_foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if headers.get("origin", "") not in ("", self.door.origin) or (is_foreign and request.method != "GET"):
            return 403, "Another site sent this request; unmask answers only its own pages."
        if request.method not in ("GET", "HEAD", "POST"):
            return 405, "Only GET, HEAD and POST are allowed."
        return None

    async def _forward(self, scope: Scope, receive: Receive, send: Send, *, limit: int, reason: str) -> None:
        """Forward a request to the application, up to its largest size, and add headers to the answer."""
        n_bytes, is_complete = 0, scope["method"] != "POST"

        async def receive_counted() -> Message:
            nonlocal n_bytes, is_complete
            message = await receive()
            n_bytes, is_complete = n_bytes + len(message.get("body", b"")), not message.get("more_body", False)
            if n_bytes > limit:
                raise HTTPException(413, reason, {"connection": "close"})
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if not is_complete:
                    await _drain(receive)
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        scope["form"] = self.secret
        await self.app(scope, receive_counted, send_with_headers)


async def _drain(receive: Receive) -> None:
    """Receive the rest of a refused form, up to some MiB: a browser that is cut off shows no page.

    A client that sends nothing is not awaited.
    """
    n_bytes, is_complete = 0, False
    with suppress(TimeoutError):
        while not is_complete and n_bytes < MAX_FORM_BYTES:
            message = await asyncio.wait_for(receive(), SILENCE_SECONDS)
            n_bytes += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)


_HEAD = '<!doctype html><html lang="en-US"><meta charset="utf-8"><title>unmask</title><link rel="icon" href="data:,">'


def _build_redirect(address: str) -> str:
    """Return a page that leads to an address at once."""
    refresh = f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={address}">'
    return f'{_HEAD}{refresh}<p><a href="{address}">Open unmask</a></p></html>'


def _build_refusal(status: int, text: str) -> HTMLResponse:
    """Return a page of one sentence, after which the browser connects again."""
    page = f"{_HEAD}<h1>Not answered</h1><p>{escape(text)}</p></html>"
    return HTMLResponse(page, status, {**HEADERS, **({"connection": "close"} if status == 413 else {})})
