import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { daemon, environment, programFile, run, Running, scratch, start } from "../e2e/programs.ts";
import { lineOf, TimelineWriter } from "../../src/wires/acp/proxy/timeline.ts";
import { record } from "../support/acp-proxy/fixture.ts";
import { agentPlaces, BY_SHELL, firstExamples, Newcomer } from "./newcomer.ts";

const folder = scratch();
const card = { name: "Echo", description: "Says it again", url: "", skills: [] };
const site = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card));
});
let up: Running;
let someone: Newcomer;
let cardUrl = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  cardUrl = `http://localhost:${(site.address() as AddressInfo).port}`;
  card.url = cardUrl;
  const echo = fileURLToPath(new URL("../e2e/agents/echo.mjs", import.meta.url));
  const config = join(folder.path, "rollcall.toml");
  writeFileSync(config, `[agents.echo]\nmodule = ${JSON.stringify(echo)}\n`);
  const started = await daemon("--memory", "--no-status-files", "--config", config);
  up = started.up;
  const ports = { ROLLCALL_URL: started.url, ROLLCALL_ADDR: ":0", ROLLCALL_HTTP_ADDR: ":0" };
  someone = new Newcomer(environment(folder.path, { ...ports, XDG_STATE_HOME: folder.path }));
  await done("rollcall agents register web-1 --tool browser --ttl 1h");
});

afterAll(async () => {
  await up[Symbol.asyncDispose]();
  site.close();
  folder[Symbol.dispose]();
});

async function done(line: string): Promise<string> {
  // What follows shows what is there, and ends.
  const isInterrupted = line.startsWith("rollcall acp tail");
  const { code, stdout, stderr } = await someone.types(line, { isInterrupted });
  expect([line, code, stderr]).toEqual([line, 0, expect.any(String)]);
  return stdout;
}

/** Waits for a person. */
async function asks(agentId: string): Promise<void> {
  const value = { kind: "choice", text: `Shall ${agentId} go on?`, sinceMs: Date.now() };
  const facts = { name: agentId, liveness: { value: "alive" }, question: { value } };
  const [, url = ""] = await up.says(/HTTP +(http:\S+)/);
  const report = { alias: `script:${agentId}`, agentId, facts };
  const { status } = await fetch(`${url}/v1/fleet/reports`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(report),
  });
  expect(status).toBe(200);
}

async function refusal(line: string, code: number): Promise<string> {
  const said = await someone.types(line);
  expect([line, said.code, said.stdout]).toEqual([line, code, ""]);
  return said.stderr.replace(/\ntry: .*\n$/, "\n").trimEnd();
}

describe("examples", () => {
  /** They show what is there, and follow it until Ctrl-C. */
  const FOLLOWING = ["events", "watch", "acp tail"];

  /** They ask, and there is nobody to answer. */
  const ASKING = ["acp install", "acp uninstall", "hooks install", "hooks uninstall"];

  /** They speak of other machines, and there are none: they say so. */
  const OF_OTHERS: readonly (readonly [name: string, told: RegExp])[] = [
    ["cluster", /^error: this daemon is no member of a cluster: .* --log postgres:/],
    ["outposts cancel", /^error: no outpost of box/],
    ["outposts run", /^error: no outpost of box/],
    // A daemon in memory has no file to move, and there is no server to move it to.
    ["migrate", /^error: .*rollcall\.db: there is no such file/],
  ];

  /** Typed before the example. */
  const BEFORE: Readonly<Record<string, readonly string[]>> = {
    find: ["rollcall agents register ocr --can 'ocr: reads scanned invoices'"],
    "jobs list": ["rollcall run echo '{\"hi\": 1}'"],
    "leases list": ["rollcall leases acquire deploy --agent web-1"],
    "elections list": ["rollcall elections campaign planners --agent web-1"],
    "tasks list": ["rollcall tasks create ocr", "rollcall tasks claim --agent web-1"],
    "tasks create": ["rollcall tasks complete ocr --agent web-1"],
    "tasks claim": ["rollcall tasks create ocr"],
    "tasks fail": ["rollcall tasks create ocr", "rollcall tasks claim --agent web-1"],
    list: ["rollcall emit --agent-id pi-1 --agent-name pi --lifecycle running"],
  };

  /** They end what others show, or show what others made. */
  const LAST = [
    "agents register",
    "agents deregister",
    "directory delete",
    "policies delete",
    "tls show",
  ];

  test("the first of every help works as printed", { timeout: 60_000 }, async () => {
    await done(`rollcall directory add ${cardUrl}`);
    const examples = await firstExamples();
    expect(examples.size).toBeGreaterThan(50);
    const byShell: readonly string[] = BY_SHELL;
    const typed = [...examples].filter(([name]) => !byShell.includes(name));
    const [last, first] = [true, false].map((isLast) =>
      typed.filter(([name]) => LAST.includes(name) === isLast),
    );
    for (const [name, line] of [...(first ?? []), ...(last ?? [])]) {
      for (const each of BEFORE[name] ?? []) await done(each);
      if (name === "agents register") await done("rollcall agents deregister web-1");
      if (name === "dismiss") await asks("claude");
      const isInterrupted = FOLLOWING.includes(name);
      const here = line.replace("http://localhost:8001", cardUrl);
      const said = await someone.types(here, { isInterrupted });
      if (ASKING.includes(name) && said.stderr.startsWith("error: nothing was changed")) continue;
      const [, told] = OF_OTHERS.find(([others]) => name.startsWith(others)) ?? [];
      if (told) {
        expect([line, said.stderr]).toEqual([line, expect.stringMatching(told)]);
        continue;
      }
      // Nobody speaks to the proxy, and there is nothing to install: that is told, and ends with 1.
      const isToldNothing = /^(acp|hooks) /.test(name) && said.code === 1;
      expect([line, isToldNothing ? 0 : said.code, said.stderr]).toEqual([
        line,
        0,
        expect.not.stringContaining("error:"),
      ]);
    }
    await done("rollcall agents register web-1 --tool browser --ttl 1h");
  });
});

describe("an agent", () => {
  /** By the place that takes it, a line that gives only a part of its name. */
  const LINES: Readonly<Record<string, string>> = {
    "explain AGENT": "rollcall explain web",
    "timeline AGENT": "rollcall timeline web",
    "dismiss AGENT": "rollcall dismiss night",
    "agents get AGENT": "rollcall agents get web",
    "agents heartbeat AGENT": "rollcall agents heartbeat web",
    "directory get AGENT": "rollcall directory get ech",
    "directory verify AGENT": "rollcall directory verify ech",
    "directory delete AGENT": "rollcall directory delete ech",
    "run AGENT": "rollcall run ech",
    "jobs list --agent": "rollcall jobs --agent ech",
    "leases acquire --agent": "rollcall leases acquire job1 --agent web",
    "leases list --holder": "rollcall leases --holder web",
    "leases renew --agent": "rollcall leases renew job1 --token TOKEN --agent web",
    "leases release --agent": "rollcall leases release job1 --token TOKEN --agent web",
    "elections campaign --agent": "rollcall elections campaign g --agent web",
    "elections resign --agent": "rollcall elections resign g --agent web",
    "tasks claim --agent": "rollcall tasks claim --agent web",
    "tasks list --agent": "rollcall tasks --agent web",
    "tasks renew --agent": "rollcall tasks renew resize --agent web",
    "tasks complete --agent": "rollcall tasks complete resize --agent web",
    "tasks fail --agent": "rollcall tasks fail crop --agent web",
    "get AGENT": "rollcall get the-p",
    "acp tail AGENT": "rollcall acp tail qwen",
    "hooks install AGENT": "rollcall hooks install claude --yes",
    "hooks status AGENT": "rollcall hooks status claude",
    "hooks uninstall AGENT": "rollcall hooks uninstall claude --yes",
    "agents deregister AGENT": "rollcall agents deregister web",
  };

  /** As a proxy leaves it. */
  async function timeline(agent: string, name: string): Promise<void> {
    const writer = new TimelineWriter(agent, join(folder.path, "rollcall/acp"));
    writer.write(lineOf({ agent, name, atMs: Date.now(), record: record({}) }));
    await writer.close();
  }

  test("goes by a part of its name wherever a command takes one", { timeout: 60_000 }, async () => {
    // An agent of another machine is known there alone.
    const places = (await agentPlaces()).filter((place) => place !== "outposts run AGENT");
    expect(Object.keys(LINES).toSorted()).toEqual(places.toSorted());
    await done(`rollcall directory add ${cardUrl}`);
    await done("rollcall run echo");
    await asks("nightly");
    await done("rollcall emit --agent-id 7 --agent-name the-pi --lifecycle running");
    await timeline("acp-qwen-code-1a2b3c4d", "qwen-code");
    await done("rollcall tasks create resize");
    let token = "";
    for (const [place, line] of Object.entries(LINES)) {
      const told = await done(line.replace("TOKEN", token));
      if (place === "leases acquire --agent") token = told.trim();
      if (place === "tasks complete --agent") {
        await done("rollcall tasks create crop");
        await done("rollcall tasks claim --agent web-1");
      }
      if (place === "jobs list --agent") expect(told).toMatch(/job_\w+ +echo /);
      if (place === "acp tail AGENT") expect(told).toMatch(/qwen-code +reading/);
    }
    await done("rollcall agents register web-1 --tool browser --ttl 1h");
  });
  test("that is misspelt is refused with the one that was meant", async () => {
    const meant = "error: no agent wbe-1; did you mean web-1?";
    expect(await refusal("rollcall agents get wbe-1", 1)).toBe(meant);
    expect(await refusal("rollcall tasks claim --agent wbe-1", 1)).toBe(meant);
    expect(await refusal("rollcall explain wbe-1", 1)).toContain("did you mean web-1?");
    expect(await refusal("rollcall run ehco", 1)).toContain("did you mean echo?");
    expect(await refusal("rollcall run web-1", 1)).toContain("there are echo");
    expect(await refusal("rollcall jobs --agent ehco", 1)).toContain("did you mean echo?");
    expect(await refusal("rollcall get teh-pi", 1)).toBe(
      `error: no agent teh-pi in ${folder.path}/agent-status; did you mean the-pi?`,
    );
    expect(await refusal("rollcall acp tail qewn-code", 1)).toBe(
      "error: no agent qewn-code behind the proxy; did you mean qwen-code?",
    );
    const hooks = await refusal("rollcall hooks status claud-code", 2);
    expect(hooks).toContain("did you mean claude-code?");
  });

  test("that may be several is refused with the choice, and one letter picks none", async () => {
    await done("rollcall agents register web-2");
    expect(await refusal("rollcall agents deregister web", 2)).toMatch(
      /2 agents may be meant by web: \w{8} \(web-1\), \w{8} \(web-2\); give an id$/,
    );
    await done("rollcall agents rm web-2");
    expect(await refusal("rollcall explain w", 1)).toContain("no agent w in the fleet");
  });
});

describe("one verb per thing", () => {
  test.each([
    ["rollcall agents ls", "rollcall agents list"],
    ["rollcall leases ls", "rollcall leases list"],
    ["rollcall jobs ls", "rollcall jobs list"],
    ["rollcall directory ls", "rollcall directory list"],
    ["rollcall policies ls", "rollcall policies list"],
  ])("%s is %s", async (one, other) => {
    expect(await done(`${one} --help`)).toBe(await done(`${other} --help`));
  });

  test.each([
    ["rollcall stop", "Ctrl-C ends it there"],
    ["rollcall status", "`rollcall ls` shows the agents, `rollcall doctor` the daemon"],
    ["rollcall -v", "--version says which version this is"],
    ["rollcall evnts", "did you mean `events`?"],
    ["rollcall up --memry", "did you mean --memory?"],
  ])("%s is answered with what to type", async (line, told) => {
    expect(await refusal(line, 2)).toContain(told);
  });

  test("nothing is proposed that looks like nothing that was typed", async () => {
    expect(await refusal("rollcall frobnicate", 2)).not.toContain("did you mean");
    expect(await refusal("rollcall up --prot x", 2)).not.toContain("did you mean");
  });

  test("every exit code is listed", async () => {
    const { stdout } = await someone.types("rollcall --help");
    for (const code of [0, 1, 2, 3, 4, 70, 124, 130]) expect(stdout).toMatch(RegExp(`\\b${code} `));
  });
});

describe("a mistake is told with what to do", () => {
  test.each([
    ["rollcall run echo '{bad'", 2, "INPUT begins like JSON and is not"],
    ["rollcall agents register '' ", 2, "NAME is empty"],
    ["rollcall directory add http://127.0.0.1:1", 3, "port 1 is refused"],
    ["rollcall directory get nope", 1, "no agent nope in the directory"],
  ])("%s", async (line, code, told) => {
    expect(await refusal(line, code)).toContain(told);
  });

  test("a name that is too long is called as it was typed", async () => {
    const told = await refusal(`rollcall agents register ${"a".repeat(5_000)}`, 2);
    expect(told).toBe("error: NAME has 5000 characters, at most 128 are allowed");
  });

  test("a daemon is no runtime without the path of its door", async () => {
    const [, url = ""] = await up.says(/HTTP +(http:\S+)/);
    const line = `arcp submit --url ${url} --token x --agent echo`;
    expect(await refusal(line, 3)).toContain("the path is missing, as in ws://127.0.0.1:");
  });

  test("a topic that there is not is told, and followed all the same", async () => {
    const [, url = ""] = await up.says(/HTTP +(http:\S+)/);
    await using events = start(["events", "--topic", "nosuch.", "--url", url]);
    await events.says(/no topic begins with nosuch\.; there are agent\. /, "stderr");
  });
});

describe("the machine", () => {
  test("a terminal that says it has no width has 80 columns", async () => {
    const { stdout } = await someone.types("rollcall agents", { isTTY: true, columns: 0 });
    expect(stdout).toMatch(/^ID +NAME +STATUS +SEEN .*\n[^]*^\w+ +web-1 +alive /m);
  });

  test.skipIf(process.platform !== "linux").each([
    ["up", "--addr", ":0", "--http-addr", ":0", "--data-dir", "/proc/rollcall/x"],
    ["emit", "--agent-id", "x", "--agent-name", "x", "--lifecycle", "running"],
  ])("/proc holds no state and no status files: rollcall %s", async (...args) => {
    const env = { AGENT_STATUS_DIR: "/proc/rollcall" };
    const { code, stderr } = await run(args, { env });
    expect([code, stderr]).toEqual([4, expect.stringContaining("no folder can be made in /proc")]);
  });

  test.skipIf(process.getuid?.() !== 0)("a user without a home is told what to do", async () => {
    const asNobody = async (...words: readonly string[]) => {
      const identity = ["--reuid=65534", "--regid=65534", "--clear-groups"];
      const program = [process.execPath, programFile("rollcall"), ...words];
      const env = environment("/nonexistent", { ROLLCALL_URL: "127.0.0.1:1" });
      await using nobody = new Running("setpriv", [...identity, ...program], env);
      return await nobody.end();
    };
    const hooks = await asNobody("hooks", "install", "claude-code", "--yes");
    expect(hooks.code).toBe(4);
    expect(hooks.stderr).toMatch(/^error: cannot write \/nonexistent\/.*EACCES.*or set HOME to /);
    const doctor = await asNobody("doctor");
    expect(doctor.stdout).toMatch(
      /fail +state +\/nonexistent\/\S+ cannot be made: this user may not/,
    );
    expect(doctor.stdout).not.toContain("chown");
  });

  test("a default HTTP port that is taken stops rollcall up, with the way out", async () => {
    const taken = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      taken.on("error", () => resolve(false)).listen(9090, "127.0.0.1", () => resolve(true));
    });
    const { code, stderr } = await run(["up", "--memory", "--addr", ":0"]);
    await using keeper = start(["--addr=:0"], { program: "agentkeeper" });
    const [, url] = await keeper.says(/HTTP +(\S+) \(port 9090 is taken\): give commands this/);
    expect(url).not.toContain("9090");
    if (isOurs) taken.close();
    expect([code, stderr]).toEqual([4, expect.stringContaining("choose another with --http-addr")]);
  });
});
