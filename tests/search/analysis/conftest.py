"""What the tests of the analysis engine share."""

import pytest

from search.analysis.options import ServiceOptions
from search.analysis.service import Service
from tests.search.analysis.talk import Talk


@pytest.fixture(scope="session")
def service():
    """A service for all tests that need no other settings."""
    made = Service(ServiceOptions(visits=300, playouts=50))
    yield made
    made.end()


@pytest.fixture
def talk(service):
    """A client of it."""
    made = Talk(service)
    yield made
    made.end()
