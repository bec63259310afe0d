"""Which task comes next, without any that is done."""

import pytest

from search.analysis.memory import Queues, Trees
from search.analysis.options import ServiceOptions
from search.analysis.query import read_query
from search.analysis.waiting import _SLACK, Waiting
from search.analysis.work import Task, tasks_of
from tests.search.analysis.talk import query


class Someone:
    """A client."""


def task(client, name: str, **more) -> Task:
    (made,) = tasks_of(read_query(query(name, **more))[0], client, ServiceOptions(visits=300, playouts=50))
    return made


def pop(waiting: Waiting) -> Task:
    """The next task."""
    found = waiting.first(waiting.clients()[0])
    waiting.take_first(found)
    return found


def pop_all(waiting: Waiting) -> list[str]:
    out = []
    while waiting:
        out.append(pop(waiting).query.id)
    return out


def test_clients_take_turns_and_then_their_priorities_count():
    waiting, (a, b) = Waiting(), (Someone(), Someone())
    for name, priority in (("a1", 9), ("a2", 10), ("a3", 9)):
        waiting.push(task(a, name, priority=priority))
    for name, priority in (("b1", -5), ("b2", 0)):
        waiting.push(task(b, name, priority=priority))
    assert pop_all(waiting) == ["a2", "b2", "a1", "b1", "a3"]
    assert not waiting and not waiting.tasks()


def test_what_is_given_up_is_passed_over_and_forgotten():
    """Also where it lies below a task that stays."""
    waiting, a = Waiting(), Someone()
    waiting.push(task(a, "stays", playouts=20, priority=1))
    for i in range(20 * _SLACK):
        given_up = task(a, str(i), playouts=20 + i % 7)
        waiting.push(given_up)
        given_up.finished = True
    assert [t.query.id for t in waiting.tasks()] == ["stays"]
    (queue,) = waiting._queues.values()
    assert len(queue.all) <= 2 * _SLACK
    assert pop_all(waiting) == ["stays"]


def test_trees_take_no_more_than_there_is():
    """Whatever comes; large ones leave room for small ones, and one client for others."""
    trees = Trees(1 << 20)
    large, small = trees.share(1 << 30), trees.share(1000)
    assert (large, small) == (1 << 16, 1000), "a share depends on the search alone"
    number = {True: 0, False: 0}
    for first in (False, True):
        while trees.has_room(large, first):
            trees.take(large)
            number[first] += 1
            assert trees.held <= trees.total
    assert number[False] >= 8 and number[True] >= 1, "others still begin when one client may not any more"
    while trees.has_room(small, True):
        trees.take(small)
        number[True] += 1
        assert trees.held <= trees.total
    assert number[True] > 50, "large ones leave room for small ones"
    trees.give_back(large)
    assert trees.has_room(large // 2, True)


def test_nobody_fills_the_queue_for_others():
    queues, held = Queues(1000), [0, 0, 0]
    for client in (0, 1, 2):
        while queues.take(10, held[client]):
            held[client] += 10
    assert held[0] == pytest.approx(500, abs=20) and all(100 < mine <= 500 for mine in held) and sum(held) <= 1000
    queues.give_back(held[0])
    assert queues.take(10, 0)
