"""test_random.py: the same streams as NumPy's, seed for seed, in arrays that are ours."""

# ruff: noqa: E501

import copy
import pickle

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
