"""MindSpore's dump directories: names, files, steps, values."""

from stepscope.replay.mindspore.recording import Recording

__all__ = ["Recording"]
