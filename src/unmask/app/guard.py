"""The guard of the server: it answers the user's own browser, at this address, with forms of its own pages."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

from unmask.data.writing import write_text

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page may load and do: what this server gives, no script and no style inside a page, nothing from elsewhere."""

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

FORM = 4 << 20
"""Bytes of a form without a file."""

UPLOAD = 4 << 30
"""Bytes of a form with a file; a larger one is opened by its path."""

SILENCE = 1.0
"""Seconds without a byte after which what is refused is answered."""


@dataclass(eq=False)
class Door:
    """The way into the session: a file that the user alone can read leads a browser there, with a key for one use.

    Browsers send cookies to every port of a host, so the host has a random name that no other server has.

    file    : the page that leads there; it gets a new key after each use
    session : the value of the cookie
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
        """The address of the server."""
        return f"http://{self.host}:{self.port}"

    def opens(self, key: str) -> bool:
        """Return whether the key is right; then another one takes its place."""
        right = hmac.compare_digest(key.encode(), self.key.encode())
        if right:
            self.key = secrets.token_urlsafe()
            self._write()
        return right

    def _write(self) -> None:
        beside = self.file.with_suffix(".new")
        write_text(beside, _page("Open unmask", f"{self.origin}/?key={self.key}"), private=True)
        beside.replace(self.file)


@dataclass(frozen=True)
class Guard:
    """Lets through what the user's own browser asks, adds the headers of every answer, and counts what is sent.

    uploads : paths whose forms may hold files
    """

    app: App
    door: Door
    uploads: tuple[str, ...] = ()

    @property
    def secret(self) -> str:
        """What every form of this session has in it."""
        return hmac.new(self.door.session.encode(), b"form", sha256).hexdigest()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or say why not."""
        if scope["type"] != "http":
            return
        said = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        key = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("key", [""])[0]
        cookie = _cookies(said.get("cookie", "")).get(COOKIE, "")
        refused = self._refused(scope, said)
        if refused is not None:
            await _drain(receive)
            await _answer(send, *refused)
        elif key and scope["method"] == "GET" and self.door.opens(key):
            cookie = f"{COOKIE}={self.door.session}; Path=/; HttpOnly; SameSite=Strict"
            await _send(send, 200, _page("Open unmask", "/"), {"set-cookie": cookie})  # a redirect loses it
        elif not hmac.compare_digest(cookie.encode(), self.door.session.encode()):
            await _drain(receive)
            await _answer(send, 403, "Open the file that unmask open printed in the terminal: it holds the key.")
        else:
            await self._pass(scope, said, receive, send)

    def _refused(self, scope: Mapping[str, Any], said: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is not even looked at."""
        if said.get("host") != self.door.origin.removeprefix("http://"):
            return 421, "This name does not belong to unmask; open the file that was printed."
        foreign = said.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if said.get("origin", "") not in ("", self.door.origin) or (foreign and scope["method"] != "GET"):
            return 403, "Another site asked for this; unmask answers its own pages alone."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Pages are read and forms are sent, nothing else."
        return None

    async def _pass(
        self, scope: MutableMapping[str, Any], said: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        """Hand the request on, as long as it is not larger than it may be."""
        most = UPLOAD if scope["path"] in self.uploads else FORM
        length, seen, ended = said.get("content-length", "0"), 0, scope["method"] != "POST"
        large = f"That is more than {most >> 20:,} MiB; open a larger file by its path, or use the command line."
        if not length.isdigit() or int(length) > most:
            await _drain(receive)
            await _answer(send, 413, large, {"connection": "close"})
            return

        async def counted() -> Message:
            nonlocal seen, ended
            message = await receive()
            seen, ended = seen + len(message.get("body", b"")), not message.get("more_body", False)
            if seen > most:
                raise HTTPException(413, large, {"connection": "close"})
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if not ended:
                    await _drain(receive)
                own = {name.lower() for name, _ in message["headers"]}
                more = ((name.encode(), value.encode()) for name, value in HEADERS.items())
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in own)]
            await send(message)

        scope["form"] = self.secret
        await self.app(scope, counted, with_headers)


async def _drain(receive: Receive) -> None:
    """Take what a refused form still sends, up to some MiB: who is cut off while they send sees no page. Who says how
    much they send, and sends nothing, is not waited for.
    """
    taken, more = 0, True
    with suppress(TimeoutError):
        while more and taken < FORM:
            message = await asyncio.wait_for(receive(), SILENCE)
            taken += len(message.get("body", b""))
            more = message.get("more_body", False)


def _cookies(text: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return {name: value for name, _, value in pairs}


async def _answer(send: Send, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
    """A page of one sentence, which needs nothing else."""
    await _send(send, status, f"{_HEAD}<h1>Not answered</h1><p>{escape(text)}</p></html>", headers)


_HEAD = '<!doctype html><html lang="en-US"><meta charset="utf-8"><title>unmask</title><link rel="icon" href="data:,">'


def _page(text: str, address: str) -> str:
    """A page that leads to an address at once."""
    refresh = f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={address}">'
    return f'{_HEAD}{refresh}<p><a href="{address}">{text}</a></p></html>'


async def _send(send: Send, status: int, page: str, headers: Mapping[str, str] | None) -> None:
    every = {**HEADERS, "content-type": "text/html; charset=utf-8", **(headers or {})}
    pairs = [(name.encode(), value.encode()) for name, value in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": page.encode()})
