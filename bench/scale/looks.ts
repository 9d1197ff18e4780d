/** All that is asked of a daemon of any size: pages, single looks, numbers, commands, streams. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  LeaseService,
  RegistryService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { Caller } from "../churn/caller.ts";
import type { Samples } from "./fill.ts";
import { EventStream, McpSession, textOf } from "./sessions.ts";

/** How its cost may grow: what shows a page, a number or one thing does not grow at all. */
export type Growth = "none" | "any";

export interface Look {
  readonly name: string;
  readonly growth: Growth;
  /** Resolves when it was answered. */
  readonly ask: () => Promise<unknown>;
}

/** A daemon under measurement, and its gRPC side. */
export interface Looked {
  readonly url: string;
  readonly caller: Caller;
}

export function looksOf(daemon: Looked, samples: Samples): readonly Look[] {
  return [
    ...pagesOf(daemon.url, samples),
    ...commandsOf(daemon, samples),
    ...grpcOf(daemon, samples),
    ...mcpOf(daemon, samples),
    ...streamsOf(daemon, samples),
    ...growingOf(daemon, samples),
  ];
}

export function pagesOf(url: string, { agentId, leaseKey, taskId }: Samples): readonly Look[] {
  const page = pageOf(url);
  return [
    page("/v1/fleet?limit=50"),
    page("/v1/fleet?limit=50&needs=me"),
    page("/v1/fleet?limit=50&headline=WORKING"),
    page("/v1/fleet?limit=50&workspacePrefix=/src/project-7"),
    secondPage(url, "/v1/fleet?limit=50"),
    page(`/v1/fleet/${agentId}`, "/v1/fleet/ID"),
    page("/v1/agents?limit=50"),
    secondPage(url, "/v1/agents?limit=50"),
    page(`/v1/agents/${agentId}`, "/v1/agents/ID"),
    page("/v1/leases?limit=50"),
    page("/v1/leases?limit=50&taskIdPrefix=key-99"),
    page(`/v1/leases/${leaseKey}`, "/v1/leases/KEY"),
    page("/v1/tasks?limit=50"),
    page(`/v1/tasks/${taskId}`, "/v1/tasks/ID"),
    page("/v1/jobs?limit=50"),
    page("/v1/jobs/job_00000077", "/v1/jobs/ID"),
    page("/v1/elections?limit=50"),
    page("/v1/elections/group-77", "/v1/elections/GROUP"),
    page("/v1/policies?limit=50"),
    page("/v1/policies/check?subject=team-7:a&action=tool:x&resource=y", "/v1/policies/check"),
    page("/v1/directory?limit=50"),
    page("/v1/questions?limit=50"),
    page("/.well-known/agents?limit=50"),
    page("/v1/overview"),
    page("/v1/status"),
    page("/metrics"),
    command(url, "ls", ["ls", "--limit", "50"]),
    command(url, "ls --needs-me", ["ls", "--needs-me", "--limit", "50"]),
  ];
}

function commandsOf({ url }: Looked, { agentId }: Samples): readonly Look[] {
  const post = postTo(url);
  let count = 0;
  const next = () => `bench-${process.pid}-${(count += 1)}`;
  return [
    look("heartbeat", () => post("/v1/agents/heartbeat", { agentId })),
    look("register and deregister", async () => {
      const card = { name: next(), description: "Reads mail", tools: ["imap"] };
      const { agent } = JSON.parse(await post("/v1/agents/register", { card })) as {
        readonly agent: { readonly agentId: string };
      };
      await post("/v1/agents/deregister", { agentId: agent.agentId });
    }),
    look("acquire a lease", () =>
      post("/v1/leases/acquire", { taskId: next(), agentId, ttlMs: 1_000 }),
    ),
    look("create, claim and complete a task", async () => {
      await post("/v1/tasks/create", { type: "bench", requiredTools: ["browser"] });
      const { task } = JSON.parse(await post("/v1/tasks/claim", { agentId })) as {
        readonly task: { readonly id: string; readonly token: number };
      };
      const { id: taskId, token } = task;
      await post("/v1/tasks/complete", { taskId, agentId, token });
    }),
  ];
}

function grpcOf({ caller }: Looked, { agentId }: Samples): readonly Look[] {
  let count = 0;
  return [
    look("gRPC GetAgent", () => caller.call(RegistryService.method.getAgent, { agentId })),
    look("gRPC Heartbeat", () => caller.call(RegistryService.method.heartbeat, { agentId })),
    look("gRPC AcquireLease", () => {
      const taskId = `grpc-${process.pid}-${(count += 1)}`;
      return caller.call(LeaseService.method.acquireLease, { taskId, agentId, ttlSeconds: 1 });
    }),
  ];
}

function mcpOf({ url }: Looked, { agentId }: Samples): readonly Look[] {
  const session = new McpSession(url);
  return [
    look("MCP list_agents", () => session.callTool("list_agents", { limit: 50 })),
    look("MCP get_agent", () => session.callTool("get_agent", { agent: agentId })),
    look("MCP who_needs_me", () => session.callTool("who_needs_me", {})),
  ];
}

function streamsOf({ url }: Looked, { agentId }: Samples): readonly Look[] {
  const post = postTo(url);
  const first = (path: string, name: string) =>
    look(name, async () => {
      using stream = new EventStream(url + path);
      await stream.until("");
    });
  let count = 0;
  return [
    first("/v1/fleet?needs=me", "stream of the fleet, its first event"),
    first("/v1/events", "stream of events, its first byte"),
    look("stream of events, opened, and a lease until it is told", async () => {
      using stream = new EventStream(`${url}/v1/events`);
      await stream.until("");
      const taskId = `told-${process.pid}-${(count += 1)}`;
      await Promise.all([
        stream.until(taskId),
        post("/v1/leases/acquire", { taskId, agentId, ttlMs: 1_000 }),
      ]);
    }),
  ];
}

/** What no index serves: names, words, and the log that the timeline is read from. */
function growingOf({ url }: Looked, { agentId }: Samples): readonly Look[] {
  const page = pageOf(url);
  const any = (each: Look): Look => ({ ...each, growth: "any" });
  return [
    any(page("/v1/tasks?limit=50&type=type-3")),
    any(page("/v1/agents/agent-77", "/v1/agents/NAME")),
    any(page("/v1/fleet/agent-77", "/v1/fleet/NAME")),
    any(page(`/v1/fleet/${agentId}/timeline?limit=50`, "/v1/fleet/ID/timeline")),
    any(page("/v1/find?query=read+web+pages")),
  ];
}

function look(name: string, ask: () => Promise<unknown>): Look {
  return { name, growth: "none", ask };
}

function pageOf(url: string) {
  return (path: string, name = path) => look(name, () => textOf(url + path));
}

function secondPage(url: string, path: string): Look {
  return look(`${path}, and the page behind it`, async () => {
    const { cursor } = JSON.parse(await textOf(url + path)) as { readonly cursor: string };
    await textOf(`${url}${path}&cursor=${cursor}`);
  });
}

function postTo(url: string) {
  const headers = { "content-type": "application/json" };
  return (path: string, body: object) =>
    textOf(url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

function command(url: string, name: string, words: readonly string[]): Look {
  const args = ["dist/bin/rollcall.cjs", ...words, "--url", url];
  return look(`rollcall ${name}`, () => promisify(execFile)(process.execPath, args));
}
