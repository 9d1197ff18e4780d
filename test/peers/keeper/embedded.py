"""The SDK starts the daemon itself: several at once, and with a folder that outlives it."""

import sys

import grpc
from agentkeeper import AgentKeeperClient, AgentStatus, PolicyEffect
from peer import Heard, begun, in_background, refused

with AgentKeeperClient.embedded() as one, AgentKeeperClient.embedded() as two:
    with one.register("here", "", "1") as agent:
        assert [each.card.name for each in one.find()] == ["here"]
        assert two.find() == [], "two daemons know nothing of each other"
        with refused(grpc.StatusCode.NOT_FOUND):
            two.get_agent(agent.agent_id)

folder = sys.argv[1]
with AgentKeeperClient.embedded(data_dir=folder) as client:
    kept = client.register("kept", "survives", "1", tools=["x"])
    client.set_policy("p", "agent:*", "call", "tool:*", PolicyEffect.ALLOW)
    token = client.acquire_lease("t", kept.agent_id, ttl=600).lease.token
    term = client.campaign("g", kept.agent_id).term
    task = client.create_task("any", b"in")
    # Who waits and who watches when it stops is told, not left hanging.
    waiting = in_background(lambda: client.claim_task(client.register("w", "", "1").agent_id).id)
    assert waiting() == task.id
    blocked = in_background(lambda: client.claim_task(kept.agent_id))
    with begun(client.watch([], Heard())):
        client._daemon.stop()
        with refused(grpc.StatusCode.UNAVAILABLE):
            blocked()

with AgentKeeperClient.embedded(data_dir=folder) as client:
    assert client.get_agent(kept.agent_id).status == AgentStatus.ALIVE
    assert client.check_policy("agent:a", "call", "tool:x").allowed
    assert client.campaign("g", kept.agent_id).term == term
    other = client.register("other", "", "1")
    assert client.acquire_lease("t", other.agent_id) is None, "still held"
    assert client.acquire_lease("u", other.agent_id).lease.token > token, "tokens never fall"
    assert client.get_task(task.id).input == b"in"
