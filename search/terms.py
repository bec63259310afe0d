"""What a search goes by when it takes results; compiled."""

from typing import NamedTuple

import numpy as np

from jaxgo.running.leaf_results import Places
from search.compiled import part


class Terms(NamedTuple):
    """What a search goes by when it takes results."""

    playouts: int
    """Of a leaf."""
    losses: int
    """Of them, those that stood as virtual losses in what nodes know of their moves, meanwhile."""
    black: bool
    """Whether Black moves at nodes of depth 0."""
    win: int
    """The least margin, Black's area minus White's, with which Black wins."""
    draw: int
    """That of a draw, or one that never occurs."""
    cleanup: bool
    """Whether a pass is considered only where nothing else is left."""
    credit: int
    """What feeds the RAVE statistics, see `search.histories`."""
    strict: bool
    """Whether a point in the tree played by the other colour first earns nothing (the papers), or only what the own colour played
    before counts (Gelly's posted code)."""
    avoid_until: np.ndarray
    """int64 [2, M]; see `search.restrictions.Restrictions`, as the next two."""
    allow_until: np.ndarray
    """int64 [2]."""
    allowed: np.ndarray
    """bool [2, M]."""
    restricted: int
    """Moves from the root from which on none of these three says anything."""
    places: Places
    """Where results stand."""


@part
def is_black(terms, depth):
    """Whether Black moves at nodes of a depth."""
    return (depth & 1 == 0) == terms.black


@part
def result_of(terms, margin, black):
    """The mover's result in halves for his area minus the other's, and whether he is Black."""
    beyond = margin if black else -margin
    result = 2 if beyond >= terms.win else 1 if beyond == terms.draw else 0
    return result if black else 2 - result
