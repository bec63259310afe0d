"""The benchmark of the service, against a server that answers as it is told."""

import asyncio

import numpy as np
import pytest

from bench import service
from bench.service import BUSY, DONE, KINDS, Client, Run


async def with_server(statuses, work):
    """What `work` returns, called with a client of a server that answers requests with these statuses in turn, 20 ms later."""
    asked = []

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(head.lower().partition("content-length: ")[2].split()[0])
                body = await reader.readexactly(length)
                asked.append((head.split()[1], body))
                status = statuses[(len(asked) - 1) % len(statuses)]
                await asyncio.sleep(0.02)
                writer.write(f"HTTP/1.1 {status} x\r\nContent-Length: 2\r\n\r\nok".encode())
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(attend, "127.0.0.1", 0)
    client = Client(*server.sockets[0].getsockname()[:2])
    try:
        return await work(client), asked
    finally:
        client.close()
        server.close()
        await asyncio.sleep(0.05)


def test_a_run_counts_every_request_once():
    run, asked = asyncio.run(with_server([DONE, BUSY, DONE, DONE], lambda client: service.load(client, KINDS[0], 200, 0.5, 1)))
    assert {path for path, _ in asked} == {"/evaluate"} and 60 < len(asked) < 140
    assert len(run.latencies) == len(asked) - round(run.busy * len(asked)) and run.busy == pytest.approx(0.25, abs=0.02)
    assert (run.latencies >= 19).all()


def test_the_capacity_is_what_all_clients_get_answered():
    rate, asked = asyncio.run(with_server([DONE, BUSY], lambda client: service.capacity(client, KINDS[1], 0.3)))
    assert {path for path, _ in asked} == {"/analysis"}
    assert rate * 0.3 == pytest.approx(len(asked) / 2, abs=1) and len(asked) >= service.CLIENTS


def test_other_answers_end_it():
    with pytest.raises(SystemExit, match="answered with status 500"):
        asyncio.run(with_server([500], lambda client: service.load(client, KINDS[0], 20, 0.1, 1)))


def test_the_figure(tmp_path):
    runs = [Run(np.array([1.0, 2.0, 30.0]), 0.0), Run(np.array([2.0, 3.0]), 0.5)]
    assert service.percentiles(runs, 50) == (2.25, 2.0, 2.5)
    service.draw({kind: (10.0, {5.0: runs, 15.0: runs}) for kind in KINDS}, str(tmp_path / "out.png"))
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
