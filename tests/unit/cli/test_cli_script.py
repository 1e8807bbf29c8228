"""`stepscope run` finds the script in a command line, and passes signals and the exit status through."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

import pytest

from stepscope.cli import check, main, run
from stepscope.cli.command import Failure
from stepscope.cli.script import _script_of, has_hook, resolve, run_script, split


@pytest.mark.parametrize(
    ("words", "ours", "script"),
    [
        (["run", "python", "train.py"], ["run"], ["python", "train.py"]),
        (["run", "--", "python", "train.py"], ["run"], ["python", "train.py"]),
        (["run", "train.py", "--port", "1"], ["run"], ["train.py", "--port", "1"]),
        (["run", "--port", "81", "train.py", "--", "x"], ["run", "--port", "81"], ["train.py", "--", "x"]),
        (["run", "--port=81", "--no-open", "train.py"], ["run", "--port=81", "--no-open"], ["train.py"]),
        (["run", "--no-open", "--", "--odd"], ["run", "--no-open"], ["--odd"]),
        (["run", "--port"], ["run", "--port"], []),
        (["run"], ["run"], []),
        (
            ["check", "--watch", "TO", "--recommended", "train.py"],
            ["check", "--watch", "TO", "--recommended"],
            ["train.py"],
        ),
        (["check", "--watch", "TL:max_gt=1@a b", "--", "python"], ["check", "--watch", "TL:max_gt=1@a b"], ["python"]),
        (["start", "--", "x"], ["start", "--", "x"], []),
        ([], [], []),
    ],
)
def test_the_options_end_where_the_script_begins(words, ours, script):
    assert split(words, main.SCRIPTS) == (ours, script)


@pytest.mark.parametrize("command", [run, check])
def test_which_options_take_no_value(command):
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    flags = {text for action in parser._actions if action.nargs == 0 for text in action.option_strings}
    assert flags == set(command.FLAGS)
    assert main.SCRIPTS[command.COMMAND.name] == command.FLAGS


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("python train.py", "train.py"),
        ("/usr/bin/python3.11 -u -W ignore -X dev train.py --x", "train.py"),
        ("python3 -Wignore -Xdev -OO train.py", "train.py"),
        ("python -m train", None),
        ("python -um train", None),
        ("python -c pass", None),
        ("python -", None),
        ("python", None),
        ("msrun --worker_num 2 train.py", None),
        ("bash train.sh", None),
    ],
)
def test_the_script_in_a_command_line(command, script):
    assert _script_of(command.split()) == script


def test_a_plain_script_is_run_with_this_python(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("")
    assert resolve([str(script), "--x"]) == [sys.executable, str(script), "--x"]
    assert resolve(["python3", str(script)]) == ["python3", str(script)]
    with pytest.raises(Failure, match="no such file"):
        resolve([str(tmp_path / "other.py")])


def test_an_interpreter_without_the_hook(tmp_path):
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    assert not has_hook(str(bare))
    assert not has_hook(str(tmp_path / "no-such-python"))


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_exit_status_of_the_script():
    started: list[int] = []
    assert run_script(python("import sys; sys.exit(7)"), {}, started=lambda: started.append(1)) == 7
    assert started == [1]
    assert run_script(python("import os; os.kill(os.getpid(), 9)"), {}, started=lambda: None) == 128 + 9
    assert run_script(python("import os; raise SystemExit(os.environ['A'] != 'b')"), {"A": "b"}, lambda: None) == 0


def test_a_script_that_can_not_be_run(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(Failure, match="can't be run"):
        run_script([str(broken)], {}, started=lambda: None)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_only_we_get_is_passed_on(number, tmp_path):
    """The script says that it listens; what it got is its exit status. Afterwards our own signals are as before."""
    listening = tmp_path / "listening"
    os.mkfifo(listening)
    code = (
        "import signal, sys, time\n"
        "for n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, lambda n, _: sys.exit(100 + n))\n"
        f"open({str(listening)!r}, 'w').close()\n"
        "time.sleep(60)\n"
    )

    def send() -> None:
        listening.open().close()
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    # Started inside, so that the thread has the signals blocked too, as all threads of the command line have.
    assert run_script(python(code), {}, started=sender.start) == 100 + number
    sender.join()
    assert number not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
