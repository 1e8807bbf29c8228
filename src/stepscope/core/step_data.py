"""Names in the folder of step data, which a probe writes and its agent reads."""

NET = "net"  # MindSpore's dump: rank_*/net/<graph>/<step>
BEFORE = "before"  # copies of the parameters as they were after a step, before the next: before/<step>
ASIDE = "aside"  # steps that nobody shall read any more, to be removed when there is time
COUNTER = "step"  # a file of 8 bytes, little-endian: the last step
