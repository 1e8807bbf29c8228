"""What the start-up hook costs each start of Python, in paired medians: with and without it, turn by turn.

    python benchmarks/hook_cost.py [pairs]

Two environments that differ in `stepscope.pth` alone. Limit: 2 ms while the environment variable is unset.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
LIMIT = 0.002  # seconds


def environment(folder: Path, hook: bool) -> Path:
    """A Python that finds the package, with or without the hook."""
    venv.create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "_source.pth").write_text(f"{SOURCE}\n")
    if hook:
        shutil.copy(SOURCE / "stepscope.pth", site)
    return folder / "bin" / "python"


def seconds(python: Path, variables: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run([python, "-c", "pass"], env=variables, check=True)
    return time.perf_counter() - start


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    unwanted = ("STEPSCOPE_", "ENABLE_MS_DEBUGGER", "PYTHON")
    unset = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    with tempfile.TemporaryDirectory() as folder:
        bare = environment(Path(folder, "bare"), hook=False)
        hooked = environment(Path(folder, "hooked"), hook=True)
        costs = {}
        for case, variables in (("unset", unset), ("set", {**unset, "ENABLE_MS_DEBUGGER": "1"})):
            for _ in range(3):
                seconds(bare, variables), seconds(hooked, variables)
            without, differences = [], []
            for _ in range(pairs):
                without.append(seconds(bare, variables))
                differences.append(seconds(hooked, variables) - without[-1])
            costs[case] = statistics.median(differences)
            print(
                f"ENABLE_MS_DEBUGGER {case}: the hook adds {costs[case] * 1000:+.2f} ms"
                f" to {statistics.median(without) * 1000:.1f} ms (medians of {pairs} pairs)"
            )
    good = costs["unset"] < LIMIT
    print(f"limit while unset: {LIMIT * 1000:.0f} ms: {'held' if good else 'BROKEN'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
