/** All that is asked of a daemon of any size: pages, single looks, numbers, commands, streams. */
import type { Samples } from "./fill.ts";

/** How its cost may grow: what shows a page, a number or one thing does not grow at all. */
export type Growth = "none" | "any";

export interface Look {
  readonly name: string;
  readonly growth: Growth;
  /** Resolves when it was answered. */
  readonly ask: (url: string) => Promise<void>;
}

export function looksOf({ agentId, leaseKey, taskId }: Samples): readonly Look[] {
  let commands = 0;
  return [
    page("/v1/fleet?limit=50"),
    page("/v1/fleet?limit=50&needs=me"),
    page("/v1/fleet?limit=50&headline=WORKING"),
    page("/v1/fleet?limit=50&workspacePrefix=/src/project-7"),
    secondPage("/v1/fleet?limit=50"),
    page(`/v1/fleet/${agentId}`, "/v1/fleet/ID"),
    page("/v1/agents?limit=50"),
    secondPage("/v1/agents?limit=50"),
    page(`/v1/agents/${agentId}`, "/v1/agents/ID"),
    page("/v1/leases?limit=50"),
    page("/v1/leases?limit=50&taskIdPrefix=key-99"),
    page(`/v1/leases/${leaseKey}`, "/v1/leases/KEY"),
    page("/v1/tasks?limit=50"),
    page(`/v1/tasks/${taskId}`, "/v1/tasks/ID"),
    page("/v1/jobs"),
    page("/v1/elections"),
    page("/v1/policies"),
    page("/v1/directory"),
    page("/v1/questions"),
    page("/v1/overview"),
    page("/v1/status"),
    page("/metrics"),
    post("heartbeat", "/v1/agents/heartbeat", () => ({ agentId })),
    post("acquire a lease", "/v1/leases/acquire", () => {
      commands += 1;
      return { taskId: `bench-${process.pid}-${commands}`, agentId, ttlMs: 1_000 };
    }),
    stream("/v1/fleet?needs=me", "stream of the fleet, its first event"),
    stream("/v1/events", "stream of events, its first byte"),
    { ...page("/v1/tasks?limit=50&type=type-3"), growth: "any" },
    { ...page("/v1/agents/agent-77", "/v1/agents/NAME"), growth: "any" },
    { ...page("/v1/fleet/agent-77", "/v1/fleet/NAME"), growth: "any" },
    { ...page("/v1/find?query=read+web+pages"), growth: "any" },
  ];
}

function page(path: string, name = path): Look {
  const ask = async (url: string) => void (await answered(await fetch(url + path), path)).text();
  return { name, growth: "none", ask };
}

function secondPage(path: string): Look {
  const ask = async (url: string) => {
    const first = await answered(await fetch(url + path), path);
    const { cursor } = (await first.json()) as { readonly cursor: string };
    await (await answered(await fetch(`${url}${path}&cursor=${cursor}`), path)).text();
  };
  return { name: `${path}, and the page behind it`, growth: "none", ask };
}

function post(name: string, path: string, body: () => object): Look {
  const ask = async (url: string) => {
    const headers = { "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body()) };
    await (await answered(await fetch(url + path, sent), path)).text();
  };
  return { name, growth: "none", ask };
}

function stream(path: string, name: string): Look {
  const ask = async (url: string) => {
    const abort = new AbortController();
    const headers = { accept: "text/event-stream" };
    const response = await fetch(url + path, { headers, signal: abort.signal });
    await (await answered(response, path)).body?.getReader().read();
    abort.abort();
  };
  return { name, growth: "none", ask };
}

async function answered(response: Response, path: string): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`${path}: ${response.status} ${await response.text()}`);
}
