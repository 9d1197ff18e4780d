"""The SDK at two members of a cluster while the one that leads is killed: failover.py PORT LEADER.

Callers at both members never repeat a call; those of the leader go on at the other member. An
agent heartbeats, holds a lease, waits for a task and watches throughout. SIGTERM ends the calls;
then all that was acknowledged must be there, once, and what is printed says how the rest went.
"""

import collections
import json
import signal
import sys
import threading
import time

import grpc
from agentkeeper import AgentKeeperClient, AgentStatus, PolicyEffect
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import Heard, begun, connect, eventually

CALLERS = 3
PACE_S = 0.02

over = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: over.set())
acknowledged_at, refusals = [], []
# By type of task whether it was acknowledged; by policy the last turn that was.
tasks, policies = {}, collections.Counter()


def is_done(act):
    try:
        act()
    except grpc.RpcError as error:
        refusals.append(error.code().name)
        return False
    acknowledged_at.append(time.monotonic())
    return True


def work(number, client, elsewhere=None):
    for turn in range(1, 1_000_000):
        if over.wait(PACE_S):
            return
        kind, policy = f"{number}-{turn}", f"p{number}"
        about = ("nobody", "call", str(turn), PolicyEffect.ALLOW)
        tasks[kind] = is_done(lambda: client.create_task(kind))
        is_set = is_done(lambda: client.set_policy(policy, *about))
        if is_set:
            policies[policy] = turn
        elif elsewhere:
            client, elsewhere = elsewhere, None


client = connect()
leader = AgentKeeperClient(host="127.0.0.1", port=int(sys.argv[2]))
created = client._registry.Watch(pb.WatchRequest(topics=["task.created"]))
created.initial_metadata()
heard = collections.Counter()


def listen():
    try:
        for event in created:
            task = pb.Task()
            event.payload.Unpack(task)
            heard[task.type] += 1
    except grpc.RpcError:
        pass


threading.Thread(target=listen, daemon=True).start()
ailing = Heard()
with begun(client.watch(["agent.unreachable", "agent.died"], ailing)):
    agent = client.register("steady", "", "1", ttl=4)
    lease = client.acquire_lease("task:kept", agent.agent_id, ttl=120)
    token = lease.lease.token
    waiting = client._task.ClaimTask.future(pb.ClaimTaskRequest(agent_id=agent.agent_id))
    places = [(client,), (leader, client)] * CALLERS
    callers = [
        threading.Thread(target=work, args=(number, *place), daemon=True)
        for number, place in enumerate(places)
    ]
    began_at = time.monotonic()
    for caller in callers:
        caller.start()
    eventually(lambda: len(acknowledged_at) > 20)
    print("begun", flush=True)
    over.wait()
    for caller in callers:
        caller.join(30)
        assert not caller.is_alive(), "a call never ended"

    assert client.get_agent(agent.agent_id).status == AgentStatus.ALIVE
    assert lease.renew().token == token, "the lease is another one"
    assert waiting.result(10).task.claimed_by_agent_id == agent.agent_id
    known = {name for name, is_known in tasks.items() if is_known}
    eventually(lambda: known <= set(heard))
    ill = [event for event in ailing.all if event.payload.agent_id == agent.agent_id]
    assert ill == [], ill

listed = collections.Counter(task.type for task in client.list_tasks())
for count in (listed, heard):
    assert known <= set(count), f"lost: {known - set(count)}"
    twice = [name for name in tasks if count[name] > 1]
    assert twice == [], f"twice: {twice}"
found = {policy.id: int(policy.resource) for policy in client.list_policies("nobody")}
for policy, turn in policies.items():
    assert found[policy] >= turn, f"{policy} is {found[policy]}, {turn} was acknowledged"
times = [began_at, *sorted(acknowledged_at)]
print(
    json.dumps(
        {
            "acknowledged": len(acknowledged_at),
            "refused": collections.Counter(refusals),
            "silentMs": round(1000 * max(b - a for a, b in zip(times, times[1:]))),
        }
    )
)
