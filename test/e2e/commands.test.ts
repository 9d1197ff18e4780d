import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { shellBlock } from "../docs.ts";
import { daemon, environment, run, Running, scratch, start, type Ended } from "./programs.ts";

// Each test starts a dozen programs, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

let up: Running;
let url = "";

beforeAll(async () => {
  ({ up, url } = await daemon("--memory"));
});

afterAll(async () => {
  await up[Symbol.asyncDispose]();
});

function rc(...args: readonly string[]): Promise<Ended> {
  return run(args, { env: { ROLLCALL_URL: url } });
}

/** What it printed, once it has done what it should. */
async function done(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await rc(...args);
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  return stdout.trimEnd();
}

async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await done(...args, "--json")) as Record<string, unknown>;
}

function register(name: string, ...flags: readonly string[]): Promise<string> {
  return done("agents", "register", name, "--ttl", "1h", ...flags);
}

describe("agents", () => {
  test("register prints the id; get, list and find show it; deregister ends it", async () => {
    const flags = ["--description", "reads scanned invoices", "--tool", "vision", "--version", "2"];
    const more = ["--can", "ocr: text from pictures", "--meta", "team=a=b"];
    const id = await register("scanner", ...flags, ...more);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    const shown = await done("agents", "get", id.slice(0, 8));
    expect(shown).toMatch(new RegExp(`^id +${id}\nname +scanner\nstatus +alive$`, "m"));
    expect(shown).toMatch(/^can +ocr: text from pictures\nmeta +team=a=b$/m);
    expect(await json("agents", "get", id)).toMatchObject({
      agent: { agentId: id, ttlMs: 3_600_000, card: { metadata: { team: "a=b" }, version: "2" } },
    });
    const row = `${id}  scanner +alive +(now|\\d+ s ago)`;
    expect(await done("agents", "--name", "scan")).toMatch(new RegExp(row));
    expect(await done("find", "get", "text", "out", "of", "bills")).toMatch(`${id}  scanner`);
    await done("agents", "heartbeat", id.slice(0, 8));
    await done("agents", "deregister", id);
    expect(await done("agents")).not.toContain(id);
    expect(await done("agents", "--all")).toMatch(new RegExp(`${id}  scanner +dead`));
    expect((await rc("agents", "heartbeat", id)).code).toBe(1);
    expect((await rc("find", "--tool", "vision")).code).toBe(1);
  });

  test("what agents call themselves cannot reach the terminal as more than text", async () => {
    const evil = "\u202Eevil\u200B 日本";
    const id = await register(evil, "--description", "two\nlines");
    expect(await done("agents", "--name", "\u202E")).toMatch(/ {2}evil 日本 +alive .* two lines$/m);
    const listed = await done("agents", "--json", "--name", "\u202E");
    expect(listed).not.toContain("\u202E");
    expect(JSON.parse(listed)).toMatchObject({ agents: [{ agentId: id, card: { name: evil } }] });
  });

  test("an agent goes by a part of its name or id, and by no accident", async () => {
    const missing = await rc("agents", "get", "zzzz");
    expect(missing).toMatchObject({ code: 1, stdout: "", stderr: "error: no agent zzzz\n" });
    expect((await rc("agents", "deregister", "")).code).toBe(2);
    expect((await rc("agents", "deregister", "ab")).code).toBe(1);
  });
});

test("a long list comes whole, in several pages, or as long as asked for", async () => {
  const agentId = await register("of many");
  const headers = { "content-type": "application/json" };
  for (let i = 0; i < 1_020; i += 20) {
    const calls = Array.from({ length: 20 }, (_, k) => {
      const body = JSON.stringify({ taskId: `many/${i + k}`, agentId, ttlMs: 3_600_000 });
      return fetch(`${url}/v1/leases/acquire`, { method: "POST", headers, body });
    });
    await Promise.all(calls);
  }
  const all = await json("leases", "--prefix", "many/", "--limit", "2000");
  expect(all["leases"]).toHaveLength(1_020);
  expect(all).not.toHaveProperty("cursor");
  const { stdout, stderr } = await rc("leases", "--prefix", "many/", "--limit", "7");
  expect(stdout.trimEnd().split("\n")).toHaveLength(8);
  expect(stderr).toContain("1013 more");
  await done("agents", "deregister", agentId);
});

describe("leases", () => {
  test("acquire prints the token; who comes second ends with 1 and hears who has it", async () => {
    const [one, two] = [await register("one"), await register("two")];
    const key = "deploy/../prod 50%";
    const token = await done("leases", "acquire", key, "--agent", one, "--ttl", "5m");
    expect(token).toMatch(/^\d+$/);
    const lost = await rc("leases", "acquire", key, "--agent", two.slice(0, 12));
    expect(lost).toMatchObject({ code: 1, stdout: "" });
    expect(lost.stderr).toMatch(
      /deploy\/\.\.\/prod 50% is held by one \([0-9a-f]{8}\) for \S+ more/,
    );
    expect(await done("leases")).toMatch(
      new RegExp(`^deploy/../prod 50% +${one} one +${token}  in (5|4) min`, "m"),
    );
    expect(await done("leases", "get", key)).toMatch(new RegExp(`^holder +${one} one$`, "m"));
    expect(await json("leases", "--holder", one.slice(0, 8))).toMatchObject({ total: 1 });
    expect(await json("leases", "--prefix", "other")).toMatchObject({ total: 0 });
    const renew = ["leases", "renew", key, "--agent", one];
    await done(...renew, "--token", token, "--ttl", "10m");
    expect((await rc(...renew, "--token", "999999")).code).toBe(4);
    await done("leases", "release", key, "--agent", one, "--token", token);
    expect((await rc("leases", "get", key)).code).toBe(1);
    const { stdout, stderr } = await rc("leases");
    expect(stdout).toBe("");
    expect(stderr).toContain("no leases; `rollcall leases acquire KEY --agent AGENT` makes one");
  });

  test("the agent may be in the environment, and must be somewhere", async () => {
    const id = await register("by environment");
    const env = { ROLLCALL_URL: url, ROLLCALL_AGENT_ID: id };
    const { code, stdout } = await run(["leases", "acquire", "e", "--json"], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ acquired: true, lease: { holder: id } });
    const nobody = await rc("leases", "acquire", "e");
    expect(nobody).toMatchObject({ code: 2 });
    expect(nobody.stderr).toContain("--agent is not set");
  });
});

test("what the daemon refuses is named as it was typed", async () => {
  const id = await register("typist");
  const refusal = async (...args: readonly string[]) => {
    const { code, stderr } = await rc(...args);
    return `${code} ${stderr.trimEnd()}`;
  };
  const acquire = ["leases", "acquire", "--agent", id];
  expect(await refusal(...acquire, "a\tb")).toBe("2 error: KEY holds a control character");
  expect(await refusal(...acquire, "k", "--ttl", "2d")).toBe(
    "2 error: --ttl is 172800 s, allowed are 1 to 86400 s",
  );
  expect(await refusal("agents", "register", "x", "--tool", "")).toBe(
    "2 error: --tool[0] is empty",
  );
  expect(await refusal("tasks", "create", "t", "--retries", "1001")).toBe(
    "2 error: --retries is 1001, at most 1000 is allowed",
  );
  expect(await refusal("tasks", "claim", "--agent", id, "--wait", "1h")).toBe(
    "2 · waiting for a task, 1h at most\nerror: --wait is 3600000, at most 600000 is allowed",
  );
});

test("the page about the API shows calls that work, and a refusal as it is", async () => {
  const page = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
  const env = environment(process.cwd(), { ROLLCALL_URL: url });
  await using shell = new Running("/bin/sh", ["-c", shellBlock("api", [page])], env);
  const { code, stdout } = await shell.end();
  expect(code).toBe(0);
  const [won = "", shown = "", ...rest] = stdout.split("\n");
  expect(JSON.parse(won)).toMatchObject({ acquired: true, lease: { holderName: "deployer" } });
  expect(JSON.parse(shown)).toMatchObject({ lease: { taskId: "deploy/prod" } });
  expect(rest.map((line) => line.trim())).toContain('"operationId": "leases.acquire",');
  const told = JSON.parse(/^```json\n(.*?)^```/ms.exec(page)?.[1] ?? "") as object;
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ taskId: "", agentId: "nobody" });
  const refused = await fetch(`${url}/v1/leases/acquire`, { method: "POST", headers, body });
  expect(await refused.json()).toEqual(told);
});

test("elections: the first leads, the next takes over", async () => {
  const [one, two] = [await register("first"), await register("second")];
  expect(await done("elections", "campaign", "g", "--agent", one)).toBe(one);
  expect(await done("elections", "campaign", "g", "--agent", two)).toBe(one);
  expect(await done("elections")).toMatch(new RegExp(`^g +${one} first +1 .* 2$`, "m"));
  expect(await done("elections", "get", "g")).toMatch(
    new RegExp(`^candidate +${one}\ncandidate +${two}$`, "m"),
  );
  expect(await done("elections", "resign", "g", "--agent", one)).toBe(two);
  expect(await done("elections", "resign", "g", "--agent", two)).toBe("");
  expect(await done("elections", "--prefix", "g")).toMatch(/^g +none +3 /m);
});

test("policies: a check is 0 or 1, and names the policy that decided", async () => {
  await done("policies", "set", "all", "allow", "team:*", "read", "*");
  await done("policies", "set", "eve", "deny", "team:eve", "*", "db");
  expect(await done("policies", "check", "team:bob", "read", "db")).toBe(
    "allowed by all: allow team:* to read *",
  );
  const denied = await rc("policies", "check", "team:eve", "read", "db");
  expect(denied).toMatchObject({ code: 1, stdout: "denied by eve: deny team:eve to * db\n" });
  const nothing = await rc("policies", "check", "x", "y", "z", "--json");
  expect(nothing.code).toBe(1);
  expect(JSON.parse(nothing.stdout)).toMatchObject({ allowed: false, policy: null });
  expect(await done("policies", "--subject", "team:e")).toMatch(/^eve +deny +team:eve +\* +db$/m);
  await done("policies", "delete", "eve");
  expect((await rc("policies", "delete", "eve")).code).toBe(1);
  expect((await rc("policies", "set", "x", "maybe", "a", "b", "c")).code).toBe(2);
});

describe("tasks", () => {
  test("go round: created, claimed, completed; failed until they are dead", async () => {
    using folder = scratch();
    const worker = await register("worker", "--tool", "vision");
    const file = join(folder.path, "input");
    writeFileSync(file, Buffer.from([0xff, 0x00, 0x1b]));
    const create = ["tasks", "create", "ocr", "--tool", "vision"];
    const text = await done(...create, "--input", "scan \u001b[31m17");
    const bytes = await done(...create, "--input-file", file, "--retries", "1");
    expect(await done("tasks")).toMatch(new RegExp(`^${text}  ocr +pending`, "m"));
    const claimed = await done("tasks", "claim", "--agent", worker);
    expect(claimed).toMatch(new RegExp(`^id +${text}$`, "m"));
    expect(claimed).toMatch(/^input +scan 17$/m);
    const token = /^token +(\d+)$/m.exec(claimed)?.[1] ?? "";
    const held = ["--agent", worker, "--token", token];
    await done("tasks", "renew", text, ...held);
    await done("tasks", "complete", text.slice(0, 8), ...held, "--output", "fertig");
    expect(await done("tasks", "get", text)).toMatch(/^output +fertig$/m);
    expect((await rc("tasks", "complete", text, ...held)).code).toBe(4);
    for (const status of ["pending", "dead"]) {
      const next = await json("tasks", "claim", "--agent", worker);
      expect(next).toMatchObject({ task: { id: bytes, input: "/wAb" } });
      await done("tasks", "fail", bytes, "--agent", worker, "--reason", `then ${status}`);
      expect(await done("tasks", "--status", status)).toMatch(
        new RegExp(`^${bytes} .* then ${status}$`, "m"),
      );
    }
    expect(await done("tasks", "get", bytes)).toMatch(/^input +3 bytes; --json has them$/m);
    const none = await rc("tasks", "claim", "--agent", worker);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("no task for this agent");
    expect((await rc("tasks", "create", "x", "--input", "a", "--input-file", file)).code).toBe(2);
    expect((await rc("tasks", "create", "x", "--input-file", "/nowhere")).code).toBe(2);
  });

  test("a claim waits for a task; interrupted, it has claimed nothing", async () => {
    const worker = await register("patient", "--tool", "rare");
    const env = { ROLLCALL_URL: url };
    const args = ["tasks", "claim", "--agent", worker, "--wait", "1m"];
    await using waiting = start(args, { env });
    await using other = start(args, { env });
    for (const each of [waiting, other]) await each.says(/waiting for a task/, "stderr");
    other.signal("SIGINT");
    expect(await other.end()).toMatchObject({ code: 1, stdout: "" });
    const id = await done("tasks", "create", "rare", "--tool", "rare");
    const { code, stdout } = await waiting.end();
    expect(code).toBe(0);
    expect(stdout).toContain(id);
    expect(await json("tasks", "--agent", worker)).toMatchObject({ total: 1 });
  });
});

describe("--watch in a pipe", () => {
  beforeEach(async () => {
    await register("watched");
  });

  test("is a line for each change", async () => {
    await using watch = start(["policies", "--watch"], { env: { ROLLCALL_URL: url } });
    await watch.says(/ID +EFFECT +SUBJECT/);
    await done("policies", "set", "live", "allow", "a", "b", "c");
    await watch.says(/^\d\d:\d\d:\d\d new +live +allow +a +b +c$/m);
    await done("policies", "set", "live", "deny", "a", "b", "c");
    await watch.says(/^\d\d:\d\d:\d\d changed +live +deny +a +b +c$/m);
    await done("policies", "delete", "live");
    await watch.says(/^\d\d:\d\d:\d\d gone +live$/m);
    watch.signal("SIGINT");
    expect(await watch.end()).toMatchObject({ code: 0, stderr: "" });
  });

  test("with --json is a list for each change", async () => {
    const args = ["leases", "--watch", "--json", "--prefix", "w/"];
    await using watch = start(args, { env: { ROLLCALL_URL: url } });
    await watch.says(/^\{"sequence":\d+,"total":0,"leases":\[\]\}$/m);
    const agent = await register("holder");
    await done("leases", "acquire", "not this", "--agent", agent);
    await done("leases", "acquire", "w/1", "--agent", agent);
    await watch.says(/"total":1,"leases":\[\{"taskId":"w\/1"/);
    const lists = watch.stdout.trimEnd().split("\n");
    expect(lists).toHaveLength(2);
    watch.signal("SIGTERM");
    expect((await watch.end()).code).toBe(0);
  });

  test("without a daemon is 3, like everything else", async () => {
    const env = { ROLLCALL_URL: "127.0.0.1:1" };
    const { code, stderr } = await run(["agents", "--watch"], { env });
    expect(code).toBe(3);
    expect(stderr).toContain("no daemon answers at http://127.0.0.1:1");
  });
});
