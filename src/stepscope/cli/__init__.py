"""The command line: a table of commands, each a module that names its options and does one thing.

What a user did wrong, or what the surroundings don't allow, is a `Failure`: one line on stderr, never a traceback.
"""
