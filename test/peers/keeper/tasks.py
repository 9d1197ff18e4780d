"""The queue: claims that wait, in order; completion, failure, requeue and the end."""

import grpc
from agentkeeper import TaskStatus
from agentkeeper.v1 import agentkeeper_pb2 as pb
from peer import connect, crash, eventually, in_background, refused

client = connect()
worker = client.register("worker", "", "1", tools=["browser"])
other = client.register("other", "", "1")

made = client.create_task("scrape", b"\x00in\xff", required_tools=["browser"], max_retries=1)
assert made.status == TaskStatus.PENDING and made.input == b"\x00in\xff"
claimed = client.claim_task(worker.agent_id)
assert (claimed.id, claimed.status) == (made.id, TaskStatus.CLAIMED)
assert claimed.claimed_by_agent_id == worker.agent_id and claimed.claimed_at
with refused(grpc.StatusCode.FAILED_PRECONDITION, "has no claim"):
    client.complete_task(made.id, other.agent_id)

# A failure goes back to the queue once, then the task is dead. What the reason cannot hold goes.
client.fail_task(made.id, worker.agent_id, "\x1b[31mno\x00 luck\n" + "x" * 5000)
failed = client.get_task(made.id)
assert (failed.status, failed.retry_count) == (TaskStatus.PENDING, 1)
assert failed.failure_reason.startswith("[31mno luck\nxxx") and len(failed.failure_reason) == 1024
with refused(grpc.StatusCode.FAILED_PRECONDITION, "is pending"):
    client.complete_task(made.id, worker.agent_id)
assert client.claim_task(worker.agent_id).id == made.id
client.fail_task(made.id, worker.agent_id, "again")
assert client.get_task(made.id).status == TaskStatus.DEAD

# Blocks until a task fits: the oldest that waits gets it, tools must match.
waiting = [in_background(lambda: client.claim_task(worker.agent_id))]
unfit = in_background(lambda: client.claim_task(other.agent_id))
browsing = client.create_task("scrape", b"", required_tools=["browser"])
assert waiting[0]().id == browsing.id
assert not unfit.is_done(), "it lacks the tool"
plain = client.create_task("any", b"")
assert unfit().id == plain.id
client.complete_task(plain.id, other.agent_id, b"\x00out")
done = client.get_task(plain.id)
assert (done.status, done.output) == (TaskStatus.COMPLETED, b"\x00out") and done.completed_at

# "when the caller cancels or its deadline passes, nothing is claimed"
with refused(grpc.StatusCode.DEADLINE_EXCEEDED):
    client._task.ClaimTask(pb.ClaimTaskRequest(agent_id=other.agent_id), timeout=0.2)
call = client._task.ClaimTask.future(pb.ClaimTaskRequest(agent_id=other.agent_id))
call.cancel()
untouched = client.create_task("any", b"")
assert client.get_task(untouched.id).status == TaskStatus.PENDING
assert client.claim_task(other.agent_id).id == untouched.id

# Fencing: the token comes beside the answer, and an old one is refused.
fenced = client.create_task("any", b"", max_retries=3, ttl=30)
request = pb.ClaimTaskRequest(agent_id=other.agent_id)
response, call = client._task.ClaimTask.with_call(request)
token = int(dict(call.initial_metadata())["rollcall-fencing-token"])
done = pb.CompleteTaskRequest(task_id=fenced.id, agent_id=other.agent_id)
with refused(grpc.StatusCode.FAILED_PRECONDITION, "no longer current"):
    client._task.CompleteTask(done, metadata=[("rollcall-fencing-token", str(token - 1))])
with refused(grpc.StatusCode.INVALID_ARGUMENT, "rollcall-fencing-token"):
    client._task.CompleteTask(done, metadata=[("rollcall-fencing-token", "x")])
client._task.CompleteTask(done, metadata=[("rollcall-fencing-token", str(token))])

# A claim whose ttl passes, or whose agent dies, goes back to the queue.
slow = client.create_task("any", b"", max_retries=2, ttl=1)
assert client.claim_task(other.agent_id).id == slow.id
assert client.claim_task(other.agent_id).retry_count == 1, "waits until the first claim ran out"
with refused(grpc.StatusCode.FAILED_PRECONDITION):
    client.fail_task(slow.id, worker.agent_id)
client.complete_task(slow.id, other.agent_id)
mortal = client.register("mortal", "", "1", ttl=1)
inherited = client.create_task("any", b"", max_retries=1)
assert client.claim_task(mortal.agent_id).id == inherited.id
heir = in_background(lambda: client.claim_task(other.agent_id))
crash(mortal)
assert heir().id == inherited.id
assert "died" in client.get_task(inherited.id).failure_reason
last = client.create_task("any", b"")
doomed = client.register("doomed", "", "1")
assert client.claim_task(doomed.agent_id).id == last.id
doomed.deregister()
assert client.get_task(last.id).status == TaskStatus.DEAD, "no retries were left"

# Who waits is told when its agent dies.
ghost = client.register("ghost", "", "1", tools=["none"])
haunting = in_background(lambda: client.claim_task(ghost.agent_id))
ghost.deregister()
with refused(grpc.StatusCode.NOT_FOUND, "is dead"):
    haunting()

dead = {task.id for task in client.list_tasks(TaskStatus.DEAD)}
assert dead == {made.id, last.id}
assert client.list_tasks(TaskStatus.FAILED) == []
assert len(client.list_tasks()) > len(dead)
for ask in (lambda: client.get_task("nothing"), lambda: client.complete_task("nothing", "x")):
    with refused(grpc.StatusCode.NOT_FOUND, "no task nothing"):
        ask()
with refused(grpc.StatusCode.NOT_FOUND, "no agent nobody"):
    client.claim_task("nobody")
with refused(grpc.StatusCode.INVALID_ARGUMENT, "type is empty"):
    client.create_task("")
