"""The socket of the service."""

import pytest

pytest.importorskip("uvicorn", reason="Ray Serve is not installed: pip install 'jaxgo[cluster]'")

from search.serving.listening import Listener  # noqa: E402
from tests.search.serving.asking import post  # noqa: E402


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
