"""What a client is told: KataGo's replies, as dictionaries."""

import functools
import hashlib
import json

import numpy as np

from jaxgo import BLACK, WHITE, Position
from jaxgo.base.source import version
from jaxgo.board.geometry import geometry
from jaxgo.board.symmetries import NUM_SYMMETRIES, transform_points
from search.analysis.options import ServiceOptions
from search.analysis.work import Task
from search.findings import Findings

#: Decimal places of ownership.
PLACES = 4
_NAMES = {BLACK: "black", WHITE: "white"}


def encoded(reply: dict) -> bytes:
    """A reply as the client gets it."""
    return json.dumps(reply, allow_nan=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def error(text: str, field: str | None = None, name: str | None = None) -> dict:
    """Of a line that cannot be answered."""
    return {"error": text} | _given(field=field, id=name)


def warning(text: str, field: str, name: str) -> dict:
    """Of a query that is answered all the same."""
    return {"field": field, "id": name, "warning": text}


def _given(**values) -> dict:
    return {key: value for key, value in values.items() if value is not None}


def no_results(task: Task) -> dict:
    """Of a position that was given up."""
    return {"id": task.query.id, "isDuringSearch": False, "noResults": True, "turnNumber": task.turn}


def answer_to(asked: dict, **more) -> dict:
    """Of an action: what was asked, and more."""
    return {**asked, **more}


def query_version(asked: dict) -> dict:
    return answer_to(asked, version=version(), git_hash="<omitted>")


def query_models(asked: dict, options: ServiceOptions) -> dict:
    """There is no network; the one "model" is how positions are played out."""
    bot, how = options.bot, "uniformly random playouts" if options.policy is None else f"playouts by {options.policy!r}"
    model = {
        "name": f"jaxgo-{bot}", "internalName": f"jaxgo {bot}, {options.playouts_per_leaf} {how} from each leaf",
        "maxBatchSize": 256, "usesHumanSLProfile": False, "version": 0, "usingFP16": "false",
    }  # fmt: skip
    return answer_to(asked, models=[model])


def of_findings(task: Task, found: Findings, during: bool) -> dict:
    """Of a position that has been searched or played out, all that is known of it and wanted."""
    assert task.position is not None
    query, mover = task.query, task.to_play
    seen = found.seen_by(query.perspective or mover)
    infos, this, alike = seen.infos, *_hashes(task.position)
    if seen.moves_ownership is not None:
        infos = [{**info, "ownership": _plain(owners)} for info, owners in zip(infos, seen.moves_ownership)]
    root = seen.root | {"currentPlayer": "B" if mover == BLACK else "W", "thisHash": this, "symHash": alike}
    out = {"id": query.id, "isDuringSearch": during, "moveInfos": infos, "rootInfo": root, "turnNumber": task.turn}
    if seen.ownership is not None:
        out["ownership"] = _plain(seen.ownership)
    if seen.shares is not None:  # -1 where a move is illegal
        assert task.legal is not None
        out["policy"] = np.where(task.legal, seen.shares, -1.0).tolist()
    if seen.amaf is not None:
        view = query.perspective or mover
        out["amaf"] = {_NAMES[colour]: _amaf(*earned, view == -colour) for colour, earned in seen.amaf.items()}
    return out


def _plain(owners: np.ndarray) -> list[float]:
    return owners.reshape(-1).round(PLACES).tolist()


def _amaf(visits: np.ndarray, rate: np.ndarray, turned: bool) -> dict:
    return {"visits": visits.tolist(), "winrate": (1 - rate if turned else rate).round(PLACES + 2).tolist()}


def _hashes(position: Position) -> tuple[str, str]:
    """(of the position, of the position and its mirror images), 32 hexadecimal digits each."""
    words, bits, images = _places(position.size)
    black, white = (np.concatenate(board)[words] >> bits & np.uint32(1) for board in (position.black, position.white))
    stones = (black + 2 * white).astype(np.int8)
    if position.ko[0] >= 0:
        stones[position.ko[0]] = 3
    who = bytes([position.size, int(position.to_play[0] == BLACK)])
    found = [hashlib.blake2b(who + image.tobytes(), digest_size=16).hexdigest().upper() for image in stones[images]]
    return found[0], min(found)


@functools.cache
def _places(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the word of each point, its bit there, the points of the images of a board), of a size."""
    g, points = geometry(size), np.arange(size * size)
    images = transform_points(np.tile(points, (NUM_SYMMETRIES, 1)), size, np.arange(NUM_SYMMETRIES))
    return g.word_of_point, g.bit_of_point.astype(np.uint32), np.asarray(images)
