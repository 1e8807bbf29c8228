"""The folder with step data: on the best place, held by a lock, gone with its process, never another's."""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stepscope.core.step_data import COUNTER
from stepscope.probe import data_folder
from stepscope.probe.data_folder import PREFIX, DataFolder, candidates, sweep

SHARED_MEMORY = Path("/dev/shm")
GIB = 1 << 30


@pytest.fixture
def place():
    """A folder whose path MindSpore would take (pytest's own has the name of the test, with brackets)."""
    folder = Path(tempfile.mkdtemp(prefix="place-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def places(monkeypatch, place):
    """Memory, the temporary folder and the workspace, each with the free bytes that the test gives it."""
    free = dict.fromkeys(("memory", "temporary", "workspace"), 0)
    for name in free:
        (place / name).mkdir()
    monkeypatch.setattr(data_folder, "MEMORY", place / "memory")
    monkeypatch.setattr(tempfile, "tempdir", str(place / "temporary"))
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", str(place / "workspace"))
    monkeypatch.setattr(data_folder, "_free", lambda one: free.get(one.name, 0))

    def with_free(**sizes: int) -> list[str]:
        free.update(sizes)
        return [one.name for one in candidates()]

    return with_free


# ------------------------------------------------------------ which place


def test_memory_comes_first_where_it_has_room(places):
    assert places(memory=4 * GIB, temporary=900 * GIB, workspace=8 * GIB) == ["memory", "temporary", "workspace"]


def test_otherwise_the_roomiest_comes_first(places):
    assert places(memory=4 * GIB - 1, temporary=5 * GIB, workspace=6 * GIB) == ["workspace", "temporary", "memory"]
    assert places(memory=3 * GIB, temporary=2 * GIB, workspace=1 * GIB) == ["memory", "temporary", "workspace"]


@pytest.mark.parametrize("name", [".stepscope", "a b", "müll"])
def test_step_data_go_beside_a_workspace_whose_path_mindspore_would_not_take(name, places, monkeypatch, place):
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", str(place / name))
    assert places() == ["memory", "temporary", place.name]
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", str(place / name / "workspace.d"))
    assert places() == ["memory", "temporary"]


def test_without_a_workspace_the_home_folder_counts(places, monkeypatch, place):
    monkeypatch.delenv("STEPSCOPE_WORKSPACE")
    monkeypatch.setenv("HOME", str(place / "home"))
    assert places() == ["memory", "temporary", "home"]


def test_a_user_without_a_home_folder_has_two_places(places, monkeypatch):
    monkeypatch.delenv("STEPSCOPE_WORKSPACE")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does then
    assert places() == ["memory", "temporary"]


def test_a_home_folder_that_can_not_even_be_looked_at_spoils_nothing(places, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", "/tmp/" + "x" * 300)  # as a folder of root's would: an error from stat
    monkeypatch.setattr(data_folder, "_free", lambda one: 0)
    assert len(candidates()) == 3
    folder = DataFolder()
    assert folder.path.parent.name == "memory"
    folder.remove()


def test_memory_counts_only_half_of_what_could_be_used(monkeypatch):
    monkeypatch.setattr(data_folder, "_available_memory", lambda: 2 << 20)
    assert data_folder._free(data_folder.MEMORY) == min(1 << 20, _free_of(SHARED_MEMORY))
    assert data_folder._free(Path("/tmp")) == pytest.approx(_free_of(Path("/tmp")), rel=0.05)


def test_the_memory_that_could_be_used_is_read_from_the_kernel():
    assert 0 < data_folder._available_memory() < 1 << 60


def _free_of(path: Path) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def test_a_root_that_was_named_is_the_only_place(place):
    assert candidates(str(place)) == [place]
    folder = DataFolder(str(place / "new" / "deep"))
    assert folder.path.parent == place / "new" / "deep"
    folder.remove()


@pytest.mark.parametrize("root", ["{}/with.dot", "{}/with space"])
def test_a_root_that_can_not_be_used_is_a_clear_error(root, place):
    with pytest.raises(OSError, match="only letters, digits, '-', '_' and '/'"):
        DataFolder(root.format(place))
    assert not list(place.iterdir())


def test_a_root_below_a_file(place):
    (place / "file").write_text("")
    with pytest.raises(OSError, match="no place for step data: "):
        DataFolder(str(place / "file" / "below"))


def test_a_place_that_fails_is_followed_by_the_next(places, place, monkeypatch):
    places(memory=2, temporary=1)
    shutil.rmtree(place / "memory")
    (place / "memory").write_text("a file now")
    folder = DataFolder()
    assert folder.path.parent == place / "temporary"
    folder.remove()


# ------------------------------------------------------------ the folder


def test_the_folder_is_private_and_its_name_tells_whose_it_is(place):
    folder = DataFolder(str(place))
    assert folder.path.name.startswith(f"{PREFIX}{os.getuid()}_{os.getpid()}_")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert data_folder._USABLE.fullmatch(str(folder.path))
    assert folder.free_bytes() == pytest.approx(_free_of(place), rel=0.05)
    folder.remove()
    assert not list(place.iterdir())


def test_two_folders_of_one_process_are_two(place):
    one, two = DataFolder(str(place)), DataFolder(str(place))
    assert one.path != two.path
    one.remove()
    two.remove()


def test_the_counter_is_a_file_of_eight_bytes(place):
    folder = DataFolder(str(place))
    counter = folder.path / COUNTER
    assert counter.read_bytes() == bytes(8)
    folder.count(258)
    assert counter.read_bytes() == b"\x02\x01" + bytes(6)
    folder.remove()


@pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason="no memory for files")
def test_the_counter_has_its_room_from_the_start():
    """A page that is written through a mapping into a full place would end the training with SIGBUS."""
    folder = DataFolder(str(SHARED_MEMORY))
    assert (folder.path / COUNTER).stat().st_blocks * 512 >= mmap.PAGESIZE
    folder.remove()


def test_the_counter_is_seen_after_a_sudden_death(place):
    code = (
        "import os, sys; from stepscope.probe.data_folder import DataFolder\n"
        "folder = DataFolder(sys.argv[1]); folder.count(7); print(folder.path, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True)
    assert (Path(done.stdout.strip()) / COUNTER).read_bytes() == (7).to_bytes(8, "little")


def test_removing_twice_closes_nothing_of_another(place):
    folder = DataFolder(str(place))
    folder.remove()
    others = [os.open(place, os.O_RDONLY) for _ in range(20)]  # one of them has the number of the lock's file
    folder.remove()
    for other in others:
        os.close(other)


# ------------------------------------------------------------ sweeping


def _left_behind(place: Path, name: str = "1_a", age: float = 0.0, lock: bool = True) -> Path:
    folder = place / f"{PREFIX}{os.getuid()}_{name}"
    (folder / "rank_0").mkdir(parents=True)
    if lock:
        (folder / "lock").write_text("")
    when = folder.stat().st_mtime - age
    os.utime(folder, (when, when))
    return folder


def test_whoever_makes_a_folder_removes_those_that_nobody_holds(place):
    dead = _left_behind(place)
    alive = DataFolder(str(place))
    assert not dead.exists()
    other = DataFolder(str(place))
    assert alive.path.exists()
    alive.remove()
    assert other.path.exists()
    other.remove()


def test_a_folder_that_another_process_holds_stays(place):
    held = _left_behind(place, age=1e6)
    code = "import fcntl, sys\nfile = open(sys.argv[1])\nfcntl.flock(file, fcntl.LOCK_EX)\nprint(flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(held / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        sweep(place)
        assert held.exists()
        holder.communicate(b"\n")
    sweep(place)
    assert not held.exists()


def test_a_folder_without_a_lock_has_a_moment_to_get_one(place):
    young, old = _left_behind(place, "1_a", age=10, lock=False), _left_behind(place, "2_b", age=70, lock=False)
    sweep(place)
    assert young.exists()
    assert not old.exists()


def test_what_has_other_names_or_other_owners_is_not_touched(place):
    kept = [place / "stepscope_99999_1_a", place / "mine", place / f"x{PREFIX}{os.getuid()}_1"]
    for folder in kept:
        folder.mkdir()
        (folder / "lock").write_text("")
    sweep(place)
    assert all(folder.exists() for folder in kept)


def test_a_link_that_has_such_a_name_leads_nowhere(place):
    precious = place / "precious"
    precious.mkdir()
    (precious / "lock").write_text("")
    (place / f"{PREFIX}{os.getuid()}_1_a").symlink_to(precious)
    sweep(place)
    assert (precious / "lock").exists()


# ------------------------------------------------------------ forked children


def _in_child(work) -> int:
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def _is_locked(folder: Path) -> bool:
    with open(folder / "lock") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("work", [DataFolder.remove, DataFolder.close])
def test_a_forked_child_neither_removes_nor_unlocks(work, place):
    folder = DataFolder(str(place))
    assert _is_locked(folder.path)
    assert _in_child(lambda: work(folder)) == 0
    assert (folder.path / COUNTER).exists()
    assert _is_locked(folder.path)
    folder.remove()


def test_a_child_that_let_go_does_not_hold_the_lock_beyond_its_parent(place):
    """A data loader's worker may outlive the training; the folder must not stay for its sake."""
    folder = DataFolder(str(place))
    ours, childs = socket.socketpair()
    child = os.fork()
    if not child:
        folder.close()
        ours.close()
        childs.sendall(b"closed")
        childs.recv(1)  # lives on until we are through
        os._exit(0)
    childs.close()
    assert ours.recv(6) == b"closed"
    folder.close()
    assert not _is_locked(folder.path)
    ours.close()
    os.waitpid(child, 0)
