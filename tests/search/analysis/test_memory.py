"""How memory is shared out among clients."""

from search.analysis.memory import Queues


def test_nobody_fills_more_than_half():
    assert Queues(1000).take(500, 0) and not Queues(1000).take(501, 0)
    queues = Queues(1000)
    assert queues.take(300, 0) and queues.take(200, 300) and not queues.take(1, 500)
    assert queues.take(250, 0) and queues.held == 750
