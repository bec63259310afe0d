"""What a tree must hold for a rule of selection, and how much memory that takes."""

from typing import Any

from search.selection import Rule
from search.tree import bytes_per_node


def needs_histories(rule: Rule) -> bool:
    """Whether a rule of selection needs the playouts' moves: weighted credits are no counts of first plays."""
    return rule.credit not in (None, "amaf")


def parts_for(rule: Rule) -> dict[str, Any]:
    """Arguments of `search.tree.Tree` for a rule of selection."""
    colours = 0 if rule.credit is None else 2 if rule.reference_visits else 1
    return {
        "colours": colours, "legal": rule.credit == "mctr_simple", "fractions": needs_histories(rule),
        "priors": rule.knowledge is not None,
    }  # fmt: skip


def memory_for(size: int, rule: Rule, leaves: int) -> int:
    """Bytes that a tree of a rule needs at most for the root's moves and so many leaves."""
    return (size * size + 2 + leaves) * bytes_per_node(size, **parts_for(rule))[1]
