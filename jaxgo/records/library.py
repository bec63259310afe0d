"""sgfmill, without the warnings that Python gives of its docstrings where they have not been compiled before."""

import warnings

with warnings.catch_warnings():
    for category in (SyntaxWarning, DeprecationWarning):  # which it is before Python 3.12
        warnings.simplefilter("ignore", category)
    from sgfmill import sgf, sgf_grammar, sgf_properties

__all__ = ["sgf", "sgf_grammar", "sgf_properties"]
