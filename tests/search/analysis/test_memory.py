"""How memory is shared out among clients."""

import pytest

from jaxgo import Position
from search.analysis.memory import MOST_PROCESSES, Queues, Trees
from search.bots import TREES
from search.commands.options import LEAST_MEMORY
from search.players import search_options
from search.search import Search
from search.shared import SharedLeaves
from search.tree_needs import needs_histories


def test_nobody_fills_more_than_half():
    assert Queues(1000).take(500, 0) and not Queues(1000).take(501, 0)
    queues = Queues(1000)
    assert queues.take(300, 0) and queues.take(200, 300) and not queues.take(1, 500)
    assert queues.take(250, 0) and queues.held == 750


def test_what_is_given_back_is_free_again():
    queues = Queues(1000)
    assert queues.take(500, 0) and not queues.take(300, 0)
    queues.give_back(500)
    assert queues.held == 0 and queues.take(500, 0)


@pytest.mark.parametrize(("first", "free"), [(True, 2), (False, 4)])
def test_a_search_begins_while_several_times_its_need_is_free(first, free):
    """Of its process's part; how much it is given at most does not depend on the number of processes."""
    trees = Trees(1600, 2)
    assert trees.share(30) == 30 and trees.share(5000) == Trees(1600).share(5000) == 100
    trees.take(800 - free * 100)
    assert trees.has_room(100, first)
    trees.take(1)
    assert not trees.has_room(100, first) and trees.has_room(90, first)
    trees.give_back(1)
    assert trees.has_room(100, first)


@pytest.mark.parametrize("bot", TREES)
def test_the_least_memory_has_room_for_a_search_of_any_kind(bot):
    """On the largest board, though only a part of what a process has of it."""
    trees, how = Trees(LEAST_MEMORY, MOST_PROCESSES), search_options(bot, knowledge=True)
    share = trees.share(1 << 40)
    assert trees.has_room(share, first=True)
    shared = SharedLeaves(25, moves=needs_histories(how["rule"]))
    Search(Position.empty(25), **how, memory=share, device=shared.seat()).close()
    shared.close()
