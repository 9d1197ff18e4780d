"""The Python runtime with the agents of runtime.ts: in memory, or with the file it is given."""

import asyncio
import sys

from arcp import RuntimeInfo, serve_websocket
from arcp.runtime import ARCPRuntime, SqliteEventLog, StaticBearerVerifier

LINE = "a line of what the agent does"
host, port = sys.argv[1].split(":")
path = sys.argv[2] if len(sys.argv) > 2 else None


async def echo(input_value, ctx):
    await ctx.log("info", LINE)
    return {"echoed": input_value}


async def chatty(_input, ctx):
    for _ in range(1000):
        await ctx.log("info", LINE)


async def main() -> None:
    runtime = ARCPRuntime(
        runtime=RuntimeInfo(name="peer", version="1.1.3"),
        bearer=StaticBearerVerifier({"tok": "me@example.com"}),
        event_log=SqliteEventLog(path) if path else None,
    )
    runtime.register_agent("echo", echo)
    runtime.register_agent("chatty", chatty)
    async with await serve_websocket(runtime.accept, host=host, port=int(port), path="/arcp"):
        await asyncio.Future()


asyncio.run(main())
