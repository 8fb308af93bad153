"""programs.py: random NumPy programs: lists of statements, printed as stand-alone scripts.

A program is drawn as a list of numbers; each number is the seed of one statement, which is made for
the arrays that the statements before it left (NumPy runs along while the program is made). So a
statement can be left out and the rest still makes a program, which is what shrinking needs.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy

HEADER = """\
# usage: python this_script.py numpy|frit     (the outputs must not differ)
import sys, warnings, numpy
np = numpy if sys.argv[1:] == ["numpy"] else __import__("frit.numpy").numpy
if np is not numpy:
    from frit import _core; _core.set_tier({tier!r})
warnings.simplefilter({filter!r})

def data(seed, shape, dtype, kind):
    return np.array(numbers(seed, shape, dtype, kind))

{numbers}
def show(x):
    x = numpy.asarray(x); print("   ", x.dtype, x.shape, x.tolist())

def attempt(f):
    try: f()
    except Exception as e: print("   ", type(e).__name__, e)

{enter}
"""

NUMBERS = '''\
def numbers(seed, shape, dtype, kind):
    """Real NumPy's array of repeatable values: small (whole, exact), usual, or special."""
    r = numpy.random.RandomState(seed)
    dtype = numpy.dtype(dtype)
    size = int(numpy.prod(shape, dtype=int))
    if kind == "small":
        x = r.randint(0 if dtype.kind in "ub" else -9, 10, size)
    elif dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        x = r.randint(max(info.min, -10**5), min(info.max, 10**5), size)
        if kind == "special":
            corners = r.choice([info.min, info.max, 0, 1], size).astype(dtype)
            x = numpy.where(r.rand(size) < 0.2, corners, x.astype(dtype))
    else:
        x = r.randn(size) * 3
        if kind == "special":
            corners = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-30, 1e30]
            x = numpy.where(r.rand(size) < 0.2, r.choice(corners, size), x)
        if dtype == "complex64" and kind == "usual":
            x = numpy.round(x * 16) / 16  # exact products: NumPy may fuse reversed ones
        if dtype.kind == "c":
            x = x + 1j * r.permutation(x)
    with numpy.errstate(all="ignore"):
        return (x % 2 == 0 if dtype.kind == "b" else x).astype(dtype).reshape(shape)
'''
_defined: dict[str, Any] = {"numpy": numpy}
exec(NUMBERS, _defined)
numbers: Callable[..., numpy.ndarray] = _defined["numbers"]

DTYPES = (
    ["float64"] * 8
    + ["float32", "int64"] * 3
    + ["int32", "bool", "complex128"] * 2
    + ["int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "complex64"]
)
ARITHMETIC = ["+", "-", "*", "+", "-", "*", "/", "//", "%"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
BITWISE = ["&", "|", "^"]
UNARY = [
    "-{}",
    "abs({})",
    "np.square({})",
    "np.sqrt(abs({}))",
    "np.sign(({}).real)",
    "np.negative({})",
    "np.rint({})",
    "np.floor({})",
    "np.isnan({})",
    "np.isfinite({})",
    "({}).astype('float64')",
    "({}).astype('float32')",
    "np.logical_not({})",
    "({} ** 2)",
    "np.conj({})",
    "({}).real",
    "np.signbit(np.nan_to_num(({}).real))",
    "({}).copy()",
    "np.nan_to_num({})",
    "np.reciprocal(({}) * 1.0)",
    "np.trunc({})",
    "np.ceil({})",
]
BINARY = [
    "np.maximum",
    "np.minimum",
    "np.fmax",
    "np.fmin",
    "np.add",
    "np.multiply",
    "np.subtract",
    "np.true_divide",
    "np.less",
    "np.equal",
    "np.logical_and",
    "np.logical_or",
    "np.logical_xor",
    "np.copysign",
    "np.floor_divide",
    "np.remainder",
    "np.fmod",
    "np.greater_equal",
    "np.not_equal",
    "np.heaviside",
]
# Of 0.0 and -0.0 NumPy's vector loops take one and the loop over the rest the other, here and in
# these reductions: `+ 0` makes both 0.0.
ZERO_OF_EITHER_SIGN = ["np.fmax", "np.fmin"]
REDUCED_TO_ZERO_OF_EITHER_SIGN = ["np.max", "np.min", "np.ptp", "np.maximum", "np.minimum"]
# Functions that NumPy computes, or that are made of others: of a view {v}, an array {a} that may be
# written to, an axis {k}, an index {i} along it, and an operand {o} of the array's shape.
LIBRARY = """\
np.sort({v}, axis={k})
np.sort({v}, axis=None)
np.argsort({v}, axis={k}, kind='stable')
np.unique({v})
np.unique({v}, return_inverse=True)[1]
np.searchsorted([-2, 0, 1, 5], {v})
np.insert({v}, {i}, 5, axis={k})
np.delete({v}, {i}, axis={k})
np.append({v}, {o}, axis={k})
np.pad({v}, 1)
np.pad({v}, 1, mode='edge')
np.pad({v}, 1, mode='wrap')
np.diff({v}, axis={k})
np.diff({v}, n=2, axis={k})
np.ediff1d({v})
np.median({v}, axis={k})
np.percentile({v}, 30, axis={k})
np.histogram(np.nan_to_num({v}.real), bins=[-9, -1, 0, 2, 9])[0]
np.digitize({v}, [-1, 0, 3])
np.bincount(np.clip({v}.ravel(), 0, 5).astype(int))
np.interp({v}, [0, 1, 2], [3.0, 5.0, 4.0])
np.tril({v}[:200])
np.triu({v}[:200], 1)
np.rot90({v})
np.rollaxis({v}, {k})
np.take_along_axis({v}, np.argsort({v}, axis={k}, kind='stable'), {k})
np.apply_along_axis(np.cumsum, {k}, {v})
np.select([{v} > 1, {v} < 0], [{v}, 2], 5)
np.choose(np.clip({v}, 0, 1).astype(int), [{v}, 7])
np.compress([True, False, True], {v}, axis=0)
np.extract({v} > 0, {v})
np.argwhere({v} > 1)
np.flatnonzero({v})
np.count_nonzero({v}, axis={k})
np.nanmax({v}, axis={k}) + 0
np.nansum({v}, axis={k})
np.nancumsum({v}, axis={k})
np.ptp({v}, axis={k}) + 0
np.resize({v}, (3, 5))
np.array_split({v}, 2)[1]
np.isclose({v}, {o})
np.array_equal({v}, {o})
np.setdiff1d({v}, [1, 2])
np.isin({v}, [0, 1, 2])
np.lexsort(({v}.ravel(), {v}.ravel()[::-1]))
np.gradient({v}, axis={k})
np.unwrap({v}, axis={k})
np.trapezoid({v}, axis={k})
np.fix({v})
np.real_if_close({v})
np.column_stack([{v}, {v}])
np.block([{v}, {v}])
np.array([{v}, {v}])
np.ma.masked_less({v}, 0).filled(7)
np.lib.stride_tricks.sliding_window_view({v}, 2, axis={k}).max(-1) + 0
np.frombuffer({v}.tobytes(), {v}.dtype)
__import__('pickle').loads(__import__('pickle').dumps({v}))
__import__('copy').deepcopy({v})
np.array(list({v}))
np.array({v}.tolist(), dtype={v}.dtype)
np.fromiter({v}.flat, {v}.dtype)
np.nditer({v}).operands[0]
np.average({v}, axis={k})
np.einsum('i...->...i', {v})
np.vectorize(lambda x: x)({v}[:3])
np.require({v}, requirements='F')
np.matrix_transpose({v})
np.argmax({v}, axis={k})
np.argmin({v}, axis={k})
np.unravel_index(np.argmax({v}), {v}.shape)[0]
np.broadcast_arrays({v}, {o})[0]
np.cov(np.nan_to_num({v}[:4]))
""".splitlines()
LIBRARY_IN_PLACE = """\
np.fill_diagonal({a}, 3)
np.fill_diagonal({v}, [1, 2])
np.random.RandomState(3).shuffle({v})
np.random.default_rng(3).permuted({a}, axis={k}, out={a})
np.put({v}, [0, 1, -1], [4, 5], mode='wrap')
np.put_along_axis({v}, np.argsort({v}, axis={k}, kind='stable'), {o}, {k})
{v}.sort(axis={k})
{v}.partition(0)
np.nan_to_num({v}, copy=False)
np.copyto({v}, 2, where={v} > 0)
np.cumsum({v}, axis={k}, out={v})
np.add.accumulate({a}, axis={k}, out={a}[::-1])
np.sort({a}, axis=0).sort()
np.clip({v}, 0, 3, out={v})
np.round({v}, 1, out={v})
np.take({a}, [0, 0], axis=0, out={a}[:2])
np.sum({a}, axis=0, out={a}[0])
np.max({a}, axis={k}, keepdims=True, out={a}[:1])
np.divmod({v}, 3, out=({v}, {v}.copy()))
np.putmask({v}, {v} > 1, {v} * 2)
np.place({v}, {v} > 1, [3, 4, 5])
{v}.flat[::3] = np.ravel({o})[:2]
{v}.flat = [1, 2, 3]
{v}.fill({v}.ravel()[0])
{a}.shape = (-1,)
{v}.real = {v}.imag
{v}.itemset(2)
{a}.setflags(write=False)
{v}.byteswap(inplace=True).byteswap(inplace=True)
{v}.view('u1')[..., :1] = 0
numpy.asarray({v})[...] = 2
numpy.add({v}, 1, out=numpy.asarray({v}), casting='unsafe')
memoryview({a})[0] = 1
for x in {v}[:3]: x += 1
for x in np.nditer({v}, op_flags=['readwrite']): x[...] = 2
[{v}][0][...] = {o}
np.random.RandomState(1).standard_normal({v}.shape).dot(0)
""".splitlines()
# Compared within a few units in the last place, where they are read; never the input of an exact
# operation.
MATHEMATICS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "cbrt",
]


@dataclass
class Program:
    tier: str = "interpreter"
    warns: bool = False
    size: str = "tiny"
    statements: list[str] = field(default_factory=list)

    def script(self) -> str:
        enter = "" if self.warns else "np.errstate(all='ignore').__enter__()"
        lines = [
            HEADER.format(
                tier=self.tier,
                filter="always" if self.warns else "ignore",
                numbers=NUMBERS,
                enter=enter,
            )
        ]
        names: list[str] = []
        for statement in self.statements:
            first = statement.split("(")[0]
            if first in ("read", "near"):
                lines += [f"print({statement!r})", f"attempt(lambda: show{statement[4:]})"]
                continue
            lines += ["try:", *("    " + line for line in statement.splitlines())]
            lines.append(
                f"except Exception as e: print({statement.splitlines()[0]!r}, type(e).__name__, e)"
            )
            word = statement.split(" = ")[0]
            if word.isidentifier() and word not in names:
                names.append(word)
        for name in names:
            lines.append(f"if {name!r} in globals(): print({name!r}); show({name})")
        return "\n".join(lines) + "\n"


class Maker:
    """Makes the statements; NumPy runs along in `scope`."""

    most_names = 12

    def __init__(self, size: str, kinds: tuple[str, ...], program: Program):
        self.size = size
        self.kinds = kinds
        self.program = program
        self.count = 0
        self.scope: dict[str, Any] = {
            "np": numpy,
            "numpy": numpy,
            "data": numbers,
            "numbers": numbers,
        }
        self.scope["read"] = self.scope["near"] = lambda x: None
        self.random = random.Random(0)

    # ---- running along ----------------------------------------------------------------------

    def value(self, text: str) -> Any:
        """The text's value under NumPy; None where NumPy refuses it."""
        try:
            with numpy.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(text, self.scope)
        except Exception:
            return None

    def emit(self, text: str) -> None:
        self.program.statements.append(text)
        try:
            with numpy.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(text, self.scope)
        except (SyntaxError, NameError):
            raise
        except Exception:
            pass  # the exception is what Frit has to match

    def names(self) -> list[str]:
        return [
            n
            for n, x in self.scope.items()
            if n[0] in "ans" and n[1:].isdigit() and isinstance(x, (numpy.ndarray, numpy.generic))
        ]

    def arrays(self) -> list[str]:
        return [n for n in self.names() if isinstance(self.scope[n], numpy.ndarray)]

    def fresh(self, letter: str = "a") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # ---- choices ------------------------------------------------------------------------------

    def one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def pick(self, items: list[Any]) -> Any:
        return self.random.choice(items)

    def shape(self) -> tuple[int, ...]:
        r = self.random
        if r.random() < 0.04:
            return self.pick([(0,), (3, 0), (0, 4), (1,), (1, 1)])
        if self.size == "tiny" or (self.size == "mixed" and self.one_in(3)):
            return tuple(r.randint(1, 6) for _ in range(r.randrange(5)))
        ndim = self.pick([1, 1, 2, 2, 2, 3, 4])
        if self.size == "large":
            return {1: (300_001,), 2: (601, 500), 3: (67, 68, 69), 4: (20, 21, 22, 23)}[ndim]
        if ndim == 1:
            return (r.randint(2100, 17500),)
        if ndim == 2:
            return self.pick([(70, 61), (131, 130), (3, 5000), (2600, 3), (64, 64)])
        return (
            self.pick([(13, 14, 15), (26, 27, 25), (3, 4, 700), (1, 60, 61)])
            if ndim == 3
            else (7, 8, 9, 10)
        )

    # ---- pieces -------------------------------------------------------------------------------

    def basic_key(self, shape: tuple[int, ...], whole: bool = False) -> str:
        r = self.random
        parts = []
        for n in shape:
            way = r.randrange(9)
            if way < 3 or n < 2:
                parts.append(":")
            elif way == 3 and not whole:
                parts.append(str(r.randint(-n, n - 1)))
            elif way == 4:
                parts.append(
                    self.pick(["1:", ":-1", "1:-1", "::2", "1::2", "::-1", "::3", "-2:0:-1"])
                )
            elif way == 5:
                parts.append(self.pick(["1:-1", ":-1", "1:"]))
            else:
                low = r.randrange(n)
                high = r.randint(low, n)
                step = self.pick([1, 1, 1, 2, 3])
                parts.append(f"{low}:{high}" + (f":{step}" if step > 1 else ""))
        while parts and parts[-1] == ":" and self.one_in(2):
            parts.pop()
        if not whole and self.one_in(8):
            parts.insert(r.randint(0, len(parts)), "None")
        if self.one_in(8):
            parts.append("...")
        return ", ".join(parts) or "..."

    def view(self, name: str) -> str:
        """An expression that is a view of the array, mostly."""
        x = self.scope[name]
        if not isinstance(x, numpy.ndarray) or x.ndim == 0:
            return name
        way = self.random.randrange(12)
        if way < 4:
            return name
        if way < 8:
            return f"{name}[{self.basic_key(x.shape)}]"
        if way == 8:
            return f"{name}.T"
        if way == 9:
            return f"{name}[::-1]"
        if way == 10 and x.ndim > 1:
            axes = list(range(x.ndim))
            self.random.shuffle(axes)
            return f"{name}.transpose({tuple(axes)})"
        return f"{name}[{self.basic_key(x.shape)}]"

    def scalar(self) -> str:
        return self.pick(
            [
                "2",
                "3",
                "-1",
                "0.5",
                "2.0",
                "1",
                "np.float32(1.5)",
                "np.float64(0.25)",
                "np.int8(3)",
                "np.int64(2)",
                "7",
                "True",
                "0.1",
                "(1+2j)" if self.one_in(6) else "4",
            ]
        )

    def operand(self, shape: tuple[int, ...]) -> str:
        """An expression that broadcasts to the shape."""
        r = self.random
        names = self.names()
        r.shuffle(names)
        for name in names[:6]:
            x = self.scope[name]
            lead = len(shape) - x.ndim
            if x.ndim == 0:
                if self.one_in(2):
                    return name
                continue
            if x.shape == shape and self.one_in(2):
                return name
            if lead < 0:
                continue
            order = None
            if x.ndim > 1 and self.one_in(5):
                order = list(range(x.ndim))
                r.shuffle(order)
                x = x.transpose(order)
            parts = []
            for have, want in zip(x.shape, shape[lead:], strict=True):
                if have == 1:
                    parts.append(":")
                elif have < want or (have == 0) != (want == 0):
                    break
                elif have == want:
                    parts.append("::-1" if self.one_in(8) else ":")
                elif self.one_in(10):
                    at = r.randrange(have)
                    parts.append(f"{at}:{at + 1}")
                elif have >= 2 * want and self.one_in(3):
                    parts.append(f":{2 * want}:2")
                else:
                    start = self.pick([0, 1, have - want, r.randint(0, have - want)])
                    start = min(start, have - want)
                    parts.append(f"{start}:{start + want}")
            else:
                text = name + (f".transpose({tuple(order)})" if order else "")
                if any(p != ":" for p in parts):
                    text += f"[{', '.join(parts)}]"
                return text
        return self.scalar()

    def expression(self, shape: tuple[int, ...], depth: int) -> str:
        for _ in range(4):
            text = self.one_expression(shape, depth)
            if self.value(text) is not None or self.one_in(25):
                return text
        return self.operand(shape)

    def binary(self, x: str, y: str) -> str:
        function = self.pick(BINARY)
        if function == "np.copysign":  # a NaN's sign is the machine's business
            y = f"np.nan_to_num({y})"
        call = f"{function}({x}, {y})"
        return f"({call} + 0)" if function in ZERO_OF_EITHER_SIGN else call

    def one_expression(self, shape: tuple[int, ...], depth: int) -> str:
        if depth <= 0 or self.one_in(8):
            return self.operand(shape)
        way = self.random.randrange(16)
        deeper = lambda: self.expression(shape, depth - 1)  # noqa: E731
        if way < 7:
            return f"({deeper()} {self.pick(ARITHMETIC)} {deeper()})"
        if way < 9:
            return self.unary(deeper())
        if way < 11:
            return self.binary(deeper(), deeper())
        if way == 11:
            return f"({deeper()} {self.pick(COMPARISONS)} {deeper()})"
        if way == 12:
            condition = f"{deeper()} {self.pick(COMPARISONS)} {self.scalar()}"
            return f"np.where({condition}, {deeper()}, {deeper()})"
        if way == 13:
            low, high = self.pick(["-2", "0", "-1.5"]), self.pick(["3", "2.5", "7"])
            return f"np.clip({deeper()}, {low}, {high})"
        if way == 14:
            return f"({deeper()} {self.pick(BITWISE)} {deeper()})"
        base = deeper()
        x = self.value(base)
        whole = x is not None and numpy.asarray(x).dtype.kind in "iu"
        # A float's third power and a complex root are right within some units in the last place.
        exponents = ["2", "3", "0", "1", "-1"] if whole else ["2", "2.0", "0", "-1", "1"]
        if x is not None and numpy.asarray(x).dtype.kind == "f":
            exponents.append("0.5")
        if self.is_bool(base):
            return f"np.power({base}, {self.pick(exponents)})"
        return f"({base} ** {self.pick(exponents)})"

    def unary(self, text: str) -> str:
        form = self.pick(UNARY)
        if "**" in form and self.is_bool(text):
            form = "np.square({})"
        return form.format(text)

    def is_bool(self, text: str) -> bool:
        """NumPy squares large temporaries in place, and fails where they are bool."""
        x = self.value(text)
        return x is not None and numpy.asarray(x).dtype == bool

    def whole_in(self, text: str, dtype: numpy.dtype) -> bool:
        """Casting the value to the type is defined: no NaN or large float becomes an integer."""
        x = self.value(text)
        if x is None or dtype.kind not in "iu":
            return True
        x = numpy.asarray(x)
        if x.dtype.kind not in "fc":
            return True
        if dtype not in ("uint32", "uint64") and x.dtype.kind == "f" and self.one_in(3):
            return True  # what does not fit is as the machine converts it
        info = numpy.iinfo(dtype)
        with numpy.errstate(all="ignore"):
            x = x.real.astype("float64")
            return bool(numpy.all((x > max(info.min, -(2**31))) & (x < min(info.max, 2**31) + 0.5)))

    def target(self) -> str | None:
        """A window to write to."""
        arrays = self.arrays()
        for _ in range(5):
            if not arrays:
                return None
            text = self.view(self.pick(arrays))
            x = self.value(text)
            if (
                isinstance(x, numpy.ndarray)
                and x.base is not x
                and (x.flags.writeable or self.one_in(10))
            ):
                if x.size == 0 or not _overlaps_itself(x):
                    return text
        return None

    def index_text(self, n: int) -> str:
        r = self.random
        count = r.randint(1, 5)
        if n == 0:
            return "np.array([], dtype=int)"
        values = [r.randint(-n, n - 1) for _ in range(count)]
        if self.one_in(30):
            values.append(n)  # out of bounds
        if self.one_in(4):
            values = [values, list(reversed(values))]  # two-dimensional
        return self.pick([f"np.array({values})", f"{values}", f"np.array({values}, dtype='int32')"])

    def axis(self, ndim: int) -> str:
        if ndim == 0 or self.one_in(3):
            return "None" if not self.one_in(6) else str(ndim)
        if ndim > 1 and self.one_in(4):
            axes = self.random.sample(range(ndim), 2)
            return str(tuple(axes))
        return str(self.random.randint(-ndim, ndim - 1))

    # ---- statements ---------------------------------------------------------------------------

    def statement(self, seed: int) -> None:
        if seed == 0:
            return  # what shrinking puts in place of a statement that it leaves out
        self.random = random.Random(seed)
        names = self.names()
        if len(names) < 2:
            return self.create()
        if len(names) > self.most_names:
            return self.emit(f"del {self.pick(names)}")
        ways: list[tuple[int, Callable[[], None]]] = [
            (2, self.create),
            (6, self.make_view),
            (14, self.compute),
            (14, self.update),
            (6, self.call_ufunc),
            (8, self.assign),
            (4, self.masked_set),
            (4, self.through_mask),
            (4, self.fancy_set),
            (5, self.index),
            (10, self.reduce),
            (3, self.scan),
            (4, self.shape_function),
            (3, self.convert),
            (3, self.forget),
            (7, self.read),
            (3, self.export),
            (2, self.copy_functions),
            (3, self.loop),
            (2, self.scalar_variable),
            (3, self.ufunc_methods),
            (3, self.method_options),
            (3, self.mixed_key),
            (3, self.raising),
            (2, self.aliased_out),
            (2, self.mathematics),
            (1, self.linear),
            (4, self.library),
        ]
        total = sum(weight for weight, _ in ways)
        at = self.random.randrange(total)
        for weight, way in ways:
            at -= weight
            if at < 0:
                return way()

    def create(self) -> None:
        r = self.random
        shape, dtype = self.shape(), self.pick(DTYPES)
        way = r.randrange(14)
        name = self.fresh()
        if way == 0:
            self.emit(f"{name} = np.zeros({shape}, dtype='{dtype}')")
        elif way == 1:
            self.emit(f"{name} = np.full({shape}, {self.scalar()})")
        elif way == 2:
            n = int(numpy.prod(shape, dtype=int))
            self.emit(f"{name} = np.arange({n}{'.' if self.one_in(2) else ''}).reshape({shape})")
        elif way == 3:
            self.emit(f"{name} = np.linspace(-1, 3, {r.randint(0, 3000)})")
        elif way == 4:
            words = f"{r.randrange(1000)}, {shape}, '{dtype}', '{self.pick(self.kinds)}'"
            self.emit(f"{name} = np.asarray(numbers({words}))")
        elif way == 5 and self.arrays():
            other = self.pick(self.arrays())
            self.emit(f"{name} = np.{self.pick(['zeros_like', 'ones_like'])}({other})")
        else:
            self.emit(
                f"{name} = data({r.randrange(1000)}, {shape}, '{dtype}', '{self.pick(self.kinds)}')"
            )

    def make_view(self) -> None:
        if not self.arrays():
            return self.create()
        source = self.pick(self.arrays())
        x = self.scope[source]
        way = self.random.randrange(12)
        name = self.fresh()
        if way == 0:
            return self.emit(f"{name} = {source}.reshape(-1)")
        if way == 1:
            return self.emit(f"{name} = {source}.ravel()")
        if way == 2 and x.ndim:
            return self.emit(f"{name} = np.expand_dims({source}, {self.random.randint(0, x.ndim)})")
        if way == 3:
            return self.emit(f"{name} = np.squeeze({source})")
        if way == 4 and x.ndim < 4:
            return self.emit(
                f"{name} = np.broadcast_to({source}, {(self.random.randint(1, 3), *x.shape)})"
            )
        if way == 5 and x.ndim > 1:
            return self.emit(f"{name} = np.swapaxes({source}, 0, -1)")
        if way == 6:
            return self.emit(f"{name} = {source}")
        if way == 7 and x.dtype.kind == "c":
            return self.emit(f"{name} = {source}.{self.pick(['real', 'imag'])}")
        if way == 8 and x.size and x.size % 2 == 0:
            return self.emit(f"{name} = {source}.reshape(2, -1)")
        if way == 9 and x.ndim == 2:
            return self.emit(
                f"{name} = {source}.diagonal()"
                if self.one_in(2)
                else f"{name} = np.flip({source}, 1)"
            )
        return self.emit(f"{name} = {self.view(source)}")

    def compute(self) -> None:
        text = self.view(self.pick(self.names()))
        x = self.value(text)
        shape = () if x is None else numpy.shape(x)
        if self.one_in(12):
            shape = shape + (2,)  # often a mismatch
        self.emit(f"{self.fresh()} = {self.expression(shape, self.random.randint(1, 3))}")

    def update(self) -> None:
        target = self.target()
        if target is None:
            return self.create()
        x = self.value(target)
        op = self.pick(
            ["+=", "-=", "*=", "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "**="]
        )
        if op == "**=":
            text = "2"
            if x.dtype.kind == "c" and not x.flags.c_contiguous:
                op = "*="  # NumPy's square rounds twice where neither side is dense
        elif op in ("+=", "-=", "*=") and not self.one_in(3):
            text = self.operand(x.shape)
        else:
            text = self.expression(x.shape, self.random.randint(0, 2))
        if "(" in target.split("[")[0] or target.endswith(".T") or target.endswith(")"):
            name = self.fresh()  # a call is no place to assign to
            self.emit(f"{name} = {target}")
            target = name
        self.emit(f"{target} {op} {text}")

    def call_ufunc(self) -> None:
        target = self.target()
        if target is None:
            return self.create()
        x = self.value(target)
        function = self.pick(
            ["np.maximum", "np.minimum", "np.true_divide"]
            + ["np.add", "np.multiply", "np.subtract"] * 3
            + ["np.less", "np.logical_and"]
        )
        a, b = self.operand(x.shape), self.operand(x.shape)
        words = [f"out={target}"]
        if self.one_in(3):
            mask = (
                self.expression(x.shape, 1)
                if self.one_in(4)
                else f"{self.operand(x.shape)} > {self.scalar()}"
            )
            result = self.value(f"{function}({a}, {b})")
            # NumPy casts the hidden elements of an output of another type to and fro.
            if result is None or result.dtype != x.dtype:
                return
            words.append(f"where={mask}")
        if self.one_in(5):
            words.append("casting='unsafe'")
            if not self.whole_in(f"{function}({a}, {b})", x.dtype):
                return
        elif len(words) == 1 and self.one_in(8):
            words.append(f"dtype='{self.pick(['float64', 'float32', 'int64', 'complex128'])}'")
        if self.one_in(3):
            return self.emit(f"{function}({a}, {b}, {', '.join(words)})")
        self.emit(f"{self.fresh()} = {function}({a}, {b}, {', '.join(words)})")

    def assign(self) -> None:
        arrays = self.arrays()
        if not arrays:
            return self.create()
        name = self.pick(arrays)
        x = self.scope[name]
        key = self.basic_key(x.shape)
        window = self.value(f"{name}[{key}]")
        if window is None:
            return
        text = self.expression(numpy.shape(window), self.random.randint(0, 2))
        if self.whole_in(text, x.dtype) and _numpy_copies_right(window, self.value(text)):
            self.emit(f"{name}[{key}] = {text}")

    def masked_set(self) -> None:
        arrays = self.arrays()
        name = self.pick(arrays) if arrays else None
        if name is None:
            return self.create()
        x = self.scope[name]
        mask = f"{name} {self.pick(COMPARISONS)} {self.pick(['0', '1', '2.5'])}"
        if self.one_in(4):
            mask = self.expression(x.shape, 1) + " > 0"
        way = self.random.randrange(6)
        value = self.scalar()
        if not self.whole_in(value, x.dtype):
            return
        if way < 3:
            return self.emit(f"{name}[{mask}] = {value}")
        if way == 3:
            return self.emit(f"{name}[{mask}] {self.pick(['+=', '*=', '-='])} {value}")
        if way == 4 and self.value(mask) is not None:
            count = int(numpy.count_nonzero(self.value(mask)))
            if self.one_in(5):
                count += 1
            if numpy.shape(self.value(mask)) == x.shape and count < 10**6:
                return self.emit(f"{name}[{mask}] = np.arange({count})")
        self.emit(f"np.copyto({name}, {value}, where={mask})")

    def through_mask(self) -> None:
        """Elements of arrays of one shape taken by a mask, computed with, and put back by it."""
        # NumPy takes an empty mask of ours for integers where it indexes an array of its own.
        arrays = [n for n in self.arrays() if n.startswith("a") and self.scope[n].ndim > 0]
        if not arrays:
            return self.create()
        shape = self.scope[self.pick(arrays)].shape
        alike = [n for n in arrays if self.scope[n].shape == shape]
        mask = self.fresh()
        self.emit(f"{mask} = {self.pick(alike)} {self.pick(COMPARISONS)} {self.pick(['0', '1'])}")
        if mask not in self.scope:
            return
        made: list[str] = []
        operators = list(ARITHMETIC)
        if any(self.scope[n].dtype == bool for n in alike):
            operators.remove("//")  # NumPy computes it in large temporaries, which are bool

        def part() -> str:
            taken = f"{self.pick(alike)}[{mask}]"
            return self.pick([taken, taken, self.scalar(), self.pick(made or [taken])])

        for _ in range(self.random.randint(1, 4)):
            target = self.pick(alike)
            text = f"({part()} {self.pick(operators)} {part()})"
            if self.one_in(2):
                text = self.unary(text)
            elif self.one_in(2):
                text = self.binary(text, part())
            if not self.whole_in(text, self.scope[target].dtype):
                continue
            way = self.random.randrange(6)
            if way == 0:
                name = self.fresh()
                self.emit(f"{name} = {text}")
                made += [name] if name in self.scope else []
            elif way == 1:
                self.emit(f"{target}[{mask}] {self.pick(['+=', '*=', '-='])} {text}")
            elif way == 2 and self.one_in(2):
                self.emit(f"{mask} &= {self.pick(alike)} != 0")
                made.clear()
            else:
                self.emit(f"{target}[{mask}] = {text}")
            if made and self.one_in(4):
                self.emit(f"del {made.pop()}")

    def fancy_key(self, shape: tuple[int, ...]) -> str:
        n = len(shape)
        at = self.random.randrange(n)
        parts = [":"] * n
        parts[at] = self.index_text(shape[at])
        if n > 1 and self.one_in(2):
            other = self.random.randrange(n)
            if other != at:
                parts[other] = self.pick(
                    [self.index_text(shape[other]), "1:", "0" if shape[other] else ":", "::-1"]
                )
        while parts[-1] == ":" and self.one_in(2):
            parts.pop()
        return ", ".join(parts)

    def fancy_set(self) -> None:
        arrays = [a for a in self.arrays() if self.scope[a].ndim]
        if not arrays:
            return self.create()
        name = self.pick(arrays)
        x = self.scope[name]
        key = self.fancy_key(x.shape)
        window = self.value(f"{name}[{key}]")
        if window is None:
            return self.emit(f"{name}[{key}] = 1")
        if self.one_in(3):
            return self.emit(
                f"{name}[{key}] {self.pick(['+=', '-=', '*='])} {self.pick(['1', '2', '3'])}"
            )
        text = self.scalar() if self.one_in(2) else self.expression(window.shape, 1)
        if self.whole_in(text, x.dtype):
            self.emit(f"{name}[{key}] = {text}")

    def index(self) -> None:
        arrays = [a for a in self.arrays() if self.scope[a].ndim]
        if not arrays:
            return self.create()
        name = self.pick(arrays)
        x = self.scope[name]
        way = self.random.randrange(6)
        if way < 3:
            text = f"{name}[{self.fancy_key(x.shape)}]"
        elif way < 5:
            text = f"{name}[{name} {self.pick(COMPARISONS)} {self.pick(['0', '1', '3'])}]"
        else:
            text = f"np.take({name}, {self.index_text(x.shape[0])}, axis=0)"
        self.emit(f"{self.fresh()} = {text}")

    def reduce(self) -> None:
        text = self.view(self.pick(self.names()))
        if self.one_in(3):
            x = self.value(text)
            text = self.expression(numpy.shape(x) if x is not None else (), 1)
        x = self.value(text)
        if x is None:
            return
        ndim = numpy.ndim(x)
        kind = numpy.asarray(x).dtype.kind
        function = self.pick(
            [
                "sum",
                "sum",
                "sum",
                "max",
                "min",
                "mean",
                "any",
                "all",
                "prod",
                "argmax",
                "argmin",
                "var",
                "std",
                "count_nonzero",
                "sum",
                "ptp",
            ]
        )
        words = [f"axis={self.axis(ndim)}"]
        if function in ("argmax", "argmin", "ptp", "count_nonzero") and "," in words[0]:
            words = ["axis=None"]
        if self.one_in(3):
            words.append("keepdims=True")
        if function in ("sum", "max", "min", "prod") and self.one_in(6):
            words.append(f"initial={self.pick(['0', '1', '5', '-3'])}")
        if function in ("sum", "max", "any", "all", "mean") and self.one_in(8):
            words.append(f"where={self.operand(numpy.shape(x))} > 0")
            if function == "max":
                words.append("initial=-5") if not any(
                    w.startswith("initial") for w in words
                ) else None
        if function in ("sum", "mean", "prod") and self.one_in(8):
            dtypes = ["complex128"] if kind == "c" else ["float64", "float32", "int64"]
            words.append(f"dtype='{self.pick(dtypes)}'")
            if kind == "f" and "int64" in words[-1]:
                words.pop()
        if function in ("var", "std") and self.one_in(2):
            words.append("ddof=1")
        call = f"np.{function}({text}, {', '.join(words)})"
        if f"np.{function}" in REDUCED_TO_ZERO_OF_EITHER_SIGN:
            call += " + 0"
        self.emit(f"{self.fresh()} = {call}")

    def scan(self) -> None:
        name = self.pick(self.names())
        text = self.view(name)
        x = self.value(text)
        if x is None:
            return
        axis = self.pick(["None", "0", "-1"]) if numpy.ndim(x) else "None"
        function = self.pick(["cumsum", "cumsum", "cumprod"])
        self.emit(f"{self.fresh()} = np.{function}({text}, axis={axis})")

    def shape_function(self) -> None:
        arrays = self.arrays()
        if not arrays:
            return self.create()
        a = self.pick(arrays)
        x = self.scope[a]
        if x.size > 400_000:
            return
        other = self.operand(x.shape)
        way = self.random.randrange(9)
        calls = [
            f"np.concatenate([{a}, {a}[::-1]])" if x.ndim else f"np.stack([{a}, {a}])",
            f"np.stack([{a}, {other}])",
            f"np.concatenate([{a}, {other}], axis={self.random.randint(-1, 1)})",
            f"np.tile({a}, 2)",
            f"np.repeat({a}, 2, axis=-1)" if x.ndim else f"np.repeat({a}, 3)",
            f"np.roll({a}, {self.random.randint(-3, 3)})",
            f"np.flip({a})",
            f"np.moveaxis({a}, 0, -1)",
            f"np.atleast_2d({a})",
        ]
        self.emit(f"{self.fresh()} = {calls[way]}")

    def convert(self) -> None:
        name = self.pick(self.names())
        text = self.view(name)
        dtype = self.pick(DTYPES)
        x = self.value(text)
        if x is None or (numpy.asarray(x).dtype.kind == "c" and numpy.dtype(dtype).kind != "c"):
            return
        if self.one_in(4):
            return self.emit(f"{self.fresh()} = {text}.copy()")
        words = f"'{dtype}'"
        if self.one_in(5):
            words += f", casting='{self.pick(['safe', 'same_kind', 'equiv', 'no'])}'"
        elif self.one_in(5):
            words += self.pick([", order='F'", ", copy=False", ", order='C'"])
        if "casting" in words or self.whole_in(text, numpy.dtype(dtype)):
            self.emit(f"{self.fresh()} = {text}.astype({words})")

    def forget(self) -> None:
        self.emit(f"del {self.pick(self.names())}")

    def read(self) -> None:
        name = self.pick(self.names())
        x = self.scope[name]
        text = self.view(name)
        way = self.random.randrange(9)
        if way == 0:
            return self.emit(f"read({text})")
        if way == 1:
            return self.emit(f"read(str({text}))")
        if way == 2:
            return self.emit(f"read({text}.tolist())")
        if way == 3 and x.ndim and x.size:
            key = ", ".join(str(self.random.randrange(n)) for n in x.shape)
            return self.emit(
                f"read({name}[{key}])" if self.one_in(2) else f"read({name}.item({key}))"
            )
        if way == 4:
            return self.emit(f"read(bool(({text} > 1).any()))")
        if way == 5:
            return self.emit(f"read(float({text}.sum()))")
        if way == 6:
            return self.emit(f"read(int({text}))")
        if way == 7 and isinstance(x, numpy.ndarray):  # the error of a scalar names its type
            return self.emit(f"read(len({text}))")
        self.emit(f"read(numpy.asarray({text}))")

    def export(self) -> None:
        arrays = self.arrays()
        if not arrays:
            return self.create()
        held = [n for n in arrays if n[0] == "n"]
        way = self.random.randrange(5)
        if held and way < 3:
            name = self.pick(held)
            x = self.scope[name]
            key = self.basic_key(x.shape)
            if self.value(f"{name}[{key}]") is not None and x.flags.writeable:
                return self.emit(f"{name}[{key}] = {self.pick(['1', '2', '5'])}")
        if held and way == 3:
            return self.emit(f"del {self.pick(held)}")
        text = self.view(self.pick(arrays))
        # A real ndarray of the array's memory.
        self.emit(f"{self.fresh('n')} = numpy.asarray({text})")

    def copy_functions(self) -> None:
        arrays = [a for a in self.arrays() if self.scope[a].size]
        if not arrays:
            return self.create()
        a = self.pick(arrays)
        x = self.scope[a]
        at = self.random.randrange(x.size)
        statements = [
            f"np.put({a}, [{at}, 0], 3)",
            f"{a}.fill({self.pick(['1', '2', '0'])})",
            f"np.putmask({a}, {a} > 2, 1)",
            f"{a}.sort(axis=-1)" if x.ndim and x.dtype.kind != "c" else f"{a}.fill(3)",
            f"np.copyto({a}, {self.operand(x.shape)}, casting='unsafe')",
            f"np.place({a}, {a} < 0, [1, 2])",
            f"{a}.flat[{at}] = 2",
        ]
        way = self.random.randrange(len(statements))
        if way == 4:
            text = statements[way].split(", ", 1)[1].rsplit(", ", 1)[0]
            if not self.whole_in(text, x.dtype) or not _numpy_copies_right(x, self.value(text)):
                return
        self.emit(statements[way])

    def loop(self) -> None:
        """A few rounds of one update: the same plan again."""
        arrays = [
            a
            for a in self.arrays()
            if self.scope[a].ndim and self.scope[a].shape[0] > 3 and self.scope[a].flags.writeable
        ]
        if not arrays:
            return self.create()
        a = self.pick(arrays)
        x = self.scope[a]
        rounds = self.random.randint(2, 5)
        weight = "0.25" if x.dtype.kind in "fc" else "2"
        bodies = [
            f"{a}[1:-1] += {weight} * ({a}[:-2] - {a}[2:])",
            f"{a}[1:] = {a}[:-1]",
            f"{a}[:-1] += {a}[1:]",
            f"{a}[::2] -= {a}[::2][::-1]",
            f"{a} *= {weight}",
            f"{a} += i",
            f"{a}[i] = {a}[i + 1] + i",
            f"{a}[1:-1] = {a}[:-2]; {a} -= 1"
            if x.dtype.kind not in "ub"
            else f"{a}[1:-1] = {a}[2:]",
            f"t = {a}[1:] - {a}[:-1]; {a}[1:] = t; {a}[:-1] = t"
            if x.dtype.kind != "b"
            else f"{a}[i] = {a}[-1]",
        ]
        self.emit(f"for i in range({rounds}):\n    {self.pick(bodies)}")

    def scalar_variable(self) -> None:
        name = self.pick(self.names())
        text = f"{name}.{self.pick(['sum()', 'max() + 0', 'mean()', 'sum()'])}"
        if self.value(text) is None and not self.one_in(10):
            return
        s, t = self.fresh("s"), self.fresh("s")
        self.emit(f"{s} = {text}")
        if s in self.scope:
            self.emit(
                f"{t} = {s}\n{s} += 1" if self.one_in(2) else f"{t} = {s} * 2 - {self.scalar()}"
            )

    def ufunc_methods(self) -> None:
        name = self.pick(self.names())
        text = self.view(name)
        x = self.value(text)
        if x is None or numpy.ndim(x) == 0 or numpy.asarray(x).size == 0:
            return
        n = x.shape[0]
        way = self.random.randrange(5)
        ufunc = self.pick(
            ["np.add", "np.multiply", "np.maximum", "np.minimum", "np.subtract", "np.logical_or"]
        )
        zero = " + 0" if ufunc in REDUCED_TO_ZERO_OF_EITHER_SIGN else ""
        if way == 0:
            return self.emit(
                f"{self.fresh()} = {ufunc}.reduce({text}, axis={self.axis(x.ndim)}){zero}"
            )
        if way == 1:
            return self.emit(f"{self.fresh()} = {ufunc}.accumulate({text}){zero}")
        if way == 2 and x.size < 700:
            other = self.pick(["np.arange(3)", "np.arange(2.0)", "[1, 2]"])
            return self.emit(f"{self.fresh()} = {ufunc}.outer({text}, {other})")
        if way == 3 and x.flags.writeable:
            return self.emit(f"{ufunc}.at({text}, {self.index_text(n)}, 2)")
        cut = sorted(self.random.sample(range(n), min(n, 2)))
        self.emit(f"{self.fresh()} = {ufunc}.reduceat({text}, {cut}){zero}")

    def method_options(self) -> None:
        """A ufunc's methods with the options that they share with its call."""
        text = self.view(self.pick(self.names()))
        x = self.value(text)
        if x is None or numpy.ndim(x) == 0:
            return
        ufunc = self.pick(
            ["np.add", "np.multiply", "np.logical_and", "np.bitwise_or", "np.maximum"]
        )
        zero = " + 0" if ufunc in REDUCED_TO_ZERO_OF_EITHER_SIGN else ""
        way = self.random.randrange(5)
        axis = self.random.randint(-x.ndim, x.ndim - 1)
        if way == 0:
            words = [f"axis={axis}", f"initial={self.pick(['0', '1', '3', 'None'])}"]
            if self.one_in(2):
                words.append(f"where={text} > {self.pick(['0', '1'])}")
            return self.emit(f"{self.fresh()} = {ufunc}.reduce({text}, {', '.join(words)}){zero}")
        if way == 1:
            result = self.value(f"{ufunc}.reduce({text}, axis={axis})")
            if not isinstance(result, numpy.ndarray):
                return
            name = self.fresh()
            self.emit(f"{name} = np.zeros({result.shape}, '{result.dtype}')")
            return self.emit(f"{ufunc}.reduce({text}, axis={axis}, out={name}); {name} += 0")
        if way == 2:
            return self.emit(f"{self.fresh()} = {ufunc}.accumulate({text}, axis={axis})")
        if way == 3:
            indices = self.index_text(x.shape[0]).replace(", dtype='int32'", "")
            operand = self.pick(["1", "2.0", "True", "np.arange(3)[:1]"])
            # Of more dimensions, NumPy's warnings name it `at`.
            if x.flags.writeable and x.ndim == 1 and "[[" not in indices:
                self.emit(f"{ufunc}.at({text}, {indices}, {operand})")
            return
        self.emit(
            f"{self.fresh()} = {ufunc}({text}, {self.operand(x.shape)}, "
            f"where={self.operand(x.shape)} > 0, out=np.ones({x.shape}, '{x.dtype}'))"
        )

    def mixed_key(self) -> None:
        """Keys of masks, index arrays, slices and integers together: read or written."""
        arrays = [a for a in self.arrays() if self.scope[a].ndim > 1]
        if not arrays:
            return self.create()
        name = self.pick(arrays)
        x = self.scope[name]
        parts: list[str] = []
        k = 0
        while k < x.ndim:
            n = x.shape[k]
            way = self.random.randrange(9)
            at = f"{name}[{', '.join(['0'] * k + [':'] + ['0'] * (x.ndim - k - 1))}]"
            if way == 0 and all(x.shape):
                parts.append(f"{at} > {self.pick(['0', '1'])}")
            elif way == 1 and k + 1 < x.ndim and all(x.shape):
                rest = ", ".join(["0"] * k + [":", ":"] + ["0"] * (x.ndim - k - 2))
                parts.append(f"{name}[{rest}] > 0")
                k += 1
            elif way == 2:
                parts.append(self.index_text(n))
            elif way == 3 and n:
                parts.append(str(self.random.randrange(n)))
            elif way == 4:
                parts.append("None")
                continue
            elif way == 5 and "..." not in parts:
                parts.append("...")
            else:
                parts.append(self.pick([":", "1:", "::2", "::-1", ":-1"]))
            k += 1
        key = ", ".join(parts)
        window = self.value(f"{name}[{key}]")
        if window is None or self.one_in(2):
            return self.emit(f"{self.fresh()} = {name}[{key}]")
        if self.one_in(3):
            return self.emit(f"{name}[{key}] {self.pick(['+=', '-=', '*='])} 2")
        value = self.pick(["1", "2.5", self.operand(numpy.shape(window))])
        # Through one mask NumPy reads elements that it has just written.
        if ">" in key and numpy.may_share_memory(x, numpy.asarray(self.value(value))):
            return
        if self.whole_in(value, x.dtype):
            self.emit(f"{name}[{key}] = {value}")

    def raising(self) -> None:
        """Floating-point errors as exceptions, which come at once."""
        target = self.target()
        if target is None:
            return self.create()
        x = self.value(target)
        state = self.pick(
            ["divide='raise', invalid='raise', over='raise'", "invalid='raise'", "divide='raise'"]
        )
        text = self.expression(x.shape, self.random.randint(1, 2))
        body = f"{self.fresh()} = {text}"
        if "(" not in target and not target.endswith(".T") and self.one_in(2):
            body = f"{target} {self.pick(['+=', '-=', '*=', '/=', '//=', '%='])} {text}"
        self.emit(f"with np.errstate({state}):\n    {body}")

    def aliased_out(self) -> None:
        """out= that is one of the inputs, another window of one, or the mask."""
        arrays = [a for a in self.arrays() if self.scope[a].ndim and self.scope[a].flags.writeable]
        if not arrays:
            return self.create()
        a = self.pick(arrays)
        x = self.scope[a]
        if x.shape[0] < 4 or _overlaps_itself(x):
            return
        windows = [f"{a}[1:]", f"{a}[:-1]", f"{a}[1:][::-1]", f"{a}[:-1][::-1]"]
        f = self.pick(["np.add", "np.multiply", "np.subtract", "np.maximum", "np.minimum"])
        b, c, out = (self.pick(windows) for _ in range(3))
        words = f"out={out}"
        if self.one_in(3):
            words += f", where={self.pick(windows)} > 0"
        self.emit(f"{f}({b}, {c}, {words})")

    def mathematics(self) -> None:
        name = self.pick(self.names())
        text = self.view(name)
        x = self.value(text)
        if x is None or numpy.asarray(x).dtype.kind != "f":
            return
        function = self.pick(MATHEMATICS)
        argument = text if self.one_in(2) else f"(abs({text}) % 1)"
        self.emit(
            f"near(np.{function}({argument}))"
            if self.one_in(2)
            else f"near(np.{function}({argument}) * 2)"
        )

    def library(self) -> None:
        arrays = [a for a in self.arrays() if 0 < self.scope[a].size < 20_000]
        if not arrays:
            return self.create()
        a = self.pick(arrays)
        v = self.view(a)
        x = self.value(v)
        if not isinstance(x, numpy.ndarray) or x.ndim == 0:
            return
        k = self.random.randrange(x.ndim)
        words = {"a": a, "v": v, "k": k, "i": self.random.randrange(x.shape[k] or 1)}
        words["o"] = self.operand(x.shape)
        if self.one_in(3):
            # numpy.asarray(a) is a itself, and takes part in what changes its shape.
            is_one = not any(self.scope[b] is self.scope[a] for b in self.arrays() if b != a)
            if not _overlaps_itself(x) and self.scope[a].base is None and is_one:
                self.emit(self.pick(LIBRARY_IN_PLACE).format(**words))
            return
        text = self.pick(LIBRARY).format(**words)
        self.emit(f"{self.fresh()} = {text}")

    def linear(self) -> None:
        a = self.pick(self.names())
        x = self.scope[a]
        if x.ndim == 0 or x.ndim > 2 or x.dtype.kind not in "iu" or x.size > 50_000:
            return
        self.emit(
            f"{self.fresh()} = {a} @ {a}.T"
            if x.ndim == 2 and x.shape[0] < 140
            else f"{self.fresh()} = np.dot({a}.ravel(), {a}.ravel())"
        )


def _overlaps_itself(x: numpy.ndarray) -> bool:
    return any(stride == 0 and n > 1 for stride, n in zip(x.strides, x.shape, strict=True)) or (
        x.ndim > 0
        and x.size > 1
        and numpy.lib.array_utils.byte_bounds(x)[1] - numpy.lib.array_utils.byte_bounds(x)[0]
        < x.nbytes
    )


def _numpy_copies_right(target: Any, value: Any) -> bool:
    """NumPy copies overlapping 1-d windows of unlike strides without a buffer, and wrongly."""
    if (
        not isinstance(target, numpy.ndarray)
        or not isinstance(value, numpy.ndarray)
        or target.ndim != 1
    ):
        return True
    return (
        value.ndim == 0
        or value.strides[-1] == target.strides[0]
        or not numpy.may_share_memory(target, value)
    )


def make(seeds: list[int], size: str, kinds: tuple[str, ...], tier: str, warns: bool) -> Program:
    """The program that these numbers stand for."""
    program = Program(tier=tier, warns=warns, size=size)
    maker = Maker(size, kinds, program)
    for seed in seeds:
        maker.statement(seed)
    return program
