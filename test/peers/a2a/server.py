"""The real registry on a free port of loopback: server.py VERSION."""

import importlib.metadata
import socket
import sys

import uvicorn
from a2a_registry import AgentRegistryServer

assert importlib.metadata.version("oo-a2a-registry") == sys.argv[1]

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
app = AgentRegistryServer(fetch_timeout=2.0).create_app()
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
