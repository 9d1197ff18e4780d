"""The snippets of the SDK's own page, taken from the installed package and run as they stand there.
Only what a reader must supply is supplied: the work itself, an agent, a lease."""

import ast
import contextlib
import io
import re
import sys
from importlib.metadata import distribution

import agentkeeper
from here import Here

client = Here()
agent = client.register("scraper-1", "Fetches and parses web pages", "1.0.0", tools=["browser"])
client.campaign("orchestrator:pipeline-A", agent.agent_id)
released = client.acquire_lease("task:released", agent.agent_id)
released.release()


def supplied():
    """A namespace of its own for each snippet."""
    return {
        "AgentKeeperClient": Here,
        "client": client,
        "agent": agent,
        "orch": agent,
        "agent_id": agent.agent_id,
        "lease": released,
        "on_event": lambda event: None,
        "receive_task_assignment": lambda: "task:assigned",
        "process_large_file": lambda: ["one chunk", "another"],
        **{name: lambda *_: None for name in WORK.split()},
    }


WORK = """reassign_tasks_for send_task_to_agent do_work process assign_task run_pipeline run_tool
    wait_for_leadership_change reassign requeue run_forever become_active become_standby
    wait_indefinitely"""


def promised(snippet):
    """What its comments say that it prints: `print(result.allowed)  # False`."""
    for comment in re.findall(r"^print\(.*\)\s+# (.*)$", snippet, re.M):
        with contextlib.suppress(ValueError, SyntaxError):
            yield str(ast.literal_eval(comment))
        if re.fullmatch(r"AgentStatus\.\w+", comment):
            yield str(eval(comment, {"AgentStatus": agentkeeper.AgentStatus}))


page = distribution("agentkeeper").read_text("METADATA")
snippets = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
for number, snippet in enumerate(snippets, 1):
    names, said = supplied(), io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(snippet, f"snippet {number}", "exec"), names)
    except Exception:
        print(f"snippet {number}:\n{snippet}", file=sys.stderr)
        raise
    for text in promised(snippet):
        assert text in said.getvalue().splitlines(), f"{number} prints {said.getvalue()}, not {text}"
    if "sub" in names:
        names["sub"].cancel()
    if names["client"] is not client:
        names["client"].close()
print(f"{len(snippets)} snippets")
