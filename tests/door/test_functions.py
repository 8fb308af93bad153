"""test_functions.py: NumPy's functions under Frit: same values, dtypes, layouts, sharing and errors.

Each row is a piece of a NumPy program: an expression, or statements that leave their result in `r`. The
names it uses are made by compare.INPUTS.
"""

# ruff: noqa: E501

import inspect

import compare
import numpy
import pytest

import frit.numpy as np

PIECES = {
    "creation": """
        np.array([1, 2, 3])
        np.array([[1, 2.5], [3, 4]])
        np.array(m)
        np.array(f)
        np.array(f, order="C")
        np.array(t, copy=True)
        np.array([m, m])
        np.array([v[0], 2, z])
        np.array(3, ndmin=2)
        np.array(m, dtype=np.float32)
        np.array([1, 2], dtype=object)
        np.array(["a", "bc"])
        np.array([[1, 2], [3]])
        np.array([1, "x"])
        np.array(m, copy=False)
        np.array([1, 2], copy=False)
        np.array(10**30)
        np.array([True, 2])
        np.array(1j)
        np.array(range(5))
        np.array(b"abc")
        np.array([], dtype=int)
        np.array(m, subok=True)
        np.array([300], dtype=np.uint8)
        np.array([1, 2], ndmax=1)
        np.array()
        np.array(1, 2, 3)
        np.asarray([1, 2]), np.asarray(m) is m
        np.asarray(m, dtype=float) is m
        np.asarray(m, np.int8)
        np.asarray(f, order="C")
        np.asarray([1, 2], copy=False)
        np.shares_memory(np.asarray(m[1:]), m)
        np.asanyarray(m) is m, np.asanyarray(np.matrix([[1, 2]]))
        np.ascontiguousarray(t), np.ascontiguousarray(z), np.ascontiguousarray(5)
        np.asfortranarray(m), np.asfortranarray(z)
        np.copy(f), np.copy(m, "F"), np.copy([1, 2])
        np.zeros(3), np.zeros((2, 3), int), np.zeros(()), np.zeros((2, 3), order="F")
        np.zeros((2, 0)), np.zeros([2, 1], "f4"), np.zeros(np.int64(2)), np.zeros(shape=2)
        np.zeros(-1)
        np.zeros((2, 3), dtype="U3"), np.zeros(2, object), np.zeros(2, "i4,f8")
        np.zeros("x")
        np.zeros(2.5)
        np.zeros(3, order="X")
        np.zeros(3, dtype="nonsense")
        np.zeros()
        np.ones(3), np.ones((2, 2), np.uint8), np.ones((2, 3), order="F"), np.ones(2, object)
        np.full(3, 7), np.full((2, 2), 1.5), np.full(2, [1, 2]), np.full((2, 3), 1, order="F")
        np.full(3, 2, dtype=np.float32), np.full(2, 1 + 2j), np.full(2, "ab"), np.full((), z)
        np.full((2, 2), [1, 2, 3])
        np.full(2, 300, np.uint8)
        np.empty((2, 0)), np.empty(3, "f4").shape, np.empty((3, 2), order="F").strides
        np.zeros_like(m), np.zeros_like(t), np.zeros_like(f), np.zeros_like(n), np.zeros_like(z)
        np.zeros_like(t, order="C"), np.zeros_like(m, order="F"), np.zeros_like(m, shape=(2, 2))
        np.zeros_like(t, shape=(5, 6, 7)), np.zeros_like(m, dtype=int), np.zeros_like([1, 2])
        np.zeros_like(g), np.zeros_like(m[:, ::2]), np.zeros_like(np.broadcast_to(v, (3, 5)))
        np.ones_like(u), np.full_like(n, 3), np.full_like(m, [1, 2, 3, 4]), np.full_like(u, 2.5)
        np.full_like(u, 300)
        np.zeros_like(o), np.zeros_like(s), np.zeros_like(np.matrix([[1.0]]))
        np.empty_like(t).strides, np.empty_like(f, order="A").strides, np.empty_like(3).dtype
        np.arange(5), np.arange(2, 10, 3), np.arange(0.0, 1.0, 0.3), np.arange(5, dtype=np.float32)
        np.arange(5, 0, -2), np.arange(3.5), np.arange(0), np.arange(1, 1), np.arange(1 + 0j)
        np.arange(np.int8(5)), np.arange(0, 10**18, 10**17), np.arange(stop=3, start_or_stop=1)
        np.arange(start=1, stop=3)
        np.arange(-0.0, 3.0), np.arange(-0.0, 1.0, np.inf), np.arange(1e16, -2e16, 1 - 1e16)
        np.arange()
        np.arange(0, 1, 0)
        np.arange("a", "c")
        np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-04"))
        np.linspace(0, 1, 5), np.linspace(0, 1, 5, endpoint=False), np.linspace(1, 10, 4, retstep=True)
        np.linspace(v, w, 3), np.linspace(v, w, 3, axis=1), np.linspace(0, 10, 5, dtype=int)
        np.linspace(0, 1, 0), np.linspace(0, 1, 1), np.linspace(1j, 2, 3), np.linspace(0, 1, num=-1)
        np.logspace(0, 3, 4), np.geomspace(1, 1000, 4), np.logspace(0, 2, 3, base=2.0)
        np.eye(3), np.eye(3, 4, 1), np.eye(4, 2, -1), np.eye(3, k=5), np.eye(2, dtype=bool)
        np.eye(3, 4, 1, order="F"), np.eye(0), np.eye(3, k=-3), np.identity(3), np.identity(2, int)
        np.eye(2.5)
        np.eye(2, k=1.5)
        np.meshgrid(v, w[:3]), np.meshgrid(v, w, indexing="ij"), np.meshgrid(v, w[:2], sparse=True)
        np.meshgrid(v, w, indexing="no")
        np.fromfunction(lambda i, j: i * 10 + j, (2, 3)), np.fromfunction(lambda i: i, (3,), dtype=int)
        np.indices((2, 3)), np.indices((2, 3), sparse=True)
        np.frombuffer(b"abcdefgh", dtype=np.int16), np.frombuffer(b"abcd", np.uint8, 2, 1)
        np.frombuffer(b"abc", dtype=np.int16)
        np.fromiter((i * i for i in range(4)), float), np.fromstring("1 2 3", sep=" ")
        np.tri(3), np.tri(2, 4, 1), np.tril(m), np.triu(m, 1), np.tril(t), np.triu(n, -1)
        np.diag(v), np.diag(m), np.diag(m, 1), np.diag(v, -2), np.diagflat([[1, 2], [3, 4]])
        np.diag(t)
        np.vander([1, 2, 3], 3), np.vander(v, increasing=True)
        np.mgrid[0:3, 0:2], np.ogrid[0:3, 0:2], np.mgrid[0:1:5j], np.r_[1:4, 0, 5], np.c_[v, w]
        np.r_["0,2", v, w], np.s_[1:3, ...], np.index_exp[1:3], np.ix_([0, 1], [2, 3])
        np.hamming(5), np.hanning(4), np.blackman(3), np.bartlett(6), np.kaiser(4, 14)
    """,
    "shape": """
        np.reshape(m, (4, 3)), np.reshape(m, -1), np.reshape(t, (6, 4)), np.reshape(f, 6, order="F")
        np.reshape(m, (2, -1)), np.reshape([1, 2, 3, 4], (2, 2)), np.reshape(z, (1, 1))
        np.reshape(m, (5, 5))
        np.reshape(m, (-1, -1))
        np.reshape(m, (2, 6), copy=False), np.shares_memory(np.reshape(m, 12), m)
        np.reshape(t, -1, copy=False)
        np.reshape(m)
        np.shares_memory(np.reshape(t, -1), t), np.reshape(m, shape=(6, 2))
        np.ravel(m), np.ravel(f), np.ravel(f, "F"), np.ravel(t, "K"), np.ravel(z), np.ravel([[1], [2]])
        np.shares_memory(np.ravel(m), m), np.shares_memory(np.ravel(f), f)
        np.transpose(m), np.transpose(t, (1, 0, 2)), np.transpose(v), np.transpose([[1, 2], [3, 4]])
        np.transpose(m, (0, 0))
        np.transpose(m, (0, 1, 2))
        np.permute_dims(t, (2, 0, 1)), np.matrix_transpose(t), np.swapaxes(t, 0, -1)
        np.matrix_transpose(v)
        np.swapaxes(m, 0, 5)
        np.moveaxis(t, 0, -1), np.moveaxis(t, [0, 1], [-1, -2]), np.rollaxis(t, 2), np.rollaxis(t, 0, 2)
        np.moveaxis(t, 5, 0)
        np.squeeze(m[None, :, :, None]), np.squeeze(m[None], 0), np.squeeze(m[None, :1], axis=(0, 1))
        np.squeeze(m, 0)
        np.expand_dims(m, 0), np.expand_dims(m, (0, -1)), np.expand_dims(v, 1), np.expand_dims(3, 0)
        np.expand_dims(m, 7)
        np.broadcast_to(v, (2, 5)), np.broadcast_to(3, (2, 2)), np.broadcast_to(m[:, :1], (3, 4))
        np.broadcast_to(v, (2, 3))
        np.broadcast_to(v, -1)
        np.broadcast_to([1, 2], (3, 2)), np.broadcast_shapes((2, 1), (3,))
        np.broadcast_arrays(v, 1)[0]
        np.atleast_1d(3), np.atleast_1d(v, 2), np.atleast_2d(v), np.atleast_3d(m), np.atleast_2d(z, m)
        np.concatenate([v, w]), np.concatenate([m, n]), np.concatenate([m, m], axis=1)
        np.concatenate([f, f]), np.concatenate([f, f], 1), np.concatenate([t, t], axis=-1)
        np.concatenate([m, m], axis=None), np.concatenate([v, [1, 2]]), np.concatenate([u, h])
        np.concatenate([m, f.T[:, :1].repeat(4, 1)]), np.concatenate((v,)), np.concatenate([b, u])
        np.concatenate([v, w], dtype=np.float32), np.concatenate([e, m[:, :3]]), np.concatenate(m)
        np.concatenate([v, w], out=np.zeros(10)), np.concatenate([s, s]), np.concatenate([o, v])
        np.concatenate([v, w], dtype=int)
        np.concatenate([v, w], dtype=int, casting="unsafe")
        np.concatenate([v, m])
        np.concatenate([m, m[:, :2]])
        np.concatenate([])
        np.concatenate(3)
        np.concatenate([1, 2])
        np.concatenate([1, 2.5], axis=None)
        np.concatenate([v, w], axis=1)
        np.concatenate([v, w], out=np.zeros(9))
        np.concatenate([v, w], axis=0, out=None, dtype=None)
        np.concat([v, w])
        np.stack([v, w]), np.stack([v, w], axis=1), np.stack([v, w], -1), np.stack([z, 1.0])
        np.stack([v, w], out=np.zeros((2, 5))), np.stack([u, n[0]]), np.stack(m), np.stack(iter([v, w]))
        np.stack([v, w[:2]])
        np.stack([])
        np.stack([v, w], axis=3)
        np.vstack([v, w]), np.hstack([v, w]), np.dstack([v, w]), np.column_stack([v, w, m[0, :1].repeat(5)])
        np.hstack([m, m]), np.vstack([m, v[:4]]), np.hstack([1, 2]), np.vstack([1, 2])
        np.vstack((n, v[:4])), np.vstack([v[:4], m, n.T[:, ::2].T]), np.vstack([2.5, v[:1]]), np.vstack([m, [1, 2, 3, 4]])
        np.hstack([v, 1]), np.hstack([g, 1.5]), np.hstack([u, np.float32(2)]), np.hstack([v, m[0]]), np.hstack([3, v.sum()])
        np.column_stack([v, w]), np.column_stack((m, m[:, 0])), np.column_stack([2, 3.5]), np.column_stack([v, [1, 2, 3, 4, 5]])
        np.column_stack([v, w[:3]])
        np.column_stack([v[::2], m])
        np.vstack([m, v])
        np.vstack([m, 1])
        np.hstack([v, m])
        np.hstack([m, v])
        np.vstack([v, w[:3]])
        np.block([[m, m], [n, n]]), np.block([v, 1.0])
        np.split(v[:4], 2), np.split(m, [1, 2]), np.split(m, 2, axis=1), np.array_split(v, 3)
        np.split(v, 2)
        np.hsplit(m, 2), np.vsplit(m, 3), np.dsplit(t[:, :, None].swapaxes(2, 3), 1)
        np.hsplit(z, 1)
        np.unstack(m), np.unstack(m, axis=1), np.shares_memory(np.split(m, 3)[0], m)
        np.tile(v, 2), np.tile(m, (2, 1)), np.tile(m, (2, 1, 2)), np.tile([1, 2], 0), np.tile(3, 4)
        np.repeat(v, 2), np.repeat(m, 2, axis=1), np.repeat(m, [1, 0, 2], axis=0), np.repeat(3, 4)
        np.repeat(m, 2), np.repeat(v, 0), np.repeat(v, b)
        np.repeat(v, [1, 2])
        np.repeat(v, -1)
        np.roll(v, 2), np.roll(m, 1), np.roll(m, 1, axis=0), np.roll(m, (1, 2), axis=(0, 1)), np.roll(v, -7)
        np.roll(m, 1, axis=2)
        np.flip(v), np.flip(m), np.flip(m, 1), np.fliplr(m), np.flipud(m), np.flip(m, (0, 1))
        np.fliplr(v)
        np.rot90(m), np.rot90(m, 2), np.rot90(m, 3), np.rot90(t, axes=(1, 2)), np.rot90(m, -1)
        np.pad(v, 2), np.pad(m, ((1, 0), (0, 2))), np.pad(v, 2, "edge"), np.pad(v, 3, "reflect")
        np.pad(v, 2, "wrap"), np.pad(v, 2, "symmetric"), np.pad(m, 1, constant_values=7)
        np.pad(m, 1, "linear_ramp", end_values=2), np.pad(m, 1, "mean"), np.pad(m, 1, "maximum")
        np.pad(v, -1)
        np.pad(v, 1, "nonsense")
        np.append(v, 3), np.append(m, [[1, 2, 3, 4]], axis=0), np.append([1], [2.5])
        np.append(g, 1.5), np.append(m, m.T), np.append(f, f), np.append(v, []), np.append(e, v), np.append(m, m, -1), np.append(u, v[0])
        np.append(m, v, axis=1)
        np.append(v, v, axis=1)
        np.place(m, m > 5, v), np.place(m, m > 9, w[:2]), np.place(m.T, m.T > 6, v), np.place(v, v > 99, e)
        np.place(m, m > 4, m.ravel()[:7]), np.place(m, m > 4, m[m > 4][::-1]), np.place(m[::-1], m[::-1] > 8, w[:3])
        np.place(v, b, w), np.place(v, b, w[:3]), np.place(v, b, 7), np.place(v, v > 0, [9, 8]), np.place(n, n > 3, np.array([1, 2]))
        np.place(v, b, e)
        np.place(v, b[:2], w)
        np.place(v, b, c)
        np.place([1, 2], [True, False], [3])
        np.append(m, [1, 2], axis=0)
        np.insert(v, 1, 7), np.delete(v, [0, 2]), np.insert(m, 1, 0, axis=1), np.delete(m, 1, 0)
        np.resize(v, (2, 4)), np.resize(v, 3), np.resize(m, (2, 2)), np.resize(e, (2, 2))
        np.resize(v, -1)
        np.trim_zeros(np.array([0, 1, 2, 0])), np.shape(m), np.shape([[1, 2]]), np.ndim(3), np.size(m, 1)
        np.size(m), np.ndim([[1]]), np.shape(z), np.size([1, 2])
        np.size(m, 5)
        np.diagonal(m), np.diagonal(t, 1), np.diagonal(t, 0, 1, 2), np.trace(m), np.trace(t), np.trace(n, 1)
        np.diagonal(v)
        np.lib.stride_tricks.sliding_window_view(v, 3)
        np.lib.stride_tricks.as_strided(v, (2, 2), (8, 8))
        np.copy(np.broadcast_to(v, (3, 5)), order="K"), np.array(np.broadcast_to(v, (3, 5)), copy=True)
        np.broadcast_to(n[:1, :, None], (3, 4, 2)).copy("K"), np.broadcast_to(v, (3, 5)).astype("f4")
        np.round(np.broadcast_to(n[0], (3, 4))), np.partition(np.broadcast_to(v, (3, 5)), 1)
        np.squeeze(np.float64(2)), np.squeeze(v.sum()), np.squeeze(2.0), np.squeeze(z), np.squeeze(n[0, 0] + 1)
        np.transpose(np.float64(2)), np.transpose(np.datetime64("2020")), np.transpose(2.0), np.transpose(v.sum())
    """,
    "sharing": """
        x = m.reshape(4, 3); x[0, 0] = 99; r = m
        x = np.ones((2, 2), "u2"); x @= np.ones((2, 2))
        x = np.ones((2, 2), "f4"); x @= np.ones((2, 2), "c8")
        x = np.ones((2, 2), "f4"); x @= np.ones((2, 2)); r = x
        x = np.array(e); x.resize((2, 2), refcheck=False); r = (x, np.array(e).flags.owndata)
        x = np.arange(6.0); x.ctypes.data, x.__array_interface__; x.resize(4); r = x
        x = np.arange(6.0); x.ctypes.data; r = x[1:]; x.resize(4)
        x = np.arange(6.0); r = x.ctypes; x.resize(4)
        v[::-2].resize((3,))
        v[::-2].resize((-1, 3))
        np.ones(3).resize((-1, 3))
        t.flags.farray, f.flags.farray, m.flags.farray, m[:, ::2].flags.farray
        np.add.accumulate(c, dtype="f8"), np.multiply.accumulate(c, dtype="c8")
        round(b.any())
        round(c.sum(), 1)
        round(v.sum()), round(v.sum(), 1), round(u.sum())
        r = np.mean(np.array([np.inf + 1j, 2])), np.mean(np.array([[np.inf + 1j, 2]]), axis=1)
        x = np.zeros(3, "c8"); x[0] = 2e300; x[1] = 2e300j; r = x
        x = np.zeros(3, "c8"); x[:2] = complex(1, 2e300); x.fill(1j); r = x
        x = np.full(3, 2e300 + 0j, "c8"); r = x
        x = np.zeros(3, "c8"); np.copyto(x, -2e300j); r = x
        x = np.zeros(3, "c8"); x[[True, False, True]] = 2e300j; x[[0, 1]] = 1e-300j; r = x
        x = np.ravel(m); x += 1; r = m
        x = np.transpose(m); x[0] = 5; r = m
        x = np.split(m, 3)[1]; x[...] = -1; r = m
        x = np.asarray(m); x *= 2; r = m
        x = np.array(m); x *= 2; r = m
        x = np.atleast_2d(v); x[0, 0] = 7; r = v
        x = np.broadcast_to(v, (2, 5)); v[0] = 50; r = x
        x = np.squeeze(m[None]); x[1] = 0; r = m
        x = np.swapaxes(m, 0, 1); x[1] = 0; r = m
        x = np.expand_dims(v, 0); x += 1; r = v
        x = np.flip(v); x[0] = 100; r = v
        x = np.diagonal(m); x[0] = 1
        x = np.diag(m); m[0, 0] = 42; r = x
        x = np.lib.stride_tricks.as_strided(v, (2, 2), (8, 8)); x[0, 0] = 9; r = v
        x = np.lib.stride_tricks.sliding_window_view(v, 2); v[0] = 9; r = x
        x = np.real(c); x[0] = 9; r = c
        x = np.imag(c); x[...] = 9; r = c
        x = np.frombuffer(bytearray(b"abcd"), np.uint8); x[0] = 1; r = x
        np.copyto(v, 3); r = v
        np.copyto(m, n); r = m
        np.copyto(m, [1, 2, 3, 4], where=m > 5); r = m
        np.copyto(n, m)
        np.copyto(n, m, casting="unsafe"); r = n
        np.put(v, [0, 2], [7, 8]); r = v
        np.place(v, v > 1, [5, 6]); r = v
        np.putmask(v, v > 1, w); r = v
        np.fill_diagonal(m, 7); r = m
        np.put_along_axis(m, np.argmax(m, 1, keepdims=True), -1, 1); r = m
        np.add.at(v, [0, 0, 1], 10); r = v
        x = np.sort(v); x[0] = 77; r = v
        v.sort(); r = v
        np.random.default_rng(0).shuffle(v); r = v
        np.nan_to_num(nan, copy=False); r = nan
        np.clip(v, 0, 3, out=v); r = v
        r = np.cumsum(v, out=v)
        r = np.sum(m, axis=0, out=m[0])
        y = v + 1; np.put(v, [0], 9); zz = v + 1; r = (y, zz)
        [x.__setitem__(..., x * 2) for x in np.nditer(v, op_flags=["readwrite"])]; r = v
    """,
    "reduction": """
        np.sum(m), np.sum(m, 0), np.sum(m, axis=1, keepdims=True), np.sum(t, axis=(0, 2)), np.sum(n)
        np.sum(u), np.sum(b), np.sum(h), np.sum(c), np.sum(g), np.sum(e), np.sum(e, 0), np.sum(3)
        np.sum([1, 2, 3]), np.sum(m, dtype=np.float32), np.sum(m, initial=10), np.sum(m, where=m > 3)
        np.sum(m, out=np.zeros(())), np.sum(m, 0, out=np.zeros(4)), np.sum(m, (0, 1)), np.sum(m, -1)
        np.sum(m, 5)
        np.sum(m, (0, 0))
        np.sum(m, "x")
        np.sum(m, out=np.zeros(3))
        np.sum(o)
        np.sum(s)
        np.sum(iter([1, 2]))
        np.sum()
        np.sum(m, axis=0, nonsense=1)
        np.prod(v), np.prod(m, 1), np.prod(u), np.prod(n, axis=0), np.prod([])
        np.min(v), np.max(m, 0), np.amin(m, 1), np.amax(t, (0, 1)), np.min(nan), np.max(nan), np.max(c)
        np.min(m, initial=-5), np.max(m, where=m < 5, initial=0), np.min(b), np.max([3, 1])
        np.min(e)
        np.max(e, 0)
        np.min(e, 1)
        np.any(v), np.all(v), np.any(m > 100, axis=0), np.all(m, 1, keepdims=True), np.any([]), np.all([])
        np.any(o), np.all(o)
        np.mean(m), np.mean(m, 0), np.mean(n), np.mean(h), np.mean(g), np.mean(c), np.mean(t, (0, 1))
        np.mean(m, dtype=np.float32), np.mean(m, where=m > 2), np.mean(m, keepdims=True), np.mean([1, 2])
        np.mean([])
        np.mean(s)
        np.var(m), np.var(m, 0), np.var(m, ddof=1), np.std(m, 1), np.std(n), np.std(h), np.var(c)
        np.var(m, mean=np.mean(m)), np.std(m, correction=1), np.var(m, 1, keepdims=True)
        np.var(m, ddof=1, correction=1)
        np.std([])
        np.var([1.0], ddof=1)
        np.argmin(v), np.argmax(m), np.argmax(m, 0), np.argmin(m, axis=1, keepdims=True), np.argmax(nan)
        np.argmax(b), np.argmin(u), np.argmax([]) if False else 0, np.argmax(c)
        np.argmax(e)
        np.argmin(m, 3)
        np.count_nonzero(v), np.count_nonzero(m, axis=0), np.count_nonzero(b), np.count_nonzero([0, 1])
        np.count_nonzero(m, axis=1, keepdims=True), np.count_nonzero(o), np.count_nonzero(s)
        np.cumsum(v), np.cumsum(m), np.cumsum(m, 0), np.cumsum(n, 1), np.cumsum(u), np.cumprod(v)
        np.cumsum(m, 4)
        np.cumprod(m, axis=1), np.cumsum(h), np.cumsum(b), np.cumsum([1, 2]), np.cumsum(v, dtype=int)
        np.cumulative_sum(v), np.cumulative_prod(v), np.cumulative_sum(m, axis=1, include_initial=True)
        np.ptp(v), np.ptp(m, 0), np.average(v), np.average(v, weights=w), np.average(m, 0, returned=True)
        np.average(v, weights=[1, 2])
        np.median(v), np.median(m, 0), np.median(nan), np.percentile(v, 30), np.quantile(m, 0.5, axis=1)
        np.nansum(nan), np.nanmean(nan), np.nanmin(nan), np.nanmax(nan), np.nanstd(nan[:3]), np.nanprod(nan)
        np.nancumsum(nan), np.nanargmax(nan), np.nanmedian(nan), np.nanvar(nan[:3]), np.nanmean(m, 0)
        np.nanmean(np.array([np.nan, np.nan]))
        np.nanmax(np.array([np.nan]))
        np.cov(m), np.corrcoef(v, w), np.histogram(v, 3), np.bincount([1, 1, 3]), np.digitize(v, [0, 1])
        np.logical_and.reduce(m), np.maximum.accumulate(v), np.add.reduceat(v, [0, 2]), np.multiply.outer(v, w)
    """,
    "elementwise": """
        np.where(v > 0, v, -v), np.where(v > 0, v, 0), np.where(b, 1, 2), np.where(m > 5, m, v[:4])
        np.where(b, u[0], 1.5), np.where(True, 1, 2.5), np.where(v > 0), np.where(m > 5), np.where(z)
        np.where(b, v, "x"), np.where(f > 2, f, 0), np.where(v, h[0], w)
        np.where(b, v)
        np.where()
        np.where(b, v, w[:2])
        np.clip(v, 0, 2), np.clip(v, None, 2), np.clip(n, 2, 7), np.clip(v, w, 3), np.clip(5, 0, 3)
        np.clip(v, min=0, max=1), np.clip(u, 1, 5), np.clip(v, 3, 1), np.clip(v, a_min=0, a_max=None)
        np.clip(u, -1, 5)
        np.clip(v, None, None)
        np.clip(v, 0, 1, out=np.zeros(5)), np.clip(c, 0, 1)
        np.clip(v)
        np.round(v, 1), np.round(np.array([0.5, 1.5, 2.5])), np.around(n), np.round(2.567, 2), np.round(c, 1)
        np.round(np.array([15, 25]), -1), np.round(h), np.fix(v), np.round(b)
        np.isclose(v, v + 1e-9), np.isclose(nan, nan), np.isclose(nan, nan, equal_nan=True), np.isclose(1, 1)
        np.allclose(v, v), np.allclose(v, w), np.array_equal(v, v), np.array_equal(v, m), np.array_equiv(v, [v, v])
        np.array_equal(nan, nan, equal_nan=True), np.array_equal(n, v[:5]), np.array_equal(u, -n), np.array_equal(c, c)
        np.diff(v), np.diff(m), np.diff(m.T[::-1]), np.diff(b), np.diff(u), np.diff(v[:1]), np.diff(v[:0]), np.diff(m, 2)
        np.diff(np.array(3.0))
        np.isclose(v, m)
        np.nan_to_num(nan), np.nan_to_num(nan, nan=1, posinf=2, neginf=3), np.nan_to_num(3), np.nan_to_num(c)
        np.real(c), np.imag(c), np.angle(c), np.angle(v), np.real(v), np.imag(v), np.real(3 + 1j), np.angle(1j, True)
        np.isreal(c), np.iscomplex(c), np.iscomplexobj(c), np.isrealobj(v), np.isposinf(nan), np.isneginf(nan)
        np.real_if_close(c), np.real_if_close(np.array([1 + 0j])), np.round(np.sinc(v), 12), np.i0(v), np.unwrap(v)
        np.select([v > 1, v < 0], [v, -v], 7), np.choose([0, 1, 0], [[1, 2, 3], [4, 5, 6]])
        np.piecewise(v, [v < 0, v >= 0], [lambda x: -x, 2])
        np.nonzero(m), np.flatnonzero(v), np.argwhere(m > 5), np.extract(v > 0, v), np.nonzero(b)
        np.nonzero(z)
        np.take(v, [0, 2]), np.take(m, [1, 0], axis=1), np.take(v, [[0], [1]]), np.take(v, 7, mode="wrap")
        np.take(v, [0, -9], mode="clip"), np.take(m, 3), np.take(v, [0, 1], out=np.zeros(2))
        np.take(v, 9)
        np.take(v, [0.5])
        np.compress([True, False, True], m, axis=0), np.take_along_axis(m, np.argsort(m, 1), 1)
        np.interp([1.5, 2.5], [1, 2, 3], [10, 20, 30]), np.searchsorted([1, 2, 3], v), np.unique(n % 3)
        np.sort(v), np.argsort(v), np.sort(m, 0), np.lexsort((v, w)), np.partition(v, 2)[2], np.sort(c)
        n.astype("u8").T < np.broadcast_to(np.arange(3), (4, 3)), n.astype("u8").T >= n.T.astype("i8")
        np.arange(3, dtype="u8") > n[:, :3].T, (n.astype("u8") == n.astype("i8").T[:3, :1]), n.astype("u8") < -1
        np.round(5), np.round(np.int8(5)), np.round(np.array(3)), np.array(5, "u1").round(1), np.around(np.array(3), 2)
        np.floor(c, dtype="f8", casting="unsafe"), np.add(c, 1, dtype="f4", casting="unsafe")
        np.ceil(v, out=c[:1] + 0 * v, where=b), np.conjugate(v, out=c[:1] + 0 * v, where=b)
        np.add(c, 1j, dtype="f8", casting="unsafe"), np.equal(c, 1j, dtype=bool)
        np.clip(b, 2, u), np.clip(b, u, 2), b.clip(2.5, h[0]), np.clip(n.astype("i1"), 2.5, h[0]), np.clip(u, 300, n[0, 0])
        np.arange(5, -0.0, 0)
        np.arange(-3, 7, -0.0)
        np.fmax(u, 3, casting="equiv")
        np.add(v, 3, casting="no")
        np.add(v, 3, casting="safe"), np.add(u, u, casting="no"), np.multiply(u, 2, dtype="f4", casting="safe")
        np.diff(v), np.diff(m), np.diff(m, axis=0), np.diff(v, 2), np.diff(b), np.diff(v, prepend=0), np.diff(d)
        np.diff(v, -1)
        np.diff(3)
        np.ediff1d(v), np.gradient(v), np.gradient(m), np.gradient(v, 2.0), np.gradient(v, w), np.gradient(m, axis=1)
        np.gradient(np.array([1.0]))
        np.trapezoid(v), np.trapezoid(m, dx=2), np.cross([1, 2, 3], [4, 5, 6]), np.cross(m[:, :3], [1.0, 0, 2])
        np.convolve(v, [1, 2]), np.correlate(v, w), np.polyfit([0, 1, 2], [1, 3, 5], 1).round(8), np.polyval([1, 2, 3], v)
        np.isin(v, [0, 8]), np.union1d([1, 2], [2, 3]), np.setdiff1d(v, w), np.in1d if False else 0
        np.apply_along_axis(np.sum, 0, m), np.apply_along_axis(lambda x: x[::-1], 1, m)
        np.apply_over_axes(np.sum, t, [0, 2]), np.vectorize(lambda a, q: a + q)(v, 1)
        np.frompyfunc(lambda x: x + 1, 1, 1)(n), np.copysign(v, -1), np.packbits(b), np.unpackbits(u)
        np.char.upper(s), np.strings.add(s, "!"), np.sort(s), np.argsort(d), d + 1, o == None
        np.ma.masked_less(v, 0), np.ma.sum(np.ma.array(v, mask=b)), np.matrix(m) * 2, np.rec.array([(1, 2.0)])
        np.array2string(v), np.array_repr(m), np.array_str(n), repr(v), str(m), np.base_repr(5)
        v.__array_namespace__() is np, v.__array_namespace__(api_version="2023.12") is np
        v.__array_namespace__(api_version="1999.12")
        v.__array_namespace__(api_version=3)
        v.__array_namespace__("2023.12")
        np.can_cast(int, float), np.result_type(v, 1), np.result_type(u, h), np.promote_types("i4", "f4"), np.common_type(v, g)
        np.isscalar(3.0), np.isscalar(v), np.iterable(v), np.isfortran(f), np.may_share_memory(m, m[1:]), np.min_scalar_type(300)
        np.finfo(float).eps, np.iinfo(np.int8).max, np.issubdtype(v.dtype, np.floating), np.dtype("f8"), np.float64(3), np.pi
    """,
    "linear": """
        np.dot(v, w), np.dot(m, m.T), np.dot(m, v[:4]), np.dot(3, v), np.dot(n, n.T), np.dot(c, c), np.dot(t, m.T[:3])
        np.dot(v, m)
        np.dot(m, m)
        np.dot(m, m.T, out=np.zeros((3, 3))), np.dot([1, 2], [3, 4]), np.dot(b, b), np.dot(u, u), np.dot(h, h)
        np.dot(m, m.T, out=np.zeros((2, 2)))
        np.matmul(m, m.T), np.matmul(v, w), m @ v[:4], np.matmul(t, t.swapaxes(1, 2)), np.vdot(c, c), np.vdot(m, m)
        np.matmul(m, m)
        np.matmul(3, v)
        np.vdot(v, m)
        np.inner(v, w), np.inner(m, m), np.inner(m, v[:4]), np.inner(3, v), np.outer(v, w), np.outer(m, [1, 2])
        np.inner(v, w[:3])
        np.outer(v[::-1], c), np.outer(n, u), np.outer(v[:0], w), np.outer(b, b), np.outer(m[:, 0], v)
        np.tensordot(m, m, 2), np.tensordot(m, m.T, 1), np.tensordot(t, t, axes=([0, 1], [0, 1])), np.kron(v, [1, 2])
        np.tensordot(m, m, 1)
        np.einsum("ij,ij->i", m, m), np.einsum("ij->ji", m), np.einsum("ii", m[:, :3])
        np.einsum("ij,jk", m, m)
        np.linalg.norm(v), np.linalg.norm(m), np.linalg.norm(m, axis=1), np.linalg.norm(m, 1), np.linalg.norm(v, np.inf)
        np.linalg.norm(m, "nuc").round(8), np.linalg.norm(v, 3), np.linalg.norm(c), np.linalg.norm(n)
        np.linalg.norm(g), np.linalg.norm(f), np.linalg.norm(m.T[:, ::2]), np.linalg.norm(e), np.linalg.norm(nan), np.linalg.norm(z)
        np.linalg.norm(v * 1e200), np.linalg.norm(np.arange(20_000.0)), np.linalg.norm(h), np.linalg.norm(b)
        np.linalg.norm(m, "bad")
        np.linalg.inv(m[:, :3] + np.eye(3)), np.linalg.det(m[:, :3]), np.linalg.solve(np.eye(3) * 2, m)
        np.linalg.inv(m)
        np.linalg.inv(np.zeros((2, 2)))
        np.linalg.eigvalsh(m @ m.T).round(8), np.linalg.svd(m, compute_uv=False), np.linalg.qr(m)
        np.linalg.eigh(np.eye(2)), np.linalg.slogdet(np.eye(2)), np.linalg.matrix_power(np.eye(2) * 2, 3)
        np.linalg.multi_dot([m, m.T, m]), np.linalg.matrix_rank(m), np.linalg.pinv(m).round(8), np.linalg.trace(m)
        np.linalg.lstsq(m, np.ones(3), rcond=None)[0].round(8), np.linalg.cross([1, 0, 0], [0, 1, 0]), np.linalg.vecdot(v, w)
        np.fft.fft(v), np.fft.ifft(np.fft.fft(v)).round(12), np.fft.rfft(m), np.fft.fftfreq(8), np.fft.fftshift(v)
        np.polynomial.Polynomial([1, 2, 3])(v), np.polynomial.polynomial.polyval(v, [1, 2]), np.poly1d([1, 2])(m)
        np.polynomial.chebyshev.chebval(v, [1, 2, 3]), np.polynomial.Polynomial([1, 2]).roots(), np.roots([1, -3, 2])
    """,
}

ROWS = [
    pytest.param(piece.strip(), id=f"{group}-{number}")
    for group, pieces in PIECES.items()
    for number, piece in enumerate(pieces.split("\n"))
    if piece.strip()
]


@pytest.mark.parametrize("piece", ROWS)
def test_a_piece_of_numpy_means_the_same_under_frit(piece):
    for program in _parts(piece):
        compare.check(program)


def _parts(piece):
    """The elements of a row that is a tuple of expressions; else the row itself."""
    import ast

    try:
        tree = ast.parse(piece, mode="eval")
    except SyntaxError:
        return [piece]
    if isinstance(tree.body, ast.Tuple) and piece[0] != "(":
        return [ast.unparse(element) for element in tree.body.elts]
    return [piece]


JOINED = [
    "np.stack([a, b])", "np.stack((a, b), 1)", "np.stack([a, b], axis=-1)", "np.stack([a, b], axis=2)",
    "np.stack([A, B])", "np.stack([A, A.T])", "np.stack([A.T, A.T])", "np.stack([a, A])", "np.stack([])",
    "np.vstack([a, b])", "np.vstack([A, B])", "np.vstack([a, A])", "np.vstack([a, c])", "np.vstack((z, z))",
    "np.hstack([a, c])", "np.hstack([A, B])", "np.hstack([A, a])", "np.hstack([z, z])", "np.hstack([A.T, B.T])",
    "np.array([a, b])", "np.array([A, B])", "np.array([A.T, B.T])", "np.array([a, c])", "np.array([z, z])",
    "np.array((a, i))", "np.array([a, [1, 2, 3]])", "np.array([a[::2], a[1:]])", "np.array([a[:0], b[:0]])",
    "np.vstack([a, i])", "np.hstack([a, i])", "np.stack([a, 1.0])", "np.vstack(a)", "np.stack(A)",
    "np.stack([a, b], out=np.zeros((2, 3)))", "np.stack([a, b], dtype='f4')", "np.stack([a, b], 5)",
    "np.array([a, b], dtype='f4')", "np.array([h, h.byteswap()])", "np.array([a for _ in range(50)])",
]  # fmt: skip


@pytest.mark.parametrize("text", JOINED)
def test_lists_of_arrays_are_joined_as_numpy_joins_them(text):
    found = []
    for module in (numpy, np):
        a = module.arange(3.0)
        names = {
            "np": module,
            "a": a,
            "b": a * 2,
            "c": module.arange(4.0),
            "A": module.arange(4.0).reshape(2, 2),
            "B": module.ones((2, 2), dtype="f4"),
            "i": module.arange(3),
            "z": module.array(5.0),
            "h": module.arange(3, dtype="f2"),
        }
        try:
            x = eval(text, names)
            found.append((x.dtype, x.shape, x.strides, x.tolist()))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    assert found[0] == found[1]


# Methods of the same names take these.
WRONG_CALLS = [
    "np.clip(a, 2)", "np.clip(a, None)", "np.clip(a, 1, max=2)", "np.clip(a, a_min=2)", "np.clip(a, 1, 2, min=3)",
    "np.transpose(A, 1, 0)", "np.sum(a, 0, None, None, False, 0, True, 1)", "np.max(a, 0, None, False, 1, True, 2)",
    "np.mean(a, 0, None, None, False, True)", "np.argmax(a, 0, None, False)", "np.nonzero(a, 1)", "np.ravel(A, 'C', 1)",
    "np.squeeze(A, 0, 1)", "np.repeat(a)", "np.round(a, 1, None, 2)", "np.swapaxes(A, 0)", "np.sum(a, ax=0)",
    "np.zeros_like(a, a)", "np.zeros_like(a, dtype='no')", "np.empty_like(a, order='x')", "np.var(a, ddof=1, mean=2, m=1)",
    "np.take(a)", "np.diagonal(a)", "np.trace(A, 0, 0, 0)", "np.stack([a], [a], [a])", "np.vstack([a], 1)", "np.cumsum(A, 5)",
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG_CALLS)
def test_wrong_calls_have_numpys_error(text):
    errors = []
    for module in (numpy, np):
        names = {"np": module, "a": module.arange(3.0), "A": module.ones((2, 2))}
        with pytest.raises(Exception) as caught:
            eval(text, names)
        errors.append((caught.type, str(caught.value)))
    assert errors[0] == errors[1]


def test_what_vectorize_excludes_is_handed_on_as_it_is():
    results = []
    for module in (np, numpy):
        seen, memory = [module.zeros(2)], {"k": module.ones(2)}

        def remember(x, first, memory):
            first.append(x)
            memory[float(x)] = len(first)
            return len(memory)

        call = module.vectorize(remember, excluded=[1, "memory"])
        made = call(module.arange(4.0), seen, memory=memory)
        assert type(made) is module.ndarray and type(seen[0]) is module.ndarray
        results.append((made.tolist(), len(seen), sorted(map(str, memory)), call([7], [], {})))
    assert results[0] == results[1]


def test_many_arrays_in_a_list_take_time_by_their_number():
    many = [np.arange(2)] * 1 + [np.arange(2) + k for k in range(20_000)]
    assert np.lexsort(many).tolist() == [0, 1]  # done by NumPy
    assert np.array(many).shape == (20_001, 2)


@pytest.mark.parametrize("dtype", ["F", "D"])
def test_the_first_extreme_of_complex_numbers_is_numpys(dtype):
    random = numpy.random.default_rng(3)
    special = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf]
    for n in [*range(1, 40), 100]:
        x = numpy.empty(n, dtype)
        x.real, x.imag = random.choice(special, (2, n))
        for nan in (None, complex(numpy.nan, 1), complex(2, numpy.nan)):
            if nan:
                x[random.integers(n, size=2)] = nan
            for name in ("max", "min", "argmax", "argmin"):
                ours = numpy.asarray(getattr(np, name)(np.array(x)))
                assert ours.tobytes() == getattr(numpy, name)(x).tobytes(), (name, x)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8"])
def test_products_of_integer_matrices_wrap_as_numpys_do(dtype):
    random, info = numpy.random.default_rng(4), numpy.iinfo(dtype)
    for rows, inner, columns in [(1, 3, 16), (3, 1, 17), (5, 7, 40), (16, 16, 16), (4, 0, 20)]:
        x = random.integers(info.min, info.max, (rows, inner), dtype, endpoint=True)
        y = random.integers(info.min, info.max, (inner, columns), dtype, endpoint=True)
        for a, b in [(x, y), (x[::-1], y), (x, y[:, ::-1]), (y.T, x.T), (x, y[:, ::2])]:
            assert numpy.array_equal(np.array(a) @ np.array(b), a @ b)


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 9])
def test_running_sums_of_short_rows_are_numpys(columns):
    x = numpy.random.default_rng(5).standard_normal((50, columns))
    for dtype in ("e", "f", "d", "i8", "?"):
        for view in (x, x[::2], x[::-1]):
            given = view.astype(dtype)
            for axis in (0, 1):
                for function in ("cumsum", "cumprod"):
                    ours = getattr(np, function)(np.array(given), axis=axis)
                    theirs = getattr(numpy, function)(given, axis=axis)
                    assert numpy.asarray(ours).tobytes() == theirs.tobytes(), (dtype, function)


def test_functions_are_methods_of_classes_that_have_them_where_numpys_are():
    def outcomes(np):
        class Kept:
            total, norm, middle, fixed = np.sum, np.linalg.norm, np.median, np.fix
            made, exponential = np.zeros, np.exp

            def __init__(self, values):
                self.values = values

            def __array__(self, dtype=None, copy=None):
                return np.asarray(self.values)

        kept = Kept([1.5, 2.0, 4.0])
        yield kept.total(), kept.norm(), kept.middle(), list(kept.fixed())
        yield list(kept.made(2)), list(kept.exponential([0.0]))
        with pytest.raises(TypeError):
            kept.total([1, 2])
        yield [inspect.isroutine(f) for f in (np.sum, np.array, np.median, np.exp, np.fft.fft)]

    assert list(outcomes(np)) == list(outcomes(numpy))
