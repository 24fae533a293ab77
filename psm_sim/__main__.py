"""Entry point of ``python -m psm_sim``."""

import sys

from psm_sim.cli import main

sys.exit(main())
