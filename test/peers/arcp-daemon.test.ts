import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ARCP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { jobsDaemon, WHOLE } from "../e2e/jobs-daemon.ts";
import { environment, Running, scratch } from "../e2e/programs.ts";

const SCRIPTS = fileURLToPath(new URL("arcp/", import.meta.url));
const isMissing = lacks("arcp-sdk");
vi.setConfig({ testTimeout: 60_000 });
const SOON = { timeout: 15_000, interval: 50 };

const TOKEN = 'env = { ARCP_TOKEN = "tok" }\n';

/** Agents in the real Python runtime, as a child of the daemon. */
const PYTHON_AGENTS = ["kinds", "fail"]
  .map((name) => {
    const command = [ARCP_PYTHON, join(SCRIPTS, "agents.py"), "stdio"];
    return `\n[agents.${name}]\ncommand = ${JSON.stringify(command)}\n${TOKEN}`;
  })
  .join("");

function python(script: string, url: string, more: NodeJS.ProcessEnv = {}): Running {
  const home = scratch();
  const env = environment(home.path, { PYTHONDONTWRITEBYTECODE: "1", ...more });
  const running = new Running(ARCP_PYTHON, [join(SCRIPTS, script), url], env);
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  return running;
}

test.skipIf(isMissing)(
  "the Python client submits to agents of the daemon, of which one is in the Python runtime",
  async () => {
    const daemon = await jobsDaemon(PYTHON_AGENTS);
    const denied = ["no-fail", "deny", "local", "job.submit", "agent:fail"];
    await daemon.rollcall("policies", "set", ...denied);
    const { code, stdout, stderr } = await python("daemon.py", arcpOf(daemon.url)).end();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const ids = stdout.trim().split("\n");
    expect(ids).toHaveLength(3);
    const { jobs } = await daemon.json<{ jobs: { id: string; agent: string }[] }>("jobs");
    expect(jobs.map(({ id }) => id)).toEqual(ids);
    expect(jobs.map(({ agent }) => agent)).toEqual(["echo", "worker", "kinds"]);
    await vi.waitFor(async () => {
      for (const id of ids) expect(daemon.topics(id)).toEqual(WHOLE);
      expect(await daemon.row("arcp@n1:kinds")).toMatchObject({ outcome: { value: "success" } });
    }, SOON);
  },
);

test.skipIf(isMissing)(
  "once there are tokens, the Python client needs one that is good and may submit",
  async () => {
    const daemon = await jobsDaemon();
    const create = async (name: string, role: string, ttl = "1h") => {
      const flags = ["--role", role, "--ttl", ttl];
      return (await daemon.rollcall("tokens", "create", name, ...flags)).stdout.trim();
    };
    const tokens = {
      AGENT: await create("worker", "agent"),
      EXPIRED: await create("expired", "admin", "1s"),
      REVOKED: await create("revoked", "admin"),
      VIEWER: await create("viewer", "viewer"),
      WRONG: "whatever",
    };
    await daemon.rollcall("tokens", "revoke", "revoked");
    await vi.waitFor(async () => {
      expect((await daemon.rollcall("tokens")).stdout).toMatch(/^expired .* expired /m);
    }, SOON);
    const { code, stdout, stderr } = await python("tokens.py", arcpOf(daemon.url), tokens).end();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const [job] = await daemon.jobs();
    expect(job).toMatchObject({ id: stdout.trim(), principal: "token:worker" });
  },
);

test.skipIf(isMissing)(
  "killed in the middle of its job, the Python client resumes and hears how it ended",
  async () => {
    const daemon = await jobsDaemon();
    const running = python("daemon_resume.py", arcpOf(daemon.url));
    const [, id = ""] = await running.says(/kill me while (\S+) runs/);
    await vi.waitFor(async () => {
      expect(await daemon.rowJob(id)).toMatchObject({ status: "running" });
    }, SOON);
    await daemon.kill();
    const { code, stderr } = await running.end();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(running.stdout).toContain("resumed");
    await vi.waitFor(async () => {
      expect(await daemon.rowJob(id)).toMatchObject({ status: "error" });
      expect(daemon.topics(id)).toEqual(WHOLE);
    }, SOON);
  },
);

function arcpOf(url: string): string {
  return `${url.replace("http", "ws")}/arcp`;
}
