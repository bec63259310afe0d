"""The commands, in groups: each a function of the engine and the command's words that returns the reply.

A function's parameters are the command's arguments, those with a default optional; another number of words is a syntax error. The
name of the command is that of the function, unless its module's COMMANDS says otherwise.
"""

from collections.abc import Callable
from typing import Any

from search.gtp.commands import analysis, board, conversation, gogui, parameters, play, records, rules, scoring, timing

COMMANDS: dict[str, Callable[..., Any]] = {}
for _group in (conversation, board, records, play, timing, rules, scoring, analysis, parameters, gogui):
    COMMANDS |= _group.COMMANDS
