"""alignment.py: the best alignment of two sequences, by lists and strings alone.

Source: S. B. Needleman and C. D. Wunsch, "A general method applicable to the search for
similarities in the amino acid sequence of two proteins", Journal of Molecular Biology 48 (1970).
"""

import argparse
import random
import time


def scores(first, second, match, mismatch, gap):
    """table[i][j]: of the first i and j letters."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            if i == 0 or j == 0:
                table[i][j] = gap * (i + j)
            else:
                pair = match if first[i - 1] == second[j - 1] else mismatch
                best = table[i - 1][j - 1] + pair
                best = max(best, table[i - 1][j] + gap)
                table[i][j] = max(best, table[i][j - 1] + gap)
    return table


def gap_lengths(table):
    """How far the best score of each row is from the diagonal."""
    found = []
    for i in range(len(table)):
        best = 0
        for j in range(len(table[i])):
            if table[i][j] > table[i][best]:
                best = j
        found.append(abs(best - i))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=2500)
    length = parser.parse_args().length
    letters = random.Random(1)
    first = "".join(letters.choice("ACGT") for _ in range(length))
    second = "".join(c if letters.random() < 0.8 else letters.choice("ACGT") for c in first)
    began = time.perf_counter()
    table = scores(first, second, 2, -1, -2)
    lengths = gap_lengths(table)
    print(f"seconds: {time.perf_counter() - began:.3f}")
    print(table[-1][-1], max(lengths), sum(lengths))


if __name__ == "__main__":
    main()
