"""The service's HTTP, as an ASGI application: who may come in, and how he is answered."""

import asyncio
import functools
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from search.analysis import complaints
from search.analysis.options import ServiceOptions
from search.serving import boards, queries
from search.serving.boards import Boards
from search.serving.incoming import Incoming
from search.serving.limits import BUSY, FAILED, MALFORMED, NO_METHOD, NO_TOKEN, TOO_LARGE, TOO_SLOW, Limits, Refusal
from search.serving.metrics import Metrics
from search.serving.places import Place, Places

#: Seconds that a client may take to send a body, and to read an answer.
BODY_SECONDS, ANSWER_SECONDS = 30.0, 120.0
#: Bytes of an answer that are sent at a time: the server waits before each part until the client has read most of those before
#: it, so that an answer holds its place, and the time for it goes on, as long as it is not read.
PART = 1 << 16
#: Of a body that is refused so much is read all the same: so many times what it may have, in so many seconds.
DISCARDED, DISCARD_SECONDS = 8, 5.0
#: Seconds after which those who are told "busy" should ask again.
RETRY_AFTER = 1
_JSON, _LINES, _ARRAYS = "application/json", "application/x-ndjson", "application/octet-stream"
_TEXT = "text/plain; version=0.0.4"


Answer = TypeVar("Answer")


class Backend(Protocol):
    """Who answers what has been accepted; where a call is cancelled it gives up what it is at."""

    replicas: int
    """How many are ready."""

    async def answer(self, asked: dict) -> list[tuple[int, bytes]] | Refusal:
        """The replies to `queries.Asked.object`, in any order: (turn, JSON), the turn -1 where there is none."""

    async def evaluate(self, asked: Boards) -> bytes | Refusal:
        """The answer to arrays."""


class Door:
    """The application.

    Args:
      backend: that answers.
      options: how it analyses positions.
      limits: what a request may ask for.
      places: how many are accepted.
      token: that clients must have; None where they need none.
      metrics: what is counted.
    """

    def __init__(
        self, backend: Backend, options: ServiceOptions, limits: Limits, places: Places, token: str | None, metrics: Metrics
    ):  # fmt: skip
        self._backend, self._options, self._limits, self._places = backend, options, limits, places
        self._token, self._metrics = None if token is None else token.encode(), metrics
        self._work = {"/analysis": self._analysis, "/evaluate": self._evaluate}
        self._looks = {"/health": self._health, "/metrics": self._counted}

    async def __call__(self, scope, receive, send) -> None:
        """Answers one request, as ASGI has it."""
        if scope["type"] != "http":
            raise NotImplementedError(f"only HTTP is spoken here, not {scope['type']}")
        incoming, start = Incoming(receive), time.monotonic()
        request = Request(scope, incoming)
        path = request.url.path if request.url.path in self._work | self._looks else "other"

        async def reply(response: Response, positions: int = 0) -> None:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await response(scope, receive, functools.partial(_in_parts, send))
            except TimeoutError:  # he does not read; the server hangs up where nothing was finished
                raise ClientDisconnect from None
            self._metrics.count(path, response.status_code, time.monotonic() - start, positions)

        try:
            try:
                await self._attend(request, incoming, path, reply)
            except Refusal as refusal:
                # Who expects to be told whether to go on has sent nothing yet.
                if refusal.status != TOO_SLOW and "expect" not in request.headers:
                    await incoming.discard(DISCARDED * self._limits.body, DISCARD_SECONDS)
                await reply(_refused(refusal, self._allowed(path), "expect" in request.headers))
            except ClientDisconnect:
                raise
            except Exception as error:  # a fault of the program, which must not end it
                complaints.tell(error)
                await reply(_refused(Refusal(FAILED, f"internal error: {type(error).__name__}")))
        except ClientDisconnect:
            pass

    async def _attend(self, request: Request, incoming: Incoming, path: str, reply: Callable[..., Awaitable[None]]) -> None:
        allowed = self._allowed(path)
        if path == "other":
            raise Refusal(404, f"there is no {request.url.path!r:.100}; there are {', '.join([*self._work, *self._looks])}")
        if request.method not in allowed:
            raise Refusal(NO_METHOD, f"{path} takes {' and '.join(allowed)}, not {request.method}")
        if path != "/health":
            self._check_token(request)
        if path in self._looks:
            await reply(self._looks[path]())
            return
        with self._places.place(self._length(request)) as place:
            # Nobody but who reads the body keeps it.
            response, positions = await _unless_gone(incoming, self._work[path](request, await self._body(request), place))
            await reply(response, positions)

    def _allowed(self, path: str) -> tuple[str, ...]:
        """The methods that a path takes."""
        return ("POST",) if path in self._work else ("GET", "HEAD")

    def _check_token(self, request: Request) -> None:
        if self._token is None:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            raise Refusal(NO_TOKEN, "this needs the header 'Authorization: Bearer TOKEN' with the token of the service")

    def _length(self, request: Request) -> int:
        """Bytes of the body, at most."""
        told = request.headers.get("content-length")
        if told is None:
            return self._limits.body
        length = int(told) if told.isdecimal() else -1
        if length < 0:
            raise Refusal(MALFORMED, f"content-length must be a number of bytes, not {told!r:.60}", "content-length")
        if length > self._limits.body:
            raise self._too_large(f"{length:,}")
        return length

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for part in request.stream():
                    body += part
                    if len(body) > self._limits.body:
                        raise self._too_large("more")
        except TimeoutError:
            raise Refusal(TOO_SLOW, f"the body must come within {BODY_SECONDS:g} seconds") from None
        return bytes(body)

    def _too_large(self, size: str) -> Refusal:
        return Refusal(TOO_LARGE, f"the body must take at most {self._limits.body:,} bytes, not {size}")

    async def _analysis(self, request: Request, body: bytes, place: Place) -> tuple[Response, int]:
        asked = await asyncio.to_thread(queries.read, body, self._options, self._limits)
        del body
        place.take(asked.answer)
        replies = await self._backend.answer(asked.object)
        if isinstance(replies, Refusal):
            raise replies
        order = {turn: number for number, turn in enumerate(asked.turns)}
        told = [reply for _, reply in sorted(replies, key=lambda reply: order.get(reply[0], -1))]
        lines = [*(_written(warning).encode() for warning in asked.warnings), *told]
        if _LINES in request.headers.get("accept", ""):
            return Response(b"\n".join([*lines, b""]), media_type=_LINES), asked.positions
        return Response(b",".join(lines).join((b"[", b"]")), media_type=_JSON), asked.positions

    async def _evaluate(self, request: Request, body: bytes, place: Place) -> tuple[Response, int]:
        asked, packed = await asyncio.to_thread(boards.read, body, self._limits), len(body)
        del body
        place.take(asked.answer + max(0, asked.held - packed))
        answer = await self._backend.evaluate(asked)
        if isinstance(answer, Refusal):
            raise answer
        return Response(answer, media_type=_ARRAYS), asked.positions

    def _health(self) -> Response:
        replicas = self._backend.replicas
        told = {"status": "ok" if replicas else "no replica is ready", "replicas": replicas}
        return Response(_written(told), 200 if replicas else BUSY, media_type=_JSON)

    def _counted(self) -> Response:
        return Response(self._metrics.text(self._backend.replicas), media_type=_TEXT)


async def _in_parts(send: Callable[[dict], Awaitable[None]], message: dict) -> None:
    """Sends a message of ASGI; one with a long body as several."""
    body = message.get("body", b"")
    for start in range(0, len(body) - PART, PART):
        await send({"type": message["type"], "body": body[start : start + PART], "more_body": True})
    await send(message | {"body": body[(len(body) - 1) // PART * PART :]} if body else message)


async def _unless_gone(incoming: Incoming, work: Coroutine[Any, Any, Answer]) -> Answer:
    """What comes of some work, which is given up if the client hangs up first.

    Raises:
      ClientDisconnect: he has.
    """
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(incoming.gone())
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


def _refused(refusal: Refusal, allowed: tuple[str, ...] = (), hang_up: bool = False) -> Response:
    """The reply to a request that is refused.

    Args:
      refusal: why.
      allowed: the methods that its path takes.
      hang_up: whether the connection ends: nobody knows whether a body that was announced comes still (RFC 9110, 10.1.1).
    """
    headers = {"Connection": "close"} if hang_up else {}
    if refusal.status == NO_METHOD:
        headers["Allow"] = ", ".join(allowed)
    if refusal.status == BUSY:
        headers["Retry-After"] = str(RETRY_AFTER)
    if refusal.status == NO_TOKEN:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(_written(refusal.document()), refusal.status, headers, _JSON)


def _written(document) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))
