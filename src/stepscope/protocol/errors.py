"""What is raised for bytes that are no message of the protocol."""

from google.protobuf.message import DecodeError

__all__ = ["DecodeError"]
