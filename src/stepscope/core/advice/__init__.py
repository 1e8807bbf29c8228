"""What can be told of a tensor beyond its figures: where a bad value comes from, and what the data say of it."""
