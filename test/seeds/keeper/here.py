"""The SDK with the addresses of its page (port 7070, a data folder) as those of the daemon under
test: ROLLCALL_TEST_PORT, and below ROLLCALL_TEST_FOLDER. As a plugin of pytest it is there before
the tests of the SDK import it."""

import atexit
import os

import agentkeeper
from agentkeeper import AgentKeeperClient

PORT = int(os.environ["ROLLCALL_TEST_PORT"])
FOLDER = os.environ["ROLLCALL_TEST_FOLDER"]


class Here(AgentKeeperClient):
    def __init__(self, host="localhost", port=7070):
        super().__init__(host="127.0.0.1", port=PORT if port == 7070 else port)

    @classmethod
    def embedded(cls, binary=None, port=None, data_dir=None):
        folder = data_dir and os.path.join(FOLDER, os.path.basename(data_dir))
        client = super().embedded(binary=binary, data_dir=folder)
        # Its daemon is a process of its own, and not every snippet closes it.
        atexit.register(client.close)
        return client

    def register(self, name, *described, **more):
        """`register("my-agent", ...)` leaves the rest to the reader."""
        said = [each for each in described if each is not ...]
        more = {"description": "Does something", "version": "1.0.0", **more} if not said else more
        return super().register(name, *said, **more)


agentkeeper.AgentKeeperClient = Here
