/**
 * Two real daemons, one reporting to the other: each is killed in turn, the cable between them is
 * cut, and goes quiet without an end. The team's fleet is right within 5 s of the link.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { daemon, run, scratch, start, type Running } from "../e2e/programs.ts";
import { Cable } from "../support/cable.ts";

const RECONNECTED_MS = 5_000;
const STEPS = fileURLToPath(new URL("../e2e/agents/steps.mjs", import.meta.url));

const home = scratch();
const path = (...parts: readonly string[]) => join(home.path, ...parts);
let team: { up: Running; url: string };
let box: { up: Running; url: string };
let cable: Cable;

/** A tunnel to another port needs the allowed host, too. */
const teamFlags = () =>
  flags({ dataDir: "team", statusDir: "team-files" }).concat(
    ["--node", "hq"],
    ["--allowed-hosts", cable.host],
  );

const boxFlags = () =>
  flags({ dataDir: "box", statusDir: "box-files" }).concat(
    ["--join", `http://${cable.host}`],
    ["--token-file", path("box.token")],
    ["--accept", "jobs"],
    ["--config", path("box.toml")],
  );

function flags({ dataDir, statusDir }: { dataDir: string; statusDir: string }): string[] {
  return ["--data-dir", path(dataDir), "--status-dir", path(statusDir)];
}

beforeAll(async () => {
  cable = await Cable.open();
  team = await daemon(...teamFlags());
  cable.port = Number(new URL(team.url).port);
  const token = ["tokens", "create", "box", "--role", "outpost", "--host", "box"];
  const { stdout } = await run([...token, "--url", team.url]);
  writeFileSync(path("box.token"), stdout);
  writeFileSync(path("box.toml"), `[agents.steps]\nmodule = ${JSON.stringify(STEPS)}\n`);
  box = await daemon(...boxFlags());
});

afterAll(async () => {
  await box.up[Symbol.asyncDispose]();
  await team.up[Symbol.asyncDispose]();
  cable.close();
  home[Symbol.dispose]();
});

async function say(agentId: string, message: string): Promise<void> {
  const facts = { liveness: { value: "alive" }, activity: { value: "working", message } };
  const response = await fetch(`${box.url}/v1/fleet/reports`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ alias: `script:${agentId}`, agentId, facts }),
  });
  expect(response.status).toBe(200);
}

async function teamSees(agentId: string, why: string, withinMs?: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = (await (await fetch(`${team.url}/v1/fleet`)).json()) as Fleet;
      expect(rows.find(({ id }) => id === `${agentId}@box`)).toMatchObject({ why, host: "box" });
    },
    withinMs === undefined ? undefined : { timeout: withinMs },
  );
}

interface Fleet {
  readonly rows: readonly { readonly id: string }[];
}

/** What the team was told of an agent, each time. */
async function told(agentId: string): Promise<readonly string[]> {
  const { stdout } = await run(["timeline", `${agentId}@box`, "--json", "--url", team.url]);
  return Array.from(stdout.matchAll(/"message":"(step \d+)"/g), ([, step = ""]) => step);
}

test("an agent of the machine is in the team's fleet, and in the machine's own", async () => {
  await say("nightly", "step 1");
  await teamSees("nightly", "step 1");
  const there = await run(["ls", "--url", team.url]);
  expect(there.stdout).toMatch(/HOST[^]*WORKING +nightly@box +box +step 1/);
  const here = await run(["ls", "--url", box.url]);
  expect(here.stdout).toMatch(/WORKING +nightly +step 1/);
  const { stdout } = await run(["outposts", "--url", team.url]);
  expect(stdout).toMatch(/box +connected +(?:now|\d+ \w+ ago) +\d +questions +jobs/);
  expect(box.up.stdout).toContain(`team   http://${cable.host}: shares status and questions`);
});

test("a job of the machine is listed by the team, run and cancelled from there", async () => {
  const order = ["outposts", "run", "box", "steps", "--input", '{"steps":1000}'];
  const { stdout, stderr } = await run([...order, "--url", team.url]);
  const [jobId = stderr] = /^job_\w+@box$/m.exec(stdout) ?? [];
  const listed = async (status: string) => {
    const jobs = await run(["jobs", "--host", "box", "--url", team.url]);
    expect(jobs.stdout).toMatch(new RegExp(`^${jobId} +steps +${status} `, "m"));
  };
  await vi.waitFor(() => listed("running"));
  const there = await run(["jobs", "--url", box.url]);
  expect(there.stdout).toContain(jobId.replace("@box", ""));
  const rows = await run(["ls", "--all", "--url", team.url]);
  expect(rows.stdout).toMatch(/WORKING +steps +box/);
  const cancelled = await run(["jobs", "cancel", jobId, "--url", team.url]);
  expect(cancelled.stderr).toContain(`job ${jobId} is being cancelled`);
  await vi.waitFor(() => listed("cancelled"), { timeout: RECONNECTED_MS });
  const shown = await run(["jobs", "get", jobId, "--url", team.url]);
  expect(shown.stdout).toMatch(/status +cancelled[^]*host +box/);
  const audit = await run(["audit", "--url", box.url]);
  expect(audit.stdout).toMatch(/team:\S+ +.*job\.cancel/);
});

test("what is said while the cable is cut is told later, once and in order", async () => {
  cable.cut();
  for (const n of [2, 3, 4]) await say("nightly", `step ${n}`);
  cable.mend();
  await teamSees("nightly", "step 4", RECONNECTED_MS);
  expect(await told("nightly")).toEqual(["step 1", "step 2", "step 3", "step 4"]);
});

test("the team's daemon is killed, and comes back", async () => {
  const { port } = new URL(team.url);
  team.up.signal("SIGKILL");
  await team.up.end();
  await say("nightly", "step 5");
  const up = start(["up", "--addr", ":0", "--http-addr", `:${port}`, ...teamFlags()]);
  await up.says(/only this machine/);
  team = { ...team, up };
  await teamSees("nightly", "step 5", RECONNECTED_MS);
});

test("the machine's daemon is killed, and comes back", async () => {
  await say("nightly", "step 6");
  box.up.signal("SIGKILL");
  await box.up.end();
  box = await daemon(...boxFlags());
  await say("nightly", "step 7");
  await teamSees("nightly", "step 7", RECONNECTED_MS);
  const steps = Array.from({ length: 7 }, (_, i) => `step ${i + 1}`);
  expect(await told("nightly")).toEqual(steps);
});

test("a cable that swallows everything is found out by the machine", async () => {
  cable.swallow();
  await say("nightly", "step 8");
  await vi.waitFor(async () => {
    const { team: link } = (await (await fetch(`${box.url}/v1/status`)).json()) as Status;
    expect(link.state).toBe("offline");
  });
  cable.mend();
  await teamSees("nightly", "step 8", 2 * RECONNECTED_MS);
}, 60_000);

interface Status {
  readonly team: { readonly state: string };
}

test("a machine that is stopped is silent, not dead", async () => {
  box.up.signal("SIGTERM");
  await box.up.end();
  await vi.waitFor(async () => {
    const { stdout } = await run(["ls", "--url", team.url]);
    expect(stdout).toMatch(/PROBLEM +nightly@box +box +silent since \d\d:\d\d · step 8/);
  });
});
