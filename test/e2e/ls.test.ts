/** `rollcall ls` takes a short way (bin/ls.ts); nobody must notice by more than the time. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { environment, Running, scratch, start, type Ended } from "./programs.ts";

const folder = scratch();
const home = folder.path;
let up: Running;

beforeAll(async () => {
  up = start(["up", "--addr", "off", "--http-addr", "127.0.0.1:0"], { home });
  await up.says(/only this machine/);
  const first = await said("rollcall.cjs", ["agents", "register", "web-1", "--ttl", "1h"]);
  const second = await said("rollcall.cjs", [
    "emit",
    "--agent-id=pi-1",
    "--agent-name=pi",
    "--lifecycle=running",
  ]);
  expect([first.code, second.code]).toEqual([0, 0]);
  // The daemon looks at its own pace.
  await vi.waitFor(
    async () => expect((await said("rollcall.cjs", ["ls"])).stdout).toMatch(/ pi /),
    {
      timeout: 20_000,
    },
  );
}, 60_000);

afterAll(async () => {
  await up[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function said(
  file: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const program = fileURLToPath(new URL(`../../dist/bin/${file}`, import.meta.url));
  await using running = new Running(process.execPath, [program, ...words], environment(home, env));
  return await running.end();
}

/** Both ways, without the moments in them. */
async function twice(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const [short, long] = await Promise.all(
    ["rollcall.cjs", "rollcall.js"].map(async (file) => {
      const { stdout, stderr, ...rest } = await said(file, ["ls", ...words], env);
      return { ...rest, stderr, stdout: withoutMoments(stdout) };
    }),
  );
  if (!short) throw new Error("it did not run");
  expect(short).toEqual(long);
  return short;
}

function withoutMoments(text: string): string {
  return text.replaceAll(/now|\d+ (?:s|min) ago|"atMs":\d+/g, "").replaceAll(/ +/g, " ");
}

const SHORT = [[], ["--all"], ["--needs-me"], ["--oneline"], ["--json"], ["--json", "--all"]];

describe("the short way of ls is the long one", () => {
  test.each(SHORT.map((words) => [words.join(" "), words]))(
    "by its socket: %s",
    async (_, words) => {
      expect(await twice(words)).toMatchObject({ code: 0 });
    },
  );

  test("where there is an agent, it is shown", async () => {
    expect((await twice([])).stdout).toMatch(/^IDLE web-1 /m);
  });

  test("with words that take a parser", async () => {
    expect((await twice(["--limit", "1"])).stderr).toContain("1 more");
    expect(await twice(["--lmit", "1"])).toMatchObject({ code: 2 });
    expect(await twice(["--oneline", "--json"])).toMatchObject({ code: 2 });
    expect((await twice(["--all", "--all"])).code).not.toBe(70);
    expect((await twice(["--help"])).stdout).toContain("Usage: rollcall ls [FLAGS]");
  });

  test("without a daemon, and with a socket that a killed one left", async () => {
    const port = await closedPort();
    const nobody = { ROLLCALL_HTTP_ADDR: `127.0.0.1:${port}` };
    expect((await twice([], nobody)).stdout).toMatch(/ pi /);
    expect((await twice(["--oneline"], nobody)).stderr).toContain("no daemon at");
    const socket = join(home, "abandoned.sock");
    writeFileSync(socket, "");
    const left = { ...nobody, ROLLCALL_SOCKET: socket };
    expect((await twice([], left)).stdout).toMatch(/ pi /);
  });

  test("with a context that is not there, and one without a daemon", async () => {
    expect(await twice([], { ROLLCALL_CONTEXT: "prod" })).toMatchObject({ code: 1 });
    const config = join(home, "config");
    mkdirSync(join(config, "rollcall"), { recursive: true });
    const file = join(config, "rollcall", "contexts.json");
    const url = `https://127.0.0.1:${await closedPort()}`;
    writeFileSync(file, JSON.stringify({ current: "far", contexts: { far: { url } } }));
    expect(await twice([], { XDG_CONFIG_HOME: config })).toMatchObject({ code: 3 });
    writeFileSync(file, "{");
    expect(await twice([], { XDG_CONFIG_HOME: config })).toMatchObject({ code: 2 });
  });

  test("with a token that the daemon refuses", async () => {
    const { code, stderr } = await twice([], { ROLLCALL_TOKEN: "rc_wrong" });
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^error: /)]);
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
