"""What the scripts of this folder share: a client of the runtime under test, and ways to wait."""

import asyncio
import sys
from contextlib import asynccontextmanager

from arcp import ClientInfo, WebSocketTransport
from arcp.client import ARCPClient

URL = sys.argv[1]
DEADLINE_S = 15


@asynccontextmanager
async def connected(token="tok", **options):
    client = ARCPClient(client=ClientInfo(name="peer", version="1.0.0"), token=token, **options)
    await client.connect(await WebSocketTransport.connect(URL))
    try:
        yield client
    finally:
        await client.close()


async def events_of(handle):
    return [event async for event in handle.events()]


def messages(events):
    return [event["body"]["message"] for event in events if event["kind"] == "log"]


@asynccontextmanager
async def raises(kind, text=""):
    """The block must raise this, with a message that holds the text."""
    try:
        yield
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"nothing raised {kind.__name__}")


def run(main):
    """Runs it, within a deadline."""
    asyncio.run(asyncio.wait_for(main(), DEADLINE_S))
