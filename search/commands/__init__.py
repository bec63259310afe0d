"""The sub-commands of `jaxgo` that play: `genmove` and `selfplay`."""
