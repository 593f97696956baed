"""`python -m deskhand.cli`."""

import sys

from deskhand.cli import main

sys.exit(main())
