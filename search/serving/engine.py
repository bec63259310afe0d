"""What a replica does, without Ray: queries are answered by an analysis engine, boards by `jaxgo.evaluate`."""

import collections
import dataclasses
import itertools
import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import jaxgo
from jaxgo import BLACK, NO_KO, Evaluation, Position
from jaxgo.backends import programs
from jaxgo.playing.policies.in_order import policy_of
from jaxgo.running.pieces import MOST_PIECES, PIECE
from search.analysis import complaints
from search.analysis.fields import QueryError, QueueFull
from search.analysis.options import ServiceOptions
from search.analysis.service import Client, Service
from search.serving.boards import KOMI, Boards, packed
from search.serving.limits import FAILED, NOT_ALLOWED, Refusal, busy
from search.serving.queries import refusal_of

#: Compiled programs that are kept, of those for trees and of those for playouts.
PROGRAMS = 24
#: Playouts of requests that go together: those of more have larger pieces, and programs of their own.
MOST_TOGETHER = PIECE * MOST_PIECES
#: What a replica is warmed up with: boards and playouts of each, which want the small program and the large one that serve all.
_WARM_BOARDS, _WARM_PLAYOUTS = (1, 64), 1_000


class GivenUp(Exception):
    """Nobody waits for the answer any more."""


class Engine:
    """Answers requests, many at a time; every method is for any thread.

    Args:
      options: how positions are analysed.
      on_failure: called, in any thread, when queries cannot be answered any more.
    """

    def __init__(self, options: ServiceOptions, on_failure: Callable[[], None] = lambda: None):
        programs.keep(PROGRAMS)
        self._options, self._service = options, Service(options, on_failure=on_failure)

    def end(self) -> None:
        """Gives up what is under way."""
        self._service.end()

    def warm_up(self, sizes: Iterable[int]) -> None:
        """Compiles what usual requests on these board sizes need."""
        for size in sizes:
            asked = {"id": "", "moves": [], "rules": "tromp-taylor", "boardXSize": size, "boardYSize": size}
            for more in ({"maxVisits": 2, "includeOwnership": True, "includePolicy": True}, {"playouts": _WARM_PLAYOUTS}):
                self.answer(asked | more)
            for batch in _WARM_BOARDS:
                nothing = np.zeros(batch, np.int32)
                empty = np.zeros((batch, size, size), np.int8)
                self.evaluate([Boards(empty, nothing + BLACK, nothing + NO_KO, nothing, KOMI, _WARM_PLAYOUTS)])

    def client(self) -> Client:
        """Who asks a query; by `Client.drop` it is given up."""
        return Client(self._service)

    def answer(self, asked: dict, client: Client | None = None) -> list[dict] | Refusal:
        """The replies to a query, warnings and those of the turns in any order, or to an action.

        Searches of all queries share the device, and playouts of alike queries go to it in one batch, as in `jaxgo analysis`.

        Args:
          asked: the object of `queries.Asked`.
          client: who asks it, of `client`, and nothing else.
        """
        client = client or self.client()
        try:
            if "action" in asked:
                client.act(asked)
            else:
                client.ask(asked)
        except QueueFull as error:
            return busy(str(error))
        except QueryError as error:
            return refusal_of(error, NOT_ALLOWED, asked["id"])
        client.end()
        lines = []
        while (some := client.next_lines()) is not None:
            lines += some.splitlines()
        client.drop()  # if he was gone before he had asked, he is now
        replies = [json.loads(line) for line in lines]
        if "action" in asked:  # whose reply says again what the client has said, whatever that is
            return replies
        failed = next((reply["error"] for reply in replies if "error" in reply), None)
        return replies if failed is None else Refusal(FAILED, failed, name=asked["id"])

    def evaluate(self, together: Sequence[Boards], stop: Callable[[], bool] = lambda: False) -> list[bytes | Refusal]:
        """The answers to requests, those that are alike in one batch: each is what `jaxgo.evaluate` says of it alone.

        Raises:
          GivenUp: once `stop`, which is asked now and then, says so.
        """
        out: dict[int, bytes | Refusal] = {}
        groups: dict[tuple, list[list[int]]] = collections.defaultdict(lambda: [[]])
        for number, asked in enumerate(together):
            of_kind = groups[asked.size, asked.seed, asked.statistics]
            if sum(together[other].work for other in of_kind[-1]) + asked.work > MOST_TOGETHER:
                of_kind.append([])
            of_kind[-1].append(number)
        for numbers in filter(None, itertools.chain(*groups.values())):
            out |= zip(numbers, self._alike([together[number] for number in numbers], stop))
        return [out[number] for number in range(len(together))]

    def _alike(self, group: list[Boards], stop: Callable[[], bool]) -> list[bytes | Refusal]:
        """Of requests that differ in their positions, komi, streams and numbers of playouts only. These are given one by one even
        where they are equal, so that few programs serve all (`jaxgo.running.pieces`)."""
        first, sizes = group[0], [x.positions for x in group]

        def look(*_) -> None:
            if stop():
                raise GivenUp

        try:
            policy_of(self._options.policy, first.size)
        except ValueError as error:
            return [Refusal(NOT_ALLOWED, f"boards must suit the engine's policy: {error}", "boards")] * len(group)
        try:
            position = _position(group)
        except (TypeError, ValueError) as error:
            if len(group) > 1:  # who is to blame is seen one by one
                return [answer for asked in group for answer in self._alike([asked], stop)]
            text = str(error).replace("stones must", "boards must")
            return [Refusal(NOT_ALLOWED, text, text.partition(" ")[0])]
        try:
            found = self._played(group, position, look)
        except GivenUp:
            raise
        except Exception as error:  # a fault of the program
            if len(group) == 1:
                complaints.tell(error)
                return [Refusal(FAILED, f"internal error: {type(error).__name__}")]
            found = None
        if found is None:
            return [answer for asked in group for answer in self._alike([asked], stop)]
        ends = np.cumsum(sizes).tolist()
        return [packed(_alone(found[end - x.positions : end], x)) for x, end in zip(group, ends)]

    def _played(self, group: list[Boards], position: Position, look: Callable[..., None]) -> Evaluation:
        first, sizes = group[0], [x.positions for x in group]
        return jaxgo.evaluate(
            position, np.repeat([x.playouts for x in group], sizes), seed=first.seed,
            komi=np.concatenate([np.broadcast_to(x.komi, x.positions) for x in group]),
            streams=np.concatenate([_streams(x) for x in group]),
            first_playout=np.repeat([x.first_playout for x in group], sizes), statistics=first.statistics,
            policy=self._options.policy, devices=self._options.threads, progress=look,
        )  # fmt: skip


def _alone(part: Evaluation, asked: Boards) -> Evaluation:
    """A part of the evaluation as it would be of that request alone."""
    played = tuple(dataclasses.replace(x, first=asked.first_playout, count=asked.playouts) for x in part.played)
    return dataclasses.replace(part, komi=asked.komi, played=played)


def _position(group: list[Boards]) -> Position:
    boards = np.concatenate([x.boards for x in group])
    to_play, ko, passes = (np.concatenate([getattr(x, name) for x in group]) for name in ("to_play", "ko", "passes"))
    return Position.from_array(boards, to_play=to_play, ko=ko, passes=passes)


def _streams(asked: Boards) -> np.ndarray:
    """As `jaxgo.evaluate` has them by default: a position's stream is its place in its own batch, not in the one together."""
    return np.arange(asked.positions, dtype=np.int32) if asked.streams is None else asked.streams
