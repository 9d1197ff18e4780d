"""The real RegistryClient's background heartbeats, a line of JSON for what came of each:

    heartbeats.py REGISTRY CARD
"""

import asyncio
import json
import sys

from a2a_registry import AgentCard, RegistryClient


class Told(RegistryClient):
    async def send_once(self):
        answer = await super().send_once()
        print(json.dumps({"isVerified": bool(answer and answer.verified)}), flush=True)
        return answer


async def main() -> None:
    registry, card = sys.argv[1:]
    async with Told(registry, AgentCard.model_validate_json(card), interval=1):
        await asyncio.sleep(120)


asyncio.run(main())
