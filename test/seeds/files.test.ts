/**
 * The promises of agent-status' own description, one by one, beside the real program: in the
 * version that it describes (0.1.4) and in the newest. Its commands run as they stand there.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  AGENT_STATUS_014_PYTHON,
  AGENT_STATUS_PYTHON,
  lacks,
} from "../../scripts/prerequisites.mjs";
import { shellBlock } from "../docs.ts";
import {
  daemon,
  environment,
  programFile,
  run,
  Running,
  scratch,
  type Ended,
} from "../e2e/programs.ts";

const PAGE = readFileSync(new URL("../../docs/agent-status-v1alpha1.md", import.meta.url), "utf8");
const SAMPLES = ["examples/sample-status.json", "examples/a2a-linked-status.json"];
const isMissing = lacks("agent-status") || lacks("agent-status-0.1.4");

/** The lines of its quick start, in its order; `watch` has no end and is tested alone. */
const QUICK_START = `
RUN_ID="pi-$(python3 - <<'PY'
import uuid
print(uuid.uuid4().hex)
PY
)"

python3 -m agent_status emit \\
  --agent-id "$RUN_ID" \\
  --agent-name pi \\
  --lifecycle running \\
  --workspace "$PWD" \\
  --pid $$ \\
  --task-id task-123 \\
  --task-state working \\
  --task-summary "refactor scheduler tests" \\
  --task-status-timestamp 2026-06-20T16:44:55Z

python3 -m agent_status list
python3 -m agent_status get "$RUN_ID"
python3 -m agent_status prune --prune-after 86400
python3 -m agent_status validate examples/sample-status.json
`;

/** A shell in which `agent-status` is ours. */
async function shell(script: string, home: string): Promise<Ended> {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  const program = join(bin, "agent-status");
  writeFileSync(
    program,
    `#!/bin/sh\nexec ${process.execPath} ${programFile("agent-status")} "$@"\n`,
  );
  chmodSync(program, 0o755);
  const path = `${bin}:${process.env["PATH"]}`;
  await using running = new Running("sh", ["-ec", script], environment(home, { PATH: path }));
  return await running.end();
}

test("every line of the quick start runs as it stands", async () => {
  using home = scratch();
  const { code, stdout, stderr } = await shell(
    shellBlock("python-module", [PAGE]) + QUICK_START,
    home.path,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const folder = join(home.path, ".local/state/agent-status");
  const [file = ""] = readdirSync(folder);
  expect(stdout).toContain(`${folder}/${file}\n`);
  expect(stdout).toMatch(/● working/);
  expect(stdout).toContain('"summary": "refactor scheduler tests"');
  expect(stdout).toMatch(/^valid$/m);
});

test("the commands of the format's page do what it says", async () => {
  using home = scratch();
  const { code, stdout } = await shell(shellBlock("status-files", [PAGE]), home.path);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^valid\nvalid\n.*pi-1\.json\n/);
  expect(stdout).toContain("▸ fix the tests");
});

const CLEAR = String.raw`\u001b\[2J\u001b\[H`;

/** Their own JSON example, and one with two things wrong. */
const EXAMPLE = {
  schema_version: "agent-status/v1alpha1",
  agent_id: "pi-7d5d6ca5e54c44cfb9e8d5acfd3c71a1",
  agent_name: "pi",
  runtime: {
    lifecycle: "running",
    updated_at: "2026-06-20T16:45:00Z",
    last_activity_at: "2026-06-20T16:44:52Z",
    pid: 12345,
    workspace: "/home/julien/src/project",
  },
  task: {
    id: "task-123",
    context_id: "ctx-456",
    state: "working",
    summary: "refactor scheduler tests",
    status_timestamp: "2026-06-20T16:44:55Z",
  },
};
const WRONG = {
  ...EXAMPLE,
  task: { state: "idle" },
  runtime: { lifecycle: "asleep", updated_at: "x" },
};

describe.skipIf(isMissing).each([
  ["0.1.4", AGENT_STATUS_014_PYTHON],
  ["0.1.30", AGENT_STATUS_PYTHON],
])("beside agent-status %s", (_version, python) => {
  async function both(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const [mine, its] = await Promise.all([ours(words, env), theirs(words, env)]);
    return { mine, its };
  }

  async function theirs(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const given = environment("/nowhere", { PYTHONDONTWRITEBYTECODE: "1", ...env });
    await using peer = new Running(python, ["-m", "agent_status", ...words], given);
    return await peer.end();
  }

  function ours(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return run(words, { program: "agent-status", home: "/nowhere", env });
  }

  const result = ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr });

  test("the samples and its example are valid; errors are in the same words", async () => {
    using folder = scratch();
    const odd = { ...EXAMPLE, runtime: { ...EXAMPLE.runtime, pid: -5, workspace: "src" } };
    const written = [EXAMPLE, WRONG, {}, odd].map((each, i) => {
      const path = join(folder.path, `${i}.json`);
      writeFileSync(path, JSON.stringify(each));
      return path;
    });
    const files = [...SAMPLES, ...written];
    const ends = await Promise.all(files.map((path) => both(["validate", path])));
    for (const { mine, its } of ends) expect(result(mine)).toEqual(result(its));
    expect(ends.map(({ mine }) => mine.code)).toEqual([0, 0, 0, 1, 1, 0]);
  });

  // "get prints one snapshot": in either program the file of either.
  test("get prints the same bytes", async () => {
    using folder = scratch();
    const path = join(folder.path, `${EXAMPLE.agent_id}.json`);
    writeFileSync(path, JSON.stringify(EXAMPLE));
    const { mine, its } = await both(["get", EXAMPLE.agent_id], { AGENT_STATUS_DIR: folder.path });
    expect(result(mine)).toEqual(result(its));
    expect(mine.code).toBe(0);
  });

  test.each([
    [["get", "nope", "--status-dir", "/nowhere"]],
    [[]],
    [["emit", "--agent-id", "a"]],
    [["emit", "--agent-id", "../x", "--agent-name", "b", "--lifecycle", "running"]],
    [
      [
        "emit",
        "--agent-id",
        "a",
        "--agent-name",
        "b",
        "--lifecycle",
        "running",
        "--updated-at",
        "x",
      ],
    ],
    [
      [
        "emit",
        "--agent-id",
        "a",
        "--agent-name",
        "b",
        "--lifecycle",
        "running",
        "--task-state",
        "idle",
      ],
    ],
  ])("%j fails in the same words", async (words) => {
    const { mine, its } = await both(words);
    const lastOf = ({ code, stderr }: Ended) => [code, stderr.trimEnd().split("\n").at(-1)];
    expect(lastOf(mine)).toEqual(lastOf(its));
  });

  test("the folder is where the environment says; files are for their owner", async () => {
    using home = scratch();
    const words = ["emit", "--agent-id", "a", "--agent-name", "pi", "--lifecycle", "running"];
    for (const name of ["XDG_STATE_HOME", "AGENT_STATUS_DIR"]) {
      const { mine, its } = await both(words, { [name]: join(home.path, name) });
      expect(mine.stdout).toBe(its.stdout);
      expect(statSync(mine.stdout.trim()).mode & 0o777).toBe(0o600);
    }
  });

  // "removes snapshots older than 24 hours if they are already stale, along with older […] stopped"
  test("prune removes the same files, by default those of more than a day", async () => {
    const outcome = async (program: typeof ours, ...flags: readonly string[]) => {
      using folder = scratch();
      for (const [agent_id, lifecycle, ageS] of [
        ["here", "running", 0],
        ["silent", "running", 148 * 86_400],
        ["stopped", "stopped", 1],
        ["stopped-before", "stopped", 6 * 86_400],
      ] as const) {
        const updated_at = new Date(Date.now() - ageS * 1000).toISOString();
        const status = { ...EXAMPLE, agent_id, runtime: { lifecycle, updated_at } };
        writeFileSync(join(folder.path, `${agent_id}.json`), JSON.stringify(status));
      }
      await program(["prune", ...flags, "--status-dir", folder.path]);
      return readdirSync(folder.path).toSorted();
    };
    for (const flags of [[], ["--prune-after", "0"]]) {
      expect(await outcome(ours, ...flags)).toEqual(await outcome(theirs, ...flags));
    }
    expect(await outcome(ours)).toEqual(["here.json", "stopped.json"]);
  });

  test("watch prints a table at every interval into a pipe, and its ages grow", async () => {
    using folder = scratch();
    const words = ["--agent-id", "a", "--agent-name", "pi", "--lifecycle", "running"];
    await ours(["emit", ...words, "--status-dir", folder.path]);
    const watch = ["watch", "--interval", "0.1", "--status-dir", folder.path];
    const given = environment("/nowhere", { PYTHONDONTWRITEBYTECODE: "1", PYTHONUNBUFFERED: "1" });
    await using its = new Running(python, ["-m", "agent_status", ...watch], given);
    await using mine = new Running(
      process.execPath,
      [programFile("agent-status"), ...watch],
      given,
    );
    for (const each of [its, mine]) {
      await each.says(new RegExp(`^(?:${CLEAR}[^\u001b]*AGENT ID[^\u001b]*){3}`));
      await each.says(/\| (\d+)s ago[^]*\| (?!\1s)\d+s ago/);
    }
  });
});

// "A stale file is not definitive proof that the writer is gone permanently."
test("an agent that fell silent is never gone: at nothing IDLE, at work a PROBLEM", async () => {
  using home = scratch();
  const env = { AGENT_STATUS_DIR: home.path, TZ: "UTC" };
  const agoMs = Date.now() - 120_000;
  const emit = (id: string, ...more: readonly string[]) => {
    const who = ["--agent-id", id, "--agent-name", id, "--lifecycle", "running"];
    const at = ["--updated-at", new Date(agoMs).toISOString()];
    return run(["emit", ...who, ...at, ...more], { env });
  };
  await emit("rests");
  await emit("works", "--task-state", "working", "--task-summary", "tests");
  await emit("asks", "--task-state", "input-required", "--task-summary", "drop it?");
  const shown = await run(["ls", "--url", "http://127.0.0.1:9"], { env });
  const since = String.raw`silent since (?:\d{4}-\d\d-\d\d )?\d\d:\d\d`;
  expect(shown.stdout).toMatch(new RegExp(`^PROBLEM +asks +.*${since} · drop it\\?`, "m"));
  expect(shown.stdout).toMatch(new RegExp(`^PROBLEM +works +.*${since} · tests`, "m"));
  expect(shown.stdout).toMatch(new RegExp(`^IDLE +rests +.*${since} `, "m"));
  const listed = await run(["list"], { env, program: "agent-status" });
  expect(listed.stdout).toMatch(/3 agents {2}· {2}2 problems · 1 idle\n/);
  expect(listed.stdout.match(/◌ stale/g)).toHaveLength(3);
});

// Its roadmap: "registry bridge".
test("an agent whose file names its card is in the directory, then verified", async () => {
  using folder = scratch();
  let isPublished = false;
  const card = { name: "Echo", description: "", url: "", version: "1", skills: [] };
  await using site = await siteOf((url) => {
    const text = JSON.stringify({ ...card, url: `${url}/a2a` });
    return isPublished ? text : undefined;
  });
  const running = await daemon("--memory", "--status-dir", folder.path);
  await using _ = running.up;
  const { url } = running;
  const cardUrl = `${site.url}/cards/echo.json`;
  const who = ["--agent-id", "echo-1", "--agent-name", "echo", "--lifecycle", "running"];
  const emit = () =>
    run(["emit", ...who, "--agent-card-url", cardUrl, "--status-dir", folder.path]);
  const listed = async () => (await run(["directory", "--url", url])).stdout;
  await emit();
  await vi.waitFor(async () => expect(await listed()).toMatch(/^echo +unverified +/m));
  isPublished = true;
  await run(["directory", "verify", cardUrl, "--url", url]);
  expect(await listed()).toMatch(/^Echo +reachable +/m);
  // One agent, however it is known.
  const { stdout } = await run(["ls", "--url", url, "--json"]);
  const { rows } = JSON.parse(stdout) as { rows: { aliases: readonly string[] }[] };
  expect(rows.map(({ aliases }) => aliases.length)).toEqual([2]);
});

/** A site that answers every path with the same. */
async function siteOf(answer: (url: string) => string | undefined) {
  const server = createServer((_request, response) => {
    const text = answer(url);
    response.statusCode = text === undefined ? 404 : 200;
    response.setHeader("content-type", "application/json").end(text ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.asyncDispose]: async () => void server.close() };
}
