"""The peer at its fastest: uvicorn with uvloop and httptools, one process, no access log."""

import sys

import uvicorn
from a2a_registry import AgentRegistryServer

host, port = sys.argv[1].split(":")
uvicorn.run(
    AgentRegistryServer().create_app(),
    host=host,
    port=int(port),
    loop="uvloop",
    http="httptools",
    log_level="error",
    access_log=False,
)
