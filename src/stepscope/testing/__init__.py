"""Fakes for tests, of users too: a training that needs no framework, and a server in a thread."""
