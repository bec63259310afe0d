"""The socket of the service."""

import asyncio
import contextlib
import socket
import time

import pytest

pytest.importorskip("uvicorn", reason="Ray Serve is not installed: pip install 'jaxgo[cluster]'")

from search.analysis.options import ServiceOptions  # noqa: E402
from search.serving import door as doors  # noqa: E402
from search.serving import listening  # noqa: E402
from search.serving.door import Door  # noqa: E402
from search.serving.limits import Limits  # noqa: E402
from search.serving.listening import Listener  # noqa: E402
from search.serving.metrics import Metrics  # noqa: E402
from search.serving.places import Places  # noqa: E402
from tests.search.analysis.talk import eventually  # noqa: E402
from tests.search.serving.asking import Backend, npz, post  # noqa: E402


async def echo_body(scope, receive, send) -> None:
    """An ASGI application that sends back what was sent."""
    body, more = b"", True
    while more:
        got = await receive()
        body, more = body + got.get("body", b""), got.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def echo(scope, receive, send) -> None:
    """An ASGI application that says what it was asked."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_who_comes_at_once_is_served(host):
    try:
        listener = Listener(host, 0)
    except OSError:
        pytest.skip(f"there is no {host} here")
    assert not listener.serves
    listener.serve(echo, most=4)
    address = listener.address
    assert post(address, "/first").body == b"/first" and listener.serves
    listener.close()
    assert not listener.serves
    with pytest.raises(ConnectionRefusedError):
        post(address, "/late")


def test_an_address_that_is_taken():
    first = Listener("127.0.0.1", 0)
    first.serve(echo, most=4)
    with pytest.raises(OSError, match="Address already in use"):
        Listener("127.0.0.1", int(first.address.rpartition(":")[2]))
    first.close()


async def slow(scope, receive, send) -> None:
    """One that takes longer than a connection may be silent."""
    await asyncio.sleep(1.0)
    await echo(scope, receive, send)


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_who_offers_another_protocol_is_answered_in_this_one(pause):
    """As Java's clients do with every request; in a packet with its body, and before it."""
    listener = Listener("127.0.0.1", 0)
    listener.serve(echo_body, most=4)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk"
    with socket.create_connection(listener.address.split(":"), timeout=60) as connection:
        for body in (b"hello", b"again"):
            connection.sendall(head + b"\r\nContent-Length: 5\r\n\r\n" + (b"" if pause else body))
            if pause:
                time.sleep(pause)
                connection.sendall(body)
            got = b""
            while not got.endswith(body):
                assert (part := connection.recv(4096)), got
                got += part
            assert got.startswith(b"HTTP/1.1 200 OK")
    listener.close()


@pytest.mark.parametrize("sent", [b"", b"GET /first HTTP/1.1\r\nHo", b"GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /sec"])
def test_connections_that_say_nothing_are_closed(monkeypatch, sent):
    """Before a request, in the middle of its head, and in the middle of the next one's."""
    monkeypatch.setattr(listening, "_FIRST", 0.2)
    monkeypatch.setattr(listening, "_IDLE", 0.2)
    listener = Listener("127.0.0.1", 0)
    listener.serve(echo, most=4)
    with socket.create_connection(listener.address.split(":"), timeout=60) as connection:
        connection.sendall(sent)
        got = b""
        while part := connection.recv(4096):
            got += part
    assert got.count(b"/first") == sent.count(b"\r\n\r\n")
    assert post(listener.address, "/still").body == b"/still"
    listener.close()


def test_a_request_may_take_longer_than_that(monkeypatch):
    monkeypatch.setattr(listening, "_FIRST", 0.2)
    monkeypatch.setattr(listening, "_IDLE", 0.2)
    listener = Listener("127.0.0.1", 0)
    listener.serve(slow, most=4)
    assert post(listener.address, "/late").body == b"/late"
    listener.close()


LONG = b"x" * (30 << 20)


def test_who_does_not_read_keeps_nothing(monkeypatch, capfd):
    """His answer is not all in the memory of the service, holds its place while it is sent, and does not hold up its end."""
    monkeypatch.setattr(doors, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(listening, "_LAST", 0.2)
    places, listener = Places(4, 1 << 30), Listener("127.0.0.1", 0)
    door = Door(Backend(LONG), ServiceOptions(), Limits(), places, None, Metrics(places))
    listener.serve(door, most=4)
    body = npz(boards=[[0, 0], [0, 0]])
    with socket.create_connection(listener.address.split(":"), timeout=60) as silent:
        silent.sendall(b"POST /evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert eventually(lambda: places.taken == 1)
        time.sleep(0.3)
        assert places.taken == 1
        assert eventually(lambda: places.taken == 0)
        monkeypatch.setattr(doors, "ANSWER_SECONDS", 60.0)  # who reads may be slow here
        assert post(listener.address, "/evaluate", body).body == LONG
        start = time.monotonic()
        listener.close()
        assert time.monotonic() - start < 30
        got = 0
        with contextlib.suppress(ConnectionResetError):
            while part := silent.recv(1 << 20):
                got += len(part)
    assert got < len(LONG)
    assert capfd.readouterr().err == ""
