"""What limits a move where nobody says."""

import pytest

from jaxgo import BLACK, Position
from search import round_size
from search.game import Game
from search.gtp.options import DEFAULT_VISITS, EngineOptions
from search.gtp.thinker import Thinker
from search.round_size import RoundSize
from tests.wide import wide


@pytest.mark.parametrize(("options", "times"), [*wide(({}, 2), ({"playouts_per_leaf": 16}, 1)), ({"bot": "amaf"}, 1)])
def test_devices_that_want_more_playouts_of_a_leaf_look_at_as_many_leaves(monkeypatch, options, times):
    """Unless it is the user who wants them."""
    monkeypatch.setattr(round_size, "suited", lambda *args, **how: RoundSize(64, 16))
    thinker, game = Thinker(EngineOptions(resign=0, **options)), Game(Position.empty(3), 7.5)
    choice = thinker.genmove(game, BLACK, 7.5, None)
    assert 0 <= choice.playouts - times * DEFAULT_VISITS < DEFAULT_VISITS // 4
    thinker.forget()
