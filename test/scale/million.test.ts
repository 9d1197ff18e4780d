/**
 * A whole daemon on a file of a million events and 100,000 agents: what reads all of it, or lets go
 * of a part of it, keeps nobody waiting. Its log is written straight to the file, as a busy week
 * would have left it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { LIBRARY } from "../../src/core/by.ts";
import { encode, type Event } from "../../src/core/events.ts";
import { RETENTION } from "../../src/core/limits.ts";
import { DAY, HOUR, SECOND } from "../../src/core/units.ts";
import { formatAddress } from "../../src/daemon/address.ts";
import { startDaemon, type Daemon } from "../../src/daemon/compose.ts";
import { loadConfig } from "../../src/daemon/config.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { appendAt } from "../support/log/append.ts";
import { CARD } from "../support/engine/fixture.ts";
import { keepsNobodyWaiting, REBUILT_MS, TURN_MS } from "./turns.ts";

const AGENTS = 100_000;
/** Agents that report, again and again. */
const REPORTERS = 1_000;
const EVENTS = RETENTION.logEvents;
const BATCH = 1_000;

const folder = mkdtempSync(join(tmpdir(), "rollcall-million-"));
const path = join(folder, "rollcall.db");
let daemon: Daemon;
let url = "";
/** When the first of the million happened. */
let beganMs = 0;

beforeAll(async () => {
  await append(AGENTS, (i) => registered(i, Date.now()));
  await takeSnapshot();
  beganMs = Date.now();
  await append(EVENTS, (i) => reported(i, Math.floor(beganMs + (i / EVENTS) * SECOND)));
  const config = await loadConfig({
    flags: {
      addr: "127.0.0.1:0",
      "http-addr": "127.0.0.1:0",
      "log-level": "silent",
      "status-files": "false",
      "data-dir": folder,
    },
    env: {},
  });
  daemon = await startDaemon(config);
  url = daemon.httpAddress ? `http://${formatAddress(daemon.httpAddress)}` : "";
}, 240 * SECOND);

afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Appends so many events to the log. */
async function append(count: number, eventOf: (i: number) => readonly [Event, number]) {
  const store = sqliteStore({ path });
  const { head } = await store.log.open();
  for (let from = 0; from < count; from += BATCH) {
    const entries = Array.from({ length: BATCH }, (_, i) => encode(...eventOf(from + i)));
    await appendAt(store.log, { entries }, head + from);
  }
  await store.close();
}

function registered(i: number, atMs: number): readonly [Event, number] {
  const agentId = i.toString(16).padStart(32, "0");
  const card = { ...CARD, name: `agent-${i}`, description: `Knows all about topic ${i % 997}` };
  const times = { registeredAtMs: atMs, lastHeartbeatAtMs: atMs, diedAtMs: 0 };
  const agent = { agentId, card, status: "alive", ttlMs: DAY, ...times } as const;
  return [{ type: "agent.registered", agent }, atMs];
}

function reported(i: number, atMs: number): readonly [Event, number] {
  const name = `reporter-${i % REPORTERS}`;
  const report = {
    alias: `script@box:${name}`,
    agentId: name,
    links: [],
    order: i + 1,
    reportedAtMs: atMs,
    sinceMs: atMs,
    facts: { liveness: { value: "alive", rule: "test" }, goal: `step ${i}` },
  } as const;
  return [{ type: "fleet.reported", report }, atMs];
}

/** From here the log is let go of, once there are too many events behind it. */
async function takeSnapshot(): Promise<void> {
  const store = sqliteStore({ path });
  const retention = { maxAgeMs: DAY, maxEvents: EVENTS, snapshotEveryEvents: 1 };
  const engine = await Engine.open({ log: store.log, retention });
  await vi.waitUntil(async () => (await store.log.loadSnapshot(Infinity)) !== undefined, PATIENCE);
  await engine.close();
  await store.close();
}

const PATIENCE = { timeout: 60 * SECOND, interval: 20 };

async function get(asked: string): Promise<string> {
  const answer = await fetch(url + asked);
  const text = await answer.text();
  expect(`${answer.status} ${text.slice(0, 200)}`).toMatch(/^200/);
  return text;
}

const FOLLOW = `
const [url, most] = process.argv.slice(1);
require("node:http").get(url, { headers: { accept: "text/event-stream" } }, (answer) => {
  let bytes = 0;
  answer.on("data", (chunk) => (bytes += chunk.length) >= most && process.exit());
});`;

/** A stream, up to so many bytes of it, by another process: its work is not the daemon's. */
async function follow(asked: string, most: number): Promise<void> {
  const child = spawn(process.execPath, ["-e", FOLLOW, url + asked, String(most)]);
  const [code] = (await once(child, "exit")) as [number];
  expect(code).toBe(0);
}

describe("a daemon with a million events", { timeout: 240 * SECOND }, () => {
  test("lets go of what is too old, and keeps nobody waiting", async () => {
    const { engine } = daemon;
    const reader = sqliteStore({ path, readOnly: true });
    onTestFinished(() => reader.close());
    const card = { ...CARD, name: "last" };
    await keepsNobodyWaiting("retention", TURN_MS, async () => {
      await engine.execute({ type: "agent.register", card, ttlMs: HOUR }, LIBRARY);
      await vi.waitUntil(async () => (await reader.log.open()).oldest > AGENTS, PATIENCE);
    });
  });

  test("finds agents by their words, and keeps nobody waiting", async () => {
    const asked = "/v1/find?query=who+knows+topic+77";
    // It reads all agents behind the start.
    await vi.waitFor(() => get(asked), { timeout: 120 * SECOND, interval: SECOND });
    await keepsNobodyWaiting(asked, TURN_MS, () => get(asked));
  });

  test.each(["/metrics", "/v1/fleet?limit=50", "/v1/overview"])(
    "answers %s and keeps nobody waiting",
    async (asked) => {
      // What is loaded and compiled at the first call is no stall of the second.
      await get(asked);
      await keepsNobodyWaiting(asked, TURN_MS, () => get(asked));
    },
  );

  test("tells what happened to one agent, and keeps nobody waiting", async () => {
    const asked = "/v1/fleet/reporter-7/timeline";
    await keepsNobodyWaiting(asked, TURN_MS, () => get(asked));
  });

  test("tells of a moment of the past, and keeps nobody waiting", async () => {
    const at = encodeURIComponent(new Date(beganMs + SECOND / 2).toISOString());
    const asked = `/v1/fleet?limit=50&at=${at}`;
    await keepsNobodyWaiting(asked, REBUILT_MS, () => get(asked));
  });

  test("tells its events from the beginning, and keeps nobody waiting", async () => {
    const asked = `/v1/events?from=${daemon.engine.head - EVENTS / 2}`;
    await keepsNobodyWaiting(asked, TURN_MS, () => follow(asked, 20_000_000));
  });
});
