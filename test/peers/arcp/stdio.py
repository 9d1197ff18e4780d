"""The real Python client over stdio: our runtime is its child."""

import asyncio
import sys

from arcp import ClientInfo, StdioTransport
from arcp.client import ARCPClient


async def main():
    child = await asyncio.create_subprocess_exec(
        *sys.argv[1:], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        client = ARCPClient(client=ClientInfo(name="peer", version="1.0.0"), token="tok")
        await client.connect(await StdioTransport.from_process_pipes(child))
        handle = await client.submit(agent="echo", input={"hi": "grüße"})
        events = [event async for event in handle.events()]
        assert [event["body"]["message"] for event in events] == ["echo started"], events
        assert (await handle.done).result == {"echoed": {"hi": "grüße"}}
        # A result that fits no line of 64 KiB comes in parts.
        handle = await client.submit(agent="large")
        await handle.done
        assert len(await handle.collect_chunks()) > 2_000_000
        await client.close()
    finally:
        child.kill()
        await child.wait()


asyncio.run(asyncio.wait_for(main(), 15))
