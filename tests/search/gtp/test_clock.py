"""Time control: no game is lost on time."""

import dataclasses
import random
import time

import pytest

from search.gtp.clock import LAG, Clock, System, own_moves_left
from search.gtp.thinker import FIRST_OVERHEAD, LEAST_OVERHEAD
from search.players import TreePlayer
from tests.search.gtp.client import Client


class Referee:
    """A server's clock of one player, written from the descriptions of the systems alone."""

    def __init__(self, system: System):
        self.system, self.main, self.over, self.stones = system, system.main, 0.0, system.count
        self.period, self.lost = system.period, False

    def move(self, seconds: float) -> None:
        kind, system = self.system.kind, self.system
        in_main = min(self.main, seconds)
        self.main -= in_main
        rest = seconds - in_main
        if kind in ("absolute", "fischer", "fischer-capped"):
            self.lost |= rest > 0
            if kind != "absolute":
                self.main = min(self.main + system.increment, system.most_main)
                self.lost |= seconds > system.most_move
        elif self.main == 0 and kind == "canadian":
            self.period -= rest
            self.stones -= 1
            self.lost |= self.period < 0
            if self.stones == 0:
                self.period, self.stones = system.period, system.count
        elif kind == "byoyomi":
            self.stones -= int(rest // system.period)
            self.lost |= self.stones <= 0

    def time_left(self) -> tuple[int, int]:
        """As it is sent, in whole seconds."""
        if self.main > 0 or self.system.kind in ("absolute", "fischer", "fischer-capped"):
            return int(self.main), 0
        return int(self.period), self.stones


SYSTEMS = [
    System("absolute", 60.0),
    System("absolute", 300.0),
    System("absolute", 1800.0),
    System("fischer", 30.0, increment=2.0),
    System("fischer", 5.0, increment=1.0),
    System("fischer-capped", 60.0, increment=5.0, most_main=60.0, most_move=10.0),
    System("byoyomi", 0.0, 1.0, 1),
    System("byoyomi", 20.0, 5.0, 3),
    System("byoyomi", 600.0, 30.0, 5),
    System("canadian", 0.0, 10.0, 10),
    System("canadian", 60.0, 25.0, 20),
    System("canadian", 300.0, 30.0, 5),
    System("canadian", 600.0, 60.0, 10),
    System("canadian", 1800.0, 60.0, 5),
    System("canadian", 0.0, 5.0, 1),
    System("canadian", 0.0, 60.0, 25),
    System("canadian", 0.0, 300.0, 25),
    System("canadian", 60.0, 60.0, 25),
    System("canadian", 600.0, 300.0, 25),
]


@pytest.mark.parametrize("told", [True, False], ids=["time_left", "own accounts"])
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: f"{s.kind}-{s.main:g}-{s.period or s.increment:g}-{s.count}")
@pytest.mark.parametrize("size", [5, 9, 19])
def test_a_long_game_is_never_lost_on_time(size, system, told):
    """Each move takes what it is given, some overhead and some of the network's time; the game is longer than most."""
    rng, overhead, points = random.Random(size), 0.1, size * size
    clock, referee, thought = Clock(system), Referee(system), 0.0
    for number in range(int(0.75 * points)):
        if told:
            clock.report(1, *referee.time_left())
        seconds = clock.budget(1, points, 2 * number, overhead)
        assert seconds >= 0
        taken = seconds + rng.uniform(0.02, overhead) if seconds else rng.uniform(0.005, 0.03)
        thought += seconds
        lag = rng.uniform(0, LAG) if seconds else 0.0
        referee.move(taken + lag)
        clock.spend(1, taken)  # it does not know what the network took
        assert not referee.lost, (number, seconds, referee.__dict__)
    # Time is there to be used: of main time most, of a period what the margins leave.
    if system.kind == "absolute" and system.main >= points * (LAG + overhead):
        assert thought > 0.4 * system.main
    if system.kind == "byoyomi" and not system.main:
        assert thought > 0.5 * system.period * number


@pytest.mark.parametrize(
    ("system", "seconds"),
    [
        (System(), None),
        (System("byoyomi", 0.0, 10.0, 3), 10 - LAG),
        (System("byoyomi", 5.0, 10.0, 3), 10 - LAG),
        (System("canadian", 0.0, 60.0, 10), 6 - LAG),
        (System("fischer-capped", 900.0, increment=5.0, most_move=7.0), 7 - LAG),
        (System("fischer", 5.0, increment=1.0), 2.5 / 162.45 + 0.9 - LAG),
        (System("absolute", 0.0), 0.0),
        (System("byoyomi", 0.0, 0.1, 1), 0.0),
    ],
)
def test_what_a_move_is_given(system, seconds):
    assert Clock(system).budget(1, 361, 0) == (None if seconds is None else pytest.approx(seconds))


def test_time_left_overrides_and_is_each_players_own():
    clock = Clock(System("canadian", 100.0, 30.0, 5))
    before = clock.budget(-1, 81, 0)
    clock.report(1, 12.0, 3)
    assert clock.budget(1, 81, 0) == pytest.approx(4 - LAG)
    assert clock.budget(-1, 81, 0) == before
    clock.report(1, 50.0, 0)
    assert dataclasses.asdict(clock.left(1)) == {"main": 50.0, "period": 30.0, "count": 5}


@pytest.mark.wide
def test_another_game_has_the_full_time_again():
    """A client that sets the clock once for several games, and never says what is left, counts on it."""
    client = Client(5)
    for line in ("kgs-time_settings byoyomi 60 5 3", "clear_board", "boardsize 5"):
        client.ok(line)
        clock = client.engine.clock
        for colour in (1, -1):
            assert dataclasses.asdict(clock.left(colour)) == {"main": 60.0, "period": 5.0, "count": 3}, line
        clock.spend(1, 70.0)
        clock.report(-1, 1.0, 1)
    client.ok("set_position B A1")  # may be the same game, as a client shows it
    assert client.engine.clock.left(1).main == 0.0


def test_time_left_without_settings_is_a_clock_too():
    clock = Clock()
    clock.report(1, 30.0, 0)
    assert 0 < clock.budget(1, 81, 0) < 5
    clock = Clock()
    clock.report(-1, 30.0, 10)
    assert clock.budget(-1, 81, 0) == pytest.approx(3 - LAG)


def test_time_left_without_settings_leaves_the_other_player_as_much():
    """Until it is told of, too; with the form that is told last."""
    for count in (0, 10):
        clock = Clock()
        clock.report(1, 30.0, count)
        assert clock.budget(-1, 81, 0) == clock.budget(1, 81, 0) > 0
    clock = Clock()
    clock.report(1, 30.0, 0)
    clock.report(-1, 20.0, 0)
    assert (clock.left(1).main, clock.left(-1).main) == (30.0, 20.0)
    clock.report(1, 40.0, 10)
    assert clock.budget(1, 81, 0) == pytest.approx(4 - LAG)
    assert clock.left(-1).main == 20.0
    clock.report(-1, 60.0, 10)
    assert clock.budget(-1, 81, 0) == pytest.approx(6 - LAG)


def test_where_the_client_wants_no_limit_there_is_none():
    clock = Clock(System("none"))
    clock.report(1, 3.0, 0)
    assert clock.budget(1, 81, 0) is None


def test_periods_are_lost_one_by_one_and_never_the_last():
    clock = Clock(System("byoyomi", 1.0, 10.0, 3))
    clock.spend(1, 12.0)
    assert dataclasses.asdict(clock.left(1)) == {"main": 0.0, "period": 10.0, "count": 2}
    clock.spend(1, 9.0)
    assert clock.left(1).count == 2
    clock.spend(1, 90.0)
    assert clock.left(1).count == 1


def test_a_canadian_period_begins_anew_after_its_stones():
    clock = Clock(System("canadian", 0.0, 10.0, 2))
    clock.spend(1, 4.0)
    assert dataclasses.asdict(clock.left(1)) == {"main": 0.0, "period": 6.0 - LAG, "count": 1}
    clock.spend(1, 4.0)
    assert dataclasses.asdict(clock.left(1)) == {"main": 0.0, "period": 10.0, "count": 2}


@pytest.mark.parametrize(
    ("system", "size"), [(System("absolute", 10.0), 9), (System("absolute", 60.0), 19), (System("fischer", 10.0, increment=0.4), 19)]
)  # fmt: skip
def test_delays_that_could_take_all_leave_a_part_of_each_share(system, size):
    """What is given off to delays for nothing would be more than half of the game's moves."""
    clock, referee, given = Clock(system), Referee(system), []
    for number in range(size * size // 2):
        given.append(clock.budget(1, size * size, 2 * number, LEAST_OVERHEAD))
        referee.move(given[-1] + 0.05)
        clock.spend(1, given[-1] + 0.05)
    assert min(given) > 0 and not referee.lost


@pytest.mark.wide
def test_one_stall_is_not_taken_for_a_slow_machine(monkeypatch):
    client, stalled = Client(4, visits=16), iter([3.0])
    thinker, think = client.engine.thinker, TreePlayer.genmove
    client.ok("time_settings 1000 0 0")

    def stalling(player, position, history, limits, *rest):
        now, late = time.monotonic(), next(stalled, None)
        if late is not None:  # the deadline has passed by so much
            monkeypatch.setattr(time, "monotonic", lambda: now + limits.seconds + late)
        return think(player, position, history, limits, *rest)

    monkeypatch.setattr(TreePlayer, "genmove", stalling)
    client.ok("genmove b")
    monkeypatch.undo()
    assert thinker.overhead == FIRST_OVERHEAD, "nothing is known by one move"
    client.ok("genmove w")
    client.ok("genmove b")
    assert thinker.overhead == LEAST_OVERHEAD
    thinker.overhead = 5.0
    client.ok("clear_board")
    assert thinker.overhead == FIRST_OVERHEAD, "another game, perhaps on a quiet machine"


def test_expected_moves_fall_with_the_game_but_never_to_none():
    counts = [own_moves_left(361, moves) for moves in range(0, 700, 20)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 150
    assert counts[-1] > 10


@pytest.mark.wide
def test_the_clock_runs_from_when_the_command_came(monkeypatch):
    """What it has waited for, and what the tree takes to follow the game, comes off the time to think, and off the clock."""
    client, deadlines = Client(4), []
    engine = client.engine
    client.ok("time_settings 100 0 0")
    engine.thinker.overhead = LEAST_OVERHEAD
    budget, think = engine.clock.budget(1, 16, 0, LEAST_OVERHEAD), engine.thinker.genmove

    def timed(game, colour, komi, deadline=None, **options):
        deadlines.append(deadline)
        return think(game, colour, komi, deadline, **options)

    monkeypatch.setattr(engine.thinker, "genmove", timed)
    received = time.monotonic() - 3
    engine._uncounted = 0.0
    engine.obey("genmove b", received)
    assert deadlines[-1] == pytest.approx(received + budget)
    assert 95 < engine.clock.left(1).main <= 97
    # A script's second command has waited for the first; that is not White's time.
    engine.obey("genmove w", received)
    assert deadlines[-1] > received + 3
    assert engine.clock.left(-1).main > 98
    assert not any(text.startswith("?") for text in client.written)


def test_compilation_is_on_nobodys_clock(monkeypatch):
    client = Client(4)
    client.ok("time_settings 100 0 0")
    pauses = [1.0]
    monkeypatch.setattr(client.engine.thinker, "compile", lambda size: bool(pauses) and time.sleep(pauses.pop()) is None)
    received = time.monotonic()
    client.engine.obey("clear_board", received)
    client.engine.obey("genmove b", received)
    assert client.engine.clock.left(1).main > 99.5


def test_a_move_that_is_only_looked_for_takes_no_time(monkeypatch):
    """Also where the next command waits already."""
    client = Client(4, visits=20)
    client.ok("time_settings 100 0 0")
    think = TreePlayer.genmove
    monkeypatch.setattr(TreePlayer, "genmove", lambda *args: (time.sleep(1.5), think(*args))[1])
    received = time.monotonic()
    client.engine.obey("reg_genmove w", received)
    monkeypatch.setattr(TreePlayer, "genmove", think)
    client.engine.obey("genmove b", received)
    assert client.engine.clock.left(1).main > 98.6


def test_following_the_game_is_part_of_what_a_move_is_given(monkeypatch):
    """A tree that takes half a second to move on leaves so much less to think."""
    client, given = Client(4, visits=10**9), []
    client.ok("time_settings 0 2 1")
    budget = client.engine.clock.budget(1, 16, 0, client.engine.thinker.overhead)
    prepare, think = TreePlayer.prepare, TreePlayer.genmove
    monkeypatch.setattr(TreePlayer, "prepare", lambda *args: (time.sleep(0.5), prepare(*args))[1])

    def noted(player, position, history, limits, *rest):
        given.append(limits.seconds)
        return think(player, position, history, limits, *rest)

    monkeypatch.setattr(TreePlayer, "genmove", noted)
    client.ok("genmove b")
    assert 0 < given[0] < budget - 0.5


def test_an_increment_comes_on_top_of_what_is_left_and_never_of_less_than_nothing():
    clock = Clock(System("fischer", 5.0, increment=3.0))
    clock.spend(1, 4.0)
    assert clock.left(1).main == 4.0 - LAG
    clock.spend(1, 6.0)
    assert clock.left(1).main == 3.0


@pytest.mark.wide
def test_a_clock_that_is_told_by_what_is_left_begins_when_all_is_compiled(monkeypatch):
    """As by others: no move compiles."""
    client, prepared = Client(5, visits=50), []
    monkeypatch.setattr(client.engine, "prepare", lambda: prepared.append(client.engine.clock))
    client.ok("time_left b 10 0")
    assert prepared == [client.engine.clock]


@pytest.mark.parametrize("kind", ["byoyomi", "canadian"])
def test_overtime_of_no_periods_is_none(kind):
    client = Client(None)
    client.engine.prepare = lambda: None
    client.ok(f"kgs-time_settings {kind} 10 30 0")
    assert client.engine.clock.budget(1, 25, 0) < 10


def test_main_time_never_grows_beyond_its_cap():
    clock = Clock(System("fischer-capped", 10.0, increment=5.0, most_main=12.0))
    clock.spend(1, 1.0)
    assert clock.left(1).main == 12
