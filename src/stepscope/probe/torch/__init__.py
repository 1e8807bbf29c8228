"""The probe for PyTorch: the graph of the real step by a dispatch mode, and pauses inside it."""
