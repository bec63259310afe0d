"""The socket that the door stands at, and the thread that serves it."""

import socket
import threading

import uvicorn

#: Connections beyond those that may be accepted; with more, new ones are told "busy" at once.
MORE_CONNECTIONS = 1_024
#: Seconds that a connection may be idle, and connections that wait to be taken.
_IDLE, _BACKLOG = 75, 2_048


class Listener:
    """An address, to be served later.

    Args:
      host, port: where; port 0 is any that is free.

    Raises:
      OSError: it cannot be had.
    """

    def __init__(self, host: str, port: int):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket, self._server, self._thread = socket.socket(family, socket.SOCK_STREAM), None, None
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
            limit_concurrency=most + MORE_CONNECTIONS,
        ))  # fmt: skip
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name="listens", daemon=True)
        self._socket.listen(_BACKLOG)  # so that nobody is turned away until the thread gets there
        self._thread.start()

    def close(self) -> None:
        """Takes no more requests, and waits until those that are accepted are answered."""
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join()
        self._socket.close()
