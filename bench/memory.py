"""memory.py: the most private memory that programs hold under NumPy and under Frit.

    python bench/memory.py [--runner 'python -m frit'] [--quick]

Private is the process's anonymous memory (RssAnon), read from /proc every 2 ms: arrays and heaps,
but no pages of program files, which the system can drop and share. VmHWM, the peak with those
pages, stands beside it. A program under Frit may hold 64 MiB more than under NumPy; the chain of 20
operations must hold less than half.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples" / "numpy"
MARGIN_MIB = 64

CHAIN = """
import numpy as np
x = np.linspace(0.1, 2.0, {n})
y = x * 0.5
t = x + y
t = t * 0.5
t = t - x
t = t * y
t = t + 1.0
t = np.abs(t)
t = np.sqrt(t)
t = t * x
t = np.maximum(t, y)
t = t - 0.25
t = t * t
t = t + x
t = t / (1.0 + y)
t = np.minimum(t, 10.0)
t = -t
t = t + y
t = t * 0.125
t = t - y
t = t * x
print(t.sum())
"""
MEANS = """
import numpy as np
rows = []
for k in range(20):
    big = np.arange({n}, dtype=np.float64).reshape(-1, 100) + k
    rows.append(big.mean(axis=0))
print(sum(rows).sum())
"""
UNREAD = """
import numpy as np
x = np.zeros({n} // 100)
for k in range(20_000):
    x += 1.0
print(x[0])
"""
PROGRAMS = {"chain": CHAIN, "means_of_big_inputs": MEANS, "updates_without_a_read": UNREAD}


def status(pid: int) -> dict[str, float]:
    """MiB by name, from /proc/<pid>/status; empty once the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    fields = (line.split() for line in lines if line.startswith(("RssAnon:", "VmHWM:")))
    return {name.rstrip(":"): int(kibibytes) / 1024 for name, kibibytes, _ in fields}


def peaks(command: list[str]) -> dict[str, float]:
    """The largest RssAnon and VmHWM that were seen while the command ran, in MiB."""
    most = {"RssAnon": 0.0, "VmHWM": 0.0}
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.Popen(
            command,
            env=os.environ | {"FRIT_CACHE_DIR": cache},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None:
            for name, value in status(process.pid).items():
                most[name] = max(most[name], value)
            time.sleep(0.002)
        message = process.stderr.read()
    if process.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}: {message}")
    return most


def limit(name: str, own: float) -> float:
    return own / 2 if name == "chain" else own + MARGIN_MIB


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frit", choices=("numpy", "none"), default="numpy")
    parser.add_argument("--runner", default=shlex.join([sys.executable, "-m", "frit"]))
    parser.add_argument("--quick", action="store_true", help="smaller arrays, no examples")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    options = parser.parse_args()
    print(f"reproduce: {shlex.join(['python', 'bench/memory.py', *sys.argv[1:]])}\n")
    print(f"{'peak, MiB':<24} {'private memory':^26} {'VmHWM':>17}")
    print(f"{'':<24} {'NumPy':>8} {'Frit':>8} {'limit':>8} {'NumPy':>8} {'Frit':>8}")
    records = []
    with tempfile.TemporaryDirectory() as folder:
        scripts = []
        for name, text in PROGRAMS.items():
            script = Path(folder, f"{name}.py")
            script.write_text(text.format(n=10**6 if options.quick else 10**7))
            scripts.append(script)
        scripts += [] if options.quick else sorted(EXAMPLES.glob("*.py"))
        for script in scripts:
            record = dict(name=script.stem, numpy=peaks([sys.executable, str(script)]))
            own = record["numpy"]
            frit = None
            if options.frit == "numpy":
                frit = record["frit"] = peaks([*shlex.split(options.runner), str(script)])
            record["limit"] = limit(script.stem, own["RssAnon"])
            record["ok"] = frit is None or frit["RssAnon"] <= record["limit"]
            records.append(record)
            shown = frit or {"RssAnon": float("nan"), "VmHWM": float("nan")}
            print(
                f"{script.stem:<24} {own['RssAnon']:8.0f} {shown['RssAnon']:8.0f}"
                f" {record['limit']:8.0f} {own['VmHWM']:8.0f} {shown['VmHWM']:8.0f}"
                f" {'' if record['ok'] else ' OVER'}",
                flush=True,
            )
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "memory.json").write_text(json.dumps(records, indent=1))
    return 0 if all(record["ok"] for record in records) else 1


if __name__ == "__main__":
    sys.exit(main())
