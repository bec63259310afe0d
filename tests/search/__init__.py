"""Tests of the package `search`."""
