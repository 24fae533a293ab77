"""Entry point of ``python -m psm_lab``."""

import sys

from psm_lab.cli import main

sys.exit(main())
