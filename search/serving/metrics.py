"""What the service has counted, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from search.serving.places import Places

#: Seconds that requests take: the bounds of the histogram.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """Counters of one door.

    Args:
      places: what is accepted.
    """

    def __init__(self, places: Places):
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "jaxgo_requests", "Requests answered, by path and HTTP status.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "jaxgo_request_seconds", "From the first byte of a request that is answered with 200 to the last of its answer.",
            ["path"], buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._positions = Counter("jaxgo_positions", "Positions evaluated or searched.", ["path"], registry=self._registry)
        self._again = Counter("jaxgo_tried_again", "Requests whose replica died before its answer.", registry=self._registry)
        self._replicas = Gauge("jaxgo_replicas", "Replicas that are ready.", registry=self._registry)
        taken = Gauge("jaxgo_accepted", "Requests that are accepted and not answered yet.", registry=self._registry)
        taken.set_function(lambda: places.taken)
        held = Gauge("jaxgo_accepted_bytes", "Bytes that these and their answers are counted for.", registry=self._registry)
        held.set_function(lambda: places.held)

    def count(self, path: str, status: int, seconds: float, positions: int) -> None:
        """Counts a request that has been answered."""
        self._requests.labels(path, str(status)).inc()
        if status == 200:
            self._seconds.labels(path).observe(seconds)
            self._positions.labels(path).inc(positions)

    def count_again(self) -> None:
        """Counts a request that is handed to another replica. For any thread."""
        self._again.inc()

    def text(self, replicas: int) -> bytes:
        """All of them in Prometheus's text format, and how many replicas there are."""
        self._replicas.set(replicas)
        return generate_latest(self._registry)
