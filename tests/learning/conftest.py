"""Let the tests of learning share their loss sequences."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
