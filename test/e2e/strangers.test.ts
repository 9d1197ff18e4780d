import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { run, scratch } from "./programs.ts";

// Each test starts a dozen programs, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server that is no daemon of this version: every question has this answer. */
async function stranger(status: number, answer: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const COMMANDS = [
  "ls",
  "inbox",
  "explain web-1",
  "timeline web-1",
  "find a painter",
  "agents",
  "agents get web-1",
  "agents register web-1",
  "leases",
  "elections",
  "policies",
  "tasks",
  "tasks get ocr",
  "directory",
  "jobs",
  "audit",
  "tokens",
  "whoami",
  "whoami --json",
];

const ANOTHER = "this is no rollcall, or another version";

const ODD_LISTS = '{"sequence":1,"total":1,"rows":7,"agents":null,"tasks":{}}';
const UNKNOWN_CODE = '{"error":{"code":"TEAPOT","message":"short"}}';

test.each([
  [200, "{}", COMMANDS],
  [200, ODD_LISTS, ["ls", "agents", "tasks"]],
  [418, UNKNOWN_CODE, ["ls", "tasks get ocr", "events"]],
])("%i %j is the answer of no daemon of this version", async (status, answer, commands) => {
  using home = scratch();
  const url = await stranger(status, answer);
  for (const command of commands) {
    const { code, stderr } = await run(command.split(" "), {
      home: home.path,
      env: { ROLLCALL_URL: url },
    });
    expect([command, code, stderr]).toEqual([command, 3, expect.stringContaining(ANOTHER)]);
    expect([command, stderr]).not.toEqual([command, expect.stringContaining("internal error")]);
  }
});

test.each([
  [200, "{}"],
  [200, "<h1>It works</h1>"],
  [404, "not found"],
])("doctor fails where %i %j is the answer", async (status, answer) => {
  using home = scratch();
  const url = await stranger(status, answer);
  const { code, stdout } = await run(["doctor", "--url", url], { home: home.path });
  expect(stdout).toMatch(/^fail +daemon +.*rollcall/m);
  expect(code).toBe(1);
});
