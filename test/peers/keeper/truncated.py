"""A watcher whose place in the log is gone is told so, and where to go on from."""

import re

import grpc
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import connect, refused

client = connect()


def watch(start):
    metadata = [("rollcall-from-sequence", str(start))]
    return client._registry.Watch(pb.WatchRequest(), metadata=metadata)


try:
    next(watch(1))
except grpc.RpcError as error:
    assert error.code() == grpc.StatusCode.OUT_OF_RANGE, error
    assert "read the state anew" in error.details()
    place = int(re.search(r"watch from (\d+)", error.details())[1])
else:
    raise AssertionError("what is gone was told")

# The state has what the log no longer tells; from the place named nothing is missed.
assert [policy.id for policy in client.list_policies()] == ["kept"]
call = watch(place)
with client.register("new", "", "1") as agent:
    event = next(call)
    assert (event.sequence_number, event.topic) == (place + 1, "agent.registered")
call.cancel()
with refused(grpc.StatusCode.OUT_OF_RANGE):
    next(watch(0))
