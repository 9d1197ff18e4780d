/**
 * Jobs that survive, on the real thing: a runtime over SQLite and WebSockets is killed five times
 * while two hundred jobs stream to twenty clients. Every client ends with every event of its
 * session exactly once, in order, and with one end for each of its jobs.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { Random } from "../simulation/random.ts";
import { Watched } from "./arcp-watched.ts";

const KILLS = 5;
const CLIENTS = 20;
const JOBS = 10;
const NUMBERS = 500;

const folder = mkdtempSync(join(tmpdir(), "rollcall-arcp-kill-"));
const path = join(folder, "arcp.db");
let victim: ChildProcess | undefined;

afterAll(() => {
  victim?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(port: string): Promise<string> {
  const program = new URL("arcp-runtime.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, path, port], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  victim = child;
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the runtime did not start");
}

async function kill(): Promise<void> {
  const exit = victim && once(victim, "exit");
  victim?.kill("SIGKILL");
  await exit;
}

test(
  "every client ends with every event exactly once, in order, and one end for each job",
  { timeout: 120_000 },
  async () => {
    const seed = Date.now() % 1_000_000;
    const random = new Random(seed);
    const url = await start("0");
    const { port } = new URL(url);
    const clients = Array.from(
      { length: CLIENTS },
      (_, i) => new Watched({ url, name: `client ${i}`, numbers: NUMBERS }),
    );
    await Promise.all(clients.map((client) => client.connect()));
    // All at once: the kills are to find most of them unfinished.
    const agents = Array.from({ length: JOBS }, (_, i) => (i % 2 === 0 ? "phoenix" : "mortal"));
    await Promise.all(clients.flatMap((client) => agents.map((agent) => client.submit(agent))));

    const seen = () => clients.reduce((sum, { last }) => sum + last, 0);
    for (let kills = 0; kills < KILLS; kills += 1) {
      const before = seen();
      const events = random.between(1, 4_000);
      await expect
        .poll(() => seen() >= before + events, { timeout: 30_000, interval: 1 })
        .toBe(true);
      await kill();
      await start(port);
    }
    await Promise.all(clients.map((client) => client.done()));
    const last = clients.map((client) => client.last);
    await Promise.all(clients.map((client) => client.close()));

    expect(
      clients.flatMap(({ faults }) => faults),
      `seed ${seed}`,
    ).toEqual([]);
    const sum = (name: keyof Watched["tally"]) =>
      clients.reduce((total, { tally }) => total + tally[name], 0);
    expect(sum("whole") + sum("cut")).toBe(CLIENTS * JOBS);
    // The kills struck while there was something to lose: else nothing was shown.
    expect(sum("resumes")).toBeGreaterThan(CLIENTS);
    expect(sum("cut")).toBeGreaterThan(0);
    expect(sum("restarts")).toBeGreaterThan(0);
    expect(Math.min(...last)).toBeGreaterThan(0);
  },
);
