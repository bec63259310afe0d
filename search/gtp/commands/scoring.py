"""Commands that judge a finished game."""

from search.gtp import scoring
from search.gtp.protocol import SYNTAX_ERROR, Failure
from search.gtp.table import names
from search.records import score_as_result


def final_score(engine) -> str:
    """B+3.5, W+2 or 0: the area, with dead stones taken off the board."""
    return score_as_result(scoring.score(engine.table, engine.judgement()))


def final_status_list(engine, status: str) -> str:
    """The chains that are alive, dead, or in seki, a line each."""
    if status.lower() not in scoring.STATUSES:
        raise Failure(SYNTAX_ERROR)
    judged = engine.judgement().chains
    return "\n".join(names(chain, engine.table.size) for chain, found in judged if found == status.lower())


COMMANDS = {"final_score": final_score, "final_status_list": final_status_list}
