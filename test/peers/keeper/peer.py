"""What the scripts of this folder share: a client of the daemon under test, and ways to wait."""

import sys
import threading
import time
from contextlib import contextmanager

import grpc
from agentkeeper import AgentKeeperClient

DEADLINE_S = 10


def connect() -> AgentKeeperClient:
    return AgentKeeperClient(host="127.0.0.1", port=int(sys.argv[1]))


@contextmanager
def refused(code: grpc.StatusCode, text: str = ""):
    """The block must be refused with this code, by a message that holds the text."""
    try:
        yield
    except grpc.RpcError as error:
        assert error.code() == code, f"{error.code()} instead of {code}: {error.details()}"
        assert text in error.details(), f"no {text!r} in {error.details()!r}"
    else:
        raise AssertionError(f"not refused with {code}")


class Heard:
    """Collects what a subscription hears; waits for something with a deadline."""

    def __init__(self):
        self.all = []
        self._changed = threading.Condition()

    def __call__(self, item):
        with self._changed:
            self.all.append(item)
            self._changed.notify_all()

    def wait_for(self, is_wanted, count=1):
        with self._changed:
            found = lambda: [item for item in self.all if is_wanted(item)]
            is_there = self._changed.wait_for(lambda: len(found()) >= count, DEADLINE_S)
            assert is_there, f"not heard; instead: {self.all}"
            return found()[count - 1]

    def topic(self, name, count=1):
        return self.wait_for(lambda event: event.topic == name, count)


def begun(subscription):
    """Returns once the daemon watches: the SDK itself does not wait for that."""
    subscription._call.initial_metadata()
    return subscription


def crash(agent):
    """The agent's process is gone: no more heartbeats, no farewell."""
    agent._stop.set()


def in_background(work):
    """Runs it on a thread; returns what gives its result, or raises what it raised."""
    outcome = {}
    done = threading.Event()

    def run():
        try:
            outcome["value"] = work()
        except Exception as error:
            outcome["error"] = error
        done.set()

    threading.Thread(target=run, daemon=True).start()

    def result():
        assert done.wait(DEADLINE_S), "still waiting"
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    result.is_done = done.is_set
    return result


def eventually(is_so):
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "did not come true"
        time.sleep(0.02)
