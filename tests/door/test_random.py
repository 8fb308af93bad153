"""test_random.py: the same streams as NumPy's, seed for seed, in arrays that are ours."""

# ruff: noqa: E501

import copy
import pickle
import threading

import numpy
import pytest

import frit.numpy as np

GENERATOR_CALLS = [
    "random(5)", "random()", "normal(1, 2, (2, 3))", "integers(0, 10, 7)", "integers(5)", "uniform(-1, 1, 4)",
    "standard_normal(3, dtype=np.float32)", "choice(10, 3, replace=False)", "choice([1.5, 2.5], 4)",
    "permutation(6)", "permutation(np.arange(6.0))", "permuted(np.arange(6.0).reshape(2, 3), axis=1)",
    "poisson(3, 5)", "exponential(2, 3)", "multivariate_normal([0, 1], np.eye(2), 3)", "dirichlet([1, 2], 2)",
    "binomial(np.array([5, 10]), 0.5)", "normal(np.zeros(3), np.ones(3))", "bytes(4)", "gamma(2.0)",
    "multinomial(10, [0.2, 0.8])", "hypergeometric(5, 5, 3, 4)", "choice(5, p=np.full(5, 0.2))",
]  # fmt: skip
LEGACY_CALLS = [
    "rand(3)", "randn(2, 2)", "randint(0, 9, 5)", "random_sample(3)", "normal(0, 1, 4)", "permutation(5)",
    "choice(5, 2)", "uniform()", "standard_normal()", "shuffle", "random(2)", "gamma(1.0, size=2)",
]  # fmt: skip

# What draws few numbers without NumPy's call, and what looks like it.
FEW_OF_GENERATORS = """random() random(3) random((2,3)) random(size=4) random(None) random(()) random(0) random(2000) random(True)
    random(-1) random(2.0) random((2,-1)) random(dtype=np.float32) random(3,out=None) random(3,3)
    uniform() uniform(2,5) uniform(-1.5,2.5,(2,2)) uniform(low=1,high=2,size=3) uniform(3,1) uniform(0,float('inf')) uniform(2**60,2**61)
    normal() normal(1,2) normal(0,1,5) normal(size=(2,2)) normal(loc=3.0,scale=0) normal(0,-1) normal(0,-0.0) normal(float('nan'),1)
    normal(0,float('nan')) normal(True) normal(np.float64(1),np.int64(2)) normal('a') normal(sigma=1)
    standard_normal() standard_normal(4) standard_normal((2,1,2)) standard_normal(dtype=np.float32)
    integers(10) integers(5,9) integers(0,10,4) integers(-5,2**40,size=3) integers(1) integers(0,1,3) integers(low=3,high=8)
    integers(2**63-1) integers(2**63) integers(2**64) integers(-2**63,2**63-1) integers(2**32) integers(2**32+1) integers(0)
    integers(9,5) integers(3,endpoint=True) integers(10,None) integers(10,size=None) integers(10,dtype=np.int8) integers() integers(2.5)
    integers(np.int64(7)) integers(True)
    exponential() exponential(2,3) exponential(scale=0) exponential(-1) exponential(-0.0) exponential(float('nan')) exponential(float('inf')) exponential([1,2])
    standard_exponential() standard_exponential(3) standard_exponential(2,method='inv') standard_exponential(2,np.float32) standard_exponential(out=np.zeros(2))
    rayleigh() rayleigh(0.5,(2,2)) rayleigh(-1) standard_cauchy() standard_cauchy(3) standard_cauchy(-1) standard_cauchy(2,2)
    gamma(1) gamma(0.3,2.0,4) gamma(0) gamma(2,0) gamma(-1) gamma(2,-1) gamma() gamma(shape=3,size=2) gamma(1.5,size=(2,2)) standard_gamma(2.5) standard_gamma(0.5,3)
    standard_gamma(0.5,3,np.float32) standard_gamma(1,out=np.zeros(2)) standard_gamma(-1) standard_gamma()
    beta(1,2) beta(0.2,0.3,5) beta(0,1) beta(1,-1) beta(1) beta(a=2,b=3,size=2) chisquare(3) chisquare(0.5,3) chisquare(0) standard_t(2) standard_t(1.5,(2,2)) standard_t(0)
    f(2,3) f(1.5,0.5,3) f(0,1) f(1,0) pareto(2) pareto(0.5,3) pareto(0) power(2) power(0.5,3) power(0) power(-1) weibull(2) weibull(0) weibull(0.5,3) weibull(-1)
    vonmises(0,1) vonmises(1,0) vonmises(0.5,1e-9,3) vonmises(-4,1e7,3) vonmises(0,-1) vonmises(0) laplace() laplace(1,2,3) laplace(0,-1) laplace(size=2) gumbel() gumbel(1,2,3)
    gumbel(scale=-1) logistic() logistic(1,2,3) logistic(scale=0) lognormal() lognormal(1,0.5,3) lognormal(sigma=-1) lognormal(mean=2) wald(1,2) wald(3.5,0.1,3) wald(0,1) wald(1,0) wald(1)
    triangular(0,1,2) triangular(-1,-1,5,3) triangular(0,2,2) triangular(0,3,2) triangular(1,0,2) triangular(1,1,1) triangular(0,1) triangular(left=0,mode=1,right=2,size=(2,2))
    poisson() poisson(0) poisson(3.5,4) poisson(50.5,(2,3)) poisson(1e8,3) poisson(1e12) poisson(1e20) poisson(-1) poisson(float('nan')) poisson(lam=12) poisson([1,2])
    geometric(0.5) geometric(0.01,4) geometric(1) geometric(1e-12,2) geometric(0) geometric(1.5) geometric() geometric(0.4,size=3)
    binomial(3,0.5) binomial(100,0.4,3) binomial(100,0.9,3) binomial(3,0.5,2) binomial(0,0.5) binomial(5,0) binomial(5,1,2) binomial(5,-0.0) binomial(10**6,0.3,3) binomial(10**6,0.7)
    binomial(-1,0.5) binomial(5,1.5) binomial(5,float('nan')) binomial(2.5,0.5) binomial(2**70,0.5) binomial(5) binomial(n=9,p=0.1,size=(2,2)) binomial(True,0.5) binomial(2**62,0.5)
    exponential(1.0,2000) poisson(1.0,1025) gamma('a') beta(None,1) binomial('a',0.5)""".split()  # fmt: skip
FEW_OF_THE_OLD = """rand() rand(3) rand(2,3) rand(0) rand(2,-1) rand(2.0) rand(size=3) random() random(5) random(size=(2,2)) random_sample() random_sample(4)
    random_sample(size=None) uniform() uniform(1,3) uniform(3,1) uniform(0,1,5) uniform(0,float('inf'))
    randint(10) randint(5,9) randint(0,10,4) randint(0,2**40,(2,2)) randint(1) randint(0) randint(9,5) randint(10,None) randint(10,dtype=np.int8)
    randint(low=2,high=5,size=2) randint(2**32) randint(2**32+1) randint(0,2**63) randint(-2**63,5) randint(True) randint()
    randn() normal() standard_normal() randn(2) randn(2,3) standard_normal(3) standard_normal(size=(2,1)) normal(1,2) normal(1,2,3) randn(0) randn(2,-1) randn(2.0) randn(size=2) randn(None)
    normal(0,-1) normal(0,-0.0) normal(0,0) normal(float('nan'),1) normal(0,float('inf')) normal(loc=3,size=(2,2)) normal(scale=2) normal([1,2],1) normal('a') normal(0,1,None) standard_normal(None)
    standard_normal(()) standard_normal(-1) standard_normal(2,2) standard_normal(1025) normal(True,np.float64(2)) randn(True) gamma(2.0) normal() chisquare(3,3) randn()
    exponential() exponential(2.0,3) exponential(0) exponential(-1) exponential(scale=3,size=(2,2)) exponential(float('nan')) standard_exponential() standard_exponential(4) standard_exponential(-1)
    seed(5) randn() seed(5) normal(size=3) seed(5) exponential() poisson(3,3) binomial(5,0.5,3) laplace() beta(2,3)""".split()  # fmt: skip


def outcome(call, generator, module):
    try:
        result = eval(f"rng.{call}", {"rng": generator, "np": module})
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)
    array = numpy.asarray(result)
    return type(result).__name__, array.dtype, array.shape, array.tobytes()


@pytest.mark.parametrize("bits", ["PCG64", "MT19937", "Philox", "SFC64"])
def test_few_numbers_are_numpys_whatever_is_asked_for(bits):
    ours = np.random.Generator(getattr(np.random, bits)(7))
    real = numpy.random.Generator(getattr(numpy.random, bits)(7))
    for call in FEW_OF_GENERATORS * 2:
        assert outcome(call, ours, np) == outcome(call, real, numpy), call
        # Nothing more was drawn, and nothing less.
        assert str(ours.bit_generator.state) == str(real.bit_generator.state), call


@pytest.mark.parametrize("of_module", [True, False])
def test_few_numbers_of_the_old_functions_are_numpys(of_module):
    np.random.seed(7)
    ours = np.random if of_module else np.random.RandomState(7)
    real = numpy.random.RandomState(7)
    for call in FEW_OF_THE_OLD * 2:
        assert outcome(call, ours, np) == outcome(call, real, numpy), call
        assert str(ours.get_state()) == str(real.get_state()), call


def test_the_old_functions_keep_the_second_normal_number_where_numpy_does():
    ours, real = np.random.RandomState(3), numpy.random.RandomState(3)
    assert ours.randn() == real.randn()
    assert ours.get_state(legacy=False)["has_gauss"] == 1
    # NumPy's own methods go on with it, and leave theirs to us.
    assert ours._numpy.standard_normal() == real.standard_normal()
    assert ours._numpy.standard_normal() == real.standard_normal()
    saved = ours.get_state()
    assert ours.normal(2, 3) == real.normal(2, 3)
    ours.set_state(saved)
    assert ours.randn() == (real.set_state(saved), real.randn())[1]
    assert ours.randn() == real.randn()
    copied = copy.copy(ours)
    assert [copied.randn(), copied.randn()] == real.randn(2).tolist()


def test_distributions_of_other_parameters_are_numpys():
    parameters = numpy.random.default_rng(11)
    ours, real = np.random.default_rng(5), numpy.random.default_rng(5)
    old, real_old = np.random.RandomState(5), numpy.random.RandomState(5)
    for _ in range(300):
        a, b = (float(x) for x in numpy.exp(parameters.normal(0, 3, 2)))
        p, n = float(parameters.random()), int(parameters.integers(0, 5000))
        for name, given in (
            ("gamma", (a, b)), ("standard_gamma", (a,)), ("beta", (a, b)), ("chisquare", (a,)), ("f", (a, b)),
            ("standard_t", (a,)), ("vonmises", (a, b)), ("pareto", (a,)), ("weibull", (a,)), ("power", (a,)),
            ("lognormal", (p, b)), ("wald", (a, b)), ("triangular", (-a, p, 1 + b)), ("poisson", (a * b,)),
            ("geometric", (p,)), ("binomial", (n, p)), ("gumbel", (a, b)), ("logistic", (a, b)),
        ):  # fmt: skip
            size = None if n % 2 else 1 + n % 7
            same(getattr(ours, name)(*given, size), getattr(real, name)(*given, size))
        same(old.normal(a, b, size), real_old.normal(a, b, size))
        same(old.exponential(b, size), real_old.exponential(b, size))
    assert ours.bit_generator.state == real.bit_generator.state
    assert str(old.get_state()) == str(real_old.get_state())


def test_the_old_functions_draw_from_the_bit_generator_that_is_set():
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(numpy.random.PCG64(5))
        drawn = [np.random.rand(), np.random.randint(100), np.random.random()]
    finally:
        np.random.set_bit_generator(before)
    real = numpy.random.RandomState(numpy.random.PCG64(5))
    assert drawn == [real.rand(), real.randint(100), real.random()]


def test_while_another_thread_lives_numbers_are_drawn_under_the_generators_lock():
    rng, real = np.random.default_rng(3), numpy.random.default_rng(3)
    is_held, may_end, drawn = threading.Event(), threading.Event(), []

    def hold():
        with rng.bit_generator.lock:
            is_held.set()
            may_end.wait(60)
            drawn.append(real.random())  # before the main thread's, which waits

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait(60)
    threading.Timer(0.05, may_end.set).start()
    number = rng.random()
    assert drawn, "a number was drawn in spite of the lock"
    thread.join()
    assert number == drawn[0]


def same(ours, real):
    assert type(ours) is (np.ndarray if type(real) is numpy.ndarray else type(real))
    assert numpy.asarray(ours).dtype == numpy.asarray(real).dtype
    assert numpy.array_equal(numpy.asarray(ours), numpy.asarray(real))


@pytest.mark.parametrize("seed", [0, 12345, [1, 2, 3]])
@pytest.mark.parametrize("call", GENERATOR_CALLS)
def test_generators_give_numpys_numbers(seed, call):
    ours = eval(f"rng.{call}", {"rng": np.random.default_rng(seed), "np": np})
    real = eval(f"rng.{call}", {"rng": numpy.random.default_rng(seed), "np": numpy})
    same(ours, real)


@pytest.mark.parametrize("call", LEGACY_CALLS)
def test_the_old_functions_give_numpys_numbers(call):
    results = []
    for module in (np, numpy):
        module.random.seed(7)
        owners = [module.random, module.random.RandomState(7)]
        if call == "shuffle":
            made = []
            for owner in owners:
                x = module.arange(6)
                owner.shuffle(x)
                made.append(x)
        else:
            made = [eval(f"owner.{call}", {"owner": owner}) for owner in owners]
        results.append(made)
    for ours, real in zip(*results, strict=True):
        same(ours, real)


def test_the_old_functions_share_one_state_with_numpys():
    np.random.seed(3)
    numpy.random.rand(2)
    after = np.random.rand(2)
    numpy.random.seed(3)
    assert after.tolist() == numpy.random.rand(4)[2:].tolist()


def test_state_can_be_saved_and_restored():
    for make in (np.random.RandomState, lambda seed: np.random):
        state = make(5)
        state.seed(5)
        state.normal()  # leaves a second number in the drawer
        saved = state.get_state()
        first = state.normal(size=3).tolist()
        state.set_state(saved)
        assert state.normal(size=3).tolist() == first


@pytest.mark.parametrize(
    "generator", [lambda m: m.random.default_rng(11), lambda m: m.random.RandomState(11)]
)
def test_copies_and_pickles_continue_the_stream(generator):
    real = generator(numpy)
    real.normal()
    ours = generator(np)
    ours.normal()
    expected = real.normal(size=4).tolist()
    assert copy.deepcopy(ours).normal(size=4).tolist() == expected
    assert type(copy.deepcopy(ours)) is type(ours)
    restored = pickle.loads(pickle.dumps(ours))
    assert isinstance(restored, type(ours))
    assert restored.normal(size=4).tolist() == expected
    assert pickle.dumps(ours) == pickle.dumps(ours._numpy)
    assert ours.normal(size=4).tolist() == expected


def test_ours_and_numpys_objects_are_of_one_kind():
    ours, real = np.random.default_rng(0), numpy.random.default_rng(0)
    assert isinstance(ours, numpy.random.Generator)
    assert isinstance(real, np.random.Generator)
    assert isinstance(np.random.RandomState(0), numpy.random.RandomState)
    assert np.random.default_rng(ours) is ours
    assert str(ours) == str(real)
    bits = np.random.PCG64(np.array([1, 2, 3]))
    assert type(bits) is numpy.random.PCG64
    assert isinstance(bits, np.random.PCG64)
    assert np.random.Generator(bits).random() == numpy.random.default_rng([1, 2, 3]).random()
    assert np.random.SeedSequence(np.array([1, 2])).entropy.tolist() == [1, 2]

    class Mine(np.random.MT19937):
        pass

    assert issubclass(Mine, numpy.random.MT19937)


def test_spawned_generators_are_ours_and_follow_numpys():
    ours = np.random.default_rng(4).spawn(2)
    real = numpy.random.default_rng(4).spawn(2)
    assert [type(g) for g in ours] == [np.random.Generator] * 2
    for a, b in zip(ours, real, strict=True):
        same(a.random(3), b.random(3))


def test_numbers_are_drawn_in_program_order():
    rng = np.random.default_rng(1)
    a = rng.random(3) + 1
    b = rng.random(3) * 2
    real = numpy.random.default_rng(1)
    x, y = real.random(3) + 1, real.random(3) * 2
    assert b.tolist() == y.tolist()
    assert a.tolist() == x.tolist()


def test_shuffle_and_out_write_into_our_arrays():
    ours, real = np.arange(8.0) * 2, numpy.arange(8.0) * 2
    np.random.default_rng(2).shuffle(ours)
    numpy.random.default_rng(2).shuffle(real)
    assert ours.tolist() == real.tolist()
    out = np.zeros(3)
    view = out[1:]
    np.random.default_rng(2).standard_normal(2, out=view)
    assert out[1:].tolist() == numpy.random.default_rng(2).standard_normal(2).tolist()


def test_the_module_of_the_older_interface_draws_ours_from_the_same_streams():
    from frit.numpy.random import mtrand

    assert np.random.mtrand is mtrand
    assert mtrand.RandomState is np.random.RandomState
    assert isinstance(mtrand._rand, np.random.RandomState)
    np.random.seed(5)
    ours = [mtrand.rand(2), mtrand._rand.rand(2), np.random.rand(2)]
    numpy.random.seed(5)
    real = [numpy.random.rand(2) for _ in range(3)]
    assert [x.tolist() for x in ours] == [x.tolist() for x in real]
    ours, real = np.arange(20), numpy.arange(20)
    mtrand.RandomState(3).shuffle(ours)
    numpy.random.RandomState(3).shuffle(real)
    assert type(ours) is type(mtrand.rand(2)) is np.ndarray
    assert ours.tolist() == real.tolist()


def shuffled(owner, module, lines):
    """What owner.shuffle makes of a list with arrays in it, and of a list of numbers of arrays."""
    pairs = [(module.arange(3.0) + k, k) for k in range(lines)]
    numbers = [module.arange(k + 1.0).sum() for k in range(lines)]
    owner.shuffle(pairs)
    owner.shuffle(numbers)
    return [(x.tolist(), k) for x, k in pairs], [float(x) for x in numbers]


@pytest.mark.parametrize(
    "owner", ["random", "random.mtrand", "random.default_rng(3)", "random.RandomState(3)"]
)
def test_a_list_of_arrays_is_shuffled_itself(owner):
    results = []
    for module in (np, numpy):
        module.random.seed(3)
        results.append(shuffled(eval(f"module.{owner}", {"module": module}), module, 12))
    assert results[0] == results[1]
    assert [k for _, k in results[1][0]] != list(range(12))


def test_real_generators_write_into_our_arrays():
    numpys = [numpy.random.default_rng(4), numpy.random.RandomState(4)]
    # Pickles name NumPy's own.
    ours = pickle.loads(pickle.dumps([np.random.default_rng(4), np.random.RandomState(4)]))
    assert [type(owner) for owner in ours] == [type(owner) for owner in numpys]
    for owner, real in zip(ours, numpys, strict=True):
        x, y = np.arange(24).reshape(8, 3), numpy.arange(24).reshape(8, 3)
        for _ in range(3):
            owner.shuffle(x)
            real.shuffle(y)
            owner.shuffle(x[1:-1] if real is numpys[1] else x[::2])
            real.shuffle(y[1:-1] if real is numpys[1] else y[::2])
        assert x.tolist() == y.tolist()
        assert shuffled(owner, np, 9) == shuffled(real, numpy, 9)
        assert numpy.array_equal(owner.permutation(x), real.permutation(y))
        assert x.tolist() == y.tolist()
    owner, real = ours[0], numpys[0]
    owner.shuffle(x, axis=1)
    real.shuffle(y, axis=1)
    assert owner.permuted(x, axis=0, out=x) is x
    real.permuted(y, axis=0, out=y)
    assert x.tolist() == y.tolist()
    x, y = np.zeros(6), numpy.zeros(6)
    for draw in ("random(", "standard_normal(", "standard_exponential(", "standard_gamma(2.5, "):
        assert eval(f"owner.{draw}out=x)") is x
        eval(f"real.{draw}out=y)")
        assert x.tolist() == y.tolist()
    with pytest.raises(TypeError, match="the wrong type. Expected float64, got int64"):
        owner.random(out=np.zeros(6, int))


def test_functions_of_numpys_random_write_into_our_arrays():
    x, y = np.arange(24).reshape(8, 3), numpy.arange(24).reshape(8, 3)
    for module in (numpy.random, numpy.random.mtrand):
        numpy.random.seed(6)
        module.shuffle(x)
        numpy.random.seed(6)
        module.shuffle(y)
        assert x.tolist() == y.tolist()


FIRST_DRAWS = """
import sys, threading
import numpy as np

sys.setswitchinterval(1e-6)
begin = threading.Barrier(8)
sums = []

def draw(own, rng):
    begin.wait()
    sums.append(float(sum(own.normal() + rng.exponential() + np.random.rand() * 0 for _ in range(50))))

threads = [
    threading.Thread(target=draw, args=(np.random.RandomState(3), np.random.default_rng(3)))
    for _ in range(8)
]
for t in threads: t.start()
for t in threads: t.join()
print(len(set(sums)), sums[0])
"""


def test_threads_may_all_be_the_first_to_draw(python, file):
    path = file("draws.py", FIRST_DRAWS)
    plain = python(path).stdout
    for _ in range(5):
        assert python("-m", "frit", path).stdout == plain
