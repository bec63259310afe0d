"""The sub-commands of `jaxgo` that this package brings, and what they print and draw."""
