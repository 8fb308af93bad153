"""wheel_check.py: uses an installed Frit, both tiers of it, and compares with NumPy."""

import pathlib
import sys

import numpy

import frit
import frit.numpy as np

package = pathlib.Path(frit.__file__).resolve()
assert package.is_relative_to(pathlib.Path(sys.prefix).resolve()), f"{package} is not the wheel's"

x = numpy.linspace(0.0, 1.0, 100_000)
for _ in range(3):
    y = np.array(x)
    y[1:] += 2.0 * y[:-1]
    z = x.copy()
    z[1:] += 2.0 * z[:-1]
    assert numpy.array_equal(numpy.asarray(y), z)
print(f"frit {frit.__version__} with NumPy {numpy.__version__} from {package.parent}")
