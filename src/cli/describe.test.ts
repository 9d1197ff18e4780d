import { expect, test } from "vitest";
import type { DaemonEvent } from "../wires/api/client/events.ts";
import type { Event } from "../core/events.ts";
import { describe } from "./describe.ts";

const ID = "0123456789abcdef0123456789abcdef";
const lease = {
  taskId: "build-17",
  holder: ID,
  token: 5,
  ttlMs: 60_000,
  acquiredAtMs: 0,
  expiresAtMs: 60_000,
};
const agent = {
  agentId: ID,
  card: {
    name: "planner",
    description: "",
    version: "",
    capabilities: [],
    tools: ["git", "shell"],
    metadata: {},
  },
  status: "alive",
  ttlMs: 30_000,
  registeredAtMs: 0,
  lastHeartbeatAtMs: 0,
  diedAtMs: 0,
} as const;

function sent(event: Event | Readonly<Record<string, unknown>>): DaemonEvent {
  const data = { sequence: 1, topic: event.type, at: "", ...event };
  return { kind: "event", sequence: 1, topic: String(event.type), atMs: 0, data };
}

test("an event is a sentence with the facts that matter", () => {
  expect(describe(sent({ type: "lease.acquired", lease }), new Map())).toBe(
    "build-17 held by 01234567 for 1m, token 5",
  );
  expect(describe(sent({ type: "node.leading", node: "box", epoch: 3 }), new Map())).toBe(
    "box leads, epoch 3",
  );
  expect(describe(sent({ type: "task.returned", taskId: ID, agentId: ID }), new Map())).toBe(
    "01234567 waits again: the call of 01234567 ended too early to get it",
  );
  const requeued = { type: "task.requeued", taskId: ID, agentId: ID } as const;
  expect(describe(sent({ ...requeued, reason: `agent ${ID} died` }), new Map())).toBe(
    "01234567 waits again: 01234567 died",
  );
  expect(describe(sent({ ...requeued, reason: "no luck" }), new Map())).toBe(
    "01234567 waits again, 01234567 gave it up: no luck",
  );
});

test("an agent that was introduced is called by its name from then on", () => {
  const names = new Map<string, string>();
  expect(describe(sent({ type: "agent.registered", agent }), names)).toBe(
    "planner (01234567) is here, ttl 30s, tools git, shell",
  );
  expect(describe(sent({ type: "lease.expired", lease }), names)).toBe(
    "build-17 is free: planner (01234567) let it expire",
  );
});

test("an event of a newer daemon is shown by its fields", () => {
  const event = sent({ type: "orbit.reached", height: 400, name: "x" });
  expect(describe(event, new Map())).toBe("height=400 name=x");
});

test("an event that is not what its topic says is shown by its fields", () => {
  expect(describe(sent({ type: "lease.acquired", lease: null }), new Map())).toBe("lease=null");
});
