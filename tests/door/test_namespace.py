"""test_namespace.py: frit.numpy has NumPy's names, signatures and texts, and NumPy's own types."""

# ruff: noqa: E501

import abc
import ast
import contextlib
import copy
import dis
import functools
import importlib
import inspect
import operator
import pickle
import re
import sys
import textwrap
import types
import typing
import warnings

import numpy
import pytest

import frit
import frit.numpy as np
from frit.numpy import _native, _table

SUBMODULES = [
    "linalg", "fft", "random", "polynomial", "ma", "lib", "testing", "strings", "char", "rec", "ctypeslib",
    "exceptions", "dtypes", "typing", "lib.stride_tricks", "lib.format", "lib.mixins",
    "lib.scimath", "lib.npyio", "lib.array_utils", "polynomial.polynomial", "polynomial.chebyshev",
    "ma.extras", "f2py",
]  # fmt: skip


def test_every_public_name_is_there():
    assert np.__all__ == numpy.__all__
    assert [n for n in numpy.__all__ if not hasattr(np, n)] == []
    assert dir(np) == dir(numpy)
    assert np.__version__ == numpy.__version__


def test_the_import_finds_all_names_but_those_of_submodules(python):
    program = """
    import types, numpy, frit.numpy as np
    for real, ours in ((numpy, np), (numpy.linalg, vars(np)["linalg"])):
        names = [n for n in getattr(real, "__all__") if n in vars(real) and n[0] != "_"]
        print([n for n in names if n not in vars(ours)
               and not isinstance(vars(real)[n], types.ModuleType)])
    """
    assert python("-c", textwrap.dedent(program)).stdout == "[]\n[]\n"


def opcodes(function) -> set[str]:
    return {i.opname for i in dis.get_instructions(function, adaptive=True)}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the interpreter has no such notes")
@pytest.mark.parametrize("module", [np, np.linalg, np.random, np.fft])
def test_the_interpreter_notes_where_a_module_has_its_names(module):
    name = module.__all__[0]
    scope = {"m": module}
    exec(f"def read(): return m.{name}\ndef call(): m.{name}.__class__()", scope)
    for _ in range(100):
        scope["read"]()
        with contextlib.suppress(TypeError):
            scope["call"]()
    assert "LOAD_ATTR_MODULE" in opcodes(scope["read"])
    assert "LOAD_ATTR_MODULE" in opcodes(scope["call"])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the interpreter has no such notes")
@pytest.mark.parametrize("text", ["x.byteswap()", "rng.random()", "rng.exponential()"])
def test_the_interpreter_notes_which_method_is_numpys(text):
    scope = {"x": np.arange(3.0), "rng": np.random.default_rng(1)}
    exec(f"def call(): {text}", scope)
    for _ in range(100):
        scope["call"]()
    noted = opcodes(scope["call"])
    assert "LOAD_METHOD_NO_DICT" in noted or "LOAD_ATTR_METHOD_NO_DICT" in noted


def test_names_are_those_that_programs_read():
    assert [n for n in vars(np) if n[:1] != "_" and sys.intern(n) is not n] == []


def test_a_module_is_asked_for_what_it_lacks():
    module, other = types.ModuleType("example"), types.ModuleType("other")
    asked = []

    def found(name):
        asked.append(name)
        if name.startswith("_"):
            raise AttributeError(f"no {name}")
        return name.upper()

    frit._core.find_names(module, found)
    module.there = 1
    assert (module.there, module.absent, asked) == (1, "ABSENT", ["absent"])
    assert module.__getattr__ is found and "__getattr__" not in vars(module)
    assert not hasattr(module, "_other") and not hasattr(other, "absent")
    with pytest.raises(AttributeError, match="^no _other$"):
        module._other  # noqa: B018
    with pytest.raises(AttributeError, match="^module 'other' has no attribute 'absent'$"):
        other.absent  # noqa: B018
    frit._core.find_names(module, str.title)
    assert module.absent == "Absent"
    for wrong in ((module,), (1, found), (type("M", (types.ModuleType,), {})("m"), found)):
        with pytest.raises(TypeError, match="find_names takes a plain module and a function"):
            frit._core.find_names(*wrong)


def test_functions_say_what_numpys_say_until_a_program_sets_it():
    for name in ("isscalar", "linalg.eig", "sum", "unique", "concatenate", "vstack"):
        ours, real = np, numpy
        for part in name.split("."):
            ours, real = getattr(ours, part), getattr(real, part)
        assert ours.__name__ == ours.__qualname__ == name.rpartition(".")[2]
        assert ours.__module__ == real.__module__ and inspect.getmodule(ours) is not None
        assert ours.__wrapped__ is getattr(real, "__wrapped__", real)
        assert ours.__doc__ == real.__doc__
        assert hasattr(ours, "__signature__") == hasattr(real, "__signature__")
    function = frit._core.Fallback("isscalar", numpy.isscalar)
    assert function.__name__ == "isscalar" and function.__module__ == "numpy"
    function.__name__ = "other"
    assert function.__name__ == "other" and vars(function)["__name__"] == "other"
    del function.__name__
    assert function.__name__ == "isscalar"
    with pytest.raises(AttributeError, match="__name__"):  # it has none of its own
        del function.__name__
    with pytest.raises(AttributeError):
        _ = frit._core.Fallback("partial", functools.partial(abs)).__name__


def test_functions_can_be_called_without_numpys_protocol():
    class Meters(np.ndarray):
        def __array_function__(self, function, types, arguments, keywords):
            plain = [np.asarray(each) for each in arguments[0]]
            return np.concatenate._implementation(plain, *arguments[1:], **keywords) * 2

    x = np.arange(2.0)
    made = np.concatenate([x.view(Meters), x.view(Meters)])
    assert type(made) is np.ndarray and made.tolist() == [0, 2, 0, 2]
    whole = np.sum._implementation(x.view(Meters)), np.linalg.norm._implementation(x)
    assert [float(each) for each in whole] == [1.0, 1.0]
    lacking = [
        name
        for module in ("", ".linalg", ".fft")
        for name, real in vars(sys.modules["numpy" + module]).items()
        if not name.startswith("_") and type(real) is type(numpy.sum)
        if not callable(getattr(sys.modules["frit.numpy" + module], name)._implementation)
    ]
    assert lacking == []
    assert not hasattr(np.isscalar, "_implementation")


def test_a_name_that_a_program_adds_is_among_the_names():
    np.of_the_program = 1
    assert set(dir(np)) - set(dir(numpy)) == {"of_the_program"}
    del np.of_the_program
    assert dir(np) == dir(numpy)


@pytest.mark.parametrize("name", SUBMODULES)
def test_every_submodule_is_there_with_all_names(name):
    ours = importlib.import_module(f"frit.numpy.{name}")
    real = importlib.import_module(f"numpy.{name}")
    assert [n for n in dir(real) if not hasattr(ours, n)] == []
    assert getattr(ours, "__all__", None) == getattr(real, "__all__", None)


def test_types_constants_and_state_are_numpys_own():
    own = [n for n in numpy.__all__ if isinstance(getattr(numpy, n), (type, float, bool, dict))]
    ours = {"ndarray", "ufunc", "vectorize", "poly1d"}
    assert {n for n in own if getattr(np, n) is not getattr(numpy, n)} == ours
    for name in ("newaxis", "s_", "index_exp", "errstate", "printoptions", "exceptions", "finfo"):
        if name == "exceptions":
            assert np.exceptions.AxisError is numpy.exceptions.AxisError
        else:
            assert getattr(np, name) is getattr(numpy, name)


def test_ufuncs_of_libraries_and_of_python_functions_are_ufuncs():
    special = pytest.importorskip("scipy.special")
    for each in (np.add, numpy.add, np.frompyfunc(abs, 1, 1), special.erf):
        assert isinstance(each, np.ufunc)
    assert not isinstance(np.sum, np.ufunc) and not issubclass(int, np.ufunc)
    assert issubclass(numpy.ufunc, np.ufunc)


def test_functions_have_numpys_signatures_and_texts():
    compared = 0
    for name in numpy.__all__:
        real, ours = getattr(numpy, name), getattr(np, name)
        if not callable(real) or isinstance(real, type):
            continue
        assert inspect.getdoc(ours) == inspect.getdoc(real), name
        try:
            expected = inspect.signature(real)
        except ValueError:
            continue
        assert inspect.signature(ours) == expected, name
        compared += 1
    assert compared > 350


def own_definitions():
    """Name and parameters of every @native function as its file defines it."""
    for module in ("_creation", "_elementwise", "_linear", "_reduce", "_shape"):
        path = importlib.import_module(f"frit.numpy.{module}").__file__
        with open(path) as source:
            tree = ast.parse(source.read())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and hasattr(numpy, node.name):
                yield node.name, node.args


@pytest.mark.parametrize("definition", list(own_definitions()), ids=lambda d: d[0])
def test_a_native_function_takes_what_numpys_takes(definition):
    name, arguments = definition
    parameters = inspect.signature(getattr(numpy, name)).parameters.values()
    kinds = inspect.Parameter
    assert [a.arg for a in arguments.posonlyargs] == [
        p.name for p in parameters if p.kind is kinds.POSITIONAL_ONLY
    ]
    assert [a.arg for a in arguments.args] == [
        p.name for p in parameters if p.kind is kinds.POSITIONAL_OR_KEYWORD
    ]
    assert [a.arg for a in arguments.kwonlyargs] == [
        p.name for p in parameters if p.kind is kinds.KEYWORD_ONLY
    ]
    values = {
        "None": None,
        "True": True,
        "False": False,
        "float": float,
        "_NoValue": numpy._NoValue,
    }
    defaults = [
        values[d.id] if isinstance(d, ast.Name) else ast.literal_eval(d) for d in arguments.defaults
    ]
    positional = [
        p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    assert defaults == [p.default for p in positional if p.default is not kinds.empty]


def test_the_table_names_only_what_numpy_has():
    names = _table.TRANSPLANTED | _table.CALLING_BACK | _table.OWN | _table.UNCOUNTED_NAMES
    assert [n for n in names if not hasattr(numpy, n)] == []
    for module, inside in _table.TRANSPLANTED_IN.items():
        real = importlib.import_module(f"numpy.{module}")
        assert [n for n in inside if not hasattr(real, n)] == []


def test_functions_can_be_pickled_and_stored_in_classes():
    for function in (np.sum, np.gradient, np.sort, np.array, np.linalg.norm, np.linalg.inv, np.sin):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(function, protocol))
            assert again is function or type(function) is np.ufunc and again == function
        assert copy.deepcopy(function) == function
    for name in ("random.seed", "lib.scimath.sqrt", "load", "random.default_rng"):
        function = operator.attrgetter(name)(np)
        assert pickle.loads(pickle.dumps(function)) is function

    class Uses:
        make = np.array
        zero = np.zeros
        sine = np.sin

    assert Uses().make([1, 2]).shape == (2,)
    assert Uses().zero(2).shape == (2,)
    assert float(Uses().sine(0.0)) == 0


def test_what_is_one_object_in_numpy_is_one_object():
    names: dict[int, list[str]] = {}
    for name in numpy.__all__:
        names.setdefault(id(getattr(numpy, name)), []).append(name)
    for first, *others in names.values():
        assert all(getattr(np, other) is getattr(np, first) for other in others), first
    assert np.polynomial.polynomial.Polynomial is np.polynomial.Polynomial


class Line(np.poly1d):
    """A class that derives from one of ours."""


CLASSES = (np.ndarray, np.vectorize, np.poly1d, np.polynomial.Chebyshev, np.random.Generator)
CLASSES += (
    np.ufunc,
    np.random.RandomState,
    np.random.PCG64,
    np.random.SeedSequence,
    Line,
    list[np.ndarray],
)


@pytest.mark.parametrize("kind", CLASSES, ids=str)
@pytest.mark.parametrize("dumps", [pickle.dumps, pickle._dumps])
def test_classes_can_be_pickled(kind, dumps):
    assert pickle.loads(dumps(kind)) == kind


def test_an_object_of_a_derived_class_stays_one_when_pickled():
    line = pickle.loads(pickle.dumps(Line([2, 1])))
    assert type(line) is Line and line(3) == 7


def test_a_name_that_numpy_warns_of_is_warned_of_where_it_is_read():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        assert not hasattr(np, "str")
    assert [each.filename for each in found] == [__file__]


def test_ndarray_is_a_class_that_also_knows_real_arrays():
    assert type(np.zeros(1)) is np.ndarray
    assert isinstance(np.zeros(1), np.ndarray)
    assert isinstance(numpy.zeros(1), np.ndarray)
    assert isinstance(numpy.matrix([[1]]), np.ndarray)
    assert not isinstance([1], np.ndarray)
    assert issubclass(numpy.matrix, np.ndarray)
    assert repr(np.ndarray) == "<class 'numpy.ndarray'>"

    class Mine(np.ndarray):
        pass

    assert issubclass(Mine, numpy.ndarray)
    assert type(np.zeros(3).view(Mine)) is Mine
    made = np.ndarray((2, 3), np.float32)
    assert type(made) is np.ndarray
    assert made.shape == (2, 3)


STAND_INS = ["ndarray", "ufunc", "vectorize", "poly1d", "polynomial.Polynomial", "random.Generator",
             "random.RandomState", "random.PCG64", "random.SeedSequence"]  # fmt: skip


@pytest.mark.parametrize("name", STAND_INS)
def test_a_class_that_stands_for_numpys_is_equal_to_it(name):
    ours, real = (operator.attrgetter(name)(module) for module in (np, numpy))
    assert ours is not real and ours == real and real == ours
    assert not ours != real and not real != ours
    assert real in (list, ours) and ours in (list, real) and list not in (ours, real)
    assert {ours: 1}[real] == 1 and {real: 1}[ours] == 1 and len({ours, real}) == 1
    assert ours == ours and ours not in (list, 1, None)
    if name != "ufunc":
        derived = type("Derived", (ours,), {})
        assert derived == derived and derived not in (ours, real) and len({derived, ours}) == 2
    # What was made of either is its own.
    assert [typing.ClassVar[kind].__args__[0] is kind for kind in (real, ours)] == [True, True]
    assert pickle.loads(pickle.dumps(real)) is real and pickle.loads(pickle.dumps(ours)) is ours


class Proxy:
    """Says that it is of another class."""

    def __init__(self, kind):
        self.kind = kind

    @property
    def __class__(self):
        return self.kind


@pytest.mark.parametrize("name", STAND_INS)
def test_mocks_and_proxies_are_instances_of_the_class_that_they_name(name):
    from unittest import mock

    ours, real = (operator.attrgetter(name)(module) for module in (np, numpy))
    for kind in (ours, real):
        for each in (mock.Mock(spec=kind), mock.create_autospec(kind, instance=True), Proxy(kind)):
            assert isinstance(each, ours) and isinstance(each, (int, ours))
    for other in (mock.Mock(), mock.Mock(spec=str), Proxy(str)):
        assert not isinstance(other, ours)


def test_what_a_proxy_raises_for_its_class_is_raised_as_numpys_class_has_it():
    class Refusing:
        def __init__(self, error):
            self.error = error

        @property
        def __class__(self):
            raise self.error

    class Odd(Refusing):
        __class__ = 3

    for kind in (np.ndarray, numpy.ndarray):
        assert not isinstance(Refusing(AttributeError), kind)
        assert not isinstance(Odd(None), kind)
        with pytest.raises(KeyError):
            isinstance(Refusing(KeyError), kind)


def test_a_class_may_derive_from_arrays_and_have_a_metaclass(capsys):
    class Meta(type):
        @classmethod
        def __prepare__(mcls, name, bases, **words):
            print("prepare", bases == (np.ndarray,), words)
            return {"prepared": 1}

        def __new__(mcls, name, bases, names, **words):
            print("new", sys._getframe(1).f_code.co_name)
            return super().__new__(mcls, name, bases, names)

        def __init__(cls, name, bases, names, **words):
            super().__init__(name, bases, names)

    class Made(np.ndarray, metaclass=Meta, word=3):
        maker = sys._getframe(1).f_code.co_name

    here = "test_a_class_may_derive_from_arrays_and_have_a_metaclass"
    assert capsys.readouterr().out == f"prepare True {{'word': 3}}\nnew {here}\n"
    assert type(Made) is Meta and Made.prepared == 1 and Made.maker == here
    assert np.arange(3.0).view(Made).sum() == 3
    assert issubclass(Made, np.ndarray) and not isinstance(np.ones(2), Made)

    class Abstract(np.ndarray, abc.ABC):
        @abc.abstractmethod
        def total(self): ...

        def __array_ufunc__(self, ufunc, method, *inputs, **words):
            return super().__array_ufunc__(ufunc, method, *map(np.asarray, inputs), **words)

    class Concrete(Abstract):
        def total(self):
            return (self + 1).tolist()

    assert np.ones(2).view(Concrete).total() == [2, 2] and type(Abstract) is abc.ABCMeta

    class Totalling(typing.Protocol):
        def total(self): ...

    class Following(np.ndarray, Totalling): ...

    class Both(abc.ABCMeta, type(np.ndarray)): ...

    class OfBoth(np.ndarray, metaclass=Both): ...

    assert Following.__mro__[1] == np.ndarray and type(OfBoth) is Both

    class Other(metaclass=Meta): ...

    with pytest.raises(TypeError, match="metaclass conflict: the metaclass of a derived class"):

        class _AtOdds(np.ndarray, Other, metaclass=abc.ABCMeta):
            raise ValueError("the body doesn't run")


@pytest.mark.parametrize("name", STAND_INS[2:])
def test_classes_of_numpys_take_other_metaclasses(name):
    kind = operator.attrgetter(name)(np)

    class Derived(kind, metaclass=abc.ABCMeta): ...

    class Alone(kind): ...

    assert isinstance(Derived, abc.ABCMeta) and issubclass(Derived, kind)
    given = {"vectorize": len, "random.Generator": np.random.PCG64(1), "random.RandomState": 3}
    objects = [made(given.get(name, [1, 2])) for made in (kind, Derived, Alone)]
    assert [isinstance(each, kind) for each in objects] == [True] * 3
    assert [isinstance(each, Derived) for each in objects] == [False, True, False]
    assert [isinstance(each, Alone) for each in objects] == [False, False, True]


def test_objects_of_derived_classes_give_our_arrays():
    class Twice(np.vectorize, abc.ABC):
        def __call__(self, *given):
            return super().__call__(*given) * 2

    class Thrice(np.random.Generator, abc.ABC):
        def three(self):
            return self.random(3)

    assert type(Twice(abs)(np.arange(3))) is np.ndarray
    assert type(Thrice(np.random.PCG64(1)).three()) is np.ndarray
    assert type(Thrice(np.random.PCG64(1)).spawn(1)[0]) is Thrice


def test_tables_by_class_hold_for_arrays_of_ours_and_numpys():
    @functools.singledispatch
    def kind(x):
        return "object"

    Kind = abc.ABCMeta("Kind", (), {})
    x, real = np.ones(2), numpy.ones(2)
    assert kind(real) == "object" and not isinstance(real, Kind)
    kind.register(np.ndarray)(lambda x: "array")
    Kind.register(np.ndarray)
    assert kind(x) == kind(real) == "array"
    assert isinstance(x, Kind) and isinstance(real, Kind)
    assert pickle.loads(pickle.dumps((np.sin, numpy.sin))) == (np.sin, numpy.sin)
    assert copy.deepcopy([np.sin, numpy.sin, np.ndarray]) == [np.sin, numpy.sin, np.ndarray]


@pytest.mark.parametrize(
    "make",
    [
        lambda: numpy.matrix([[1, 2], [3, 4]]),
        lambda: numpy.array(["2020-01-01", "2021-02-03"], "M8[D]"),
        lambda: numpy.ma.array([1, 2, 3], mask=[0, 1, 0]),
        lambda: numpy.array([(1, 2.0)], "i4,f8").view(numpy.recarray),
        lambda: numpy.arange(3, dtype="g"),
        lambda: numpy.array([1, None]),
    ],
    ids=["matrix", "dates", "masked", "records", "longdouble", "objects"],
)
@pytest.mark.parametrize(
    "view",
    [
        lambda x, kind: x.view(kind),
        lambda x, kind: x.view(type=kind),
        lambda x, kind: numpy.ndarray.view(x, x.dtype, kind),
        lambda x, kind: numpy.ndarray.view(x, kind, kind),
    ],
    ids=["alone", "by_name", "with_dtype", "twice"],
)
def test_arrays_of_numpys_own_can_be_viewed_as_plain_ones(make, view):
    try:
        expected = view(make(), numpy.ndarray)
    except Exception as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            view(make(), np.ndarray)
        return
    x = make()
    ours = view(x, np.ndarray)
    assert type(ours) is numpy.ndarray and ours.dtype == expected.dtype
    assert numpy.array_equal(ours, expected) and numpy.shares_memory(ours, x)


def test_a_derived_class_hands_on_what_it_holds():
    class Plain(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            plain = [x.view(np.ndarray) if isinstance(x, Plain) else x for x in inputs]
            return super().__array_ufunc__(ufunc, method, *plain, **kwargs).view(Plain)

    class Told(np.ndarray):
        def view(self, *arguments):
            told.append(arguments)
            return super().view(*arguments)

    told = []
    x = np.arange(3.0).view(Plain) + 1
    assert type(x) is Plain and x.tolist() == [1, 2, 3]
    plain = np.arange(3.0).view(Told).view(np.ndarray)
    assert type(plain) is numpy.ndarray and plain.tolist() == [0, 1, 2]
    assert told == [(np.ndarray,)]


def test_a_foreign_operand_decides_itself():
    class Foreign:
        def __array_function__(self, function, types, args, kwargs):
            return function, len(args)

    assert np.sum(Foreign()) == (numpy.sum, 1)
    assert np.concatenate([np.zeros(1), Foreign()]) == (numpy.concatenate, 1)
    assert np.gradient(Foreign()) == (numpy.gradient, 1)
    assert np.sort(Foreign()) == (numpy.sort, 1)
    assert np.where(Foreign(), 1, 2) == (numpy.where, 3)


def test_numpys_functions_accept_our_arrays():
    x = np.arange(4.0)
    assert type(numpy.sum(x, keepdims=True)) is np.ndarray
    assert numpy.concatenate([numpy.ones(1), x]).tolist() == [1, 0, 1, 2, 3]
    assert numpy.sort(x)[0] == 0
    assert numpy.asarray(x).tolist() == [0, 1, 2, 3]


def test_the_version_is_one_and_frit_is_small():
    assert frit.__version__ == "0.1.0"
    assert _native.functions[numpy.sum] is np.sum
    with pytest.raises(AttributeError, match="module 'frit' has no attribute 'nothing'"):
        frit.nothing  # noqa: B018


def test_methods_and_classes_have_numpys_texts_and_signatures():
    for owner, real in ((np.ndarray, numpy.ndarray), (np.ufunc, numpy.ufunc)):
        for name in dir(real):
            if name.startswith("_") or not callable(getattr(real, name)):
                continue
            assert getattr(owner, name).__doc__ == getattr(real, name).__doc__, name
    x, real_x = np.ones((2, 2)), numpy.ones((2, 2))
    for name in dir(real_x):
        if not name.startswith("_") and callable(getattr(real_x, name)):
            ours, wanted = getattr(x, name), getattr(real_x, name)
            assert ours.__doc__ == wanted.__doc__, name
            if getattr(wanted, "__text_signature__", None):
                assert inspect.signature(ours) == inspect.signature(wanted), name
    for name in ("ufunc", "vectorize", "poly1d", "ndarray"):
        assert getattr(np, name).__doc__ == getattr(numpy, name).__doc__, name


def test_arrays_match_patterns_where_numpys_do():
    def form(x):
        match x:
            case [[a, _], *_]:
                return "rows", float(a)
            case [a, b]:
                return "pair", float(a), float(b)
            case []:
                return "none"
        return "other"

    for shape in ((2,), (3, 2), (0,), (3,)):
        assert form(np.ones(shape)) == form(numpy.ones(shape)), shape


@pytest.mark.parametrize("name", ["Polynomial", "Legendre", "Chebyshev", "HermiteE"])
def test_series_are_converted_to_one_another(name: str) -> None:
    """NumPy asks an abstract class of all series, which asks what derives from it."""
    kinds = getattr(np.polynomial, name), getattr(numpy.polynomial, name)
    ours, plain = (kind([1.0, 2.0, 3.0]) for kind in kinds)
    assert str(ours + ours) == str(plain + plain)
    assert str(ours.integ()) == str(plain.integ())
    assert ours(2.0) == plain(2.0)
    to = np.polynomial.Laguerre, numpy.polynomial.Laguerre
    assert str(ours.convert(kind=to[0])) == str(plain.convert(kind=to[1]))
    assert str(kinds[0].cast(to[0]([1.0, 2.0]))) == str(kinds[1].cast(to[1]([1.0, 2.0])))
    assert issubclass(type(ours), kinds[0]) and not issubclass(kinds[0], to[0])
    assert not isinstance(1.0, kinds[0]) and not issubclass(int, kinds[0])


def test_hints_are_of_the_class_that_arrays_have() -> None:
    import typing

    import frit.numpy.typing as hints
    import numpy.typing as plain_hints

    x = np.arange(3.0)
    alias = np.ndarray[typing.Any, np.dtype[np.float64]]
    for hint in (alias, hints.NDArray[np.float64], hints.NDArray):
        # NumPy 2.5 makes it by a type statement.
        origin = typing.get_origin(getattr(hint, "__value__", hint))
        assert origin is np.ndarray
        assert isinstance(x, origin)
        assert isinstance(x.view(type("A", (np.ndarray,), {})), origin)
    assert repr(hints.NDArray[np.int8]) == repr(plain_hints.NDArray[numpy.int8])
    assert hints.NDArray.__parameters__ == plain_hints.NDArray.__parameters__
    for hint in (hints.NDArray, hints.NDArray[np.int8]):
        assert pickle.loads(pickle.dumps(hint)) == copy.deepcopy(hint) == hint

    class Derived(alias):
        pass

    assert issubclass(Derived, np.ndarray)
    with pytest.raises(TypeError, match="Too many arguments"):
        np.ndarray[int, int, int]


def test_classes_of_generators_are_related_as_numpys() -> None:
    random = np.random
    assert issubclass(random.PCG64, random.BitGenerator)
    assert issubclass(numpy.random.MT19937, random.BitGenerator)
    assert not issubclass(random.SeedSequence, random.BitGenerator)
    assert isinstance(random.default_rng().bit_generator, random.BitGenerator)


def test_other_metaclasses_are_asked_whether_a_class_is_equal() -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            return other is np.ndarray

        __hash__ = type.__hash__

    class Alike(metaclass=Meta):
        pass

    assert np.ndarray == Alike and Alike == np.ndarray and not np.ndarray != Alike
    assert np.ndarray not in (list, int, numpy.generic)
