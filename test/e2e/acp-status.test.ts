/** What others see of an agent behind the proxy: its status file, the fleet, the commands. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { connect } from "../../src/wires/api/client/client.ts";
import type { AgentQuestion } from "../../src/fleet/inbox.ts";
import type { Row } from "../../src/fleet/row.ts";
import { proxied, proxyHome, type ProxyHome, type ProxyRun } from "./acp-proxy.ts";
import { daemon, run, start } from "./programs.ts";

const SOON = { timeout: 30_000, interval: 20 };
const PATIENT = { timeout: 120_000 };
const AGENT = [process.execPath, fileURLToPath(new URL("../peers/acp/agent.mjs", import.meta.url))];

/** As far as the agent asks whether it may write. */
async function untilItAsks(proxy: ProxyRun, cwd: string): Promise<void> {
  proxy.say({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await proxy.says('"id":0');
  proxy.say({ id: 1, method: "session/new", params: { cwd, mcpServers: [] } });
  await proxy.says("peer-session");
  const prompt = [{ type: "text", text: "Tidy up, with API_KEY=abcdef" }];
  proxy.say({ id: 2, method: "session/prompt", params: { sessionId: "peer-session", prompt } });
  await proxy.says("session/request_permission");
}

function allow(proxy: ProxyRun): void {
  proxy.say({ id: 0, result: { outcome: { outcome: "selected", optionId: "yes" } } });
}

const commands = (home: ProxyHome) => ({ home: home.path, env: home.env });

test(
  "the status file asks while the agent does, hides secrets, and goes with it",
  PATIENT,
  async () => {
    using home = proxyHome();
    await using proxy = proxied(home, AGENT);
    await untilItAsks(proxy, home.path);
    await vi.waitFor(() => expect(home.statuses()[0]?.task?.state).toBe("input-required"), SOON);
    expect(home.statuses()).toMatchObject([
      {
        agent_name: "peer-agent",
        runtime: { pid: proxy.pid, workspace: home.path },
        goal: { summary: expect.stringMatching(/^Tidy up, with API_KEY=(?!abcdef)/) as string },
        task: { summary: "Write result.txt" },
        x_meta: {
          rollcall: { question: { kind: "permission", options: ["Allow once", "Reject"] } },
        },
      },
    ]);
    const { stdout } = await run(["acp", "status"], commands(home));
    expect(stdout).toMatch(/STATUS +AGENT +DOES/);
    expect(stdout).toMatch(/waiting +peer-agent +Write result\.txt +Step 1\/2: Look at the notes/);
    allow(proxy);
    await proxy.says("end_turn");
    await vi.waitFor(() => expect(home.statuses()[0]?.task ?? null).toBeNull(), SOON);
    proxy.child.stdin.end();
    await proxy.ended;
    expect(home.statuses()).toEqual([]);
    const after = await run(["acp", "--json"], commands(home));
    expect(JSON.parse(after.stdout)).toEqual({ agents: [] });
  },
);

test(
  "a status file of a turn that ended at once is gone with a proxy that is told to go",
  PATIENT,
  async () => {
    using home = proxyHome();
    await using proxy = proxied(home, AGENT);
    await untilItAsks(proxy, home.path);
    await vi.waitFor(() => expect(home.statuses()).toHaveLength(1), SOON);
    proxy.child.kill("SIGTERM");
    await proxy.ended;
    expect(home.statuses()).toEqual([]);
  },
);

describe("with a daemon", PATIENT, () => {
  async function fleet(home: ProxyHome) {
    const { up, url } = await daemon(
      "--memory",
      "--status-dir",
      join(home.path, "state/agent-status"),
    );
    const client = connect({ url });
    const rows = async () => ((await client.get("/v1/fleet")) as { rows: readonly Row[] }).rows;
    const open = async () => {
      const path = "/v1/questions?state=open";
      return ((await client.get(path)) as { questions: readonly AgentQuestion[] }).questions;
    };
    return {
      url,
      rows,
      open,
      async [Symbol.asyncDispose]() {
        client.close();
        await up[Symbol.asyncDispose]();
      },
    };
  }

  test("it is one row, with one question, which is over when it goes on", async () => {
    using home = proxyHome();
    await using at = await fleet(home);
    const { url, rows, open } = at;
    await using proxy = proxied(home, AGENT, ["--url", url]);
    await untilItAsks(proxy, home.path);
    const asking = {
      name: "peer-agent",
      headline: "NEEDS YOU",
      workspace: home.path,
      aliases: [expect.stringMatching(/^acp@/), expect.stringMatching(/^file@/)],
      activity: {
        value: "waiting",
        task: "Step 1/2: Look at the notes",
        evidence: { wire: "acp" },
      },
      blockedOn: {
        value: { text: "Write result.txt", options: ["Allow once", "Reject"] },
        evidence: { wire: "acp" },
      },
    };
    await vi.waitFor(async () => expect(await rows()).toMatchObject([asking]), SOON);
    expect(await open()).toMatchObject([{ name: "peer-agent", text: "Write result.txt" }]);
    allow(proxy);
    await proxy.says("end_turn");
    await vi.waitFor(async () => expect(await open()).toEqual([]), SOON);
    await vi.waitFor(async () => expect((await rows())[0]?.headline).toBe("IDLE"), SOON);
    expect((await rows())[0]?.outcome).toMatchObject({ value: "success" });
    proxy.child.stdin.end();
    await proxy.ended;
    await vi.waitFor(async () => expect((await rows())[0]?.headline).toBe("GONE"), SOON);
  });

  test("a proxy that is killed is gone from the fleet, and so is what it asked", async () => {
    using home = proxyHome();
    await using at = await fleet(home);
    const { url, rows } = at;
    await using proxy = proxied(home, AGENT, ["--url", url]);
    await untilItAsks(proxy, home.path);
    await vi.waitFor(async () => expect((await rows())[0]?.aliases).toHaveLength(2), SOON);
    proxy.child.kill("SIGKILL");
    await vi.waitFor(async () => expect((await rows())[0]?.headline).toBe("GONE"), SOON);
    expect((await rows())[0]?.blockedOn).toBeNull();
  });

  test("a daemon that comes later learns what is so then", async () => {
    using home = proxyHome();
    const port = 20_000 + (process.pid % 20_000);
    const url = `http://127.0.0.1:${port}`;
    await using proxy = proxied(home, AGENT, ["--url", url]);
    await untilItAsks(proxy, home.path);
    await using up = start(["up", "--memory", "--addr", ":0", "--http-addr", `127.0.0.1:${port}`], {
      home: home.path,
    });
    await up.says(/HTTP +http:/);
    await using client = connect({ url });
    await vi.waitFor(async () => {
      const { rows } = (await client.get("/v1/fleet")) as { rows: readonly Row[] };
      expect(rows[0]?.aliases.some((alias) => alias.startsWith("acp@"))).toBe(true);
    }, SOON);
  });
});

test(
  "who the agent is goes to what it starts, and one that was told whose it is keeps that",
  PATIENT,
  async () => {
    using home = proxyHome({ ROLLCALL_AGENT_ID: "mine" });
    await using proxy = proxied(home, ["sh", "-c", "echo id=$ROLLCALL_AGENT_ID; cat"]);
    await proxy.says("id=mine");
    await vi.waitFor(() => expect(home.statuses()).toHaveLength(1), SOON);
    expect(home.statuses()[0]?.x_meta).toMatchObject({ rollcall_agent_id: "mine" });
    expect(home.statuses()[0]?.agent_id).toMatch(/^acp-sh-/);
  },
);

describe("the commands", PATIENT, () => {
  test("tail follows what an agent does; record and replay show it again", async () => {
    using home = proxyHome();
    const file = join(home.path, "talk.jsonl");
    await using tail = start(["acp", "tail"], commands(home));
    await using proxy = proxied(home, AGENT, ["record", file]);
    await untilItAsks(proxy, home.path);
    await tail.says(/peer-agent +waiting +Write result\.txt · Step 1\/2: Look at the notes/);
    allow(proxy);
    await tail.says(/peer-agent +idle +Done/);
    proxy.child.stdin.end();
    await proxy.ended;
    expect(readFileSync(file, "utf8")).not.toContain("abcdef");
    const { stdout, code } = await run(["acp", "replay", file], commands(home));
    expect(code).toBe(0);
    const words = stdout.split("\n").flatMap((line) => /^ +[\d.]+ +(\S+)/.exec(line)?.[1] ?? []);
    expect(words.join(" ")).toBe(
      "starting starting idle thinking thinking reading thinking " +
        "writing waiting writing thinking thinking idle",
    );
  });

  test("install shows what would change, writes it when told to, and takes it out", async () => {
    using home = proxyHome();
    const path = join(home.path, ".config/zed/settings.json");
    const before = '{\n  // mine\n  "agent_servers": {\n    "A": { "command": "a" }\n  }\n}\n';
    mkdirSync(join(home.path, ".config/zed"), { recursive: true });
    writeFileSync(path, before);
    const shown = await run(["acp", "install", "zed", "--dry-run"], commands(home));
    expect(shown.stdout).toMatch(/\+ .*rollcall\.cjs.*"acp".*"--".*"a"/);
    expect(shown.stdout).toContain("Nothing was changed.");
    const asked = await run(["acp", "install", "zed"], commands(home));
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("--yes makes")]);
    expect(readFileSync(path, "utf8")).toBe(before);
    const written = await run(["acp", "install", "zed", "--yes"], commands(home));
    expect(written.stdout).toContain("behind the proxy now: A");
    expect(readFileSync(`${path}.before-rollcall`, "utf8")).toBe(before);
    const again = await run(["acp", "install", "zed", "--write"], commands(home));
    expect(again.stdout).toContain("already behind the proxy: A");
    await run(["acp", "uninstall", "zed", "--yes"], commands(home));
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("an editor without agents gets an example, and nothing is written", async () => {
    using home = proxyHome();
    const { stdout, code } = await run(["acp", "install", "jetbrains", "--write"], commands(home));
    expect(stdout).toContain('"agent_servers"');
    expect(code).toBe(1);
    expect(existsSync(join(home.path, ".jetbrains"))).toBe(false);
    const out = await run(["acp", "uninstall", "jetbrains"], commands(home));
    expect(out).toMatchObject({ stdout: "", code: 1 });
    expect(out.stderr).toContain("there are no agents");
  });

  test("help says how an editor calls it", async () => {
    using home = proxyHome();
    const { stdout } = await run(["acp", "--help"], commands(home));
    expect(stdout).toContain("rollcall acp -- COMMAND");
    expect((await run(["acp", "run", "--help"], commands(home))).stdout).toContain("--inject");
  });
});
