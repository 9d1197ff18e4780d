"""The real client, as its page shows it: client.py VERSION REGISTRY_URL, with cards on stdin.

For each card it says what a single heartbeat came to, then it heartbeats in the background until
the registry lists all of them.
"""

import asyncio
import importlib.metadata
import json
import sys
from contextlib import AsyncExitStack

import httpx
from a2a_registry import AgentCard, RegistryClient

VERSION, URL = sys.argv[1:]
assert importlib.metadata.version("oo-a2a-registry") == VERSION


async def listed() -> list:
    async with httpx.AsyncClient() as http:
        return (await http.get(URL + "/.well-known/agents")).raise_for_status().json()


async def main() -> None:
    cards = [AgentCard.model_validate(card) for card in json.loads(sys.stdin.read())]
    clients = [RegistryClient(URL, card, interval=30) for card in cards]
    results = [await client.send_once() for client in clients]
    async with AsyncExitStack() as running:
        for client in clients:
            await running.enter_async_context(client)
        found = await listed()
        parsed = [AgentCard.model_validate(card) for card in found]
    print(
        json.dumps(
            {
                "results": [result and result.model_dump() for result in results],
                "intervals": [client.interval for client in clients],
                "listed": found,
                "urls": [card.effective_url for card in parsed],
            }
        )
    )


asyncio.run(main())
