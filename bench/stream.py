"""stream.py: measures how many bytes per second this machine's memory moves: STREAM's triad.

    python bench/stream.py [--threads 1,2]

a[i] = b[i] + s * c[i] on 3 x 80 MB in huge pages, in C, with plain and with streaming stores; the
best of 10 repetitions. Counted are the 24 bytes an element that must move; plain stores also read
the line that they overwrite, which is not counted. Source: J. D. McCalpin, STREAM (1995).
measure.py loads the same triad and takes turns with it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LENGTH = 10**7
BYTES = 24 * LENGTH  # that must move in one triad
REPETITIONS = 10
SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
static const size_t length = LENGTH;
static double *a, *b, *c;
static int threads, streaming;
static pthread_barrier_t begins, ends;

static void plain(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
}
static void past_the_caches(size_t begin, size_t end) {
#ifdef __x86_64__
  const __m128d s = _mm_set1_pd(3.0);
  for (size_t i = begin; i < end; i += 2)
    _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(s, _mm_load_pd(c + i))));
  _mm_sfence();
#else
  plain(begin, end);
#endif
}
static void work(size_t index) {
  size_t part = length / (size_t)threads / 64 * 64;
  size_t begin = index * part, end = index + 1 == (size_t)threads ? length : begin + part;
  streaming ? past_the_caches(begin, end) : plain(begin, end);
}
static void *serve(void *argument) {
  for (;;) {
    pthread_barrier_wait(&begins);
    work((size_t)argument);
    pthread_barrier_wait(&ends);
  }
  return NULL;
}
static double *numbers(double value) {
  double *p = aligned_alloc(1 << 21, ((length * sizeof(double) >> 21) + 1) << 21);
  if (!p) return NULL;
  madvise(p, length * sizeof(double), MADV_HUGEPAGE);
  for (size_t i = 0; i < length; ++i) p[i] = value;
  return p;
}
int start(int count) {  /* once; 0 where that went well */
  a = numbers(0), b = numbers(1), c = numbers(2);
  if (!a || !b || !c) return 1;
  threads = count;
  pthread_barrier_init(&begins, NULL, (unsigned)threads);
  pthread_barrier_init(&ends, NULL, (unsigned)threads);
  for (size_t i = 1; i < (size_t)threads; ++i) {
    pthread_t handle;
    if (pthread_create(&handle, NULL, serve, (void *)i)) return 1;
  }
  return 0;
}
int triad(int past) {  /* 0 where the result is right */
  streaming = past;
  pthread_barrier_wait(&begins);
  work(0);
  pthread_barrier_wait(&ends);
  return a[length / 2] == 7.0 ? 0 : 1;
}
"""


class Stream:
    """The triad as a function of this process, with threads of its own that sleep between calls."""

    def __init__(self, threads: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "triad.c"), Path(folder, "triad.so")
            source.write_text(SOURCE.replace("LENGTH", str(LENGTH)))
            compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")))
            flags = ["-O3", "-march=native", "-ffp-contract=off", "-pthread", "-fPIC", "-shared"]
            subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
            self.library = ctypes.CDLL(str(library))
        if self.library.start(threads):
            raise MemoryError("no memory or threads for the triad")
        rates = {past: max(self.rate(past) for _ in range(REPETITIONS)) for past in (0, 1)}
        self.plain, self.streaming = rates[0], rates[1]
        self.past = max(rates, key=rates.get)

    def __call__(self) -> None:
        """One triad, with the kind of stores that was the faster one."""
        if self.library.triad(self.past):
            raise ArithmeticError("the triad's result is wrong")

    def rate(self, past: int) -> float:
        """GB/s of one triad."""
        begin = time.perf_counter()
        self.library.triad(past)
        return 1e-9 * BYTES / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    print(f"reproduce: {Path(sys.executable).name} {' '.join(sys.argv)}")
    for threads in map(int, options.threads.split(",")):
        stream = Stream(threads)
        rates = dict(plain=round(stream.plain, 1), streaming=round(stream.streaming, 1))
        print(threads, "thread(s), GB/s:", json.dumps(rates))


if __name__ == "__main__":
    main()
