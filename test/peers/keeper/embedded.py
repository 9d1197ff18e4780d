"""The SDK starts the daemon itself: several at once, and with a folder that outlives it."""

import os
import shutil
import sys
import time

import grpc
from agentkeeper import AgentKeeperClient, AgentStatus, PolicyEffect
from agentkeeper._embedded import _free_port
from peer import Heard, begun, in_background, refused

home = sys.argv[1]
program = os.environ.pop("AGENTKEEPER_BIN")
# Nothing on the PATH but node, whatever this machine has installed.
os.makedirs(os.path.join(home, "bin"))
os.symlink(shutil.which("node"), os.path.join(home, "bin", "node"))
os.environ["PATH"] = os.path.join(home, "bin")


def answers(client, binary):
    """It was found where it should be, and is there."""
    assert client._daemon._process.args[0] == binary, client._daemon._process.args
    assert client.find() == []


def stopped(client):
    """ "The daemon process is shut down automatically when the client closes": by itself, with
    all it had to do done, and not because the SDK lost its patience after 5 s."""
    process = client._daemon._process
    started = time.monotonic()
    client.close()
    assert process.returncode == 0, process.returncode
    assert time.monotonic() - started < 5


# "Binary resolution order for embedded mode: 1. binary= argument 2. AGENTKEEPER_BIN environment
# variable 3. agentkeeper on PATH 4. ./daemon/agentkeeper relative to the project root"
try:
    AgentKeeperClient.embedded()
except FileNotFoundError:
    pass
else:
    raise AssertionError("a daemon was found where there is none")


def linked(*path):
    """The program under another path."""
    link = os.path.join(home, *path)
    os.makedirs(os.path.dirname(link), exist_ok=True)
    os.symlink(program, link)
    return link


in_layout = linked("project", "daemon", "agentkeeper")
os.chdir(os.path.join(home, "project"))
client = AgentKeeperClient.embedded()
answers(client, in_layout)
stopped(client)
on_path = linked("bin", "agentkeeper")
client = AgentKeeperClient.embedded()
answers(client, on_path)
stopped(client)
os.environ["AGENTKEEPER_BIN"] = program
client = AgentKeeperClient.embedded()
answers(client, program)
stopped(client)
# "Explicit binary path or port"
explicit = linked("explicit", "agentkeeper")
port = _free_port()
client = AgentKeeperClient.embedded(binary=explicit, port=port)
answers(client, explicit)
with AgentKeeperClient(host="127.0.0.1", port=port) as beside:
    assert beside.find() == []
stopped(client)

with AgentKeeperClient.embedded() as one, AgentKeeperClient.embedded() as two:
    with one.register("here", "", "1") as agent:
        assert [each.card.name for each in one.find()] == ["here"]
        assert two.find() == [], "two daemons know nothing of each other"
        with refused(grpc.StatusCode.NOT_FOUND):
            two.get_agent(agent.agent_id)

# "With persistence — policies and agent history survive restarts"
folder = os.path.join(home, "state")
client = AgentKeeperClient.embedded(data_dir=folder)
kept = client.register("kept", "survives", "1", tools=["x"])
gone = client.register("gone", "", "1")
gone.deregister()
client.set_policy("p", "agent:*", "call", "tool:*", PolicyEffect.ALLOW)
token = client.acquire_lease("t", kept.agent_id, ttl=600).lease.token
term = client.campaign("g", kept.agent_id).term
task = client.create_task("any", b"in")
# Who waits and who watches when it stops is told, not left hanging.
waiting = in_background(lambda: client.claim_task(client.register("w", "", "1").agent_id).id)
assert waiting() == task.id
blocked = in_background(lambda: client.claim_task(kept.agent_id))
with begun(client.watch([], Heard())):
    process = client._daemon._process
    client._daemon.stop()
    assert process.returncode == 0, "it was killed"
    with refused(grpc.StatusCode.UNAVAILABLE):
        blocked()
client.close()

client = AgentKeeperClient.embedded(data_dir=folder)
assert client.get_agent(kept.agent_id).status == AgentStatus.ALIVE
assert client.get_agent(gone.agent_id).status == AgentStatus.DEAD
assert client.check_policy("agent:a", "call", "tool:x").allowed
assert client.campaign("g", kept.agent_id).term == term
other = client.register("other", "", "1")
assert client.acquire_lease("t", other.agent_id) is None, "still held"
assert client.acquire_lease("u", other.agent_id).lease.token > token, "tokens never fall"
assert client.get_task(task.id).input == b"in"
stopped(client)
