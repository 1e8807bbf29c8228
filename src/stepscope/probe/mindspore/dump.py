"""MindSpore's dump, switched on for single steps.

The configuration is fixed when MindSpore first reads it; what can be moved is the iteration number under which runs
are dumped: 0 is outside the configured range, so nothing is written; any other number N writes the runs to
`<rank>/<net>/<graph>/N`. We count N as our own steps.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

from stepscope.core.step_data import ASIDE, BEFORE, NET
from stepscope.probe.bootstrap import CannotDebug
from stepscope.probe.data_folder import PREFIX, DataFolder
from stepscope.probe.settings import Settings

VARIABLE = "MINDSPORE_DUMP_CONFIG"
_MARGIN = 64 << 20  # bytes that stay free on the place of the step data: a write error would end the user's training
_WRAP = 1 << 32


class Dump:
    """CannotDebug in the constructor when the user has a dump configuration of their own."""

    def __init__(self, api: ModuleType, settings: Settings) -> None:
        self._executor = api._pynative_executor
        self._switch = sys.modules["mindspore._c_expression"]
        if not hasattr(self._switch, "_dump_step") or not hasattr(self._switch, "_set_init_iter"):
            version = getattr(sys.modules.get("mindspore"), "__version__", "this version")
            raise CannotDebug(f"MindSpore {version} can't record single steps; 2.7.1 or later is needed")
        self._refuse_users_own()
        self.folder = DataFolder(settings.data_root)
        self.config = self.folder.path / "dump.json"
        self.config.write_text(json.dumps(self._configuration(settings.partial_memory)))
        os.environ[VARIABLE] = str(self.config)
        self._iteration = 0
        self._expected = 0
        self._free_before = 0
        self.recorded: set[int] = set()
        self._aside = self.folder.path / ASIDE
        self.kernel_error: Exception | None = None  # of the user's own work, met while we waited for it
        try:
            self._switch._set_init_iter(0)
        except BaseException:
            self._unset()  # a configuration that MindSpore does not like must not reach its compiler
            self.folder.remove()
            raise

    def prepare(self) -> None:
        """Just before the first compile: the script may have set a configuration of its own since."""
        if os.environ.get(VARIABLE) != str(self.config):
            self._refuse_users_own()
            os.environ[VARIABLE] = str(self.config)

    @property
    def rank_folder(self) -> Path | None:
        """MindSpore's folder for this process; None before it has written anything."""
        return next(self.folder.path.glob("rank_*"), None)

    def expect(self, step_bytes: int) -> None:
        """How much a recorded step will need, from the shapes in the graphs."""
        self._expected = max(self._expected, step_bytes)

    def armed_for(self, step: int) -> bool:
        return self._iteration == step

    def arm(self, step: int) -> str:
        """Records everything that runs from now on as `step`. Returns a warning when there is no room for it."""
        self._set_aside(below=step - 1)
        if not self._has_room():
            self.tidy()
        if not self._has_room():
            self._set_aside(below=step)
            self.tidy()
        if not self._has_room():
            return (
                f"step {step} was not recorded: it needs about {self._expected >> 20} MiB and "
                f"{self.folder.path.parent} has {self.folder.free_bytes() >> 20} MiB left; free some, "
                "or name another place in STEPSCOPE_DATA_ROOT"
            )
        self._free_before = self.folder.free_bytes()
        self._move(step)
        return ""

    def disarm(self) -> None:
        if self._iteration:
            self._move(0)

    def finish(self, step: int) -> bool:
        """Ends the recording of `step`; False if it was not recorded."""
        if self._iteration != step:
            return False
        self._move(0)
        self.recorded.add(step)
        used = self._free_before - self.folder.free_bytes()
        self._expected = max(int(used * 1.2), self._expected // 2)
        return True

    def release(self) -> None:
        """Gives the process back as it was."""
        try:
            self.disarm()
        finally:
            self._unset()
            self.folder.remove()

    def settle(self) -> None:
        """Waits for kernels that are on their way: a jit function returns before its kernels have run.

        What goes wrong in them MindSpore raises once, to whoever waits first: that error is the user's to see.
        """
        try:
            self._executor.sync()
        except Exception as error:
            self.kernel_error = error
            raise

    def _unset(self) -> None:
        if os.environ.get(VARIABLE) == str(self.config):
            del os.environ[VARIABLE]

    def _move(self, iteration: int) -> None:
        try:
            self.settle()
        finally:
            self._switch._dump_step((iteration - self._iteration) % _WRAP)
            self._iteration = iteration

    def _has_room(self) -> bool:
        return self.folder.free_bytes() >= self._expected + _MARGIN

    def tidy(self) -> None:
        """Removes what was set aside: hundreds of files, so better while nobody waits for a step."""
        shutil.rmtree(self._aside, ignore_errors=True)

    def _set_aside(self, below: int) -> None:
        """Takes the steps before `below` out of the way of their readers; `tidy` removes them."""
        copies = list((self.folder.path / BEFORE).glob("*"))
        for old in [folder for folder in copies if int(folder.name) < below]:
            self._move_aside(old)
        for step in [step for step in self.recorded if step < below]:
            self.recorded.discard(step)
            for folder in (self.rank_folder / NET).glob(f"*/{step}") if self.rank_folder else ():
                self._move_aside(folder)

    def _move_aside(self, folder: Path) -> None:
        self._aside.mkdir(exist_ok=True)
        folder.rename(self._aside / f"{folder.parent.name}_{folder.name}")

    def _configuration(self, outputs_only: bool) -> dict[str, object]:
        common = {
            "op_debug_mode": 0,
            "dump_mode": 0,
            "path": str(self.folder.path),
            "net_name": NET,
            "iteration": "1-4294967290",
            "saved_data": "tensor",
            "input_output": 2 if outputs_only else 0,
            "kernels": [],
            "support_device": list(range(8)),
        }
        return {"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}

    @staticmethod
    def _refuse_users_own() -> None:
        value = os.environ.get(VARIABLE)
        # A parent process that is debugged hands its variable down; that one is not the user's.
        if value and not Path(value).parent.name.startswith(PREFIX):
            raise CannotDebug(
                f"{VARIABLE} is already set ({value}), and MindSpore has one dump configuration a process: "
                "unset it to debug this training"
            )
