"""Stays registered as long as it runs, with the real RegistryClient's background heartbeats."""

import asyncio
import json
import sys

from a2a_registry import AgentCard, RegistryClient


async def main() -> None:
    told = json.loads(sys.argv[1])
    card = AgentCard.model_validate(told["card"])
    async with RegistryClient(told["registry"], card, interval=1):
        print("started", flush=True)
        await asyncio.sleep(60)


asyncio.run(main())
