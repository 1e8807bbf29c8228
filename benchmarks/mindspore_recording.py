"""What a recorded step costs: LeNet and a transformer of 11 million parameters, free and recorded. Needs MindSpore."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from mindspore_common import attach, start, step_seconds

from stepscope.probe.data_folder import candidates
from stepscope.testing.server import ServerThread

STEPS, WARM_UP = 10, 3


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ServerThread(Path(folder)) as server:
        for which in ("lenet", "encoder"):
            free = statistics.median(step_seconds(start(which, STEPS, WARM_UP)))
            process, job = attach(server, which, STEPS, WARM_UP)
            recorded = []
            for _ in range(WARM_UP + STEPS - 1):
                job.run()
                job.wait(timeout=120)
                recorded.append(job.info["step_seconds"])
            files = list(candidates()[0].glob(f"stepscope_*_{process.pid}_*/rank_0/net/*/{job.step}/*.npy"))
            megabytes = sum(file.stat().st_size for file in files) / 1e6
            job.resume()
            process.communicate()
            step = statistics.median(recorded[WARM_UP:])
            print(
                f"{which}: {len(job.nodes())} nodes; a step takes {free * 1000:.1f} ms, recorded {step * 1000:.1f} ms "
                f"({step / free:.1f} times), {len(files)} files, {megabytes:.1f} MB"
            )


if __name__ == "__main__":
    main()
