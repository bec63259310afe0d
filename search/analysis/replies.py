"""What a client is told: KataGo's replies, as dictionaries."""

import hashlib
import math

import numpy as np

from jaxgo import BLACK, Evaluation, Position
from jaxgo.board.symmetries import NUM_SYMMETRIES, transform_points
from jaxgo.cli import version
from search import move_infos
from search.analysis.work import Task

#: Decimal places of ownership.
PLACES = 4


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


def query_models(asked: dict, bot: str, playouts_per_leaf: int) -> dict:
    """There is no network; the one "model" is how positions are played out."""
    model = {
        "name": f"jaxgo-{bot}", "internalName": f"jaxgo {bot}, {playouts_per_leaf} uniformly random playouts from each leaf",
        "maxBatchSize": 256, "usesHumanSLProfile": False, "version": 0, "usingFP16": "false",
    }  # fmt: skip
    return answer_to(asked, models=[model])


def of_search(task: Task, during: bool) -> dict:
    """Of a search, without ownership."""
    search, query = task.search, task.query
    found = search.statistics()
    infos = move_infos.move_infos(search, line=query.line, statistics=found, pv_visits=query.pv_visits)
    out = _reply(task, during, infos, move_infos.root_info(found), found.black)
    if query.policy:
        out["policy"] = _policy(np.where(found.playable, move_infos.priors(found), 0.0), task.legal)
    if query.amaf:
        # The search's first plays are the mover's only.
        size, turned = query.size, _turned(query, found.black)
        rate = np.where(found.rave_visits > 0, np.nan_to_num(found.rave_win_rate), 0.5)[:-1]
        mover = "black" if found.black else "white"
        out["amaf"] = {mover: _amaf(found.rave_visits[:-1], 1 - rate if turned else rate, size)}
    return out


def with_ownership(reply: dict, task: Task, root: np.ndarray | None, of_moves: np.ndarray | None) -> dict:
    """A search's reply with the ownership of the root, and of its moves in the order of `moveInfos`."""
    black = task.to_play == BLACK
    if root is not None:
        reply = {**reply, "ownership": _ownership(root, task.query, black)}
    if of_moves is not None:
        infos = [{**info, "ownership": _ownership(x, task.query, black)} for info, x in zip(reply["moveInfos"], of_moves)]
        reply = {**reply, "moveInfos": infos}
    return reply


def of_playouts(task: Task, found: Evaluation, during: bool) -> dict:
    """Of playouts without a tree; `found` is of the one position."""
    query, black = task.query, task.to_play == BLACK
    rate, lead = float(found.win_rate), float(found.margin_mean) - task.komi
    rate, lead = (rate, lead) if black else (1 - rate, -lead)
    number, stdev = int(found.num_playouts), float(found.margin_std)
    root = {
        "winrate": rate, "scoreLead": lead, "scoreSelfplay": lead, "scoreStdev": stdev, "utility": 2 * rate - 1, "visits": number,
        "weight": float(number), "rawWinrate": rate, "rawLead": lead, "rawScoreSelfplay": lead, "rawScoreSelfplayStdev": stdev,
        "rawNoResultProb": 0.0, "rawStWrError": float(found.win_rate_error), "rawStScoreError": stdev / math.sqrt(number),
        "rawVarTimeLeft": float(found.length_mean),
    }  # fmt: skip
    out = _reply(task, during, [], root, black)
    if query.ownership:
        out["ownership"] = _ownership(found.ownership, query, black)
    mover = 0 if black else 1
    if query.policy:
        wins = found.amaf_wins[mover].reshape(-1)
        shares = np.where(task.legal[:-1], wins, 0.0)
        out["policy"] = _policy(np.append(shares / (shares.sum() or 1.0), 0.0), task.legal)
    if query.amaf:
        out["amaf"] = {}
        for colour, name in enumerate(("black", "white")):
            visits = found.amaf_visits[colour].reshape(-1)
            rate = np.where(visits > 0, found.amaf_wins[colour].reshape(-1) / np.maximum(visits, 1), 0.5)
            out["amaf"][name] = _amaf(visits, 1 - rate if _turned(query, colour == 0) else rate, query.size)
    return out


def _reply(task: Task, during: bool, infos: list[dict], root: dict, black: bool) -> dict:
    """A reply; figures of the mover are turned to the perspective that the client wants."""
    if _turned(task.query, black):
        infos, root = [move_infos.other_side(info) for info in infos], move_infos.other_side(root)
    this, alike = _hashes(task.position)
    root |= {"currentPlayer": "B" if black else "W", "thisHash": this, "symHash": alike}
    return {"id": task.query.id, "isDuringSearch": during, "moveInfos": infos, "rootInfo": root, "turnNumber": task.turn}


def _turned(query, black: bool) -> bool:
    """Whether figures of this colour are to be told from the other's view."""
    return query.perspective == (-BLACK if black else BLACK)


def _ownership(of_black: np.ndarray, query, black: bool) -> list[float]:
    sign = query.perspective or (1 if black else -1)
    return (sign * of_black.reshape(-1)).round(PLACES).tolist()


def _policy(shares: np.ndarray, legal: np.ndarray) -> list[float]:
    """N * N + 1 floats, -1 where a move is illegal."""
    return np.where(legal, shares, -1.0).tolist()


def _amaf(visits: np.ndarray, rate: np.ndarray, size: int) -> dict:
    return {"visits": visits.reshape(-1).tolist(), "winrate": rate.round(PLACES + 2).tolist()}


def _hashes(position: Position) -> tuple[str, str]:
    """(of the position, of the position and its mirror images), 32 hexadecimal digits each."""
    g, bits = position.geometry, position.geometry.bit_of_point.astype(np.uint32)
    black, white = (np.concatenate(board)[g.word_of_point] >> bits & np.uint32(1) for board in (position.black, position.white))
    stones = (black + 2 * white).astype(np.int8)
    if position.ko[0] >= 0:
        stones[position.ko[0]] = 3
    who = bytes([position.size, int(position.to_play[0] == BLACK)])
    images = transform_points(np.tile(stones, (NUM_SYMMETRIES, 1)), position.size, np.arange(NUM_SYMMETRIES))
    found = [hashlib.blake2b(who + image.tobytes(), digest_size=16).hexdigest().upper() for image in images]
    return found[0], min(found)
