"""test_verify.py: FRIT_VERIFY=1 names the first line whose result differs from NumPy's."""

import numpy
import pytest

import frit.numpy as np
from frit.numpy import _verify

PROGRAM = """
import numpy as np
x = np.arange(6.0).reshape(2, 3)
y = np.sqrt(x) + 1
x += y
x[0] = 7
z = np.where(x > 3, x, y).sum(axis=0)
w = np.concatenate([z, z])[1:] @ np.ones(5)
s = np.mean(x), x.std(), np.gradient(w * z), np.exp(y), np.linalg.norm(x)
print(w > 0)
"""


def test_a_right_program_passes_in_silence(frit, python, file):
    path = file("program.py", PROGRAM)
    done = python("-m", "frit", path, FRIT_VERIFY="1")
    assert done.stdout == "True\n"
    assert done.stderr == ""


ALIKE = """
import numpy as np, warnings
x = np.arange(10.0)
x[1:] = x[:-1]
np.clip(x, 2, 5, out=x)
x[::-1] += x
days = np.array(["2020-01-01", "NaT"], "M8[D]")
print(np.isnat(days), days, np.hanning(300)[24] > 0)
for k in range(3):
    np.ones(2) / np.zeros(2)
    np.mean([]), np.nanmean(np.array([np.nan]))
np.mean([])

class Own:
    def __init__(self): self.calls = []
    def __array_ufunc__(self, ufunc, method, *inputs, **more):
        self.calls.append(ufunc == np.add and ufunc in (np.add, np.sin) and {np.add: 1}[ufunc])
        return self.calls
    def __array_function__(self, function, types, args, kwargs):
        self.calls.append(function == np.concatenate and {np.concatenate: 2}[function])
        return self.calls
own = Own()
print(np.add(own, 1), x + own, np.concatenate([own, x]), own.calls)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try: np.mean([])
    except RuntimeWarning as e: print(e)
"""


def test_programs_print_and_warn_as_without_it(python, file):
    path = file("program.py", ALIKE)
    plain, verified = python(path), python("-m", "frit", path, FRIT_VERIFY="1")
    assert (verified.stdout, verified.stderr) == (plain.stdout, plain.stderr)


def test_operands_that_numpy_may_take_for_temporaries_are_no_difference(python, file):
    program = """
    import numpy as np
    x = np.arange(100_000.0)
    y = np.sqrt(x * 2) - 1
    z = 3 - (y + x) / 7
    """
    done = python("-m", "frit", file("program.py", program), FRIT_VERIFY="1")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("name", "ours", "twin", "arguments", "words"),
    [
        ("add", "subtract", "add", "(x, 1)", "the result differs from NumPy's: at (0,) of (3,)"),
        ("negative", "positive", "negative", "(x, x)", "the result differs"),
        ("sum", "cumsum", "sum", "(x,)", "float64(3,), NumPy gives float64()"),
        ("square", "sqrt", "square", "(x - 5,)", "at (0,)"),
        ("add", "add", "no_such", "(x, 1)", "NumPy raises TypeError"),
        ("floor", "floor", "ceil", "(x + 0.5, None, x[::-1])", "differs"),
    ],
)
def test_a_difference_is_named_with_its_line_once(capsys, name, ours, twin, arguments, words):
    def refuse(*args):
        raise TypeError("no")

    wrong = _verify.verified(name, getattr(np, ours), getattr(numpy, twin, refuse))
    _verify._found.clear()
    values = eval(arguments, {"x": np.arange(3.0)})
    wrong(*[v for v in values if v is not None])
    wrong(*[v for v in values if v is not None])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"FRIT_VERIFY: {__file__}:")
    assert f": {name}: " in lines[0]
    assert words in lines[0]
    assert _verify.first_difference() == lines[0]
    _verify._found.clear()


def test_what_may_differ_by_a_few_units_in_the_last_place_is_no_difference(capsys):
    def nearly(x):
        return numpy.nextafter(numpy.exp(x), numpy.inf)

    _verify.verified("exp", np.exp, nearly)(np.arange(3.0))
    assert capsys.readouterr().err == ""
    _verify.verified("rint", np.exp, nearly)(np.arange(3.0))
    assert "FRIT_VERIFY" in capsys.readouterr().err
    _verify._found.clear()
