/** Daemons that keep their log in one Postgres, as an operator starts them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { PostgresServer } from "../support/postgres/server.ts";
import { member } from "./members.ts";
import { run, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 90_000 });

const hasServer = !lacks("postgres");
let server: PostgresServer;

beforeAll(async () => {
  if (hasServer) server = await PostgresServer.start();
}, 60_000);

afterAll(async () => {
  if (hasServer) await server.stop();
});

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
});
