"""What the real registry answers to bodies, and how it lists cards; no network, both from stdin."""

import asyncio
import json
import sys

import httpx
from a2a_registry import AgentCard, AgentRegistryServer
from a2a_registry.server.app import HEARTBEAT_ENDPOINT


async def unverified(_server, _card):
    return None


AgentRegistryServer._fetch_agent_card = unverified


async def main(asked: dict) -> dict:
    server = AgentRegistryServer()
    transport = httpx.ASGITransport(app=server.create_app())
    headers = {"content-type": "application/json"}
    answers, listings = [], []
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as http:
        for body in asked["bodies"]:
            answer = await http.post(HEARTBEAT_ENDPOINT, content=body.encode(), headers=headers)
            answers.append(answer.json().get("detail"))
        for text in asked["cards"]:
            card = AgentCard.model_validate_json(text)
            await server.provider.upsert(card, 60)
            await server.provider.mark_verified(card.effective_url)
            versions = ("0.3", "1.0")
            lists = [
                await http.get("/.well-known/agents", headers={"A2A-Version": version})
                for version in versions
            ]
            listings.append([each.text[1:-1] for each in lists])
            await server.provider.unregister(card.effective_url)
    return {"answers": answers, "listings": listings}


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
