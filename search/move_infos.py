"""What a bot thinks of the root's moves, under the names that KataGo gives such figures.

All rates and leads are from the view of the player to move at the root; `other_side` turns them round. Nothing here comes from a
neural network, so some of KataGo's names stand for the nearest thing that playouts know. Of each move:

- `move`: its name ("E5", "pass"); `order`: 0 for the move that the bot would play, 1 for the next best.
- `visits`, `edgeVisits`, `weight`, `edgeWeight`: playouts through the move. Flat bots: the credit it earned, rounded in the
  whole numbers.
- `winrate`: share of them won, draws half, 0 to 1.
- `scoreLead`, `scoreMean`, `scoreSelfplay`: mean area of the mover minus the other's in them, komi counted, in points; all three
  are the same. 0 with flat bots, which do not measure it.
- `scoreStdev`: the leads' standard deviation over the playouts; 0 with flat bots.
- `prior`: the move's share of all the wins that first plays of the mover have earned (RAVE); without RAVE its share of the
  visits. Not negative; the sum over all moves is at most 1.
- `utility`: 2 * winrate - 1.
- `lcb`: winrate minus LCB_STDEVS standard errors, may be negative; `utilityLcb`: 2 * lcb - 1.
- `playSelectionValue`: what the choice goes by: visits.
- `pv`: the moves expected, this one first; `pvVisits` and `pvEdgeVisits`, where asked for: playouts through each of them, which
  are the same in a tree.
"""

import math

import numpy as np

from jaxgo import Evaluation
from jaxgo.board.coordinates import names
from search import root
from search.root import RootStatistics

#: Standard errors between `winrate` and `lcb`, as many as KataGo takes.
LCB_STDEVS = 5.0
_MIRRORED = ("winrate", "lcb", "rawWinrate")
_NEGATED = ("scoreLead", "scoreMean", "scoreSelfplay", "utility", "utilityLcb", "rawLead", "rawScoreSelfplay")


def move_infos(
    search, *, most: int | None = None, line: int = 20, statistics: RootStatistics | None = None, pv_visits: bool = False,
    pv_edge_visits: bool = False,
) -> list[dict]:  # fmt: skip
    """The moves that a search has tried, the best first.

    Args:
      search: a `search.Search` that has some visits.
      most: how many moves at most; by default all that have visits.
      line: how many moves of `pv` at most.
      statistics: what to report, where the caller has it already; by default `search.statistics()`.
      pv_visits, pv_edge_visits: whether to tell `pvVisits`, `pvEdgeVisits`.
    """
    found = search.statistics() if statistics is None else statistics
    tried = np.flatnonzero((found.visits > 0) & found.playable)
    best, shares = search.best() if len(tried) else None, priors(found)
    rate = np.nan_to_num(found.win_rate)
    order = sorted(map(int, tried), key=lambda m: (m != best, -int(found.visits[m]), -rate[m], m))[:most]
    lead = np.where(np.isnan(found.lead), found.root_lead, found.lead)
    stdev = np.where(np.isnan(found.lead_stdev), found.root_lead_stdev, found.lead_stdev)
    lines = search.variations(order, line)
    infos = [
        _info(search.position.size, m, i, float(found.visits[m]), float(rate[m]), float(lead[m]), float(stdev[m]),
              float(shares[m]), pv)
        for i, (m, pv) in enumerate(zip(order, lines))
    ]  # fmt: skip
    if pv_visits or pv_edge_visits:
        along = (root.visits_along(search.tree, pv, info["visits"]) for info, pv in zip(infos, lines))
        infos = [info | visits_of_line(visits, pv_visits, pv_edge_visits) for info, visits in zip(infos, along)]
    return infos


def move_infos_of_choice(
    choice, size: int, *, most: int | None = None, line: int = 20, pv_visits: bool = False, pv_edge_visits: bool = False
) -> list[dict]:  # fmt: skip
    """The moves that a flat bot has weighed, the one it plays first.

    Args:
      choice: a `search.Choice` of a bot without a tree.
      size: of the board.
      most, line, pv_visits, pv_edge_visits: as in `move_infos`.
    """
    known = ~np.isnan(choice.values)
    known[choice.move] = True
    rate = np.where(np.isnan(choice.values), 0.0 if math.isnan(choice.win_rate) else choice.win_rate, choice.values)
    order = sorted(map(int, np.flatnonzero(known)), key=lambda m: (m != choice.move, -rate[m], -choice.visits[m], m))[:most]
    shares = choice.visits / max(float(choice.visits.sum()), 1.0)
    infos = [
        _info(size, m, i, float(choice.visits[m]), float(rate[m]), 0.0, 0.0, float(shares[m]),
              (choice.variation if m == choice.move else [m])[:line])
        for i, m in enumerate(order)
    ]  # fmt: skip
    return [info | visits_of_line([info["visits"]] * len(info["pv"]), pv_visits, pv_edge_visits) for info in infos]


def visits_of_line(visits: list[int], pv_visits: bool, pv_edge_visits: bool) -> dict[str, list[int]]:
    """Of the moves of a `pv`, under the names that are asked for."""
    return {name: visits for name, wanted in (("pvVisits", pv_visits), ("pvEdgeVisits", pv_edge_visits)) if wanted}


def _info(size, move, order, visits, rate, lead, stdev, prior, pv) -> dict:
    lcb, name = lower_bound(rate, visits), names(size)
    return {
        "move": name[move], "visits": round(visits), "edgeVisits": round(visits), "weight": visits,
        "edgeWeight": visits, "winrate": rate, "scoreLead": lead, "scoreMean": lead, "scoreSelfplay": lead, "scoreStdev": stdev,
        "prior": prior, "utility": 2 * rate - 1, "lcb": lcb, "utilityLcb": 2 * lcb - 1, "playSelectionValue": visits,
        "order": order, "pv": [name[point] for point in pv],
    }  # fmt: skip


def lower_bound(rate: float, visits: float) -> float:
    """LCB_STDEVS standard errors below a win rate; the error is that of the rate with a win and a loss added."""
    careful = (rate * visits + 1) / (visits + 2)
    return rate - LCB_STDEVS * math.sqrt(careful * (1 - careful) / max(visits, 1))


def root_info(found: RootStatistics) -> dict:
    """What is known of the root itself; the names that are those of a move mean the same.

    `rawWinrate`, `rawLead` and the like are those of the search's result; there is no network whose output they could be.
    """
    rate, lead = found.root_win_rate, found.root_lead
    return {
        "winrate": rate, "scoreLead": lead, "scoreSelfplay": lead, "scoreStdev": found.root_lead_stdev, "utility": 2 * rate - 1,
        "visits": found.root_visits, "weight": float(found.root_visits), "rawWinrate": rate, "rawLead": lead,
        "rawScoreSelfplay": lead, "rawScoreSelfplayStdev": found.root_lead_stdev, "rawNoResultProb": 0.0,
        "rawStWrError": -1.0, "rawStScoreError": -1.0, "rawVarTimeLeft": -1.0,
    }  # fmt: skip


def root_info_of_choice(choice) -> dict:
    """The same of a bot without a tree: the best move's rate; it does not measure leads."""
    rate = 0.5 if math.isnan(choice.win_rate) else choice.win_rate
    return {
        "winrate": rate, "utility": 2 * rate - 1, "scoreLead": 0.0, "scoreSelfplay": 0.0, "scoreStdev": 0.0,
        "visits": choice.playouts, "weight": float(choice.playouts),
    }  # fmt: skip


def root_info_of_playouts(found: Evaluation, black: bool, komi: float) -> dict:
    """The same of playouts from one position with Black or White to move.

    Here the raw figures have errors: `rawStWrError` and `rawStScoreError` are standard errors;
    `rawVarTimeLeft` is the games' mean length.
    """
    rate, lead = float(found.win_rate), float(found.margin_mean) - komi
    rate, lead = (rate, lead) if black else (1 - rate, -lead)
    number, stdev = int(found.num_playouts), float(found.margin_std)
    return {
        "winrate": rate, "scoreLead": lead, "scoreSelfplay": lead, "scoreStdev": stdev, "utility": 2 * rate - 1, "visits": number,
        "weight": float(number), "rawWinrate": rate, "rawLead": lead, "rawScoreSelfplay": lead, "rawScoreSelfplayStdev": stdev,
        "rawNoResultProb": 0.0, "rawStWrError": float(found.win_rate_error), "rawStScoreError": stdev / math.sqrt(number),
        "rawVarTimeLeft": float(found.length_mean),
    }  # fmt: skip


def rates(visits: np.ndarray, wins: np.ndarray) -> np.ndarray:
    """float64: win rates, a half where there are no visits."""
    return np.where(visits > 0, wins / np.maximum(visits, 1), 0.5)


def priors(found: RootStatistics) -> np.ndarray:
    """float64 [P + 1]: `prior` of every move, 0 where the search does not consider it; the sum is 1, or 0 without playouts."""
    won = found.playable & (found.rave_visits > 0)  # what is not considered may have been played later
    wins = np.where(won, found.rave_visits * np.nan_to_num(found.rave_win_rate), 0.0)
    shares = np.where(found.playable, wins if wins.any() else found.visits, 0.0).astype(np.float64)
    return shares / (shares.sum() or 1.0)


def other_side(info: dict) -> dict:
    """A move's or the root's figures from the view of the other player.

    `lcb` turns round with `winrate`, as with KataGo: seen by the other player it lies above the rate.
    """
    turned = {key: 1 - info[key] for key in _MIRRORED if key in info} | {key: -info[key] for key in _NEGATED if key in info}
    return {**info, **turned}
