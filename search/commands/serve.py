"""`jaxgo serve`: analysis and evaluation for many clients over HTTP, by replicas on a Ray cluster."""

import argparse
import contextlib
import importlib.util
import os
import pathlib
import secrets
import signal
import sys
import time

from jaxgo.base.signals import handled
from jaxgo.cli import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError
from search import bots
from search.commands import analysis, options

SUMMARY = "a service over HTTP on a Ray cluster: JSON analysis, and batches of positions as numpy arrays"

_LOCAL = "127.0.0.1"
_SHORTEST_TOKEN = 8
_DESCRIPTION = """\
Serves the analysis engine of `jaxgo analysis` and `jaxgo.evaluate` over HTTP, by replicas on a Ray cluster: one for each GPU, or
for so many cores, more while there is much to do. Answers depend on the request and its seed alone, not on the replica, on what
goes with it in a batch, or on a replica's dying: then another does its work. What is accepted is answered once; what there is no
room for is told "busy".
"""
_EPILOG = f"""\
POST /analysis   one JSON query as for `jaxgo analysis` (see its help); the replies for its turns as a JSON array, warnings first,
                 or with "Accept: application/x-ndjson" as lines. There are no reports during a search, and of the actions
                 query_version and query_models.
POST /evaluate   a file of np.savez: boards (integers [B, N, N], 1 Black, -1 White, 0 empty), and any of to_play (1), ko (-1),
                 passes (0), komi (7.5; one each or one for all), playouts (1000), seed (0), streams, first_playout, statistics.
                 The answer is such a file: what `jaxgo.Evaluation.load` reads, bit for bit what `jaxgo.evaluate` gives (by
                 the --policy here, if there is one), and
                 win_rate, win_rate_error, margin_mean, margin_std, length_mean, truncated, ownership besides.
GET /health      200 once replicas are ready, 503 while there are none; needs no token
GET /metrics     counts and times for Prometheus

Other requests need the header "Authorization: Bearer TOKEN". What is wrong is told as JSON, {{"error": ..., "field": ...}}: 400
malformed, 401 no token, 404 no such path, 405 no such method there, 408 the body came too late, 413 too large, 422 a field is not
what it must be or asks for too much, 500 it has failed, 503 busy, with Retry-After.
--memory and --threads are for each replica; without --memory all that this machine has room for share a quarter of its memory.

{bots.listing(bots.TREES)}
examples:
  jaxgo serve --ray local                                     a replica for each core or GPU of this machine, as needed
  jaxgo serve --ray auto --replicas 4:16 --sizes 9,13,19      the Ray cluster that this machine is part of
  jaxgo serve --ray local --token-file token --port 9000
  curl -H "Authorization: Bearer $TOKEN" --data @query.json http://127.0.0.1:8080/analysis
Ctrl-C or SIGTERM answers what is accepted, and ends, half a minute later where a request has come in part, and two or
three minutes where an answer is not read; once more ends at once.
"""

#: Packages of others that it is made of.
_NEEDED = ("ray", "prometheus_client", "starlette", "uvicorn")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to its parser."""
    from search.serving.limits import Limits

    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    ray = "the Ray cluster: local (the default) for one on this machine alone, auto for the one that it is part of, or an address"
    parser.add_argument("--ray", nargs="?", default="local", const="local", metavar="ADDRESS", help=ray)
    host = "where to listen (default: %(default)s, this machine alone; there is no TLS)"
    parser.add_argument("--host", default=_LOCAL, help=host)
    port = "0 takes any that is free (default: %(default)s)"
    parser.add_argument("--port", type=options.count(0, 65535), default=8080, metavar="N", help=port)
    token = parser.add_mutually_exclusive_group()
    token.add_argument("--token", type=_token, help="what clients must have (default: $JAXGO_TOKEN, or one drawn and printed)")
    token.add_argument("--token-file", metavar="FILE", help="holds it; others on this machine may see a command line")
    token.add_argument("--no-token", action="store_true", help="anybody may ask")
    replicas = "the fewest and the most (default: 1, and as many as the cluster has room for)"
    parser.add_argument("--replicas", type=_replicas, metavar="MIN:MAX", help=replicas)
    sizes = "board sizes that a replica compiles before it is ready; others take seconds once (default: 9,19)"
    parser.add_argument("--sizes", type=_sizes, default=(9, 19), metavar="N,...", help=sizes)
    queue = "requests that are accepted at a time; more are told to come again (default: %(default)s)"
    parser.add_argument("--queue", type=options.count(1, 1 << 16), default=256, metavar="N", help=queue)
    memory = "bytes that these and their answers may take in this process (default: 1G)"
    parser.add_argument("--queue-memory", type=options.memory, default=1 << 30, metavar="SIZE", help=memory)
    most = {
        "body": "bytes of a body", "positions": "boards or turns of a request", "playouts": "playouts or visits of a position",
        "work": "playouts of all positions of a request",
    }  # fmt: skip
    for field, what in most.items():
        default = getattr(Limits, field)
        kind = options.count(1 << 10, 1 << 30) if field == "body" else options.count(1, 10**9)
        parser.add_argument(f"--max-{field}", type=kind, default=default, metavar="N", help=f"{what} (default: {default:,})")
    name = "of the application; what runs there under it is replaced (default: %(default)s)"
    parser.add_argument("--name", type=_name, default="jaxgo", help=name)
    analysis.add_engine_arguments(parser, threads=1)


def _name(text: str) -> str:
    if not text.strip():  # mostly a shell's variable that was not set
        raise argparse.ArgumentTypeError(f"must be a name of one letter or more, not {text!r}")
    return text


def run(args: argparse.Namespace) -> int:
    """Serves until a signal comes."""
    from search.cluster import ClusterError, connected

    token = _token_of(args)
    for name in ("visits", "playouts"):
        if getattr(args, name) > args.max_playouts:
            raise UsageError(f"--{name} must be at most --max-playouts, {args.max_playouts:,}, not {getattr(args, name):,}")
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        raise UsageError(f"serve needs Ray Serve: pip install 'jaxgo[cluster]' (there is no {missing[0]})")
    signals = _Signals()
    with handled(signals.terminate, signal.SIGTERM), contextlib.ExitStack() as stack:
        try:
            ray = stack.enter_context(connected(args.ray, "serve"))
            signal.signal(signal.SIGTERM, signals.terminate)  # Ray has its own
            _serve(args, token, ray, signals)
        except ClusterError as error:
            _say(str(error))
            return EXIT_FAILED
        except KeyboardInterrupt:
            if not signals.terminated:
                return EXIT_INTERRUPTED
    return EXIT_DONE


def _serve(args: argparse.Namespace, token: str | None, ray, signals: "_Signals") -> None:
    """Serves until KeyboardInterrupt."""
    from search.analysis.options import ServiceOptions
    from search.cluster import ClusterError, room_of_nodes
    from search.serving.application import Application, Deployment
    from search.serving.door import Door
    from search.serving.limits import Limits
    from search.serving.metrics import Metrics
    from search.serving.places import Places

    on_gpus = ray.cluster_resources().get("GPU", 0) >= 1
    room = sum(room_of_nodes(ray, 1 if on_gpus else args.threads, on_gpus=on_gpus))
    least, most = args.replicas or (1, max(1, room))
    memory = args.memory or max(options.LEAST_MEMORY, options.default_memory() // min(most, max(1, room)))
    engine = ServiceOptions(**analysis.engine_options(args), memory=memory)
    limits = Limits(body=args.max_body, positions=args.max_positions, playouts=args.max_playouts, work=args.max_work)
    places = Places(args.queue, args.queue_memory)
    metrics = Metrics(places)
    listener = _listener(args.host, args.port)
    at_once = False
    application = Application(Deployment(args.name, engine, args.sizes, least, most), metrics.count_again)
    try:
        _say(f"starting {least} replica{'s' * (least > 1)}, which compile what they need")
        application.start()
        listener.serve(Door(application, engine, limits, places, token, metrics), args.queue)
        if token is not None and args.token is None and args.token_file is None and "JAXGO_TOKEN" not in os.environ:
            _say(f"token: {token}")
        if token is None and args.host != _LOCAL:
            _say("without a token, anybody who reaches this address may ask")
        _say(f"ready at http://{listener.address}")
        while listener.serves:
            time.sleep(0.5)
            signals.check()
            if application.lost:
                raise ClusterError(f"the application {args.name!r} is another's by now, or gone")
        raise ClusterError("nobody listens any more; this is a fault of the program")
    except KeyboardInterrupt:
        at_once = True  # where it comes once more
        with contextlib.suppress(OSError):  # nobody reads what is said
            _say("ending: what is accepted is answered; once more ends at once")
        listener.close()
        at_once = False
        raise
    finally:
        application.stop(at_once=at_once)


def _listener(host: str, port: int):
    from search.serving.listening import Listener

    try:
        return Listener(host, port)
    except OSError as error:
        raise UsageError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error


class _Signals:
    """SIGTERM is as Ctrl-C, also where that is ignored, but that the command then ends well."""

    def __init__(self):
        self.terminated = False

    def check(self) -> None:
        """Raises KeyboardInterrupt after a SIGTERM: Python may have dropped the first one, in a callback."""
        if self.terminated:
            raise KeyboardInterrupt

    def terminate(self, number, frame) -> None:
        self.terminated = True
        raise KeyboardInterrupt


def _token_of(args: argparse.Namespace) -> str | None:
    """What clients must have; None for nothing."""
    if args.no_token:
        return None
    if args.token_file is not None:
        try:
            return _token(pathlib.Path(args.token_file).read_text("utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the token file {args.token_file!r} cannot be read: {error}") from error
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"--token-file {args.token_file}: {error}") from error
    if args.token is not None:
        return args.token
    try:
        return _token(os.environ["JAXGO_TOKEN"]) if "JAXGO_TOKEN" in os.environ else secrets.token_urlsafe(24)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"JAXGO_TOKEN: {error}") from error


def _token(text: str) -> str:
    if len(text) < _SHORTEST_TOKEN or not all("!" <= letter <= "~" for letter in text):
        raise argparse.ArgumentTypeError(f"must be at least {_SHORTEST_TOKEN} letters, digits or signs of ASCII without spaces")
    return text


def _replicas(text: str) -> tuple[int, int]:
    """MIN, MAX of MIN:MAX, or of one number for both."""
    least, _, most = text.partition(":")
    try:
        found = int(least), int(most or least)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be MIN:MAX such as 1:8, or one number, not {text!r}") from None
    if not 1 <= found[0] <= found[1] <= 1 << 12:
        raise argparse.ArgumentTypeError(f"must be 1 <= MIN <= MAX <= {1 << 12}, not {text!r}")
    return found


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(options.count(2, 25), text.split(",")))


def _say(text: str) -> None:
    print(f"jaxgo serve: {text}", file=sys.stderr, flush=True)
