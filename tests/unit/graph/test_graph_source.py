"""Source frames out of MindSpore's stack texts."""

from __future__ import annotations

import pytest

from stepscope.core.graph.source import Frame, frames, parse_line, runs_through

FORWARD = """
      # In file /env/lib/python3.11/site-packages/mindspore/nn/norm.py:145~149, 23~58/           return self.bn(x,/
      # In file /env/lib/python3.11/site-packages/mindspore/nn/norm.py:135~174, 4~21/    def construct(self, x):/
      # In file /home/user/net.py:35, 56~63/    def construct(self,x): return self.fc(self.bn(self.conv(x)))/
      # In file /home/user/net.py:35, 4~80/    def construct(self,x): return self.fc(self.bn(self.conv(x)))/
      # In file /home/user/train.py:12, 8~20/        loss = self.net(x[0:3/1])/
      # In file /home/user/train.py:10~14, 4~20/    @jit/
"""

BACKWARD = """
      # Corresponding forward node candidate:
      #  - In file /home/user/网络 (副本)/net:v2.py:31, 12~21/        x = self.relu(self.fc1(x))/
      #    In file /home/user/网络 (副本)/net:v2.py:26~32, 4~26/    def construct(self, x):/
"""

OLD = """
In file /home/user/old(1)/net.py(123)/    x = self.conv(a[1:2/1])/
In file /home/user/old(1)/net.py:7/    y = x/
"""


def test_forward_frames_come_innermost_first_with_the_functions_that_they_stand_in() -> None:
    library = "/env/lib/python3.11/site-packages/mindspore/nn/norm.py"
    assert frames(FORWARD) == (
        Frame(library, 145, "construct", "return self.bn(x,", user=False),
        Frame("/home/user/net.py", 35, "construct", "def construct(self,x): return self.fc(self.bn(self.conv(x)))"),
        Frame("/home/user/train.py", 12, "", "loss = self.net(x[0:3/1])"),
    )


def test_backward_nodes_have_the_frames_of_their_forward_node() -> None:
    assert frames(BACKWARD) == (
        Frame("/home/user/网络 (副本)/net:v2.py", 31, "construct", "x = self.relu(self.fc1(x))"),
    )


def test_older_forms() -> None:
    assert [(frame.file, frame.line, frame.text) for frame in frames(OLD)] == [
        ("/home/user/old(1)/net.py", 123, "x = self.conv(a[1:2/1])"),
        ("/home/user/old(1)/net.py", 7, "y = x"),
    ]


@pytest.mark.parametrize("text", ["", "\n", "nothing to see", "In file", "In file x", "In file :/"])
def test_text_without_frames(text: str) -> None:
    assert frames(text) == ()


@pytest.mark.parametrize(
    ("file", "user"),
    [
        ("/home/user/net.py", True),
        ("/home/user/lib/python_helpers/net.py", True),
        ("/usr/lib/python3.11/functools.py", False),
        ("/usr/lib/python3/dist-packages/six.py", False),
        ("C:\\Python\\Lib\\site-packages\\mindspore\\ops.py", False),
        ("<frozen importlib>", False),
        ("/env/lib/python3.11/site-packages/stepscope/demo/mindspore_train.py", True),
        ("/env/lib/python3.11/site-packages/stepscope/probe/bootstrap.py", False),
        ("<ipython-input-3-abc>", True),
    ],
)
def test_whose_code_it_is(file: str, user: bool) -> None:
    (frame,) = frames(f"# In file {file}:1, 2~3/x/")
    assert (frame.file, frame.user) == (file, user)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("net.py:35", True),
        ("net.py", True),
        ("user/net.py:35", True),
        ("/home/user/net.py:35", True),
        ("net.py:36", False),
        ("et.py:35", False),
        ("norm.py:145", False),  # not the user's code
        ("train.py:12", True),
        ("train.py:10", False),  # where the function begins, no frame runs
    ],
)
def test_which_stacks_run_through_a_line(text: str, found: bool) -> None:
    assert runs_through(FORWARD, *parse_line(text)) is found


def test_a_line_as_text() -> None:
    assert parse_line("a:b/net.py:7") == ("a:b/net.py", 7)
    assert parse_line("a:b/net.py") == ("a:b/net.py", None)
