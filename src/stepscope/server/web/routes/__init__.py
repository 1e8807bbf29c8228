"""The web API, one file a subject."""
