"""Agents are found by their tools, all of them, while they are alive."""

import grpc
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import connect, refused

client = connect()
scraper = client.register("scraper", "Fetches web pages", "1", tools=["browser", "http_client"])
reader = client.register("reader", "Reads files", "1", tools=["pdf_reader", "http_client"])
writer = client.register("writer", "Writes prose", "1")


def names(**wanted):
    return [agent.card.name for agent in client.find(**wanted)]


assert set(names()) == {"scraper", "reader", "writer"}
# "Hard filter by tools — only returns agents that have ALL listed tools"
assert set(names(tools=["http_client"])) == {"scraper", "reader"}
assert names(tools=["browser", "http_client"]) == ["scraper"]
assert names(tools=["browser", "pdf_reader"]) == []
assert names(query="fetch and parse web pages", tools=["browser"], limit=5) == ["scraper"]
# "Semantic search — returns agents ranked by relevance to the query"
assert names(query="crawl a site and pull out its text")[0] == "scraper"
assert names(query="compose an essay")[0] == "writer"
assert len(names(limit=2)) == 2
assert len(names(limit=0)) == 3, "0 is a sensible default"
# Newest heartbeat first.
for each in (writer, reader, scraper):
    client._registry.Heartbeat(pb.HeartbeatRequest(agent_id=each.agent_id))
    found = client.find()
    heartbeats = [agent.last_heartbeat_at for agent in found]
    assert heartbeats == sorted(heartbeats, reverse=True)
scraper.deregister()
assert names(tools=["browser"]) == []
with refused(grpc.StatusCode.INVALID_ARGUMENT, "limit"):
    client.find(limit=1_000_000)
