"""Clients share the scheduler's thread and the device, counted in what is done for them."""

import threading

from search.analysis import scheduler as module
from search.analysis.service import Service
from tests.search.analysis.talk import Talk, eventually, is_final, query


def test_a_client_gets_as_many_turns_as_another_who_asks_for_sixty_times_as_much(service, monkeypatch):
    """Between two turns of the one who asks for little there is one turn of the other, here of one step."""
    events, searches, scheduler = [], service.scheduler._searches, service.scheduler
    step, serve = searches._step, scheduler._serve

    def count_step(task) -> bool:
        worked = step(task)
        events.append(("step", task.client))
        return worked

    def count_turn(client) -> bool:
        events.append(("turn", client))
        return serve(client)

    much, little = Talk(service), Talk(service)
    much.send(*(query(f"m{i}", maxVisits=100_000, seed=i % 2) for i in range(60)))
    assert eventually(lambda: sum(task.search is not None for task in searches.active) == 60)
    monkeypatch.setattr(module, "TURN", 0.0)
    monkeypatch.setattr(searches, "_step", count_step)
    monkeypatch.setattr(scheduler, "_serve", count_turn)
    little.send(query("little", maxVisits=2000))
    little.finals(1)
    monkeypatch.undo()
    turns = [i for i, event in enumerate(events) if event == ("turn", little.client)]
    between = [events[i:j].count(("turn", much.client)) for i, j in zip(turns, turns[1:])]
    assert len(turns) > 10 and set(between) == {1}
    assert events.count(("step", little.client)) > 10
    much.send({"id": "t", "action": "terminate_all"})
    much.end(), little.end()


def test_priorities_count_within_a_client(service, monkeypatch):
    """Of searches that are under way at once, the urgent one gets ahead."""
    talk, searches, all_there = Talk(service), service.scheduler._searches, threading.Event()
    steps = searches.steps  # all of them or none: in the middle of them those that come last would be first
    monkeypatch.setattr(searches, "steps", lambda client: steps(client) if all_there.is_set() else iter(()))
    low = [query(f"low{i}", maxVisits=4000, priority=0) for i in range(12)]
    talk.send(*low, query("high", maxVisits=4000, priority=7))
    assert eventually(lambda: len(searches.active) == 13 and all(task.search is not None for task in searches.active))
    all_there.set()
    service.scheduler.wake()
    replies = talk.wait(lambda replies: sum(map(is_final, replies)) == 13)
    place = [reply["id"] for reply in replies].index("high")
    assert place <= 2, [reply["id"] for reply in replies]
    talk.end()


def test_slices_go_round_clients():
    """Thirty endless evaluations of one and one of another: the other's is played every second time."""
    service = Service()
    batches, order = service.scheduler._batches, []
    much, little = Talk(service), Talk(service)
    much.send(*(query(f"m{i}", playouts=10**9 - i) for i in range(30)))
    assert eventually(lambda: len(batches._active) >= 4)
    little.send(query("little", playouts=10**9))
    assert eventually(lambda: little.client in batches.owners)
    slice_of = batches.slice_of

    def noted(client):
        order.append(client)
        return slice_of(client)

    batches.slice_of = noted

    def shared() -> bool:
        """At first it may make up for what it came too late for, as long as its slices are small."""
        return len(order) >= 40 and 6 <= order[-16:].count(little.client) <= 10

    assert eventually(shared), [client is little.client for client in order]
    more = len(order) + 40
    assert eventually(lambda: len(order) >= more)
    assert 15 <= order[more - 40 : more].count(little.client) <= 25
    for talk in (much, little):
        talk.send({"id": "t", "action": "terminate_all"})
        talk.end()
    service.end()
