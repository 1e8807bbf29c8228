"""The gRPC service that training processes connect to."""
