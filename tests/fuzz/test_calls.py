"""test_calls.py: single calls with random operands, layouts and options: the same result, error, warnings and operands as
NumPy's.

FRIT_FUZZ_PROGRAMS: how many (4000). FRIT_FUZZ_SEED: which (0).
"""

# ruff: noqa: E501

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path

import numpy
import programs
import pytest

import frit.numpy

sys.path.insert(0, str(Path(__file__).parents[1] / "door"))
import compare  # noqa: E402

SHARDS = 4
CALLS = max(int(os.environ.get("FRIT_FUZZ_PROGRAMS", "4000")) // SHARDS, 1)  # of each
FIRST = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
DTYPES = "f8 f8 f4 f2 i8 i8 i4 i1 u1 u2 u8 ? c16 c8".split()
UNARY = "negative absolute rint sign square sqrt floor isnan signbit conjugate logical_not".split()
BINARY = "add subtract multiply true_divide maximum fmin greater equal less logical_and bitwise_or copysign".split()
OPERATORS = "+= -= *= /= //= %= &= |= @=".split()
NUMBERS = ["2", "0", "-1", "1.5", "True", "2j", "np.nan", "np.float32(2.5)", "np.int8(3)", "300"]
PLACES = ["", "[...]", "[0]", "[1:]", "[::-1]", "[None]", "[a > 1]", "[[0, 0]]"]
KINDS = ["small", "small", "usual", "special"]
# Of functions that are more than one step; words in braces are options, and sizes.
FUNCTIONS = """
diff(a{times}{axis}{ends}) ediff1d(a{around}) gradient(a{apart}{axis}{edge}) trapezoid(a{points}{axis}) ptp(a{axis})
cross(u,v{vectors}) cov(a{more}{across}) cov(a{more}{across}{weights}) corrcoef(a{across}) average(a{axis}{weight})
interp(a,{places},y{outside}) searchsorted(x,a{side}) digitize(a,x{closed}) bincount(i{most}) histogram(a{bins}{range})
histogram(a{bins}{range},weights=s) histogram2d(y,y,bins={some}) histogram_bin_edges(a{bins}) convolve(y,v{mode})
sort(a{axis}{kind}) argsort(a{axis}{kind}) lexsort((s,a)) sort_complex(a) partition(a,{some}{axis})[{some}]
unique(a{axis}{found}) unique_all(a) unique_counts(a) intersect1d(a,b) union1d(a,s) setdiff1d(a,b) setxor1d(a,s)
isin(a,b{test}) median(a{axis}{keeps}) quantile(a,{share}{axis}{method}) percentile(a,{percent}{axis}{method})
nanmedian(a{axis}) nanquantile(a,{share}{axis}) cumsum(a{axis}) cumprod(a{axis}) nancumsum(a{axis}) std(a{axis}{keeps})
nansum(a{axis}) nanmean(a{axis}{keeps}) nanvar(a{axis}) nanmax(a{axis}) nanargmin(a{axis}) argmax(a{axis})
roll(a,{shift}{axis}) rot90(a,{shift}) flip(a{axis}) pad(a,{some}{fill}) tile(a,{some}) repeat(a,{some}{axis})
insert(a,{some},s{axis}) delete(a,{some}{axis}) append(a,s{axis}) stack((a,s){axis}) concatenate((a,s){axis})
trace(a) outer(y,v) kron(y,v) polyval(v,a) unwrap(a) select([a>1,a<0],[a,s],7)
take_along_axis(a,np.argsort(a{axis}){axis}) compress([True,False,True],a{axis}) argwhere(a) extract(a>0,s)
""".split()
OPTIONS = {
    "axis": ["", "", "axis=0", "axis=-1", "axis=1", "axis=None"],
    "times": ["", "n=0", "n=2", "n=3"],
    "ends": ["", "", "prepend=s", "append=0", "prepend=1.5, append=s"],
    "around": ["", "to_begin=1", "to_end=[2, 3]"],
    "apart": ["", "2", "0.5", "y", "np.float32(2)", "2, 3"],
    "edge": ["", "edge_order=2"],
    "points": ["", "y", "dx=0.5", "s"],
    "vectors": ["", "", "axisa=0", "axisc=0", "axis=-1"],
    "more": ["", "", "s"],
    "across": ["", "rowvar=False", "ddof=0", "bias=True, rowvar=False", "dtype='f4'"],
    "weights": ["fweights=abs(i)", "aweights=abs(y)", "ddof=2"],
    "weight": ["", "weights=y", "weights=abs(s), returned=True"],
    "places": ["x", "x", "x", "y", "np.arange(float(len(y)))", "np.linspace(0, 3, len(y))"],
    "outside": ["", "", "left=-1", "right=np.nan", "period=2.5"],
    "side": ["", "side='right'"],
    "closed": ["", "right=True"],
    "most": ["", "minlength=20", "weights=y", "y"],
    "bins": [
        "",
        "5",
        "np.arange(5)",
        "np.linspace(-3, 3, 8)",
        "'sturges'",
        "[0.0, 1, 1.5]",
        "[3, 1]",
        "x",
    ],
    "range": ["", "", "range=(-2, 3)", "range=(0, 0)", "density=True"],
    "mode": ["", "'same'", "'valid'"],
    "kind": ["", "", "kind='stable'", "kind='heapsort'", "stable=True"],
    "some": ["1", "0", "2", "-1", "(0, 1)"],
    "found": [
        "",
        "return_index=True",
        "return_inverse=True, return_counts=True",
        "equal_nan=False",
    ],
    "test": ["", "invert=True", "kind='sort'"],
    "keeps": ["", "keepdims=True"],
    "share": ["0.5", "0.3", "[0.1, 0.9]", "0", "1.5", "np.linspace(0, 1, 5)"],
    "percent": ["50", "[25, 75]", "33.3", "101"],
    "method": [
        "",
        "",
        *(
            f"method={m!r}"
            for m in "lower higher nearest midpoint hazen weibull inverted_cdf".split()
        ),
    ],
    "shift": ["1", "-1", "2", "0"],
    "fill": ["", *(f"mode={m!r}" for m in "edge reflect wrap symmetric linear_ramp mean".split())],
}


def array(draw: random.Random, shape: tuple[int, ...], dtype: str | None = None) -> str:
    dtype = dtype or draw.choice(DTYPES)

    def made(shape: tuple[int, ...]) -> str:
        return f"data({draw.randrange(10**6)}, {shape}, {dtype!r})"

    if not shape:
        return made(shape)
    last = shape[-1]
    return draw.choice(
        [
            made(shape),
            made(shape),
            made(shape[::-1]) + ".T",
            made(shape) + "[::-1]",
            made((*shape[:-1], 2 * last)) + "[..., ::2]",
            f"np.broadcast_to({made(shape[1:])}, {shape})",
        ]
    )


def options(draw: random.Random) -> str:
    found = ["out=o"] if draw.random() < 0.6 else []
    if found and draw.random() < 0.4:
        found.append("where=" + draw.choice(["w", "True", "False", "[True]"]))
    if draw.random() < 0.25:
        found.append(f"dtype={draw.choice(DTYPES)!r}")
    if draw.random() < 0.3:
        found.append(f"casting={draw.choice(['no', 'equiv', 'safe', 'same_kind', 'unsafe'])!r}")
    if draw.random() < 0.1:
        found.append(f"order={draw.choice('CFKAX')!r}")
    return "".join(", " + text for text in found)


def program(draw: random.Random) -> str:
    shape = tuple(draw.choice([1, 2, 3, 5, 0]) for _ in range(draw.choice([0, 1, 1, 2, 2, 3])))
    part = shape[draw.randrange(len(shape) + 1) :]
    other = draw.choice([array(draw, part), draw.choice(NUMBERS)])
    third = draw.choice([array(draw, part), draw.choice(NUMBERS), "None"])
    call = draw.choice(
        [
            f"r = np.{draw.choice(UNARY)}(a{options(draw)})",
            f"r = np.{draw.choice(BINARY)}({draw.choice(['a, b', 'b, a'])}{options(draw)})",
            f"a{draw.choice(PLACES)} {draw.choice(OPERATORS)} b; r = a",
            f"a{draw.choice(PLACES)} = b; r = a",
            "r = np.clip(a, b, c)",
            "r = a.clip(b, c)",
            "np.copyto(a, b, where=w, casting='unsafe'); r = a",
            f"r = np.round(a, {draw.choice([0, 1, -1, 3])})",
            f"r = a.copy({draw.choice('CFKA')!r}), a.astype({draw.choice(DTYPES)!r})",
        ]
    )
    if other in ("300", "-1") and "where=" in call:
        other = "30"  # comparing int8 and uint8 with them by a mask NumPy crashes
    lines = [f"a = {array(draw, shape)}", f"b = {other}", f"c = {third}"]
    lines += [f"o = {array(draw, shape)}", f"w = {array(draw, part, '?')}", call]
    return "\n".join(lines)


def function_program(draw: random.Random) -> str:
    axes = draw.choice([0, 1, 1, 1, 2, 2, 3])
    shape = tuple(draw.choice([1, 2, 3, 4, 5, 0, 7, 17, 40]) for _ in range(axes))
    if draw.random() < 0.25:
        shape = (draw.choice([100, 300, 1000, 3000, 20000]),)
    last = shape[-1:] or (1,)

    def made(shape: tuple[int, ...], dtype: str | None = None) -> str:
        return array(draw, shape, dtype).replace("')", f"', {draw.choice(KINDS)!r})")

    def option(match: re.Match[str]) -> str:
        text = draw.choice(OPTIONS[match[1]])
        is_another = match.string[match.start() - 1] not in ",(["
        return ", " + text if text and is_another else text

    vector = (*shape[:-1], draw.choice([3, 3, 3, 2]))
    names = {
        "a": made(shape),
        "b": made(draw.choice([shape, last, ()])),
        "s": made(shape),
        "y": made(last),
        "i": array(draw, last, draw.choice(["i8", "u1", "?", "i4"])),  # small, as bincount's size
        "u": made(vector),
        "v": made(draw.choice([vector, (3,), (2,)])),
        "x": f"np.sort({made(last, draw.choice(['f8', 'f8', 'f4', 'i8']))})",
    }
    call = re.sub(r"{(\w+)}", option, draw.choice(FUNCTIONS))
    lines = [
        f"{name} = {value}" for name, value in names.items() if re.search(rf"\b{name}\b", call)
    ]
    return "\n".join([*lines, f"r = np.{call}"])


def outcome(text: str, module: object) -> tuple:
    def data(seed: int, shape: tuple[int, ...], dtype: str, kind: str = "small") -> object:
        return module.array(programs.numbers(seed, shape, dtype, kind))

    return compare.outcome(text, module, {"data": data})


@pytest.mark.timeout(max(900, CALLS // 4))
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("make", [program, function_program])
def test_a_random_call_does_what_numpy_does(make, shard):
    for seed in range(FIRST + shard * CALLS, FIRST + (shard + 1) * CALLS):
        text = make(random.Random(seed))
        value, warnings, after = outcome(text, numpy)
        mine = outcome(text, frit.numpy)
        assert mine[0] == value, text
        assert set(mine[1]) == set(warnings), text
        assert {name: mine[2].get(name) for name in after} == after, text
