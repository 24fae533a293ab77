"""``python -m psm_sim``."""

import os
import sys

# Python puts the current folder first: a json.py beside the traces would be imported for the library's own.
# It comes last, so that a module which a plug-in has beside it is still found. "os" is there already.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109
    sys.path.append(sys.path.pop(0))

from psm_sim.cli import main  # noqa: E402

sys.exit(main())
