"""The examples of the SDK's own page, as they stand there: only what a reader must supply (the
work, the way to hand it over) is supplied, and what the page says about them is asserted."""

import threading
import uuid

import grpc
from agentkeeper import (
    AgentCard,
    AgentInfo,
    AgentKeeperClient,
    AgentStatus,
    CheckResult,
    ElectionState,
    Lease,
    Policy,
    PolicyEffect,
    WatchEvent,
)
from peer import Heard, begun, connect, crash, refused

client = connect()


def quick_start():
    """ "The typical flow has two sides: an orchestrator that creates tasks and assigns them, and
    agents that register and do the work." """
    reassigned, assigned, done = Heard(), [], []
    receive_task_assignment = lambda: assigned[0][1]

    def on_event(event: WatchEvent):
        if event.topic == "agent.died":
            agent: AgentInfo = event.payload
            reassigned((agent.card.name, agent.agent_id))

    sub = begun(client.watch(["agent."], on_event))
    task_id = f"task:{uuid.uuid4()}"
    with client.register(
        name="scraper-1",
        description="Fetches and parses web pages",
        version="1.0.0",
        tools=["browser", "http_client"],
    ) as agent:
        agents = client.find(query="fetch and parse web pages", tools=["browser"])
        for found in agents:
            lease = client.acquire_lease(task_id, found.agent_id, ttl=120)
            if lease:
                assigned.append((found.agent_id, task_id))
                break  # one winner, everyone else is locked out
        assert assigned == [(agent.agent_id, task_id)]

        task_id = receive_task_assignment()
        # The holder asks for what it was assigned, and gets it.
        with client.acquire_lease(task_id, agent.agent_id, ttl=120) as lease:
            done.append(task_id)
        # "lease released automatically on exit"
        with refused(grpc.StatusCode.NOT_FOUND, "no lease"):
            lease.renew()
    # "Agent deregistered automatically on exit — triggers agent.died on the bus"
    reassigned.wait_for(lambda one: one == ("scraper-1", agent.agent_id))
    assert done == [task_id]
    sub.cancel()


def connecting():
    """ "Use as a context manager to close the channel on exit" """
    with connect() as another:
        another.find()
    try:
        another.find()
    except ValueError as error:
        assert "closed" in str(error)
    else:
        raise AssertionError("the channel is still open")


def inspecting():
    with client.register("scraper-1", "Fetches pages", "1.0.0") as agent:
        info = client.get_agent(agent.agent_id)
        assert info.card.name == "scraper-1"
        assert info.status is AgentStatus.ALIVE
        assert info.registered_at <= info.last_heartbeat_at
        found = client.find(query="fetch pages", limit=5)
        assert [(each.agent_id, each.status) for each in found] == [
            (agent.agent_id, AgentStatus.ALIVE)
        ]
        # "All methods return plain Python dataclasses, not proto objects."
        assert type(info) is AgentInfo and type(info.card) is AgentCard


def leasing():
    with client.register("one", "", "1") as one, client.register("two", "", "1") as two:
        lease = client.acquire_lease(
            task_id="task:process-invoice-42", agent_id=one.agent_id, ttl=120
        )
        assert type(lease.lease) is Lease and lease.lease.token > 0
        # "Another agent already owns this task"
        assert client.acquire_lease("task:process-invoice-42", two.agent_id) is None
        lease.release()

        # "lease.release() called automatically on exit, even on exception"
        lease = client.acquire_lease("task:process-invoice-42", one.agent_id)
        try:
            with lease:
                raise RuntimeError("the work failed")
        except RuntimeError:
            pass
        next_one = client.acquire_lease("task:process-invoice-42", two.agent_id)
        assert next_one.lease.token > lease.lease.token

        # "reset the TTL after each chunk"
        with client.acquire_lease("task:long-job", one.agent_id, ttl=60) as lease:
            for _ in range(3):
                before = lease.lease.expires_at
                lease.renew(ttl=60)
                assert lease.lease.expires_at >= before

        # "Token mismatch — lease was taken by another agent"
        try:
            lease = client.acquire_lease("task:taken", one.agent_id)
            lease.release()
            client.acquire_lease("task:taken", two.agent_id)
            lease.renew()
        except grpc.RpcError as e:
            assert e.code() == grpc.StatusCode.PERMISSION_DENIED
        else:
            raise AssertionError("an old token was taken")


def leading():
    """ "Only one is active at a time; the others are hot standbys." """
    group = "orchestrator:pipeline-A"
    with client.register("orchestrator", "Pipeline orchestrator", "1.0.0") as orch:
        state = client.campaign(group=group, agent_id=orch.agent_id)
        assert type(state) is ElectionState and state.leader_agent_id == orch.agent_id
        with client.register("orchestrator", "Pipeline orchestrator", "1.0.0") as standby:
            assert client.campaign(group, standby.agent_id).leader_agent_id == orch.agent_id
            active = threading.Event()

            def on_leader_change(state):
                if state.leader_agent_id == standby.agent_id:
                    active.set()

            with begun(client.watch_election(group, on_leader_change)):
                # "Graceful handoff: resign so a standby takes over immediately"
                client.resign(group=group, agent_id=orch.agent_id)
                assert active.wait(10), "the standby was not told"
            # "Check the current leader without campaigning"
            now = client.campaign(group, orch.agent_id)
            assert now.leader_agent_id == standby.agent_id
            # "logical clock — increments on every election event"
            assert now.term == state.term + 1 and now.elected_at >= state.elected_at


def entitling():
    # "Allow the orchestrator to call any tool"
    client.set_policy(
        id="allow-orch-all",
        subject="agent:orchestrator",
        action="call",
        resource="tool:*",
        effect=PolicyEffect.ALLOW,
    )
    # "Deny the scraper from writing files (even if a broader allow exists)"
    client.set_policy(
        id="deny-scraper-write",
        subject="agent:scraper",
        action="call",
        resource="tool:write_file",
        effect=PolicyEffect.DENY,
    )
    # "All three fields (subject, action, resource) support * as a wildcard."
    client.set_policy("allow-everything", "*", "*", "*", PolicyEffect.ALLOW)

    def call_tool(agent_name: str, tool: str):
        result = client.check_policy(
            subject=f"agent:{agent_name}", action="call", resource=f"tool:{tool}"
        )
        assert type(result) is CheckResult
        if not result.allowed:
            raise PermissionError(result.reason)
        return tool

    assert call_tool("orchestrator", "anything") == "anything"
    assert call_tool("scraper", "read_file") == "read_file"
    # "DENY always wins. If both an ALLOW and a DENY match the same request, the request is
    # rejected."
    try:
        call_tool("scraper", "write_file")
    except PermissionError as error:
        assert str(error) == 'denied by policy "deny-scraper-write"'
    else:
        raise AssertionError("it was allowed")
    assert len(client.list_policies()) == 3
    [policy] = client.list_policies(subject_prefix="agent:scraper")
    assert type(policy) is Policy and policy.id == "deny-scraper-write"
    client.delete_policy("deny-scraper-write")
    assert call_tool("scraper", "write_file") == "write_file"


def reacting():
    """ "Practical orchestrator pattern" """
    active_tasks: dict[str, str] = {}
    reassign, requeue = Heard(), Heard()

    def on_agent_died(event: WatchEvent):
        dead_agent: AgentInfo = event.payload
        for task_id, holder in list(active_tasks.items()):
            if holder == dead_agent.agent_id:
                reassign(task_id)

    def on_lease_expired(event: WatchEvent):
        lease: Lease = event.payload
        requeue(lease.task_id)

    def on_event(event: WatchEvent):
        if event.topic == "agent.died":
            on_agent_died(event)
        elif event.topic == "lease.expired":
            on_lease_expired(event)

    with begun(client.watch(["agent.died", "lease.expired"], on_event)):
        mortal = client.register("mortal", "", "1", ttl=1)
        worker = client.register("worker", "", "1")
        active_tasks["task:of-mortal"] = mortal.agent_id
        client.acquire_lease("task:unfinished", worker.agent_id, ttl=1)
        crash(mortal)
        requeue.wait_for(lambda task_id: task_id == "task:unfinished")
        reassign.wait_for(lambda task_id: task_id == "task:of-mortal")


for example in (quick_start, connecting, inspecting, leasing, leading, entitling, reacting):
    example()
assert AgentKeeperClient.__init__.__defaults__ == ("localhost", 7070)
