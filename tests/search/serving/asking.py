"""Requests to the service, without a network or with one."""

import asyncio
import dataclasses
import http.client
import io
import json
from collections.abc import Iterable

import numpy as np

from search.serving.limits import Refusal


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a request is answered with."""

    status: int
    headers: dict[str, str]
    body: bytes

    def document(self):
        """Its JSON."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)


class Backend:
    """Answers once it is let, and keeps what it was asked."""

    def __init__(self, answer=b"arrays"):
        self.replicas, self.answers, self.asked, self.open, self.given_up = 1, answer, [], asyncio.Event(), 0
        self.open.set()

    async def answer(self, asked: dict):
        return await self._say(asked)

    async def evaluate(self, asked):
        return await self._say(asked)

    async def _say(self, asked):
        self.asked.append(asked)
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if isinstance(self.answers, Exception) and not isinstance(self.answers, Refusal):
            raise self.answers
        return self.answers


def npz(**arrays) -> bytes:
    """A file of arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def query(name: str = "a", **more) -> bytes:
    """A query for a position on 5x5."""
    asked = {"id": name, "moves": [["B", "C3"]], "rules": "tromp-taylor", "komi": 0.5, "boardXSize": 5, "boardYSize": 5}
    return json.dumps(asked | more).encode()


async def ask(
    application, method: str, path: str, parts: bytes | Iterable[bytes | None] = b"", hangs_up: asyncio.Event | None = None,
    **headers: str,
) -> Answer | None:  # fmt: skip
    """Asks an ASGI application, in this process; a part that is None never comes, and `_` in names of headers is `-`.

    Who hangs up after his body, once the event is set, gets no answer.
    """
    parts = [parts] if isinstance(parts, bytes) else list(parts)
    messages = [{"type": "http.request", "body": part, "more_body": i < len(parts) - 1} for i, part in enumerate(parts)]
    sent: list[dict] = []

    async def receive() -> dict:
        if not messages and hangs_up is not None:
            await hangs_up.wait()
            return {"type": "http.disconnect"}
        if not messages or messages[0]["body"] is None:
            await asyncio.Event().wait()  # a client who waits, and sends no more
        return messages.pop(0)

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    await application(scope, receive, send)
    if hangs_up is not None and hangs_up.is_set():
        assert not sent
        return None
    assert [message["type"] for message in sent].count("http.response.start") == 1, "answered once"
    start, *bodies = sent
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], told, b"".join(message.get("body", b"") for message in bodies))


def post(address: str, path: str, body: bytes | None = None, token: str | None = None, seconds: float = 300) -> Answer:
    """Asks a server: POST with a body, else GET."""
    connection = http.client.HTTPConnection(address, timeout=seconds)
    try:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    finally:
        connection.close()
