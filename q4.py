def f(a, b, n):
    for i in range(n):
        a[max(i - 1, 0)] *= b[i]
