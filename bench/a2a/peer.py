"""The peer: uvicorn with uvloop, one process, no access log; which parser is told."""

import sys

import uvicorn
from a2a_registry import AgentRegistryServer

parser = sys.argv[1]
host, port = sys.argv[2].split(":")
uvicorn.run(
    AgentRegistryServer().create_app(),
    host=host,
    port=int(port),
    loop="uvloop",
    http=parser,
    log_level="error",
    access_log=False,
)
