"""MindSpore's dump, switched for single steps: the arithmetic, the room, what is kept, whose configuration it is."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from fake_mindspore import VARIABLE, FakeMindSpore
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.probe.bootstrap import CannotDebug
from stepscope.probe.mindspore import dump as module
from stepscope.probe.mindspore.dump import Dump
from stepscope.probe.settings import Settings

MIB = 1 << 20


@pytest.fixture
def place():
    folder = Path(tempfile.mkdtemp(prefix="place-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def ms(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    yield FakeMindSpore(monkeypatch)
    os.environ.pop(VARIABLE, None)


@pytest.fixture
def dump(ms, place, monkeypatch):
    made = Dump(ms.api, Settings(data_root=str(place)))
    yield made
    made.release()


@pytest.fixture
def free(dump, monkeypatch):
    """Sets how many bytes are free."""
    return lambda size: monkeypatch.setattr(dump.folder, "free_bytes", lambda: size)


def record(dump: Dump, ms: FakeMindSpore, step: int) -> None:
    """A step of which MindSpore writes files in two graphs, and the probe a copy of the parameters."""
    assert dump.arm(step) == ""
    for graph in (0, 3):
        ms._folder().run(step, "Add", f"Default/Add-op{graph}", outputs={0: np.zeros(2)}, graph=graph)
    copy = dump.folder.path / "before" / str(step)
    copy.mkdir(parents=True, exist_ok=True)
    (copy / "index.json").write_text("[]")
    assert dump.finish(step)


def kept(dump: Dump) -> set[str]:
    found = [*dump.folder.path.glob("rank_0/net/*/*"), *dump.folder.path.glob("before/*")]
    return {str(one.relative_to(dump.folder.path)) for one in found}


# ------------------------------------------------------------ the configuration


@pytest.mark.parametrize(("partial", "what"), [(False, 0), (True, 2)])
def test_mindspore_is_told_where_to_write_and_what(partial, what, ms, place):
    dump = Dump(ms.api, Settings(data_root=str(place), partial_memory=partial))
    common = ms.switch.config["common_dump_settings"]
    assert common["path"] == str(dump.folder.path)
    assert dump.folder.path.parent == place
    assert common["input_output"] == what
    assert common["iteration"] == "1-4294967290"  # 0 is outside: nothing is written
    assert common["kernels"] == []
    assert ms.switch.config["e2e_dump_settings"]["enable"] is True
    assert os.environ[VARIABLE] == str(dump.config)
    assert ms.switch.iteration == 0
    dump.release()


def test_a_configuration_of_the_users_own_is_refused(ms, place, monkeypatch):
    monkeypatch.setenv(VARIABLE, "/home/user/dump.json")
    with pytest.raises(CannotDebug, match=r"MINDSPORE_DUMP_CONFIG is already set \(/home/user/dump.json\)"):
        Dump(ms.api, Settings(data_root=str(place)))
    assert os.environ[VARIABLE] == "/home/user/dump.json"
    assert not list(place.iterdir())
    assert ms.switch.config == {}


def test_that_of_a_parent_process_is_taken_over(ms, place, monkeypatch):
    monkeypatch.setenv(VARIABLE, "/dev/shm/stepscope_0_77_abcd/dump.json")
    dump = Dump(ms.api, Settings(data_root=str(place)))
    assert os.environ[VARIABLE] == str(dump.config)
    dump.release()
    assert VARIABLE not in os.environ


@pytest.mark.parametrize("missing", ["_dump_step", "_set_init_iter"])
def test_a_mindspore_that_can_not_record_single_steps(missing, ms, place, monkeypatch):
    monkeypatch.delattr(type(ms.switch), missing)
    with pytest.raises(CannotDebug, match=r"MindSpore 2\.10\.0 can't record single steps; 2\.7\.1 or later"):
        Dump(ms.api, Settings(data_root=str(place)))
    assert VARIABLE not in os.environ
    assert not list(place.iterdir())


def test_a_configuration_that_mindspore_does_not_like_reaches_no_compiler(ms, place, monkeypatch):
    def refuse(value: int) -> None:
        raise RuntimeError("the path is bad")

    monkeypatch.setattr(ms.switch, "_set_init_iter", refuse)
    with pytest.raises(RuntimeError, match="the path is bad"):
        Dump(ms.api, Settings(data_root=str(place)))
    assert VARIABLE not in os.environ
    assert not list(place.iterdir())


def test_a_script_that_sets_its_own_configuration_later_is_found_out(dump):
    os.environ[VARIABLE] = "mine.json"
    with pytest.raises(CannotDebug, match=r"already set \(mine.json\)"):
        dump.prepare()
    assert os.environ[VARIABLE] == "mine.json"


def test_a_script_that_clears_the_environment_is_debugged_all_the_same(dump):
    del os.environ[VARIABLE]
    dump.prepare()
    assert os.environ[VARIABLE] == str(dump.config)


def test_released_it_leaves_nothing_behind(dump, ms, place):
    dump.arm(3)
    dump.release()
    assert ms.switch.iteration == 0
    assert VARIABLE not in os.environ
    assert not list(place.iterdir())


def test_released_it_leaves_the_users_own_configuration(dump):
    os.environ[VARIABLE] = "mine.json"
    dump.release()
    assert os.environ[VARIABLE] == "mine.json"


# ------------------------------------------------------------ the switch


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, (1 << 32) - 1), max_size=8))
def test_any_number_is_reached_from_any_other(steps):
    """MindSpore only adds, to 32 bits without a sign."""
    patch = pytest.MonkeyPatch()
    with patch.context() as monkeypatch, tempfile.TemporaryDirectory(dir="/tmp", prefix="place-") as place:
        monkeypatch.delenv(VARIABLE, raising=False)
        ms = FakeMindSpore(monkeypatch)
        dump = Dump(ms.api, Settings(data_root=place))
        for step in steps:
            dump.arm(step)
            assert ms.switch.iteration == step
            assert dump.armed_for(step)
            if step % 2:
                dump.disarm()
                assert ms.switch.iteration == 0
        dump.release()


def test_armed_and_finished(dump, ms):
    assert not dump.armed_for(1)
    assert not dump.finish(1)
    dump.arm(1)
    assert ms.switch.iteration == 1
    assert not dump.finish(2)  # that one was not recorded
    assert ms.switch.iteration == 1
    assert dump.finish(1)
    assert ms.switch.iteration == 0
    assert dump.recorded == {1}


def test_kernels_that_still_run_are_waited_for_before_each_switch(dump, ms):
    at = []
    original = ms.switch._dump_step
    ms.switch._dump_step = lambda step: (at.append(ms.syncs), original(step))
    dump.arm(1)
    dump.finish(1)
    assert at == [1, 2]
    dump.disarm()  # is off
    assert at == [1, 2]


def test_an_error_of_the_users_kernels_comes_out_and_is_known_as_theirs(dump, ms):
    ms.error = error = RuntimeError("label out of range")
    with pytest.raises(RuntimeError) as caught:
        dump.arm(1)
    assert caught.value is dump.kernel_error is error
    assert ms.switch.iteration == 1  # moved all the same: what is armed and what is thought to be agree
    ms.error = ValueError("another")
    with pytest.raises(ValueError, match="another"):
        dump.release()
    assert ms.switch.iteration == 0
    assert VARIABLE not in os.environ
    assert not dump.folder.path.exists()


# ------------------------------------------------------------ what is kept


def test_the_step_and_the_one_before_are_kept(dump, ms):
    for step in (1, 2):
        record(dump, ms, step)
    assert dump.recorded == {1, 2}
    record(dump, ms, 3)
    assert dump.recorded == {2, 3}
    folders = ("rank_0/net/0", "rank_0/net/3", "before")
    assert kept(dump) == {f"{folder}/{step}" for folder in folders for step in (2, 3)}


def test_copies_of_parameters_go_too_where_their_step_was_not_recorded(dump, ms):
    """The copy before the first step, and those before a step that was recorded after a free run."""
    for step in (0, 40, 99):
        (dump.folder.path / "before" / str(step)).mkdir(parents=True)
    dump.arm(100)
    assert kept(dump) == {"before/99"}


def test_without_room_the_step_before_goes_first(dump, ms, monkeypatch):
    record(dump, ms, 1)
    record(dump, ms, 2)
    monkeypatch.setattr(dump.folder, "free_bytes", lambda: 10 * MIB if kept(dump) else 1000 * MIB)
    assert dump.arm(3) == ""
    assert dump.armed_for(3)
    assert dump.recorded == set()
    assert kept(dump) == set()


def test_without_any_room_the_step_is_not_recorded_and_the_user_is_told(dump, ms, free, place):
    dump.expect(300 * MIB)
    free(300 * MIB + 63 * MIB)
    warning = dump.arm(5)
    assert warning == (
        f"step 5 was not recorded: it needs about 300 MiB and {place} has 363 MiB left; free some, "
        "or name another place in STEPSCOPE_DATA_ROOT"
    )
    assert not dump.armed_for(5)
    assert ms.switch.iteration == 0
    free(300 * MIB + 64 * MIB)
    assert dump.arm(5) == ""
    assert dump.armed_for(5)


def test_an_expectation_only_grows(dump, free):
    dump.expect(300 * MIB)
    dump.expect(MIB)
    free(200 * MIB)
    assert "300 MiB" in dump.arm(1)


def test_what_a_step_took_is_expected_of_the_next(dump, free):
    free(1000 * MIB)
    dump.arm(1)
    free(500 * MIB)
    dump.finish(1)
    assert "about 600 MiB" in dump.arm(2)


def test_an_estimate_that_was_too_large_fades(dump, free):
    dump.expect(800 * MIB)
    free(1000 * MIB)
    dump.arm(1)
    free(1000 * MIB - 10 * MIB)
    dump.finish(1)
    free(10 * MIB)
    assert "about 400 MiB" in dump.arm(2)


def test_space_that_someone_else_freed_meanwhile_makes_no_negative_estimate(dump, free):
    free(100 * MIB)
    dump.arm(1)
    free(900 * MIB)
    dump.finish(1)
    free(module._MARGIN)
    assert dump.arm(2) == ""


def test_the_folder_of_the_rank_is_found_once_it_is_there(dump, ms):
    assert dump.rank_folder is None
    ms._folder().step_folder(1)
    assert dump.rank_folder == dump.folder.path / "rank_0"
