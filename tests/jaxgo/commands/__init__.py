"""Tests of `jaxgo.commands`."""
