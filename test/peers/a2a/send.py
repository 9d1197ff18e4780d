"""Sends the heartbeats it is told to with the real RegistryClient, and prints what came back.

One argument: {"registry": URL, "cards": [CARD, …], "options": {…}} as JSON. What it prints is a
list with [verified, interval] for each card; null where the client gave up.
"""

import asyncio
import json
import sys

from a2a_registry import AgentCard, RegistryClient


async def main() -> None:
    told = json.loads(sys.argv[1])
    answers = []
    for card in told["cards"]:
        client = RegistryClient(
            told["registry"], AgentCard.model_validate(card), interval=30, **told["options"]
        )
        answer = await client.send_once()
        answers.append(answer and [answer.verified, client.interval])
    print(json.dumps(answers))


asyncio.run(main())
