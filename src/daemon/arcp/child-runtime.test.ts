import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { JobContext } from "../../jobs/context.ts";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import { CHILD } from "../../wires/arcp/driver/limits.ts";
import { createLogger } from "../logger.ts";
import { parseAgents, type CommandAgent } from "./agents-config.ts";
import { ChildRuntime } from "../../wires/arcp/driver/child-runtime.ts";

function start(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [agent] = parseAgents({ a: { command } }, { path: "f", folder: "." });
  const clock = new TestClock();
  const lines: string[] = [];
  const states: string[] = [];
  const child = new ChildRuntime({
    agent: agent as CommandAgent,
    rowId: "arcp@n1:a",
    env: { PATH: process.env["PATH"], ...env },
    clock,
    logger: createLogger({ level: "warn", isTerminal: true, write: (line) => lines.push(line) }),
    onLiveness: ({ value }) => states.push(value),
  });
  return { child, clock, lines, states };
}

function run(child: ChildRuntime): Promise<unknown> {
  const { signal } = new AbortController();
  return Promise.resolve(child.driver.run(1, { signal } as JobContext));
}

async function untilDead(clock: TestClock, states: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      await clock.advance(CHILD.lastDelayMs);
      expect(states.at(-1)).toBe("dead");
    },
    { timeout: 30_000, interval: 1 },
  );
}

test("a program gets no settings of ours, nor the password of our log", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-child-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "env");
  const write = "require('node:fs').writeFileSync(process.argv[1], JSON.stringify(process.env))";
  const secret = "hunter2";
  const env = { OPENAI_API_KEY: "its own", ROLLCALL_TOKEN: secret, PGPASSWORD: secret };
  const { child } = start([process.execPath, "-e", write, path], env);
  const said = () => JSON.parse(readFileSync(path, "utf8")) as unknown;
  await vi.waitFor(() => expect(said()).toMatchObject({ OPENAI_API_KEY: "its own" }), 10_000);
  expect(JSON.stringify(said())).not.toContain(secret);
  await child.close();
}, 60_000);

test("a program that is not there is tried for a while, and then given up", async () => {
  const { child, clock, lines, states } = start(["rollcall-no-such-program"]);
  await untilDead(clock, states);
  expect(states.slice(0, 3)).toEqual(["starting", "unreachable", "starting"]);
  expect(states.filter((state) => state === "starting")).toHaveLength(CHILD.restarts + 1);
  expect(lines[0]).toMatch(/WARN the process of an agent ended: .*ENOENT.* restart=1 inMs=500/);
  expect(lines[1]).toContain("inMs=1000");
  expect(lines.at(-1)).toMatch(
    /ERROR the process of agent a ended 21 times in a row and is given up/,
  );
  expect(clock.timers).toBe(0);
  await expect(run(child)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await child.close();
}, 60_000);

test("the log has the last line that a program wrote to its standard error", async () => {
  const fails = "console.error('loading\\nno module nope, API_KEY=hunter2'); process.exit(2)";
  const { child, lines } = start([process.execPath, "-e", fails]);
  await vi.waitFor(() => expect(lines.length).toBeGreaterThan(0), { timeout: 10_000 });
  expect(lines[0]).toContain("exit code 2");
  expect(lines[0]).toContain("stderr=no module nope, API_KEY=***");
  await child.close();
}, 60_000);

test("a program that speaks no ARCP is told of, and jobs do not wait for ever", async () => {
  const { child, clock, lines } = start([process.execPath, "-e", "console.log('hello')"]);
  const refused = run(child).catch((error: unknown) => error);
  await vi.waitFor(() => expect(lines.length).toBeGreaterThan(0), { timeout: 10_000 });
  expect(lines[0]).toContain("the process of an agent ended: exit code 0");
  await clock.advance(CHILD.waitMs);
  expect(await refused).toMatchObject({
    message: "the process of agent a does not come up: see the daemon's log",
  });
  await child.close();
}, 60_000);

test("closed, its process is gone, even one that does not want to", async () => {
  const stubborn = "process.on('SIGTERM', () => {}); require('node:net').createServer().listen(0)";
  const { child, clock } = start([process.execPath, "-e", stubborn]);
  await vi.waitFor(() => expect(child.pid).toBeDefined(), { timeout: 10_000 });
  const { pid = 0 } = child;
  const closing = child.close();
  await vi.waitFor(
    async () => {
      await clock.advance(CHILD.graceMs);
      expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    },
    { timeout: 10_000 },
  );
  await closing;
}, 60_000);

/** Says welcome to the first line it gets, and then what it is told to. */
const WELCOMES = `
  process.on("SIGTERM", () => {});
  require("node:net").createServer().listen(0);
  process.stdin.once("data", () => {
    const payload = { session_id: "sess_1", resume_token: "t", resume_window_sec: 1,
      runtime: { name: "x", version: "1" }, accepted_at: "2026-11-15T10:00:00.000Z",
      capabilities: { encodings: ["json"], features: [], agents: ["a"] } };
    const type = "session.welcome";
    console.log(JSON.stringify({ arcp: "1.1", id: "msg_1", type, session_id: "sess_1", payload }));
    process.stdin.once("end", () => {});
    if (process.argv[1] === "mute") setImmediate(() => require("node:fs").closeSync(1));
  });`;

test("one that is up and will not end is ended all the same", async () => {
  const { child, clock, states } = start([process.execPath, "-e", WELCOMES]);
  await vi.waitFor(() => expect(states.at(-1)).toBe("alive"), { timeout: 10_000 });
  const { pid = 0 } = child;
  const closing = child.close();
  await vi.waitFor(
    async () => {
      await clock.advance(CHILD.graceMs);
      expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    },
    { timeout: 10_000 },
  );
  await closing;
}, 60_000);

test("one that lives on but cannot be talked to is started anew", async () => {
  const { child, clock, lines, states } = start([process.execPath, "-e", WELCOMES, "mute"]);
  await vi.waitFor(
    async () => {
      await clock.advance(CHILD.graceMs);
      expect(states).toContain("unreachable");
    },
    { timeout: 10_000 },
  );
  expect(lines[0]).toContain("the process of an agent ended: the connection ended");
  const closing = child.close();
  await vi.waitFor(
    async () => {
      await clock.advance(CHILD.graceMs);
      expect(child.pid).toBeUndefined();
    },
    { timeout: 10_000 },
  );
  await closing;
}, 60_000);
