"""statements.py: what survey.py times, a statement a line, by the least n for which it makes sense.

Every public function of NumPy with a sensible call on small arrays is among them.
"""

STATEMENTS = {
    1: """
        np.array(values)
        np.array(ints)
        np.array([1.0, 2.0, 3.0])
        np.array([[1.0, 2.0], [3.0, 4.0]])
        np.array((1, 2, 3))
        np.array(x)
        np.array(x, copy=True)
        np.array(5.0)
        np.array(values, dtype=np.float32)
        np.array(values, dtype=float)
        np.array([x, y])
        np.asarray(values)
        np.asarray(x)
        np.asarray(x, dtype=float)
        np.asarray(2.0)
        np.ascontiguousarray(x)
        np.asanyarray(x)
        np.atleast_1d(x)
        np.atleast_1d(2.0)
        np.atleast_2d(x)
        np.zeros(n)
        np.zeros((n, 3))
        np.zeros(n, dtype=int)
        np.ones(n)
        np.empty(n)
        np.full(n, 2.0)
        np.full((2, 2), 7)
        np.zeros_like(x)
        np.ones_like(x)
        np.empty_like(x)
        np.full_like(x, 3.0)
        np.arange(n)
        np.arange(0.0, 1.0, 0.1)
        np.arange(n, dtype=float)
        np.linspace(0, 1, n)
        np.linspace(0.0, 1.0, n, endpoint=False)
        np.logspace(0, 1, n)
        np.eye(3)
        np.identity(3)
        np.meshgrid(x[:4], y[:4])
        np.tile(x, 2)
        np.repeat(x, 2)
        np.fromiter(values, float)
        x[0]
        x[-1]
        x[0] * 2
        x[0] + x[-1]
        x[0] > 1.0
        float(x[0])
        int(i[0])
        x.item(0)
        A[0, 0]
        A[0]
        A[0][0]
        A[:, 0]
        A[..., 0]
        A[0, :]
        A.T
        x[1:-1]
        x[::2]
        x[::-1]
        x[:]
        x[None]
        x[:, None]
        x[x > 1.5]
        x[mask]
        x[i]
        x[[0, 0]]
        A[0] = 1.0
        A[0, 0] = 1.0
        A[:, 0] = x
        x[0] = 1.0
        x[0] += 1.0
        x[:] = 1.0
        x[:] = y
        x[1:-1] = 1.0
        x[mask] = 1.0
        x[i] = 1.0
        x[i] = y
        for v in x: pass
        for r in A: pass
        for r in A: r[0]
        list(x)
        x.tolist()
        len(x)
        x.shape
        x.ndim
        x.size
        x.dtype
        x.T
        x.flat
        x.strides
        x.itemsize
        x.nbytes
        x.base
        x.flags
        x.real
        x.shape[0]
        x + y
        x - y
        x * y
        x / y
        x ** 2
        x // y
        x % y
        -x
        abs(x)
        x + 1
        1 + x
        2.0 * x
        x / 2.0
        v * x
        real * x
        x * real
        x > y
        x == y
        x < 1.5
        (x > 1) & (y < 1)
        ~mask
        mask | mask
        (x > 0).any()
        if (x > 0).any(): pass
        if (x > 0).all(): pass
        if x.sum() > 1: pass
        if x[0] > 1: pass
        if np.max(x) > 1: pass
        x += y
        x *= 1.0
        x -= 0.0
        x /= 1.0
        np.add(x, y)
        np.add(x, y, out=x)
        np.multiply(x, 1.0, out=x)
        np.sqrt(x)
        np.sqrt(2.0)
        np.sin(x)
        np.cos(0.5)
        np.exp(x)
        np.log(x)
        np.abs(x)
        np.maximum(x, y)
        np.minimum(x, 1.0)
        np.where(mask, x, y)
        np.where(x > 1.5, x, 0.0)
        np.where(mask)
        np.clip(x, 0.0, 1.5)
        x.clip(0.0, 1.5)
        np.floor(x)
        np.round(x)
        np.round(x, 2)
        x.round()
        np.sign(x)
        np.isnan(x)
        np.isnan(x).any()
        np.isfinite(x).all()
        np.isclose(x, y)
        np.allclose(x, y)
        np.array_equal(x, y)
        np.power(x, 2)
        np.hypot(x, y)
        np.arctan2(y, x)
        np.mod(i, 2)
        np.square(x)
        np.isclose(1.0, 1.0)
        np.sum(x)
        x.sum()
        float(x.sum())
        x.mean()
        np.mean(x)
        x.std()
        np.std(x)
        np.var(x)
        x.max()
        x.min()
        np.max(x)
        np.prod(x)
        x.argmax()
        np.argmax(x)
        np.argmin(x)
        np.any(mask)
        np.all(mask)
        mask.sum()
        np.count_nonzero(mask)
        np.nonzero(mask)
        np.flatnonzero(mask)
        np.cumsum(x)
        x.cumsum()
        np.ptp(x)
        np.median(x)
        np.percentile(x, 50)
        np.quantile(x, 0.5)
        np.average(x)
        np.average(x, weights=y)
        np.nansum(x)
        np.nanmean(x)
        np.nanmax(x)
        A.sum(axis=0)
        A.sum(axis=1)
        np.sum(A, axis=1)
        A.mean(axis=0)
        A.max(axis=1)
        A.sum(axis=1, keepdims=True)
        np.max(A, axis=0)
        np.argmax(A, axis=1)
        np.dot(x, y)
        x @ y
        x.dot(y)
        M @ M
        M @ w
        M.dot(w)
        np.dot(M, w)
        np.matmul(M, M)
        np.outer(x, y)
        np.inner(x, y)
        np.vdot(x, y)
        np.cross(w, w)
        np.einsum('i,i->', x, y)
        np.einsum('ij,j->i', M, w)
        np.tensordot(M, M, axes=1)
        np.kron(M, M)
        np.trace(M)
        np.linalg.norm(x)
        np.linalg.norm(w)
        np.linalg.norm(A, axis=1)
        np.linalg.norm(x, 1)
        np.linalg.inv(M)
        np.linalg.det(M)
        np.linalg.solve(M, w)
        np.linalg.eig(M)
        np.linalg.eigh(M)
        np.linalg.eigvalsh(M)
        np.linalg.svd(M)
        np.linalg.qr(M)
        np.linalg.cholesky(P)
        np.linalg.lstsq(M, w)
        np.linalg.pinv(M)
        np.linalg.matrix_rank(M)
        np.linalg.matrix_power(M, 3)
        x.astype(int)
        x.astype(np.float32)
        x.astype(float)
        i.astype(float)
        mask.astype(int)
        x.copy()
        np.copy(x)
        x.reshape(-1, 1)
        x.reshape(1, -1)
        np.reshape(x, (-1,))
        x.ravel()
        A.ravel()
        A.flatten()
        np.ravel(A)
        np.transpose(A)
        A.transpose()
        np.squeeze(x)
        np.expand_dims(x, 0)
        x.fill(1.0)
        x.view()
        x.view(np.int64)
        np.swapaxes(A, 0, 1)
        np.moveaxis(A, 0, 1)
        np.concatenate((x, y))
        np.concatenate([x, y])
        np.hstack((x, y))
        np.vstack((x, y))
        np.stack((x, y))
        np.column_stack((x, y))
        np.append(x, 1.0)
        np.insert(x, 0, 1.0)
        np.delete(x, 0)
        np.split(A, 1)
        np.array_split(x, 2)
        np.roll(x, 1)
        np.flip(x)
        np.pad(x, 1)
        np.sort(x)
        x.copy().sort()
        np.argsort(x)
        x.argsort()
        np.unique(i)
        np.unique(x)
        np.searchsorted(x, 1.5)
        x.searchsorted(1.5)
        np.bincount(i)
        np.digitize(x, y)
        np.histogram(x, bins=5)
        np.interp(1.5, x, y)
        np.interp(x, x, y)
        np.trapezoid(y, x)
        np.convolve(x, w)
        np.correlate(x, w)
        np.polyval(w, x)
        np.isin(i, [1, 2])
        np.intersect1d(i, i)
        np.union1d(i, i)
        np.take(x, i)
        x.take(i)
        np.take(x, 0)
        np.choose(i0, (x, y))
        np.select([mask], [x], 0.0)
        np.triu(M)
        np.tril(M)
        np.fft.fft(x)
        np.fft.rfft(x)
        np.fft.fftfreq(n)
        str(x)
        repr(w)
        print(w, file=null)
        f"{x[0]:.3f}"
        str(x[0])
        isinstance(x, np.ndarray)
        np.isscalar(2.0)
        np.ndim(x)
        np.shape(x)
        np.size(x)
        np.float64(1.5)
        np.int64(3)
        np.float64(1.5) * 2
        np.issubdtype(x.dtype, np.floating)
        np.result_type(x, y)
        np.broadcast_to(x, (2, n))
        list(np.ndenumerate(w))
        np.allclose(w, w)
        np.may_share_memory(x, y)
        np.shares_memory(x, y)
        with np.errstate(all='ignore'): x / y
        np.deg2rad(x)
        np.degrees(x)
        np.cumprod(x)
        np.logical_and(mask, mask)
        np.logical_not(mask)
        np.real(x)
        np.conj(x)
        np.angle(c)
        c.real
        c.imag
        abs(c)
        c * c
        c.conj()
        rng.random()
        rng.random(n)
        rng.random((n, 2))
        rng.normal(size=n)
        rng.standard_normal(n)
        rng.standard_normal()
        rng.uniform(0, 1, n)
        rng.uniform(-1, 1)
        rng.integers(0, 10)
        rng.integers(0, 10, n)
        rng.choice(x)
        rng.choice(n)
        rng.permutation(n)
        rng.shuffle(x)
        rng.exponential(1.0, n)
        np.random.rand()
        np.random.rand(n)
        np.random.randn(n)
        np.random.uniform(0, 1, n)
        np.random.normal(0, 1, n)
        np.random.randint(0, 10)
        np.random.randint(0, 10, n)
        np.random.choice(x)
        np.random.seed(0)
        np.random.default_rng(0)
        sum(x)
        max(x)
        min(x)
        x.any()
        x in (None,)
        1.0 in x
        hash(x[0])
        [a * b for a, b in zip(x, y)]
        [float(a) for a in x]
        math.sqrt(x[0])
        math.floor(x[0])
        round(x[0], 2)
        values[i[0]]
        x.tobytes()
        x.nonzero()
        mask.all()
        mask.any()
        for k in range(len(x)): x[k] = x[k] * 1.0
        np.tan(x)
        np.arcsin(z)
        np.arccos(z)
        np.arctan(x)
        np.sinh(x)
        np.cosh(x)
        np.tanh(x)
        np.arcsinh(x)
        np.arccosh(x)
        np.arctanh(z)
        np.exp2(x)
        np.expm1(x)
        np.log2(x)
        np.log10(x)
        np.log1p(x)
        np.cbrt(x)
        np.ceil(x)
        np.trunc(x)
        np.rint(x)
        np.fix(x)
        np.around(x, 1)
        np.absolute(x)
        np.fabs(x)
        np.negative(x)
        np.positive(x)
        np.reciprocal(x)
        np.signbit(x)
        np.spacing(x)
        np.isinf(x)
        np.isfinite(x)
        np.isposinf(x)
        np.isneginf(x)
        np.isreal(x)
        np.iscomplex(x)
        np.isrealobj(x)
        np.iscomplexobj(x)
        np.radians(x)
        np.rad2deg(x)
        np.subtract(x, y)
        np.divide(x, y)
        np.true_divide(x, y)
        np.floor_divide(x, y)
        np.remainder(x, y)
        np.fmod(x, y)
        np.divmod(x, y)
        divmod(x, y)
        np.modf(x)
        np.frexp(x)
        np.ldexp(x, i)
        np.copysign(x, y)
        np.nextafter(x, y)
        np.heaviside(x, 0.5)
        np.fmax(x, y)
        np.fmin(x, y)
        np.logaddexp(x, y)
        np.logaddexp2(x, y)
        np.float_power(x, y)
        np.pow(x, y)
        np.equal(x, y)
        np.not_equal(x, y)
        np.less(x, y)
        np.less_equal(x, y)
        np.greater(x, y)
        np.greater_equal(x, y)
        np.logical_or(mask, mask)
        np.logical_xor(mask, mask)
        np.bitwise_and(i, i)
        np.bitwise_or(i, i)
        np.bitwise_xor(i, i)
        np.invert(i)
        np.left_shift(i, 1)
        np.right_shift(i, 1)
        np.bitwise_count(i)
        np.gcd(i, i)
        np.lcm(i, i)
        np.conjugate(c)
        np.sinc(x)
        np.i0(x)
        np.unwrap(x)
        np.nan_to_num(x)
        np.real_if_close(c)
        np.imag(c)
        real + x
        x + real
        real - x
        real / x
        real > x
        real == x
        real <= x
        v + x
        v - x
        v / x
        v > x
        v == x
        v < x
        x > v
        x * v
        np.amax(x)
        np.amin(x)
        np.nanmin(x)
        np.nanprod(x)
        np.nanvar(x)
        np.nanstd(x)
        np.nanargmax(x)
        np.nanargmin(x)
        np.nancumsum(x)
        np.nancumprod(x)
        np.nanmedian(x)
        np.nanpercentile(x, 50)
        np.nanquantile(x, 0.5)
        np.cumulative_sum(x)
        np.cumulative_prod(x)
        np.vecdot(x, y)
        np.matvec(M, w)
        np.vecmat(w, M)
        np.add.reduce(x)
        np.add.accumulate(x)
        np.add.outer(x[:4], y[:4])
        np.multiply.outer(x[:4], y[:4])
        np.add.reduceat(x, [0])
        np.logical_and.reduce(mask)
        np.array_equiv(x, y)
        np.apply_along_axis(sum, 0, w)
        np.apply_over_axes(np.sum, M, [0])
        np.piecewise(x, [mask], [1.0, 2.0])
        np.fromfunction(lambda a: a, (3,))
        np.vectorize(abs)(w)
        vectorized(w)
        ufunc(w)
        np.frompyfunc(abs, 1, 1)(w)
        np.c_[x, y]
        np.r_[x, y]
        np.r_[0:10]
        np.r_[1.0, x, 2.0]
        np.s_[1:2]
        np.index_exp[1:2]
        np.mgrid[0:3, 0:3]
        np.ogrid[0:3, 0:3]
        np.ix_(i, i)
        np.indices((3, 3))
        np.meshgrid(w, w, indexing='ij')
        np.meshgrid(w, w, sparse=True)
        np.meshgrid(x, y)
        np.broadcast(x, y)
        np.broadcast_arrays(x, A.T)
        np.broadcast_shapes((3, 1), (1, 3))
        list(np.ndindex(3, 3))
        for q in np.nditer(w): pass
        for q in np.nditer([w, w]): pass
        with np.nditer(w, op_flags=['readwrite']) as it: pass
        it = np.nditer(w, flags=['multi_index'])
        np.frombuffer(b'12345678')
        np.frombuffer(data, dtype=np.float64)
        np.frombuffer(data, dtype=np.int32, count=1)
        np.frombuffer(x.tobytes())
        np.fromstring('1 2 3', sep=' ')
        np.asarray_chkfinite(x)
        np.asfortranarray(A)
        np.require(x, float, 'C')
        np.asmatrix(M)
        np.copyto(u, x)
        np.place(u, mask, [1.0])
        np.putmask(u, mask, y)
        np.put(u, [0], [1.0])
        np.put_along_axis(u, i, 1.0, 0)
        np.take_along_axis(x, i, 0)
        np.extract(mask, x)
        np.compress(mask, x)
        np.argwhere(mask)
        np.fill_diagonal(P, 3.0)
        np.diagonal(M)
        M.diagonal()
        np.diagflat(w)
        np.diag(M)
        np.diag_indices(3)
        np.diag_indices_from(M)
        np.tri(3)
        np.vander(w)
        np.tril_indices(3)
        np.triu_indices(3)
        np.tril_indices_from(M)
        np.triu_indices_from(M)
        np.mask_indices(3, np.triu)
        np.geomspace(1, 10, n)
        np.hanning(n)
        np.hamming(n)
        np.bartlett(n)
        np.blackman(n)
        np.kaiser(n, 2.0)
        np.atleast_3d(x)
        np.dstack((x, y))
        np.block([x, y])
        np.block([[M, M], [M, M]])
        np.bmat([[M, M]])
        np.hsplit(x, 1)
        np.vsplit(A, 1)
        np.dsplit(M[None], 1)
        np.unstack(M)
        np.fliplr(A)
        np.flipud(A)
        np.rot90(A)
        np.rollaxis(A, 1)
        np.matrix_transpose(A)
        np.permute_dims(A, (1, 0))
        np.resize(x, (2, n))
        np.trim_zeros(x)
        np.ediff1d(x)
        np.partition(x, 0)
        np.argpartition(x, 0)
        np.lexsort((x, y))
        np.sort_complex(x)
        np.sort(A, axis=0)
        np.unique(i, return_counts=True)
        np.unique(i, return_inverse=True)
        np.unique_values(i)
        np.unique_counts(i)
        np.unique_inverse(i)
        np.unique_all(i)
        np.setdiff1d(i, i)
        np.setxor1d(i, i)
        np.isin(x, y)
        np.searchsorted(x, y)
        np.bincount(i, weights=x)
        np.bincount(i, minlength=10)
        np.histogram_bin_edges(x, 5)
        np.histogram2d(x, y, 3)
        np.histogramdd(A, 2)
        np.packbits(mask)
        np.unpackbits(bytes8)
        np.unravel_index(0, (3, 3))
        np.unravel_index(i0, (n, 3))
        np.ravel_multi_index((i0, i0), (n, 3))
        np.poly(w)
        np.polyadd(w, w)
        np.polysub(w, w)
        np.polymul(w, w)
        np.polydiv(w, w)
        np.polyder(w)
        np.polyint(w)
        np.roots(w)
        np.poly1d(w)
        polynomial(x)
        np.polynomial.Polynomial(w)
        series(x)
        series.deriv()
        series.roots()
        np.polynomial.polynomial.polyval(x, w)
        np.polynomial.polynomial.polyfromroots(w)
        np.polynomial.polynomial.polyroots(w)
        np.polynomial.chebyshev.chebval(x, w)
        np.polynomial.legendre.leggauss(3)
        np.einsum('ij,jk->ik', M, M)
        np.einsum('ii', M)
        np.einsum('ij->ji', M)
        np.einsum('i,j->ij', w, w)
        np.einsum_path('i,i->', x, y)
        np.linalg.slogdet(M)
        np.linalg.eigvals(M)
        np.linalg.cond(M)
        np.linalg.svdvals(M)
        np.linalg.svd(M, compute_uv=False)
        np.linalg.cross(w, w)
        np.linalg.diagonal(M)
        np.linalg.matmul(M, M)
        np.linalg.matrix_norm(M)
        np.linalg.matrix_transpose(M)
        np.linalg.multi_dot([M, M, M])
        np.linalg.outer(w, w)
        np.linalg.tensordot(M, M, axes=1)
        np.linalg.tensorinv(M, ind=1)
        np.linalg.tensorsolve(M, w)
        np.linalg.trace(M)
        np.linalg.vecdot(w, w)
        np.linalg.vector_norm(w)
        np.linalg.solve(M, M)
        np.linalg.norm(M)
        np.linalg.norm(M, 2)
        np.fft.ifft(c)
        np.fft.irfft(c)
        np.fft.hfft(c)
        np.fft.ihfft(x)
        np.fft.fft2(M)
        np.fft.ifft2(M)
        np.fft.fftn(M)
        np.fft.ifftn(M)
        np.fft.rfft2(M)
        np.fft.irfft2(M)
        np.fft.rfftn(M)
        np.fft.irfftn(M)
        np.fft.fftshift(x)
        np.fft.ifftshift(x)
        np.fft.rfftfreq(n)
        np.lib.stride_tricks.as_strided(x, (n,), (8,))
        np.lib.stride_tricks.sliding_window_view(x, 1)
        np.emath.sqrt(x)
        np.emath.log(x)
        np.ma.array(x)
        np.ma.masked_array(x, mask)
        np.ma.masked_where(mask, x)
        np.ma.masked_invalid(x)
        masked + masked
        masked.sum()
        masked.filled(0.0)
        np.strings.upper(words)
        np.char.add(words, words)
        words == words
        words[0]
        np.array(['a', 'b'])
        np.array2string(w)
        np.array_repr(w)
        np.array_str(w)
        np.base_repr(7)
        np.binary_repr(7)
        np.can_cast(float, int)
        np.common_type(x, c)
        np.finfo(float)
        np.iinfo(int)
        np.min_scalar_type(7)
        np.promote_types(float, int)
        np.dtype(float)
        np.isfortran(A)
        np.iterable(x)
        np.geterr()
        np.seterr(all='warn')
        np.get_printoptions()
        np.format_float_positional(1.5)
        np.datetime64('2020-01-01')
        np.busday_count('2020-01-01', '2020-02-01')
        np.load(io.BytesIO(saved))
        np.save(io.BytesIO(), x)
        np.loadtxt(io.StringIO('1 2'))
        np.genfromtxt(io.StringIO('1 2'))
        np.savetxt(io.StringIO(), w)
        np.random.random(n)
        np.random.random_sample(n)
        np.random.standard_normal(n)
        np.random.exponential(1.0, n)
        np.random.poisson(1.0, n)
        np.random.binomial(3, 0.5, n)
        np.random.beta(1.0, 2.0, n)
        np.random.gamma(1.0, 1.0, n)
        np.random.permutation(n)
        np.random.permutation(x)
        np.random.shuffle(x)
        np.random.multivariate_normal(w, P)
        np.random.RandomState(0)
        np.random.get_state()
        rng.poisson(1.0, n)
        rng.binomial(3, 0.5, n)
        rng.beta(1.0, 2.0, n)
        rng.gamma(1.0, 1.0, n)
        rng.lognormal(0.0, 1.0, n)
        rng.laplace(size=n)
        rng.gumbel(size=n)
        rng.logistic(size=n)
        rng.chisquare(1.0, n)
        rng.standard_exponential(n)
        rng.standard_gamma(1.0, n)
        rng.triangular(0, 0.5, 1, n)
        rng.geometric(0.5, n)
        rng.weibull(1.0, n)
        rng.pareto(1.0, n)
        rng.vonmises(0.0, 1.0, n)
        rng.dirichlet(w)
        rng.multinomial(3, [0.5, 0.5])
        rng.multivariate_normal(w, P)
        rng.permuted(x)
        rng.permutation(x)
        rng.bytes(8)
        rng.normal(x, 1.0)
        rng.choice(x, 2)
        rng.standard_normal(out=u)
        rng.random(out=u)
        x.partition(0)
        x.argpartition(0)
        x.put([0], [1.0])
        x.compress(mask)
        x.conjugate()
        x.repeat(2)
        x.choose
        i0.choose((x, y))
        x.byteswap()
        x.data
        x.ctypes
        x.ctypes.data
        x.device
        x.setflags(write=True)
        x.resize(n)
        x.swapaxes(0, 0)
        x.squeeze()
        x.var()
        x.prod()
        x.cumprod()
        x.argmin()
        x.trace
        M.trace()
        M.mT
        memoryview(x)
        bytes(x)
        x.__array_interface__
        pickle.dumps(x)
        copy.copy(x)
        copy.deepcopy(x)
        np.from_dlpack(x)
        x.sort()
        i & 1
        i << 1
        i ** 2
        i // 2
        i % 3
        divmod(i, 3)
        -i
        i + 1
        i * 2.0
        i / 2
        i == 1
        i.sum()
        i.max()
        i.mean()
        x.sum(keepdims=True)
        x.max(initial=0.0)
        x.mean(dtype=float)
        x @ x
        complex(c[0])
        x[0].item()
        x[..., None]
        A[[0], [0]]
        A[mask]
        A[i0, 0]
        A[i0]
        x[i0]
        np.newaxis
        np.e
        np.float32(x[0])
        x[0] == 1.0
        x[0] ** 2
        np.sin(x[0])
        np.maximum(x[0], 1.0)
        abs(x[0])
        min(x[0], 1.0)
        int(x[0])
        bool(x[0])
        bool(mask[0])
        x.max() - x.min()
        x - x.mean()
        (x - x.mean()) / x.std()
        np.sqrt((x * x).sum())
        np.dot(x - y, x - y)
        np.exp(-x)
        x ** 0.5
        x ** -1
        x ** 3
        2.0 ** x
        1.0 / x
        1 - x
        x // 2
        x % 1.0
        x[mask] += 1.0
        x[i] += 1.0
        x[1:] = x[:-1]
        x[:-1] + x[1:]
        A + w
        A * x[:, None]
        A @ w
        A.T @ A
        A[:, 1:]
        A[:, 0] + A[:, 1]
        A.tolist()
        A.reshape(-1)
        A.astype(int)
        A.argmax(axis=1)
        A.std(axis=0)
        np.linalg.norm(A - w, axis=1)
    """,
    3: """
        np.diag(x[:3])
        np.diff(x)
        x[::2] * y[::2]
        x[::-1] + y
        i // 3
        i % 7
        np.add.at(u, i, y)
        np.add.at(u, i, 1.0)
        np.maximum.at(u, i, y)
        np.cumsum(A, axis=0)
        np.argmax(A, axis=1)
        np.roll(A, 1, axis=0)
        np.minimum.reduce(A)
        np.repeat(x, 3)
        np.gradient(x)
        np.cov(x, y)
        np.corrcoef(x, y)
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    """,
    4: """
        np.polyfit(x, y, 1)
    """,
}
