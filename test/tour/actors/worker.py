"""A worker with the AgentKeeper SDK, as its page shows it: the daemon's address is all it knows.

It registers, stands for its group, and works on one task at a time, with a lease on the site that
the task names. A line of its input lets it finish the one it has.
"""

import sys
import threading

import grpc
from agentkeeper import AgentKeeperClient

name, port = sys.argv[1], int(sys.argv[2])
client = AgentKeeperClient(host="127.0.0.1", port=port)
# Three seconds: nobody who watches wants to wait half a minute for a death to be found.
me = client.register(name, "Fetches and parses web pages", "1.0.0", ["browser"], ttl=3).agent_id
client.campaign("scrapers", me)
print(f"{me} is here", flush=True)

finishing = threading.Semaphore(0)


def claimed():
    """The next task, also from a daemon that was away for a while."""
    while True:
        try:
            return client.claim_task(me)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            threading.Event().wait(0.2)


def work():
    while True:
        task = claimed()
        lease = client.acquire_lease(f"site:{task.input.decode()}", me, ttl=3600)
        print(f"works on {task.id} with token {lease.lease.token}", flush=True)
        finishing.acquire()
        client.complete_task(task.id, me, b"42 prices")
        lease.release()
        print(f"finished {task.id}", flush=True)


threading.Thread(target=work, daemon=True).start()
for _ in sys.stdin:
    finishing.release()
