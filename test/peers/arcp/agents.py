"""The real Python runtime with agents for every case: over a WebSocket, or over stdio."""

import asyncio
import sys

from arcp import RuntimeInfo, StdioTransport, serve_websocket
from arcp.runtime import ARCPRuntime, StaticBearerVerifier


async def echo(input_value, ctx):
    await ctx.log("info", "echo started")
    return {"echoed": input_value}


async def kinds(_input, ctx):
    await ctx.log("debug", "hello", {"k": 1})
    await ctx.thought("hmm")
    await ctx.status("phase1", "msg")
    await ctx.metric({"name": "tokens.in", "value": 10, "unit": "tokens"})
    await ctx.metric({"name": "cost.inference", "value": 0.0234, "unit": "USD"})
    await ctx.tool_call({"tool_call_id": "c1", "name": "search", "arguments": {"q": "x"}})
    await ctx.tool_result({"tool_call_id": "c1", "output": [1, 2]})
    await ctx.progress(1, total=3, units="files", message="one")
    job = ctx.job
    await job.emit_event(
        "artifact_ref", {"artifact_id": "a", "uri": "arcp://a/1", "media_type": "text/plain"}
    )
    await job.emit_event("delegate", {"child_job_id": "job_x", "agent": "child"})
    await job.emit_event("x-vendor.acme.thing", {"i": 1})


async def spend(_input, ctx):
    for _ in range(20):
        await ctx.metric({"name": "cost.inference", "value": 0.4, "unit": "USD"})
        ctx.authorize("tool.call", "search")
        await ctx.log("info", "spent")


async def chunks(_input, ctx):
    stream = ctx.stream_result()
    await stream.write("grüße ")
    await stream.write(b"\x00\x01")
    await stream.close(summary="done")


async def text(_input, ctx):
    stream = ctx.stream_result()
    for part in ("one ", "two ", "drei ü"):
        await stream.write(part)
    await stream.close()


async def fail(_input, _ctx):
    raise ValueError("it broke")


async def slow(input_value, ctx):
    options = input_value or {}
    for i in range(options.get("n", 20)):
        await ctx.log("info", f"tick-{i}")
        await asyncio.sleep(options.get("d", 0.05))
    return "finished"


async def index(input_value, ctx):
    options = input_value or {}
    total = options.get("n", 10)
    for i in range(total):
        await ctx.metric({"name": "cost.inference", "value": 0.031, "unit": "USD"})
        await ctx.progress(i + 1, total=total, units="files", message=f"src/file-{i}.ts")
        if i % 4 == 3:
            await ctx.log("warn", f"slow disk \x1b[31m{i}\x1b[0m")
        await asyncio.sleep(options.get("d", 0.2))
    return {"files": total}


async def refactor_1(_input, _ctx):
    return "v1"


async def refactor_2(_input, _ctx):
    return "v2"


def make_runtime() -> ARCPRuntime:
    runtime = ARCPRuntime(
        runtime=RuntimeInfo(name="python-peer", version="1.1.3"),
        bearer=StaticBearerVerifier({"tok": "me@example.com"}),
        max_concurrent_jobs=8,
    )
    for agent in (echo, kinds, spend, chunks, text, fail, slow, index):
        runtime.register_agent(agent.__name__, agent)
    runtime.register_agent_version("refactor", "1.0.0", refactor_1)
    runtime.register_agent_version("refactor", "2.0.0", refactor_2)
    runtime.set_default_agent_version("refactor", "2.0.0")
    return runtime


async def over_websocket() -> None:
    server = await serve_websocket(make_runtime().accept, host="127.0.0.1", port=0, path="/arcp")
    async with server:
        inner = getattr(server, "_server", server)
        port = next(iter(inner.sockets)).getsockname()[1]
        print(f"listening on ws://127.0.0.1:{port}/arcp", flush=True)
        await asyncio.Future()


async def over_stdio() -> None:
    await make_runtime().accept(await StdioTransport.from_std_streams())


asyncio.run(over_stdio() if "stdio" in sys.argv else over_websocket())
