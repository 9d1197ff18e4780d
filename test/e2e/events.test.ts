import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Engine, sqliteStore } from "../../src/index.ts";
import { daemon, environment, programFile, run, scratch, start, type Running } from "./programs.ts";
import { LIBRARY } from "../../src/core/by.ts";

interface Line {
  readonly sequence: number;
  readonly topic: string;
}

function linesOf({ stdout }: Running): readonly Line[] {
  const complete = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
  return complete
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

/** Writes to the state of a daemon that is not running: later it tells that from its log. */
async function write(folder: string, agents: readonly string[]): Promise<void> {
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  const newId = () => randomUUID().replaceAll("-", "");
  const engine = await Engine.open({ log: store.log, node: "test", newId, random: Math.random });
  const register = (name: string) => {
    const card = { name, description: "", version: "", capabilities: [], tools: [], metadata: {} };
    return engine.execute({ type: "agent.register", card, ttlMs: 3_600_000 }, LIBRARY);
  };
  await Promise.all(agents.map(register));
  await engine.close();
  await store.close();
}

const hundred = Array.from({ length: 100 }, (_, i) => `agent-${i}`);

test(
  "a tail lives through kill -9 of the daemon: every event, in order, once",
  { timeout: 60_000 },
  async () => {
    using folder = scratch();
    await write(folder.path, hundred);
    const first = await daemon("--data-dir", folder.path);
    const { port } = new URL(first.url);
    await using events = start(["events", "--from", "0", "--json", "--url", first.url]);
    await events.says(/"sequence":102,/);
    for (let round = 1; round <= 3; round += 1) {
      const up = round === 1 ? first.up : await again(folder.path, port);
      await events.says(new RegExp(`"sequence":${round * 102},`));
      up.signal("SIGKILL");
      await up.end();
      await events.says(new RegExp(`(?:broke off[^]*){${round}}`), "stderr");
      await write(folder.path, hundred);
    }
    await using last = await again(folder.path, port);
    await events.says(/"sequence":408,/);
    const sequences = linesOf(events).map(({ sequence }) => sequence);
    expect(sequences).toEqual(Array.from({ length: 408 }, (_, i) => i + 1));
    expect(events.stderr).toContain("connected again, going on after 102");
    events.signal("SIGINT");
    expect(await events.end()).toMatchObject({ code: 0 });
    last.signal("SIGTERM");
    await last.end();
  },
);

async function again(folder: string, port: string): Promise<Running> {
  const up = start(["up", "--addr", ":0", "--http-addr", `:${port}`, "--data-dir", folder]);
  await up.says(/is up/);
  return up;
}

test("another log at the same address is told, not taken for the old one", async () => {
  using folder = scratch();
  await write(folder.path, hundred);
  const { up, url } = await daemon("--data-dir", folder.path);
  await using one = up;
  await using tail = start(["events", "--from", "0", "--url", url, "--json"]);
  await tail.says(/"sequence":102,/);
  one.signal("SIGKILL");
  await one.end();
  await using other = start(["up", "--addr", ":0", "--http-addr", url.slice(7), "--memory"]);
  await other.says(/is up/);
  await tail.says(
    /this is another log: we stood at 102, it ends at 1; going on after that/,
    "stderr",
  );
});

test("lines for people are clean, and topics pick", async () => {
  using folder = scratch();
  await write(folder.path, ["evil \u202Ename"]);
  const { up, url } = await daemon("--data-dir", folder.path);
  await using _ = up;
  await using lines = start(["events", "--from", "0", "--topic", "agent.", "--url", url]);
  await lines.says(
    /^\d\d:\d\d:\d\d\.\d{3} +2 agent\.registered +evil name \([0-9a-f]{8}\) is here/m,
  );
  expect(lines.stdout).toContain(`── ${new Date().getUTCFullYear()}-`);
  expect(lines.stdout).not.toContain("node.leading");
  expect(lines.stdout).not.toContain("\u202e");
});

test("a reader that has enough ends it quietly, with 0", async () => {
  using folder = scratch();
  // More than a pipe holds, so that it is still writing when the reader is gone.
  await write(
    folder.path,
    Array.from({ length: 3_000 }, (_, i) => `agent-${i}`),
  );
  const { up, url } = await daemon("--data-dir", folder.path);
  await using _ = up;
  const events = `"${process.execPath}" "${programFile("rollcall")}" events --from 0 --json`;
  const script = `${events} --url ${url} | head -n 2; echo "code=\${PIPESTATUS[0]}"`;
  const options = { env: environment(folder.path), timeout: 20_000 };
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script], options);
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual([
    expect.stringContaining('"sequence":1,'),
    expect.stringContaining('"sequence":2,'),
    "code=0",
  ]);
});

test("what the daemon refuses is told in its own words", async () => {
  const { up, url } = await daemon("--memory");
  await using _ = up;
  const topics = Array.from({ length: 65 }, (_each, i) => ["--topic", `t${i}`]).flat();
  const { code, stderr } = await run(["events", "--url", url, ...topics]);
  expect(stderr).toMatch(/^error: topics has 65 entries/);
  expect(code).toBe(2);
});
