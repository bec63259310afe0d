"""`python -m jaxgo`: the `jaxgo` command where the script is not on the path."""

import sys

from jaxgo.cli import main

sys.exit(main())
