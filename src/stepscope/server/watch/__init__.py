"""Watchpoints on the server: they are kept and counted here, and evaluated next to the data."""
