/** Daemons that keep their log in one Postgres, as an operator starts them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { PostgresServer } from "../support/postgres/server.ts";
import { daemon, run, scratch, type Running } from "./programs.ts";

vi.setConfig({ testTimeout: 90_000 });

const hasServer = !lacks("postgres");
let server: PostgresServer;

beforeAll(async () => {
  if (hasServer) server = await PostgresServer.start();
}, 60_000);

afterAll(async () => {
  if (hasServer) await server.stop();
});

interface Member {
  readonly up: Running;
  readonly url: string;
  /** Its folder. */
  readonly state: string;
  /** What a command at this daemon prints. */
  readonly rollcall: (...args: readonly string[]) => Promise<string>;
}

async function member(node: string, log: string, ...more: readonly string[]): Promise<Member> {
  const home = scratch();
  const state = join(home.path, "state");
  const place = ["--data-dir", state, "--log", log, "--node", node];
  const { up, url } = await daemon(...place, "--no-status-files", ...more);
  onTestFinished(async () => {
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const rollcall = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run([...args, "--url", url]);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  return { up, url, state, rollcall };
}

describe.skipIf(!hasServer)("daemons on one Postgres", () => {
  test("the second takes over when the first is killed; tokens rise, nothing is lost", async () => {
    const first = await member("one", server.url("team"));
    const agent = (await first.rollcall("agents", "register", "worker")).trim();
    const token = Number(await first.rollcall("leases", "acquire", "key", "--agent", agent));
    expect(first.up.stdout).toContain(`postgres at 127.0.0.1:${server.port}/rollcall, schema team`);
    const second = await member("two", server.url("team"));
    await first.up[Symbol.asyncDispose]();

    const next = await vi.waitFor(() => second.rollcall("agents", "register", "other"), {
      timeout: 30_000,
      interval: 200,
    });
    const agents = await second.rollcall("agents", "list", "--json");
    expect(agents).toContain(agent);
    await second.rollcall("leases", "release", "key", "--agent", agent, "--token", String(token));
    const later = await second.rollcall("leases", "acquire", "key", "--agent", next.trim());
    expect(Number(later)).toBeGreaterThan(token);
  });

  test("the password comes from a file; it stands nowhere, and a wrong one says so", async () => {
    await server.query("CREATE ROLE locked LOGIN PASSWORD 'hunter2' SUPERUSER");
    await server.demandPassword("locked");
    const home = scratch();
    onTestFinished(() => home[Symbol.dispose]());
    const file = join(home.path, "password");
    const log = server.url("locked", { user: "locked" });
    writeFileSync(file, "wrong\n", { mode: 0o600 });
    const data = ["--data-dir", join(home.path, "state"), "--addr", ":0", "--http-addr", ":0"];
    const refused = await run(["up", "--log", log, "--log-credentials-file", file, ...data]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("check the user of the URL, and the password");
    writeFileSync(file, "hunter2\n", { mode: 0o600 });
    const level = ["--log-credentials-file", file, "--log-level", "trace"];
    const { up, url, state, rollcall } = await member("locked", log, ...level);
    await rollcall("agents", "register", "worker");
    const answers = [await rollcall("doctor"), await rollcall("cluster")];
    for (const path of ["status", "overview", "cluster"]) {
      answers.push(await (await fetch(`${url}/v1/${path}`)).text());
    }
    const written = readdirSync(state, { withFileTypes: true, recursive: true })
      .filter((each) => each.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
    const events = await server.query("SELECT encode(body, 'escape') AS text FROM locked.log");
    const seen = {
      output: up.stdout + up.stderr + refused.stdout + refused.stderr,
      answers: answers.join("\n"),
      processes: readFileSync(`/proc/${up.pid}/cmdline`, "utf8"),
      files: written.join("\n"),
      events: JSON.stringify(events),
    };
    expect(seen.answers).toContain("locked");
    expect(seen.events).toContain("agent.registered");
    const places = Object.entries(seen).filter(([, text]) => /hunter2|"wrong"/.test(text));
    expect(places).toEqual([]);
  });

  test("a daemon's file is moved there, backed up there, and restored elsewhere", async () => {
    const home = scratch();
    onTestFinished(() => home[Symbol.dispose]());
    const data = join(home.path, "state");
    const own = ["--data-dir", data];
    const { up, url } = await daemon(...own, "--no-status-files");
    const at = async (...args: readonly string[]) => (await run([...args, "--url", url])).stdout;
    const agent = (await at("agents", "register", "worker")).trim();
    const token = Number(await at("leases", "acquire", "key", "--agent", agent));
    const to = server.url("moved");
    const early = await run(["migrate", "--to", to, ...own]);
    expect(early).toMatchObject({ code: 4, stderr: expect.stringContaining("in use") as string });
    await up[Symbol.asyncDispose]();

    const moved = await run(["migrate", "--to", to, ...own, "--json"]);
    expect(moved).toMatchObject({ code: 0 });
    expect(JSON.parse(moved.stdout)).toMatchObject({
      to,
      head: expect.any(Number) as number,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    for (const command of [
      ["up", "--addr", ":0", "--http-addr", ":0"],
      ["migrate", "--to", to],
    ]) {
      const refused = await run([...command, ...own]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(`was moved to ${to}`);
    }
    const first = await member("first", to);
    expect(await first.rollcall("leases", "list", "--json")).toContain(agent);

    const file = join(home.path, "cluster.backup");
    const log = ["--log", to, "--data-dir", join(home.path, "other")];
    expect(await run(["backup", file, ...log])).toMatchObject({ code: 0 });
    const later = Number(await first.rollcall("leases", "acquire", "later", "--agent", agent));
    expect(later).toBeGreaterThan(token);
    const taken = await run(["restore", file, "--yes", ...log]);
    expect(taken).toMatchObject({ code: 4 });
    expect(taken.stderr).toContain("is not empty");

    const again = ["--log", server.url("again"), "--data-dir", join(home.path, "other")];
    expect(await run(["restore", file, "--yes", ...again])).toMatchObject({ code: 0 });
    const file2 = ["--data-dir", join(home.path, "one-machine")];
    expect(await run(["restore", file, "--yes", ...file2])).toMatchObject({ code: 0 });
    const second = await member("second", server.url("again"));
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
