"""Commands that look at options and change them while the engine runs, under the names that KataGo has for them."""

import json
from collections.abc import Callable

from jaxgo.backends.choice import workers_of
from search.gtp import arguments
from search.gtp.clock import FOR_EVER
from search.gtp.options import DEFAULT_RESIGN, DEFAULT_VISITS, EngineOptions
from search.gtp.protocol import SYNTAX_ERROR, Failure

#: What KataGo says of visits and seconds that have no limit.
UNLIMITED_VISITS, UNLIMITED_SECONDS = 2**50, 1e20
MOST_THREADS = 1024


def _visits(options: EngineOptions) -> int:
    alone = options.visits is None and options.seconds is None
    return DEFAULT_VISITS if alone else UNLIMITED_VISITS if options.visits is None else options.visits


def _set_visits(options: EngineOptions, text: str) -> dict:
    visits = arguments.number(text, 1)
    if visits >= UNLIMITED_VISITS:
        return {"visits": None}
    return {"visits": arguments.whole(text, 1, UNLIMITED_VISITS)}


def _seconds(options: EngineOptions) -> float:
    return UNLIMITED_SECONDS if options.seconds is None else options.seconds


def _set_seconds(options: EngineOptions, text: str) -> dict:
    seconds = arguments.number(text)
    if seconds <= 0:
        raise Failure(SYNTAX_ERROR)
    return {"seconds": None if seconds >= FOR_EVER else seconds}


def _threads(options: EngineOptions) -> int:
    return len(workers_of(options.threads))


def _set_threads(options: EngineOptions, text: str) -> dict:
    return {"threads": arguments.whole(text, 1, MOST_THREADS)}


def _set_resigning(options: EngineOptions, text: str) -> dict:
    return {"resign": (options.resign or DEFAULT_RESIGN) if arguments.truth(text) else 0.0}


def _set_threshold(options: EngineOptions, text: str) -> dict:
    utility = arguments.number(text, -1)
    if utility > 1:
        raise Failure(SYNTAX_ERROR)
    return {"resign": (utility + 1) / 2}


#: What there is to look at (of the options), and what of the options a text changes.
PARAMETERS: dict[str, tuple[Callable[[EngineOptions], object], Callable[[EngineOptions, str], dict]]] = {
    "allowResignation": (lambda options: options.resign > 0, _set_resigning),
    "maxTime": (_seconds, _set_seconds),
    "maxVisits": (_visits, _set_visits),
    "numSearchThreads": (_threads, _set_threads),
    "ponderingEnabled": (lambda options: options.ponder, lambda _, text: {"ponder": arguments.truth(text)}),
    #: A utility, 2 * win rate - 1.
    "resignThreshold": (lambda options: 2 * options.resign - 1, _set_threshold),
}


def list_params(engine) -> str:
    """The names of all parameters, on one line."""
    return " ".join(PARAMETERS)


def get_param(engine, name: str) -> str:
    """A parameter's value."""
    value = _known(name)[0](engine.options)
    return f"{value:.15g}" if isinstance(value, float) else json.dumps(value)


def get_params(engine) -> str:
    """All of them, as a JSON object."""
    return json.dumps({name: look(engine.options) for name, (look, _) in PARAMETERS.items()}, separators=(",", ":"))


def set_param(engine, name: str, value: str) -> None:
    """Changes a parameter, from the next move on."""
    changes = _known(name)[1](engine.options, value)
    engine.change(**changes)


def get_models(engine) -> str:
    """The networks in use, a JSON list: there are none, playouts judge positions."""
    return "[]"


def _known(name: str):
    if name not in PARAMETERS:
        raise Failure(f"there is no parameter {name}; there are: {', '.join(PARAMETERS)}")
    return PARAMETERS[name]


COMMANDS = {
    "kata-list-params": list_params, "kata-get-param": get_param, "kata-get-params": get_params, "kata-set-param": set_param,
    "kata-get-models": get_models,
}  # fmt: skip
