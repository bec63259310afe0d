"""The Go Text Protocol, version 2: the engine behind `jaxgo gtp`.

To start reading the code, begin either bottom up: `protocol` (lines), `arguments`, `clock`, `reports` (analysis as text); or top
down: `server` (the conversation), `engine` (one command), `commands/` (what each of them does), `thinker` (moves and searches).
What is no matter of the protocol lies below, for both protocols: `search.game`, `search.restrictions`, `search.findings`.

Source of the protocol: http://www.lysator.liu.se/~gunnar/gtp/gtp2-spec-draft2/gtp2-spec.html
"""
