"""Tests of the packages `jaxgo`, `search` and `bench`; the folders below mirror theirs."""
