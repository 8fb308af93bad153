"""test_programs.py: random programs: the same values, errors, warnings, shared memory as NumPy.

FRIT_FUZZ_PROGRAMS: how many programs (2000). FRIT_FUZZ_SEED: which (0). A failure prints the
shortest program found, as a script that runs by itself. The programs run in a process that lives
through many of them, as a user's would, and again in a fresh one when they fail.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import deque
from pathlib import Path

import programs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st

PROGRAMS = int(os.environ.get("FRIT_FUZZ_PROGRAMS", "2000"))
SEED = int(os.environ.get("FRIT_FUZZ_SEED", "0"))
SHARDS = 8
LONGEST = 90  # seconds that one program may take
pytestmark = pytest.mark.timeout(max(900, PROGRAMS // SHARDS))


class Worker:
    """The process that runs the programs."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        self.errors = open(self.folder / "errors.txt", "w+")  # noqa: SIM115
        environment = {
            **os.environ,
            "FRIT_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONPATH": os.pathsep.join(
                [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
            ),
        }
        return subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
        )

    def check(self, program: programs.Program) -> str | None:
        if self.process is None:
            self.process = self.start()
        process = self.process
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(vars(program)) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], LONGEST)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        what = "no answer" if not ready else "the process died"
        process.kill()
        code = process.wait()
        self.process = None
        self.errors.seek(0)
        said = self.errors.read()[-3000:]
        self.errors.close()
        return f"{what} (exit code {code})\n{said}"

    def stop(self) -> None:
        if self.process:
            assert self.process.stdin and self.process.stdout
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.kill()
            self.process.wait()
            self.process = None
            self.errors.close()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_random_program_does_what_numpy_does(shard: int, tmp_path: Path) -> None:
    folder = tmp_path
    worker = Worker(folder)
    before: deque[programs.Program] = deque(maxlen=200)

    @hypothesis_seed(SEED * SHARDS + shard)
    @settings(
        max_examples=max(PROGRAMS // SHARDS, 1),
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        print_blob=False,
    )
    @given(
        tier=st.sampled_from(["interpreter", "automatic", "eager", "interpreter", "compiled"]),
        size=st.sampled_from(["tiny", "lazy", "mixed", "lazy"]),
        special=st.booleans(),
        warns=st.integers(0, 3),
        seeds=st.lists(st.integers(0, 2**32 - 1), min_size=20, max_size=24),
    )
    def every_program(tier: str, size: str, special: bool, warns: int, seeds: list[int]) -> None:
        if size == "mixed" and sum(seeds) % 10 == 0:
            size = "large"
        kinds = ("small", "usual", "special") if special else ("small", "usual")
        program = programs.make(seeds, size, kinds, tier, warns == 1)
        found = worker.check(program)
        if found is not None:
            raise AssertionError(
                f"seed {SEED}, shard {shard}, tier {tier}: {found}\n\n"
                f"{'-' * 80}\n{program.script()}"
            )
        before.append(program)

    try:
        every_program()
    except AssertionError:
        raise
    except BaseException as error:
        if "Flaky" not in type(error).__name__ and "Flaky" not in str(error):
            raise
        path = Path(os.environ.get("FRIT_FUZZ_FAILURES", folder)) / f"history-{SEED}-{shard}.json"
        path.write_text(json.dumps([vars(p) for p in before]))
        pytest.fail(
            f"failed once, not again: depends on the programs before it, kept in {path}\n{error!r}"
        )
    finally:
        worker.stop()
