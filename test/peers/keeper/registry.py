"""Agents register, heartbeat, fall silent and die; a death takes leases and leadership along."""

import grpc
from agentkeeper import AgentStatus
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import Heard, begun, connect, crash, eventually, refused

client = connect()

with client.register(
    name="analyst-1",
    description="Reads data and produces summaries",
    version="2.1.0",
    tools=["sql_runner", "pdf_reader"],
    metadata={"team": "data", "region": "us-east"},
    ttl=30,
) as agent:
    assert len(agent.agent_id) == 32
    info = client.get_agent(agent.agent_id)
    assert info.status == AgentStatus.ALIVE
    assert info.card.name == "analyst-1"
    assert info.card.description == "Reads data and produces summaries"
    assert info.card.version == "2.1.0"
    assert info.card.tools == ["sql_runner", "pdf_reader"]
    assert info.card.metadata == {"team": "data", "region": "us-east"}

    def is_heartbeat_seen():
        client._registry.Heartbeat(pb.HeartbeatRequest(agent_id=agent.agent_id))
        seen = client.get_agent(agent.agent_id)
        assert seen.registered_at == info.registered_at
        return seen.last_heartbeat_at > info.last_heartbeat_at

    eventually(is_heartbeat_seen)
# "Agent deregistered automatically on exit": dead at once, and still known.
assert client.get_agent(agent.agent_id).status == AgentStatus.DEAD
with refused(grpc.StatusCode.NOT_FOUND, "is dead"):
    client._registry.Heartbeat(pb.HeartbeatRequest(agent_id=agent.agent_id))
with refused(grpc.StatusCode.NOT_FOUND, "no agent nobody"):
    client.get_agent("nobody")
with refused(grpc.StatusCode.INVALID_ARGUMENT, "agent_id is empty"):
    client.get_agent("")
with refused(grpc.StatusCode.INVALID_ARGUMENT, "card.name is empty"):
    client.register("", "", "")
with refused(grpc.StatusCode.INVALID_ARGUMENT, "card is not set"):
    client._registry.Register(pb.RegisterRequest(ttl_seconds=30))
with refused(grpc.StatusCode.INVALID_ARGUMENT, "ttl_seconds"):
    client.register("a", "", "", ttl=1_000_000)

# "An agent that stops heartbeating transitions ALIVE → UNREACHABLE → DEAD. Once DEAD, all its
# leases are released and it is removed from elections."
heard = Heard()
with begun(client.watch([], heard)):
    silent = client.register("silent", "", "1", ttl=1)
    standby = client.register("standby", "", "1", ttl=30)
    lease = client.acquire_lease("task:of-silent", silent.agent_id, ttl=120)
    first = client.campaign("group:registry", silent.agent_id)
    assert first.leader_agent_id == silent.agent_id
    client.campaign("group:registry", standby.agent_id)
    crash(silent)
    of_silent = lambda event: getattr(event.payload, "agent_id", "") == silent.agent_id
    unreachable = heard.wait_for(lambda e: e.topic == "agent.unreachable" and of_silent(e))
    assert unreachable.payload.status == AgentStatus.UNREACHABLE
    died = heard.wait_for(lambda e: e.topic == "agent.died" and of_silent(e))
    assert died.payload.status == AgentStatus.DEAD
    released = heard.topic("lease.released")
    assert released.payload.token == lease.lease.token
    changed = heard.topic("leader.changed", 2)
    assert changed.payload.leader_agent_id == standby.agent_id
    assert changed.payload.term > first.term
    assert client.get_agent(silent.agent_id).status == AgentStatus.DEAD
    assert client.acquire_lease("task:of-silent", standby.agent_id).lease.token > lease.lease.token

# "background thread sends Heartbeat every ttl/2 seconds automatically": it outlives its ttl.
heard = Heard()
with begun(client.watch(["agent.unreachable"], heard)):
    with client.register("lively", "", "1", ttl=2) as lively:
        def age():
            info = client.get_agent(lively.agent_id)
            assert info.status == AgentStatus.ALIVE
            return (info.last_heartbeat_at - info.registered_at).total_seconds()

        eventually(lambda: age() > 2.5)
    assert heard.all == []

# "a heartbeat while UNREACHABLE brings the agent back to ALIVE"
late = client.register("late", "", "1", ttl=1)
crash(late)
status = lambda: client.get_agent(late.agent_id).status
eventually(lambda: status() == AgentStatus.UNREACHABLE)
client._registry.Heartbeat(pb.HeartbeatRequest(agent_id=late.agent_id))
assert status() == AgentStatus.ALIVE
