"""Runs the Python blocks of a document in turn: snippets.py DOCUMENT REGISTRY_URL.

The network of the page (http://registry:8000) is REGISTRY_URL, and its five minutes end when the
registry lists one agent more than before. Everything else is as it stands there.
"""

import ast
import asyncio
import re
import sys

import httpx

DOCUMENT, REGISTRY = sys.argv[1:]
sleep = asyncio.sleep
request = httpx.AsyncClient.request


async def routed(self, method, url, **options):
    return await request(self, method, url.replace("http://registry:8000", REGISTRY), **options)


async def until_listed(seconds):
    if seconds < 300:
        return await sleep(seconds)
    for _ in range(1_000):
        if len(httpx.get(REGISTRY + "/.well-known/agents").json()) > shown["agents"]:
            shown["agents"] += 1
            return print("listed")
        await sleep(0.02)
    raise TimeoutError("the registry does not list the agent")


shown = {"agents": 0}
httpx.AsyncClient.request = routed
asyncio.sleep = until_listed

with open(DOCUMENT) as document:
    blocks = re.findall(r"^```python\n(.*?)^```$", document.read(), re.M | re.S)
scope = {"__name__": "__main__"}
for block in blocks:
    code = compile(block, DOCUMENT, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, scope)
    if result is not None:
        asyncio.run(result)
