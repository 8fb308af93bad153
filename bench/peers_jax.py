"""peers_jax.py: the workloads under jax.jit on the CPU; those that change arrays are rewritten."""

import jax
import workloads
from jax import lax
from jax import numpy as jnp
from workloads import CG_STEPS, HEAT_STEPS, MANDELBROT_STEPS, TINY

VERSION = jax.__version__
jax.config.update("jax_enable_x64", True)

prepare = jnp.array
force = jax.block_until_ready


def same_text(function):
    """The NumPy text as it is, traced with jax.numpy."""
    return jax.jit(lambda *data: function(jnp, *data))


@jax.jit
def heat(plate):
    def step(_, u):
        sides = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].add(0.2 * (sides - 4.0 * u[1:-1, 1:-1]))

    return lax.fori_loop(0, HEAT_STEPS, step, plate)


@jax.jit
def mandelbrot_where(real, imaginary):
    def step(_, state):
        x, y, count = state
        inside = x * x + y * y <= 4.0
        next_x = jnp.where(inside, x * x - y * y + real, x)
        next_y = jnp.where(inside, 2.0 * x * y + imaginary, y)
        return next_x, next_y, count + inside

    zero = jnp.zeros_like(real)
    start = zero, zero, jnp.zeros(real.shape, dtype=jnp.int32)
    return lax.fori_loop(0, MANDELBROT_STEPS, step, start)[2]


@jax.jit
def mandelbrot_masks(real, imaginary):
    def step(_, state):
        x, y, count, inside = state
        next_x = jnp.where(inside, x * x - y * y + real, x)
        next_y = jnp.where(inside, 2.0 * x * y + imaginary, y)
        inside = inside & (next_x * next_x + next_y * next_y <= 4.0)
        return next_x, next_y, count + inside, inside

    zero = jnp.zeros_like(real)
    everywhere = jnp.ones(real.shape, dtype=bool)
    start = zero, zero, jnp.zeros(real.shape, dtype=jnp.int32), everywhere
    return lax.fori_loop(0, MANDELBROT_STEPS, step, start)[2]


@jax.jit
def conjugate_gradients(b):
    def step(_, state):
        x, r, p, square = state
        product = (2.01 * p).at[1:].add(-p[:-1]).at[:-1].add(-p[1:])
        alpha = square / (jnp.dot(p, product) + TINY)
        x, r = x + alpha * p, r - alpha * product
        next_square = jnp.dot(r, r)
        return x, r, p * (next_square / (square + TINY)) + r, next_square

    start = jnp.zeros_like(b), b, b, jnp.dot(b, b)
    return lax.fori_loop(0, CG_STEPS, step, start)[0]


triad = same_text(workloads.triad)
chain = same_text(workloads.chain)
black_scholes = same_text(workloads.black_scholes)
softmax = same_text(workloads.softmax)
layernorm = same_text(workloads.layernorm)
log_sum_exp = same_text(workloads.log_sum_exp)
monte_carlo = same_text(workloads.monte_carlo)
convolution = same_text(workloads.convolution)
nbody = same_text(workloads.nbody)
kmeans = same_text(workloads.kmeans)
