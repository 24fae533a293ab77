"""Array types of the type annotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""Array of float64. Each function documents its shape and unit."""

IntArray = NDArray[np.intp]
"""Array of integers: labels, codes or indices."""

BoolArray = NDArray[np.bool_]
"""Array of booleans."""
