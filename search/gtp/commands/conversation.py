"""Commands about the engine itself."""

import time

from jaxgo.base.source import version as installed_version


def protocol_version(engine) -> str:
    """2."""
    return "2"


def name(engine) -> str:
    """The engine's name."""
    return "jaxgo"


def version(engine) -> str:
    """The installed version, and the bot."""
    return f"{installed_version()} ({engine.options.bot})"


def known_command(engine, command: str) -> str:
    """true or false."""
    return "true" if command.lower() in engine.commands else "false"


def list_commands(engine) -> str:
    """All commands, a line each."""
    return "\n".join(sorted(engine.commands))


def quit_(engine) -> None:
    """Ends the conversation after the reply."""
    engine.over = True


def stop(engine) -> None:
    """Ends pondering, as any command does, until the next own move."""
    engine.stop_pondering()


def cputime(engine) -> str:
    """Processor seconds that the engine has used."""
    return f"{time.process_time():.3f}"


COMMANDS = {
    "protocol_version": protocol_version, "name": name, "version": version, "known_command": known_command,
    "list_commands": list_commands, "quit": quit_, "stop": stop, "cputime": cputime,
}  # fmt: skip
