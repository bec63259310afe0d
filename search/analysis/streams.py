"""Clients at stdin and stdout, and at a socket: a thread reads from each, another writes to him."""

import contextlib
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable

from jaxgo.cli import has_stdout
from search.analysis import complaints
from search.analysis.service import Client, Service
from search.lines import TooLong, lines

#: Clients at the socket, at most.
MOST_CLIENTS = 256
#: How long a client at the socket may take none of what is sent to him, seconds; then he is dropped.
PATIENCE = 120.0
#: Seconds between probes whether a client who says nothing is still there.
PROBES = 15
#: Seconds until the next client is taken after one could not be.
RETRY = 0.1


def attend(
    service: Service, read: Callable[[int], bytes], write: Callable[[bytes], None], gone: Callable[[], object] | None = None
) -> tuple[Client, threading.Thread]:
    """Serves one client.

    Args:
      service: what the clients share.
      read: reads up to so many bytes from him, none at the end; may raise OSError.
      write: sends bytes, all of them; raises OSError when he is gone.
      gone: returns when he is gone, however that shows before something is sent to him; None where it does not.

    Returns:
      (the client, the thread that writes to him and ends when he has got all replies or is gone).
    """
    client = Client(service)

    def read_all() -> None:
        try:
            for line in lines(read, service.options.line):
                client.wait_for_room()
                if isinstance(line, TooLong):
                    client.too_long()
                else:
                    client.read(line)
            client.end()
        except OSError:
            client.drop()

    def write_all() -> None:
        try:
            while (some := client.next_lines()) is not None:
                write(some)
        except OSError:
            client.drop()

    threading.Thread(target=read_all, name="reads", daemon=True).start()
    if gone is not None:

        def watch() -> None:
            gone()
            client.drop()

        threading.Thread(target=watch, name="watches", daemon=True).start()
    writer = threading.Thread(target=write_all, name="writes", daemon=True)
    writer.start()
    return client, writer


def at_stdin(service: Service, output: int, failed: Callable[[OSError], object]) -> tuple[Client, threading.Thread]:
    """Serves stdin; replies go to the file descriptor `output`, and what keeps them from there to `failed`, unless it is that
    nobody reads them.

    Bytes are read and written beside Python's own buffers, whose locks a thread that waits would hold at the program's end.
    """

    def write(data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(output, view) :]
        except BrokenPipeError:
            raise
        except OSError as error:  # such as a full disk
            failed(error)
            raise

    return attend(service, lambda most: os.read(0, most), write, _failure_of(output))


def _failure_of(descriptor: int) -> Callable[[], object]:
    """What returns when nobody is at the other end of a pipe or connection any more; with a file or a terminal it never does."""
    failure = select.poll()
    failure.register(descriptor, 0)
    return failure.poll


def own_stdout() -> int:
    """A file descriptor of what is stdout now, which takes nothing where that is closed; whatever else the program prints goes to
    stderr from now on."""
    for number in (0, 1, 2):  # a stream that is closed would lend its number to the next file that is opened
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if not has_stdout():
        return os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    output = os.dup(1)
    os.dup2(2, 1)
    return output


class Listener:
    """Serves clients at a socket.

    Args:
      service: what the clients share.
      host, port: where to listen.
    """

    def __init__(self, service: Service, host: str, port: int):
        self._service, self._clients = service, threading.Semaphore(MOST_CLIENTS)
        self._connected: dict[Client, threading.Thread] = {}
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=64)
        threading.Thread(target=self._accept, name="accepts", daemon=True).start()

    @property
    def address(self) -> str:
        """HOST:PORT, with the port that was chosen where 0 was asked for."""
        host, port = self._socket.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def close(self, seconds: float = 2.0) -> None:
        """Takes no more clients, and waits a while for replies that are still being sent."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that takes clients
        self._socket.close()
        connected, deadline = dict(self._connected), time.monotonic() + seconds
        for client in connected:
            client.end()
        for writer in connected.values():
            writer.join(max(0.0, deadline - time.monotonic()))

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._socket.fileno() < 0:
                    return
                time.sleep(RETRY)  # too many files are open, say
                continue
            if self._clients.acquire(blocking=False):
                try:
                    self._attend(connection)
                except Exception as error:  # no more threads, say: others are served
                    complaints.tell(error)
                    connection.close()
                    self._clients.release()
            else:
                with connection:
                    connection.settimeout(1.0)
                    try:
                        connection.sendall(b'{"error":"Too many clients"}\n')
                    except OSError:
                        pass

    def _attend(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Only sending has a time limit: a client may be silent as long as he likes.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(PATIENCE), 0))
        # One who has closed his half may wait for his answers, or be gone; only probes tell, after a minute or two.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), PROBES)
        client, writer = attend(self._service, connection.recv, connection.sendall, _failure_of(connection.fileno()))
        self._connected[client] = writer

        def tidy() -> None:
            writer.join()
            try:
                connection.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
            except OSError:
                pass
            connection.close()
            self._connected.pop(client, None)
            self._clients.release()

        threading.Thread(target=tidy, name="tidies", daemon=True).start()
