/** A data folder that an older program left when it was killed, as the daemon of today opens it. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { Client } from "../../test/fixtures/ledger/client.ts";
import { writeConfig } from "../../test/fixtures/ledger/config.ts";
import { daemonFile } from "../../test/support/arcp/old-file.ts";
import { ask } from "../../test/support/daemon/fixture.ts";
import { START_MS, TestClock } from "../../test/support/engine/fixture.ts";
import { connectWebSocket } from "../wires/arcp/transports/websocket.ts";
import { startDaemon } from "./compose.ts";
import { loadConfig } from "./config.ts";
import { createLogger } from "./logger.ts";

const AGENTS = fileURLToPath(new URL("../../test/fixtures/ledger/agents.mjs", import.meta.url));

/** The same agents, a second after the old daemon died. */
async function opened() {
  const file = daemonFile();
  const dataDir = dirname(file.path);
  const config = writeConfig(dataDir, AGENTS);
  const doors = { addr: ":0", "http-addr": ":0", "arcp-addr": ":0" };
  const flags = { ...doors, config, "data-dir": dataDir, node: "fixture", "status-files": "false" };
  const clock = new TestClock();
  clock.stepWall(file.atMs + 1000 - START_MS);
  const lines: string[] = [];
  const logger = createLogger({ level: "info", write: (line) => lines.push(line) });
  const daemon = await startDaemon(await loadConfig({ flags, env: {} }), { clock, logger });
  onTestFinished(() => daemon.close());
  const url = `ws://127.0.0.1:${daemon.arcpAddress?.port}/arcp`;
  const get = async <T>(path: string) =>
    JSON.parse((await ask(daemon.httpAddress?.port ?? 0, path)).body) as T;
  return { ...file, daemon, lines, get, open: () => connectWebSocket(url) };
}

interface Rows {
  readonly rows: readonly { readonly id: string; readonly headline: string }[];
}

test("its jobs are taken over, and it says so in one line", async () => {
  const { jobs, lines, get } = await opened();
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      level: 30,
      msg: "importing the jobs of an older version into the log",
      jobs: 5,
      sessions: 2,
    }),
  ]);
  const { jobs: listed } = await get<{ jobs: { id: string; status: string }[] }>("/v1/jobs");
  expect(Object.fromEntries(listed.map(({ id, status }) => [id, status]))).toEqual({
    [jobs.done]: "success",
    [jobs.failed]: "error",
    [jobs.running]: "error",
    [jobs.asking]: "error",
    [jobs.phoenix]: "running",
  });
});

test("the fleet has a row for each agent and none for its jobs, which ask nobody", async () => {
  const { get } = await opened();
  const names = ["ask", "fail", "phoenix", "talk", "wait"];
  await vi.waitFor(async () => {
    const { rows } = await get<Rows>("/v1/fleet");
    expect(rows.map(({ id }) => id).sort()).toEqual(names.map((name) => `arcp@fixture:${name}`));
    expect(rows.filter(({ headline }) => headline === "NEEDS YOU")).toEqual([]);
  });
});

test("a client resumes its session and hears how its jobs ended", async () => {
  const { open, clients, jobs } = await opened();
  const { sessionId, tokens, frames } = clients.local;
  const client = new Client({ open });
  const resume = { session_id: sessionId, resume_token: tokens.at(-1), last_event_seq: 3 };
  await client.connect(resume);
  await client.ended(jobs.running);
  const said = ({ type, job_id, event_seq, payload }: (typeof frames)[number]) => {
    return { type, job_id, event_seq, payload };
  };
  const before = client.numbered.slice(0, frames.length - 3);
  expect(before.map(said)).toEqual(frames.slice(3).map(said));
  expect(client.of(jobs.running).at(-1)).toMatchObject({ payload: { code: "INTERNAL_ERROR" } });
  await client.says(jobs.phoenix, '{\\"USD\\":\\"2.5\\"} left');
  client.lose();
});
