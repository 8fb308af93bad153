def f(a, b, n):
    for i in range(n):
        a[0] = b[i] / a[1]
