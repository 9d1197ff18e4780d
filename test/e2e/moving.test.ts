/** The log of one daemon, moved to a store that members share, backed up there, and restored. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { NatsCluster } from "../support/nats/server.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { member } from "./members.ts";
import { daemon, run, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 120_000 });

interface Shared {
  /** Of a log. */
  readonly url: (name: string) => string;
  /** For a command that opens it. */
  readonly flags: readonly string[];
  readonly stop: () => Promise<void>;
}

async function startPostgres(): Promise<Shared> {
  const server = await PostgresServer.start();
  return { url: (name) => server.url(name), flags: [], stop: () => server.stop() };
}

async function startNats(): Promise<Shared> {
  const servers = await NatsCluster.start();
  const flags = ["--nats-monitor", servers.monitors.join(",")];
  return { url: (name) => servers.url(name), flags, stop: () => servers.stop() };
}

const STORES = [
  { kind: "postgres", start: startPostgres },
  { kind: "nats", start: startNats },
].filter(({ kind }) => !lacks(kind));

describe.each(STORES)("with a log in $kind", ({ start }) => {
  let shared: Shared;

  beforeAll(async () => {
    shared = await start();
  }, 60_000);

  afterAll(() => shared.stop());

  test("a daemon's file is moved there, backed up there, and restored elsewhere", async () => {
    const home = scratch();
    onTestFinished(() => home[Symbol.dispose]());
    const data = join(home.path, "state");
    const own = ["--data-dir", data];
    const { up, url } = await daemon(...own, "--no-status-files");
    const at = async (...args: readonly string[]) => (await run([...args, "--url", url])).stdout;
    const agent = (await at("agents", "register", "worker")).trim();
    const token = Number(await at("leases", "acquire", "key", "--agent", agent));
    const to = shared.url("moved");
    const early = await run(["migrate", "--to", to, ...own, ...shared.flags]);
    expect(early).toMatchObject({ code: 4, stderr: expect.stringContaining("in use") as string });
    await up[Symbol.asyncDispose]();

    const moved = await run(["migrate", "--to", to, ...own, ...shared.flags, "--json"]);
    expect(moved).toMatchObject({ code: 0 });
    expect(JSON.parse(moved.stdout)).toMatchObject({
      to,
      head: expect.any(Number) as number,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    for (const command of [
      ["up", "--addr", ":0", "--http-addr", ":0"],
      ["migrate", "--to", to, ...shared.flags],
    ]) {
      const refused = await run([...command, ...own]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(`was moved to ${to}`);
    }
    const first = await member("first", to, ...shared.flags);
    expect(await first.rollcall("leases", "list", "--json")).toContain(agent);

    const file = join(home.path, "cluster.backup");
    const log = ["--log", to, "--data-dir", join(home.path, "other"), ...shared.flags];
    expect(await run(["backup", file, ...log])).toMatchObject({ code: 0 });
    const later = Number(await first.rollcall("leases", "acquire", "later", "--agent", agent));
    expect(later).toBeGreaterThan(token);
    const taken = await run(["restore", file, "--yes", ...log]);
    expect(taken).toMatchObject({ code: 4 });
    expect(taken.stderr).toContain("is not empty");

    const again = ["--log", shared.url("again"), ...log.slice(2)];
    expect(await run(["restore", file, "--yes", ...again])).toMatchObject({ code: 0 });
    const file2 = ["--data-dir", join(home.path, "one-machine")];
    expect(await run(["restore", file, "--yes", ...file2])).toMatchObject({ code: 0 });
    const second = await member("second", shared.url("again"), ...shared.flags);
    const { url: third, up: alone } = await daemon(...file2, "--no-status-files");
    onTestFinished(() => alone[Symbol.asyncDispose]());
    const acquire = ["leases", "acquire", "later", "--agent", agent];
    const tokens = [
      await vi.waitFor(() => second.rollcall(...acquire), { timeout: 20_000, interval: 200 }),
      (await run([...acquire, "--url", third])).stdout,
    ];
    for (const each of tokens) expect(Number(each)).toBeGreaterThan(later);
  });
});
