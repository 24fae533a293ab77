"""Array types: one name for the arrays of numbers that every room works with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""An array of float64; each function says its shape and unit."""

IntArray = NDArray[np.intp]
"""An array of whole numbers: labels, codes or places."""

BoolArray = NDArray[np.bool_]
"""An array of truth values."""
