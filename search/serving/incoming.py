"""What comes from a client, as ASGI tells of it: the parts of his body, and then that he is gone."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable


class Incoming:
    """What comes from a client; called for the next message, as `receive` of ASGI.

    Args:
      receive: ASGI's.
    """

    def __init__(self, receive: Callable[[], Awaitable[dict]]):
        self._receive, self._whole = receive, False

    async def __call__(self) -> dict:
        message = await self._receive()
        self._whole |= message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def gone(self) -> None:
        """Waits until he has hung up; for when his body has come."""
        while (await self())["type"] != "http.disconnect":
            pass

    async def discard(self, most: int, seconds: float) -> None:
        """Reads what is left of a body that is refused, at most so many bytes in so much time.

        Whoever sends all of it before he reads would find the connection closed, and not why.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._whole and most > 0:
                    most -= len((await self()).get("body", b""))
