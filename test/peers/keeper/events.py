"""The bus: topics by prefix, one sequence without gaps, replay from a sequence."""

from datetime import timedelta

import grpc
from agentkeeper import AgentInfo, ElectionState, Lease, PolicyEffect
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import Heard, begun, connect, refused

client = connect()
everything, agents, several = Heard(), Heard(), Heard()
with (
    begun(client.watch([], everything)),
    begun(client.watch(["agent."], agents)),
    begun(client.watch(["agent.died", "leader."], several)),
):
    with client.register("a", "", "1") as agent:
        with client.acquire_lease("t", agent.agent_id) as lease:
            lease.renew(60)
        client.campaign("g", agent.agent_id)
        client.set_policy("p", "*", "*", "*", PolicyEffect.ALLOW)
        client.delete_policy("p")
        task = client.create_task("any")
        client.claim_task(agent.agent_id)
        client.complete_task(task.id, agent.agent_id)
    everything.topic("agent.died")
    everything.topic("leader.changed", 2)
    agents.topic("agent.died")
    several.topic("leader.changed", 2)

payloads = {event.topic: event.payload for event in everything.all}
for topic, kind in {
    "agent.registered": AgentInfo,
    "agent.died": AgentInfo,
    "lease.acquired": Lease,
    "lease.renewed": Lease,
    "lease.released": Lease,
    "leader.changed": ElectionState,
}.items():
    assert isinstance(payloads[topic], kind), topic
# Topics that the SDK does not know arrive all the same, without a payload it could take.
for topic in ("task.created", "task.claimed", "task.completed", "policy.set", "policy.deleted"):
    assert payloads[topic] is None, topic

# "datetime (UTC)"
assert all(event.timestamp.utcoffset() == timedelta(0) for event in everything.all)

sequences = [event.sequence for event in everything.all]
assert sequences == list(range(sequences[0], sequences[0] + len(sequences))), sequences
times = [event.timestamp for event in everything.all]
assert times == sorted(times)
assert [event.topic for event in agents.all] == ["agent.registered", "agent.died"]
topics = [event.topic for event in several.all]
assert topics == ["leader.changed", "agent.died", "leader.changed"], topics


def replay(start, topics=()):
    metadata = [("rollcall-from-sequence", str(start))]
    return client._registry.Watch(pb.WatchRequest(topics=topics), metadata=metadata)


middle = sequences[3]
call = replay(middle)
seen = [next(call).sequence_number for _ in range(len(sequences) - 4)]
assert seen == sequences[4:], "everything after it, once each"
with client.register("b", "", "1"):
    assert next(call).sequence_number == sequences[-1] + 1, "then live, without a gap"
call.cancel()

event = next(replay(0, ["task.created"]))
made = pb.Task()
assert event.payload.type_url == "type.googleapis.com/agentkeeper.v1.Task"
assert event.payload.Unpack(made) and made.id == task.id
with refused(grpc.StatusCode.OUT_OF_RANGE, "read the state anew"):
    next(replay(10**9))
with refused(grpc.StatusCode.INVALID_ARGUMENT, "rollcall-from-sequence"):
    next(replay("soon"))
with refused(grpc.StatusCode.INVALID_ARGUMENT, "topics has 65 entries"):
    next(client._registry.Watch(pb.WatchRequest(topics=["x"] * 65)))
now = client._registry.Watch(pb.WatchRequest())
assert int(dict(now.initial_metadata())["rollcall-sequence"]) > sequences[-1]
now.cancel()

# "Stop receiving events": while others still hear, who cancelled does not.
stopped, still = Heard(), Heard()
begun(client.watch(["agent."], stopped)).cancel()
heard_before = len(everything.all)
with begun(client.watch(["agent."], still)):
    client.register("unheard", "", "1").deregister()
    still.topic("agent.died")
assert stopped.all == [] and len(everything.all) == heard_before
