"""The calls of the seed's "Writing clients", as it has them, at the runtime that is named."""

import asyncio
import os
import sys

from arcp import ClientInfo, WebSocketTransport
from arcp.client import ARCPClient


async def main() -> None:
    transport = await WebSocketTransport.connect(sys.argv[1])
    client = ARCPClient(
        client=ClientInfo(name="my-client", version="1.0.0"),
        token=os.environ["TOKEN"],
    )
    await client.connect(transport)
    try:
        handle = await client.submit(
            agent="weekly-report",
            input={"week": "2026-W19"},
            lease_request={"net.fetch": ["s3://example/**"]},
            idempotency_key="weekly-report-2026-W19",
        )
        async for event in handle.events():
            print(event["kind"])
        result = await handle.done
        print(result.result)
        endless = await client.submit(agent="endless")
        await client.cancel_job(endless.job_id)
        print((await endless.done).final_status)
    finally:
        await client.close()


asyncio.run(main())
