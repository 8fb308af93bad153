def f(a, b, n):
    for i in range(n):
        a[i] /= b[i]
