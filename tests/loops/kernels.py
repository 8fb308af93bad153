"""kernels.py: sixteen well-known nests of loops, as a person writes them."""

import math

import numpy as np


def vector_add(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


def saxpy(alpha, x, y):
    for i in range(len(x)):
        y[i] = alpha * x[i] + y[i]


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = len(x)
    for i in range(n):
        for j in range(n):
            a[i, j] = a[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * a[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * a[i, j] * x[j]


def atax(a, x, y, tmp):
    for i in range(a.shape[0]):
        tmp[i] = 0.0
        for j in range(a.shape[1]):
            tmp[i] += a[i, j] * x[j]
        for j in range(a.shape[1]):
            y[j] += a[i, j] * tmp[i]


def conv2d(image, weights, out):
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            s = 0.0
            for p in range(3):
                for q in range(3):
                    s += weights[p, q] * image[i + p - 1, j + q - 1]
            out[i, j] = s


def jacobi_2d(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def heat_3d(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i, j, k] = b[i, j, k]


def mandelbrot(width, height, most, out):
    for i in range(height):
        for j in range(width):
            cr = -2.0 + 3.0 * j / width
            ci = -1.0 + 2.0 * i / height
            zr = 0.0
            zi = 0.0
            count = 0
            while count < most and zr * zr + zi * zi < 4.0:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                count += 1
            out[i, j] = count


def black_scholes(s, x, t, r, v, call):
    for i in range(len(s)):
        d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * math.sqrt(t[i]))
        d2 = d1 - v * math.sqrt(t[i])
        n1 = 0.5 + 0.5 * math.erf(d1 / 1.4142135623730951)
        n2 = 0.5 + 0.5 * math.erf(d2 / 1.4142135623730951)
        call[i] = s[i] * n1 - x[i] * math.exp(-r * t[i]) * n2


def n_body(x, y, z, m, ax, ay, az):
    n = len(x)
    for i in range(n):
        for j in range(n):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = m[j] / (r2 * math.sqrt(r2))
            ax[i] += f * dx
            ay[i] += f * dy
            az[i] += f * dz


def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]


def histogram(idx, w, hist):
    for i in range(len(idx)):
        hist[idx[i]] += w[i]


def seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                    + a[i, j - 1] + a[i, j] + a[i, j + 1]
                    + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip


def gram_schmidt(a, q, r):
    m, n = a.shape
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = 0.0
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def arguments(name, n, numbers):
    """Arguments of a size, from a NumPy generator."""
    v = lambda: numbers.random(n) + 0.1  # noqa: E731
    m = lambda: numbers.random((n, n)) + 0.1  # noqa: E731
    zero = lambda: np.zeros(n)  # noqa: E731
    none = lambda: np.zeros((n, n))  # noqa: E731
    cube = numbers.random((n, n, n)) if name == "heat_3d" else None
    return {
        "vector_add": lambda: (v(), v(), zero()),
        "saxpy": lambda: (2.5, v(), v()),
        "matmul": lambda: (m(), m(), none()),
        "gemver": lambda: (1.5, 1.2, m(), v(), v(), v(), v(), zero(), v(), v(), v()),
        "atax": lambda: (m(), v(), zero(), v()),
        "conv2d": lambda: (m(), numbers.random((3, 3)), none()),
        "jacobi_2d": lambda: (3, m(), m()),
        "heat_3d": lambda: (3, cube, cube.copy()),
        "mandelbrot": lambda: (n, n, 50, none().astype(int)),
        "black_scholes": lambda: (v(), v(), v(), 0.02, 0.3, zero()),
        "n_body": lambda: (v(), v(), v(), v(), zero(), zero(), zero()),
        "floyd_warshall": lambda: (m(),),
        "histogram": lambda: (numbers.integers(0, n, 4 * n), numbers.random(4 * n), zero()),
        "seidel_2d": lambda: (3, m()),
        "gram_schmidt": lambda: (m(), none(), none()),
        "lu": lambda: (m() + n * np.eye(n),),
    }[name]()


KERNELS = {
    f.__name__: f
    for f in (
        vector_add,
        saxpy,
        matmul,
        gemver,
        atax,
        conv2d,
        jacobi_2d,
        heat_3d,
        mandelbrot,
        black_scholes,
        n_body,
        floyd_warshall,
        histogram,
        seidel_2d,
        gram_schmidt,
        lu,
    )  # fmt: skip
}
