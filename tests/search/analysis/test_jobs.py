"""Jobs of several clients."""

import queue

import pytest

from search.analysis.jobs import Job, Jobs, in_parts


class Someone:
    """A client."""


def do_all(jobs: Jobs, posted: queue.Queue, number: int) -> None:
    """Until so many parts are done."""
    for _ in range(number):
        jobs.hand_out()
        posted.get(timeout=60)()


def test_a_long_job_gives_way_between_its_parts():
    posted, order, results = queue.Queue(), [], {}
    jobs, (long, short) = Jobs(1, posted.put), (Someone(), Someone())

    def parts():
        for i in range(4):
            order.append(f"part {i}")
            yield
        return "all"

    jobs.put(long, Job(in_parts(parts(), lambda: False), lambda found: results.update(long=found), results.update))
    for i in range(2):
        jobs.put(short, Job(lambda i=i: order.append(f"short {i}"), lambda found: None, results.update))
    do_all(jobs, posted, 7)
    assert order == ["part 0", "short 0", "part 1", "short 1", "part 2", "part 3"] and results == {"long": "all"}
    jobs.close()


def test_what_is_more_urgent_comes_first_among_a_clients_own():
    """Also between the parts of what is under way, which then goes on before what came later."""
    posted, order = queue.Queue(), []
    jobs, someone = Jobs(1, posted.put), Someone()

    def parts():
        for i in range(2):
            order.append(f"part {i}")
            yield

    jobs.put(someone, Job(in_parts(parts(), lambda: False), lambda _: None, order.append))
    jobs.put(someone, Job(lambda: order.append("later"), lambda _: None, order.append))
    do_all(jobs, posted, 1)
    jobs.put(someone, Job(lambda: order.append("urgent"), lambda _: None, order.append, priority=1))
    do_all(jobs, posted, 4)
    assert order == ["part 0", "urgent", "part 1", "later"]
    jobs.close()


def test_a_job_in_parts_ends_early_once_nobody_wants_it():
    posted, done, results = queue.Queue(), [], []
    jobs, wanted = Jobs(1, posted.put), [True]

    def parts():
        done.append(1)
        yield
        done.append(2)

    jobs.put(Someone(), Job(in_parts(parts(), lambda: not wanted), results.append, results.append))
    do_all(jobs, posted, 1)
    wanted.clear()
    do_all(jobs, posted, 1)
    assert done == [1] and results == [None]
    jobs.close()


def test_who_asks_for_little_does_not_wait_for_as_many_jobs_of_another():
    """Turns are counted by what they cost: of one large job and many small ones the small ones come first."""
    posted, order = queue.Queue(), []
    jobs, (much, little) = Jobs(1, posted.put), (Someone(), Someone())
    for _ in range(3):
        jobs.put(much, Job(lambda: order.append("much"), lambda _: None, order.append, cost=10.0))
    for _ in range(8):
        jobs.put(little, Job(lambda: order.append("little"), lambda _: None, order.append, cost=1.0))
    do_all(jobs, posted, 11)
    assert order == ["much", *["little"] * 8, "much", "much"]
    jobs.close()


def test_a_result_that_cannot_be_added_is_told_as_what_went_wrong():
    """Whoever waits for it hears so, and the next one's job is done."""
    posted, failed, done = queue.Queue(), [], []
    jobs, someone = Jobs(1, posted.put), Someone()
    jobs.put(someone, Job(lambda: 0, lambda found: 1 / found, failed.append))
    jobs.put(someone, Job(lambda: 2, done.append, failed.append))
    do_all(jobs, posted, 2)
    assert [type(error) for error in failed] == [ZeroDivisionError] and done == [2]
    jobs.close()


@pytest.mark.parametrize("first_has_some", [False, True])
def test_who_has_no_more_work_leaves_his_place_to_the_others(first_has_some):
    """At once, and not when the next is handed out."""
    posted, order = queue.Queue(), []
    jobs, (one, other) = Jobs(1, posted.put), (Someone(), Someone())
    left = {one: ["one"] if first_has_some else [], other: ["other"]}

    def next_of(client) -> Job | None:
        names = left[client]
        return Job(lambda: order.append(names.pop()), lambda _: None, order.append) if names else None

    jobs.hand_out([one, other], next_of)
    posted.get(timeout=10)()
    assert order == (["one"] if first_has_some else ["other"])
    jobs.close()
