"""Array types: one name for the arrays of numbers that every room works with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""An array of float64; each function says its shape and unit."""

Whole = NDArray[np.intp]
"""An array of whole numbers: labels, codes or places."""

Flags = NDArray[np.bool_]
"""An array of truth values."""
