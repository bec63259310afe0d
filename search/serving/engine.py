"""What a replica does, without Ray: queries are answered by an analysis engine, boards by `jaxgo.evaluate`."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import jaxgo
from jaxgo import BLACK, NO_KO, Evaluation, Position
from jaxgo.backends import programs
from jaxgo.playing.policies.in_order import policy_of
from search.analysis import complaints
from search.analysis.fields import QueryError, QueueFull
from search.analysis.options import ServiceOptions
from search.analysis.service import Client, Service
from search.serving.boards import KOMI, Boards, packed
from search.serving.limits import FAILED, NOT_ALLOWED, Refusal, busy
from search.serving.queries import refusal_of
from search.serving.request_programs import RequestPrograms

#: Compiled programs that are kept, of those for trees and of those for playouts.
PROGRAMS = 24
#: What a replica is warmed up with: boards and playouts of each, which want the small program and the large one that serve all.
_WARM_BOARDS, _WARM_PLAYOUTS = (1, 64), 1_000
#: What only errors begin with and only replies of turns end with, in so many bytes: keys are sorted (`replies.encoded`), and what
#: may be a client's text ends with quotes.
_ERROR, _TURN, _OF_TURN = b'{"error":', re.compile(rb'"turnNumber":([0-9]+)\}$'), 32


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
        self._programs = RequestPrograms(options, self._service.scheduler)

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

    def answer(self, asked: dict, client: Client | None = None) -> list[tuple[int, bytes]] | Refusal:
        """The replies to a query, warnings and those of the turns in any order, or to an action: (turn, JSON), the turn -1 where
        there is none. What may be long is not read again.

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
                with self._programs.prepared(asked):
                    client.ask(asked)
        except QueueFull as error:
            return busy(str(error))
        except QueryError as error:
            return refusal_of(error, NOT_ALLOWED, asked["id"])
        except Refusal as refusal:
            return refusal
        client.end()
        lines: list[bytes] = []
        while (some := client.next_lines()) is not None:
            lines += some.splitlines()
        client.drop()  # if he was gone before he had asked, he is now
        if "action" in asked:  # whose reply says again what the client has said, whatever that is
            return [(-1, line) for line in lines]
        failed = next((json.loads(line)["error"] for line in lines if line.startswith(_ERROR)), None)
        return [(_turn(line), line) for line in lines] if failed is None else Refusal(FAILED, failed, name=asked["id"])

    def prepare(self, asked: Boards) -> Refusal | None:
        """Compiles what a request needs before it is evaluated, where that is not done; "busy" where too many wait for this."""
        try:
            self._programs.prepare(asked)
        except Refusal as refusal:
            return refusal
        return None

    def room(self, asked: Boards) -> int:
        """How many playouts may go together with those of a request, all counted."""
        return self._programs.room(asked)

    def evaluate(self, group: Sequence[Boards], stop: Callable[[], bool] = lambda: False) -> list[bytes | Refusal]:
        """The answers to requests of one key, in one batch: each is what `jaxgo.evaluate` says of it alone.

        Raises:
          GivenUp: once `stop`, which is asked now and then, says so.
        """
        try:
            policy_of(self._options.policy, group[0].size)
        except ValueError as error:
            return [Refusal(NOT_ALLOWED, f"boards must suit the engine's policy: {error}", "boards")] * len(group)
        try:
            position = _position(group)
        except (TypeError, ValueError):  # of some; the others go together all the same
            refused = [_refusal(asked) for asked in group]
            good = [asked for asked, refusal in zip(group, refused) if refusal is None]
            answers = iter(self._answers(good, _position(good), stop) if good else ())
            return [refusal or next(answers) for refusal in refused]
        return self._answers(group, position, stop)

    def _answers(self, group: Sequence[Boards], position: Position, stop: Callable[[], bool]) -> list[bytes | Refusal]:
        """Of requests that differ in their positions, komi, streams and numbers of playouts only. These are given one by one even
        where they are equal, so that few programs serve all (`jaxgo.running.pieces`)."""

        def look(*_) -> None:
            if stop():
                raise GivenUp

        try:
            found = self._played(group, position, look)
        except GivenUp:
            raise
        except Exception as error:  # a fault of the program
            if len(group) == 1:
                complaints.tell(error)
                return [Refusal(FAILED, f"internal error: {type(error).__name__}")]
            found = None
        if found is None:  # with whom, is seen one by one
            return [answer for asked in group for answer in self._answers([asked], _position([asked]), stop)]
        ends = np.cumsum([x.positions for x in group]).tolist()
        return [packed(_alone(found[end - x.positions : end], x)) for x, end in zip(group, ends)]

    def _played(self, group: Sequence[Boards], position: Position, look: Callable[..., None]) -> Evaluation:
        first, sizes = group[0], [x.positions for x in group]
        return jaxgo.evaluate(
            position, np.repeat([x.playouts for x in group], sizes), seed=first.seed,
            komi=np.concatenate([np.broadcast_to(x.komi, x.positions) for x in group]),
            streams=np.concatenate([_streams(x) for x in group]),
            first_playout=np.repeat([x.first_playout for x in group], sizes), statistics=first.statistics,
            policy=self._options.policy, devices=self._options.threads, progress=look,
        )  # fmt: skip


def _turn(line: bytes) -> int:
    """Of a reply to a query, -1 of a warning."""
    found = _TURN.search(line[-_OF_TURN:])
    return int(found[1]) if found else -1


def _alone(part: Evaluation, asked: Boards) -> Evaluation:
    """A part of the evaluation as it would be of that request alone."""
    played = tuple(dataclasses.replace(x, first=asked.first_playout, count=asked.playouts) for x in part.played)
    return dataclasses.replace(part, komi=asked.komi, played=played)


def _refusal(asked: Boards) -> Refusal | None:
    """Of a request with a position that cannot be; None of others."""
    try:
        _position([asked])
    except (TypeError, ValueError) as error:
        text = str(error).replace("stones must", "boards must")
        return Refusal(NOT_ALLOWED, text, text.partition(" ")[0])
    return None


def _position(group: Sequence[Boards]) -> Position:
    boards = np.concatenate([x.boards for x in group])
    to_play, ko, passes = (np.concatenate([getattr(x, name) for x in group]) for name in ("to_play", "ko", "passes"))
    return Position.from_array(boards, to_play=to_play, ko=ko, passes=passes)


def _streams(asked: Boards) -> np.ndarray:
    """As `jaxgo.evaluate` has them by default: a position's stream is its place in its own batch, not in the one together."""
    return np.arange(asked.positions, dtype=np.int32) if asked.streams is None else asked.streams
