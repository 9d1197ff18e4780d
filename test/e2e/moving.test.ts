/** A log that is moved from one store to another, backed up there, and restored. */
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

    const out = `sqlite:${join(home.path, "out", "rollcall.db")}`;
    const leave = ["migrate", "--log", shared.url("again"), "--to", out];
    const held = await run(leave);
    expect(held.code).not.toBe(0);
    expect(held.stderr).toContain("stop all members first");
    await second.up[Symbol.asyncDispose]();
    expect(await run(leave)).toMatchObject({ code: 0 });
    const own4 = ["--data-dir", join(home.path, "out"), "--log", out];
    const { url: fourth, up: last } = await daemon(...own4, "--no-status-files");
    onTestFinished(() => last[Symbol.asyncDispose]());
    const leases = await run(["leases", "list", "--json", "--url", fourth]);
    expect(leases.stdout).toContain(agent);
    const late = ["up", "--addr", ":0", "--http-addr", ":0", "--log", shared.url("again")];
    const refused = await run([...late, "--data-dir", second.state, ...shared.flags]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(`was moved to ${out}`);
  });

  test("a log that is lost is restored from the mirror of a member", async () => {
    const one = await member("one", shared.url("lost"), ...shared.flags);
    const agent = (await one.rollcall("agents", "register", "worker")).trim();
    const token = Number(await one.rollcall("leases", "acquire", "key", "--agent", agent));
    const anew = ["--log", shared.url("anew"), ...shared.flags];
    const restore = ["restore", "--from-mirror", "--yes", "--data-dir", one.state, ...anew];
    expect(await run(restore)).toMatchObject({
      stderr: expect.stringContaining("in use") as string,
    });
    one.up.signal("SIGTERM");
    await one.up.end();
    expect(await run(restore)).toMatchObject({ code: 0 });
    const two = await member("two", shared.url("anew"), ...shared.flags);
    const renewed = await vi.waitFor(() => two.rollcall("leases", "list", "--json"), {
      timeout: 20_000,
      interval: 200,
    });
    expect(renewed).toContain(agent);
    const next = await two.rollcall("leases", "acquire", "other", "--agent", agent);
    expect(Number(next)).toBeGreaterThan(token);
  });
});

describe.skipIf(STORES.length < 2)("from one store of clusters to the other", () => {
  test("the log goes on where it is now, under its id and its sequences", async () => {
    const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
    onTestFinished(async () => void (await Promise.all([postgres.stop(), nats.stop()])));
    const [old, now] = [postgres.url("team"), nats.url("team")];
    const one = await member("one", old);
    const agent = (await one.rollcall("agents", "register", "worker")).trim();
    await one.up[Symbol.asyncDispose]();
    const there = await run(["migrate", "--log", old, "--to", now, ...nats.flags, "--json"]);
    expect(there).toMatchObject({ code: 0 });
    // A member keeps its folder: it knows the log by its id.
    const place = ["--data-dir", one.state, "--node", "one", "--no-status-files"];
    const { up, url } = await daemon(...place, "--log", now, ...nats.flags);
    const found = await run(["agents", "list", "--json", "--url", url]);
    expect(found.stdout).toContain(agent);
    await up[Symbol.asyncDispose]();
    const back = postgres.url("back");
    const home = ["migrate", "--log", now, "--to", back, "--json"];
    expect(await run(home)).toMatchObject({ code: 0 });
    const { logId } = JSON.parse(there.stdout) as { logId: string };
    const two = await member("two", back);
    expect(await two.rollcall("cluster", "--json")).toContain(logId);
    expect(await two.rollcall("agents", "list", "--json")).toContain(agent);
  });
});
