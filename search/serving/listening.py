"""The socket that the door stands at, and the thread that serves it."""

import asyncio
import socket
import threading

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Connections beyond those that may be accepted; with more, new ones are told "busy" at once.
MORE_CONNECTIONS = 1_024
#: Seconds that a connection may be idle, that it may take to its first request, and that a client may take to read what is left
#: when it is closed; connections that wait to be taken.
_IDLE, _FIRST, _LAST, _BACKLOG = 75, 20, 20, 2_048


class _Closing:
    """asyncio's transport, but that one which is closed does not stay for ever where a client does not read what is left."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop):
        self._transport, self._loop = transport, loop
        self._end: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str):
        return getattr(self._transport, name)

    def close(self) -> None:
        self._transport.close()
        self._end = self._end or self._loop.call_later(_LAST, self._transport.abort)

    def lost(self) -> None:
        """The connection is closed: nothing of it is kept."""
        if self._end is not None:
            self._end.cancel()


class _Watched(H11Protocol):
    """A connection that is closed where no request comes, or only a part of its head: uvicorn counts the time after answers
    alone, and until the next byte. Connections are few, and who is silent would keep others out.

    By h11, in Python: httptools, which uvicorn would rather take, loses the body of requests that offer to go over to another
    protocol, as Java's `HttpClient` does with all that it sends.
    """

    def connection_made(self, transport) -> None:
        self._closing = _Closing(transport, self.loop)
        super().connection_made(self._closing)  # type: ignore[arg-type]
        self._watch = self.loop.call_later(_FIRST, self._look, None)

    def connection_lost(self, exc) -> None:
        self._watch.cancel()
        super().connection_lost(exc)
        self._closing.lost()

    def _look(self, before) -> None:
        """Closes it, unless a request is under way, or has been since the last look, at which `before` was the last."""
        last = self.cycle
        if last is before and (last is None or last.response_complete):
            self.transport.close()
        else:
            self._watch = self.loop.call_later(_IDLE, self._look, last)


class Listener:
    """An address, to be served later.

    Args:
      host, port: where; port 0 is any that is free.

    Raises:
      OSError: it cannot be had.
    """

    def __init__(self, host: str, port: int):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise

    @property
    def address(self) -> str:
        """HOST:PORT."""
        host, port = self._socket.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def serves(self) -> bool:
        """Whether clients are served."""
        return self._thread is not None and self._thread.is_alive()

    def serve(self, application, most: int) -> None:
        """Serves clients from now on, in a thread.

        Args:
          application: of ASGI.
          most: requests that it accepts at a time.
        """
        self._server = uvicorn.Server(uvicorn.Config(
            application, lifespan="off", ws="none", loop="asyncio", log_config=None, log_level="error", access_log=False,
            proxy_headers=False, server_header=False, timeout_keep_alive=_IDLE, backlog=_BACKLOG,
            limit_concurrency=most + MORE_CONNECTIONS, http=_Watched,
        ))  # fmt: skip
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name="listens", daemon=True)
        self._socket.listen(_BACKLOG)  # so that nobody is turned away until the thread gets there
        self._thread.start()

    def close(self) -> None:
        """Takes no more requests, and waits until those that are accepted are answered."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
        self._socket.close()
