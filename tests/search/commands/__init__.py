"""Tests of the commands' shared arguments."""
