"""stream.py: measures how many bytes per second this machine's memory moves: STREAM's triad.

    python bench/stream.py [--threads 1,2]

a[i] = b[i] + s * c[i] on 3 x 160 MB in huge pages, in C, with plain and with streaming stores; the
best of 10 repetitions. Counted are the 24 bytes an element that must move; plain stores also read
the line that they overwrite, which is not counted. Source: J. D. McCalpin, STREAM (1995).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
enum { repetitions = 10 };
static const size_t length = 20000000;
static double *a, *b, *c;
static int threads, streaming;
static pthread_barrier_t barrier;
static double best = 1e30;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void plain(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
}
static void stream(size_t begin, size_t end) {
#ifdef __x86_64__
  const __m128d s = _mm_set1_pd(3.0);
  for (size_t i = begin; i < end; i += 2)
    _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(s, _mm_load_pd(c + i))));
  _mm_sfence();
#else
  plain(begin, end);
#endif
}
static void *work(void *argument) {
  size_t part = length / (size_t)threads / 64 * 64, index = (size_t)argument;
  size_t begin = index * part, end = index + 1 == (size_t)threads ? length : begin + part;
  for (size_t i = begin; i < end; ++i) a[i] = 0, b[i] = 1, c[i] = 2;
  for (int k = 0; k < repetitions; ++k) {
    pthread_barrier_wait(&barrier);
    double start = now();
    streaming ? stream(begin, end) : plain(begin, end);
    pthread_barrier_wait(&barrier);
    double seconds = now() - start;
    if (index == 0 && seconds < best) best = seconds;
  }
  return NULL;
}
static double *numbers(void) {
  void *p = aligned_alloc(1 << 21, (length * sizeof(double) >> 21) + 1 << 21);
  if (!p) exit(1);
  madvise(p, length * sizeof(double), MADV_HUGEPAGE);
  return p;
}
int main(int count, char **arguments) {
  if (count != 3) return 1;
  threads = atoi(arguments[1]), streaming = atoi(arguments[2]);
  if (threads < 1 || threads > 256) return 1;
  a = numbers(), b = numbers(), c = numbers();
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_t handles[256];
  for (size_t i = 1; i < (size_t)threads; ++i) pthread_create(handles + i, NULL, work, (void *)i);
  work(NULL);
  for (size_t i = 1; i < (size_t)threads; ++i) pthread_join(handles[i], NULL);
  if (a[length / 2] != 7.0) return 2;
  printf("%.6f\n", 24e-9 * (double)length / best);
  return 0;
}
"""


class Stream:
    """The program, compiled."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        source, self.program = Path(self.folder.name, "triad.c"), Path(self.folder.name, "triad")
        source.write_text(PROGRAM)
        compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")))
        flags = ["-O3", "-march=native", "-ffp-contract=off", "-pthread"]
        subprocess.run([compiler, *flags, str(source), "-o", str(self.program)], check=True)

    def rates(self, threads: int) -> dict[str, float]:
        """GB/s, with either kind of stores."""

        def rate(streaming: int) -> float:
            command = [str(self.program), str(threads), str(streaming)]
            return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        return dict(plain=rate(0), streaming=rate(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    print(f"reproduce: {Path(sys.executable).name} {' '.join(sys.argv)}")
    stream = Stream()
    for threads in map(int, options.threads.split(",")):
        rates = {kind: round(rate, 1) for kind, rate in stream.rates(threads).items()}
        print(threads, "thread(s), GB/s:", json.dumps(rates))


if __name__ == "__main__":
    main()
