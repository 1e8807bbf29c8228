"""The tuning guide of one tensor, and where its fault came from."""
