"""Who is answered: the browser that has the token, at this address, with forms of this server's own pages."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

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

FORM = 4 << 20
"""Bytes of a form without a file."""

UPLOAD = 4 << 30
"""Bytes of a form with a file; a larger one is opened by its path."""

SILENCE = 1.0
"""Seconds without a byte after which what is refused is answered."""


@dataclass(frozen=True)
class Guard:
    """Lets through what the user's own browser asks, adds the headers of every answer, and counts what is sent.

    token   : whoever has it is the user; it comes once in the address, then as a cookie of this session
    port    : of the address; no other name in Host or Origin is answered, so no other site's name leads here
    uploads : paths whose forms may hold files
    """

    app: App
    token: str
    port: int
    uploads: tuple[str, ...] = ()

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies do not know ports."""
        return f"unmask-{self.port}"

    @property
    def secret(self) -> str:
        """What every form of this session has in it."""
        return hmac.new(self.token.encode(), b"form", sha256).hexdigest()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or say why not."""
        if scope["type"] != "http":
            return
        said = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        refused = self._refused(scope, said)
        if refused is not None:
            await _drain(receive)
            await _answer(send, *refused)
        elif given and self._is_token(given) and scope["method"] == "GET":
            cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            await _answer(send, 303, "", {"location": scope["path"], "set-cookie": cookie})
        elif not self._is_token(_cookies(said.get("cookie", "")).get(self.cookie, "")):
            await _drain(receive)
            await _answer(send, 403, "Open the address that unmask open printed in the terminal: it holds the key.")
        else:
            await self._pass(scope, said, receive, send)

    def _refused(self, scope: Mapping[str, Any], said: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is not even looked at."""
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        if said.get("host") not in hosts:
            return 421, "This name does not belong to unmask; open the address that was printed."
        if said.get("origin", "") not in {"", *(f"http://{host}" for host in hosts)}:
            return 403, "Another site asked for this; unmask answers its own pages alone."
        foreign = said.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if foreign and scope["method"] != "GET":
            return 403, "Another site asked for this; unmask answers its own pages alone."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Pages are read and forms are sent, nothing else."
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

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
    page = (
        '<!doctype html><html lang="en-US"><meta charset="utf-8"><title>unmask</title>'
        f"<h1>Not answered</h1><p>{escape(text)}</p></html>"
    )
    every = {**HEADERS, "content-type": "text/html; charset=utf-8", **(headers or {})}
    pairs = [(name.encode(), value.encode()) for name, value in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": page.encode()})
