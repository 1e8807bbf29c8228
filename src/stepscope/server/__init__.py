"""The debugger service: one asyncio process with the gRPC service for agents, the web API and its events."""
