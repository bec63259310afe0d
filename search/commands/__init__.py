"""The sub-commands of `jaxgo` that search: each a light module, as `jaxgo/cli.py` asks for it."""
