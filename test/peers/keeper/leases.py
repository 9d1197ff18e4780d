"""One agent at a time works on a task; tokens grow, and old ones are refused."""

import grpc
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import Heard, begun, connect, refused

client = connect()
one = client.register("one", "", "1")
two = client.register("two", "", "1")

lease = client.acquire_lease("task:invoice-42", one.agent_id, ttl=120)
assert lease and lease.lease.holder_agent_id == one.agent_id
assert (lease.lease.expires_at - lease.lease.acquired_at).total_seconds() == 120
assert client.acquire_lease("task:invoice-42", two.agent_id) is None, "held by another"
again = client.acquire_lease("task:invoice-42", one.agent_id, ttl=120)
assert again.lease.token == lease.lease.token, "the holder gets its own lease back"
before = lease.lease.expires_at
assert lease.renew(ttl=240).expires_at > before
assert lease.renew().token == again.lease.token


def renew(task_id, agent_id, **token):
    client._lease.RenewLease(pb.RenewLeaseRequest(task_id=task_id, agent_id=agent_id, **token))


def release(task_id, agent_id, **token):
    client._lease.ReleaseLease(pb.ReleaseLeaseRequest(task_id=task_id, agent_id=agent_id, **token))


wrong = pb.FencingToken(value=lease.lease.token + 1)
right = pb.FencingToken(value=lease.lease.token)
for act in (renew, release):
    with refused(grpc.StatusCode.PERMISSION_DENIED, "does not hold task:invoice-42"):
        act("task:invoice-42", one.agent_id, token=wrong)
    with refused(grpc.StatusCode.PERMISSION_DENIED):
        act("task:invoice-42", two.agent_id, token=right)
    with refused(grpc.StatusCode.NOT_FOUND, "no lease on task:other"):
        act("task:other", one.agent_id, token=right)
    with refused(grpc.StatusCode.NOT_FOUND, "no agent nobody"):
        act("task:invoice-42", "nobody", token=right)
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "token is not set"):
        act("task:invoice-42", one.agent_id)
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "token is 18446744073709551615"):
        act("task:invoice-42", one.agent_id, token=pb.FencingToken(value=2**64 - 1))

with lease:
    pass
# "lease.release() called automatically on exit": the next one gets a higher token.
taken = client.acquire_lease("task:invoice-42", two.agent_id)
assert taken.lease.token > lease.lease.token
with refused(grpc.StatusCode.PERMISSION_DENIED):
    lease.renew()
with refused(grpc.StatusCode.INVALID_ARGUMENT, "task_id is empty"):
    client.acquire_lease("", one.agent_id)

heard = Heard()
with begun(client.watch(["lease."], heard)):
    short = client.acquire_lease("task:short", one.agent_id, ttl=1)
    expired = heard.topic("lease.expired")
    assert expired.payload.task_id == "task:short"
    assert expired.payload.token == short.lease.token
    with refused(grpc.StatusCode.NOT_FOUND):
        short.renew()
