"""Commands about the rules of the game; `search.rulesets` says what is played in place of others."""

import json

from search import rulesets
from search.gtp.protocol import SYNTAX_ERROR, Failure, remark


def get_rules(engine) -> str:
    """The rules that are played, as KataGo writes them."""
    return json.dumps(dict(sorted(engine.table.rules.as_json().items())), separators=(",", ":"))


def set_rules(engine, *words: str) -> None:
    """Other rules; the board stays as it is. What is not supported is played with the nearest rules, and said on stderr."""
    if not words:
        raise Failure(SYNTAX_ERROR)
    try:
        rules, warning = rulesets.find(" ".join(words))
    except ValueError as error:
        raise Failure(str(error)) from None
    if warning:
        remark(warning)
    engine.table.rules = rules


def set_rule(engine, name: str, value: str) -> None:
    """One of the rules that `kata-get-rules` tells of, the others as they are."""
    try:
        value = json.loads(value.lower()) if value.lower() in ("true", "false") else value
        set_rules(engine, json.dumps(engine.table.rules.as_json() | {name: value}))
    except Failure:
        raise Failure(f"Could not parse rule: {name} {value}") from None


def kgs_rules(engine, name: str) -> None:
    """Rules by the names of the server KGS."""
    set_rules(engine, "chinese-kgs" if name.lower() == "chinese" else name)


COMMANDS = {"kata-get-rules": get_rules, "kata-set-rules": set_rules, "kata-set-rule": set_rule, "kgs-rules": kgs_rules}
