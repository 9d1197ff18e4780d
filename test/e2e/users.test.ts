/** Other users of this machine: the test makes none, it takes on the number of one. */
import { spawn } from "node:child_process";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { NO_TOKEN } from "../../src/wires/arcp/codec/messages.ts";
import { connect } from "../../src/wires/keeper/client/keeper.ts";
import { isRoot, OTHER, otherUser } from "../access/other-user.ts";
import { daemon, run, scratch, start } from "./programs.ts";

interface Asked {
  readonly status: number;
  readonly body: string;
}

/** Runs a program as another user of this machine. */
function asOther(code: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["-e", code, ...args], {
      uid: OTHER,
      gid: OTHER,
      cwd: "/",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => (output += data));
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}

const FETCH = `
const [url, body] = process.argv.slice(1);
const headers = { "content-type": "application/json", ...JSON.parse(process.argv[3] ?? "{}") };
fetch(url, body ? { method: "POST", body, headers } : { headers }).then(async (answer) =>
  console.log(JSON.stringify({ status: answer.status, body: await answer.text() })));`;

async function fetchAsOther(url: string, body = "", headers = {}): Promise<Asked> {
  return JSON.parse(await asOther(FETCH, url, body, JSON.stringify(headers))) as Asked;
}

/** Sends a whole request and is gone: its socket then has no owner, and stands as root's. */
const CLOSE_AT_ONCE = `
const [port, body] = process.argv.slice(1);
const socket = require("node:net").connect(Number(port), "127.0.0.1", () => {
  const head = ["POST /v1/agents/register HTTP/1.1", "Host: 127.0.0.1:" + port,
    "Content-Type: application/json", "Content-Length: " + body.length, "", ""].join("\\r\\n");
  socket.write(head + body, () => process.exit());
});`;

/** One call at every door, each told by what it was answered: a status, or gRPC's code. */
const KNOCK = `
const [port, grpcPort] = process.argv.slice(1).map(Number);
const http = require("node:http"), http2 = require("node:http2");
const ask = (method, path, headers = {}, body = "") => new Promise((resolve) => {
  const told = (answer) => { resolve(answer.statusCode); answer.destroy(); };
  http.request({ port, host: "127.0.0.1", method, path, headers })
    .on("response", told)
    .on("error", ({ code }) => resolve(code)).end(body);
});
const json = { "content-type": "application/json" };
const mcp = { ...json, accept: "application/json, text/event-stream" };
const sse = { accept: "text/event-stream" };
const socket = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13",
  "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==" };
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {
  protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "evil", version: "1" } } };
const hello = JSON.stringify({ arcp: "1.1", id: "1", type: "session.hello", payload: {
  client: { name: "evil", version: "1" }, auth: { scheme: "bearer", token: "guessed" },
  capabilities: { encodings: ["json"], features: [] } } });
// A token may come in the hello, so the door opens, and a hello with none that is known shuts it.
const greet = () => new Promise((resolve) => {
  http.request({ port, host: "127.0.0.1", path: "/arcp", headers: socket })
    .on("response", ({ statusCode }) => resolve(statusCode))
    .on("upgrade", (_, wire) => {
      let answer = "";
      wire.on("data", (data) => (answer += data)).on("close", () =>
        resolve(/UNAUTHENTICATED/.exec(answer)?.[0] ?? answer));
      const text = Buffer.from(hello);
      const head = [0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0];
      wire.write(Buffer.concat([Buffer.from(head), text]));
    }).end();
});
const call = (path) => new Promise((resolve) => {
  const session = http2.connect("http://127.0.0.1:" + grpcPort);
  session.on("error", ({ code }) => resolve(code));
  const stream = session.request({ ":method": "POST", ":path": "/agentkeeper.v1." + path,
    "content-type": "application/grpc", te: "trailers" });
  const told = (headers) => {
    if (headers["grpc-status"] === undefined) return;
    resolve("code " + headers["grpc-status"]);
    session.destroy();
  };
  stream.on("response", told).on("trailers", told).on("error", () => undefined);
  stream.end(Buffer.alloc(5));
});
(async () => console.log(JSON.stringify({
  read: await ask("GET", "/v1/fleet"),
  change: await ask("POST", "/v1/agents/register", json, '{"card":{"name":"evil"}}'),
  metrics: await ask("GET", "/metrics"),
  page: await ask("GET", "/"),
  events: await ask("GET", "/v1/events", sse),
  live: await ask("GET", "/v1/fleet", sse),
  list: await ask("GET", "/.well-known/agents"),
  heartbeat: await ask("POST", "/registry/heartbeat", json, '{"card":{"name":"evil"}}'),
  mcp: await ask("POST", "/mcp", mcp, JSON.stringify(initialize)),
  arcp: await greet(),
  grpcRead: await call("TaskService/ListTasks"),
  grpcWatch: await call("RegistryService/Watch"),
  grpcChange: await call("TaskService/CreateTask"),
})))();`;

const DENIED = 403;
/** PERMISSION_DENIED of gRPC. */
const DENIED_CALL = "code 7";

const OPEN = `
const socket = require("node:net").connect(process.argv[1]);
socket.on("error", ({ code }) => console.log(code));`;

const REGISTER = JSON.stringify({ card: { name: "evil", version: "1" } });

const NAME = `user:${OTHER}`;
const ECHO = fileURLToPath(new URL("agents/echo.mjs", import.meta.url));

/** A daemon that names the other user, and its doors as that user's connections find them. */
async function namedUser(allowed: string) {
  const home = scratch();
  const config = join(home.path, "rollcall.toml");
  writeFileSync(config, `[agents.echo]\nmodule = ${JSON.stringify(ECHO)}\n`);
  const flags = ["--memory", "--no-status-files", "--config", config];
  const { up, url } = await daemon(...flags, `--allowed-users=${allowed}`);
  const [, grpcAddress = ""] = await up.says(/gRPC +(\S+)/);
  chmodSync(home.path, 0o777);
  const socket = join(home.path, "relay.sock");
  const other = await otherUser({ url, grpcAddress }, socket);
  onTestFinished(async () => {
    other[Symbol.dispose]();
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const arcp = `${url.replace("http", "ws")}/arcp`;
  const greet = (token: string) => ArcpClient.connect(arcp, { token, socket, reconnect: false });
  return { url, arcp, grpc: other.grpcAddress, greet };
}

async function listed(url: string): Promise<Readonly<Record<string, unknown>>> {
  return (await fetch(url)).json() as Promise<Readonly<Record<string, unknown>>>;
}

describe.runIf(isRoot)("another user of this machine", () => {
  test("can neither read nor change anything", async () => {
    const { up, url } = await daemon("--memory", "--no-status-files");
    await using _ = up;
    const refused = { status: 403, body: expect.stringContaining("user 65534") as string };
    expect(await fetchAsOther(`${url}/v1/fleet`)).toEqual(refused);
    expect(await fetchAsOther(`${url}/metrics`)).toEqual(refused);
    expect(await fetchAsOther(`${url}/v1/agents/register`, REGISTER)).toEqual(refused);
    expect(await fetchAsOther(`${url}/healthz`)).toEqual({ status: 200, body: "ok" });
    expect((await run(["agents", "--json", "--url", url])).stdout).not.toContain("evil");
  });

  test("is refused at every door", async () => {
    const { up, url } = await daemon("--memory", "--no-status-files");
    await using _ = up;
    const grpcPort = /gRPC +\S+:(\d+)/.exec(up.stdout)?.[1] ?? "";
    const told = JSON.parse(await asOther(KNOCK, new URL(url).port, grpcPort)) as object;
    const expected = Object.keys(told).map((door) => [
      door,
      door.startsWith("grpc") ? DENIED_CALL : DENIED,
    ]);
    expect(told).toEqual({ ...Object.fromEntries(expected), arcp: "UNAUTHENTICATED" });
    expect(Object.keys(told)).toHaveLength(13);
    expect((await run(["agents", "--json", "--url", url])).stdout).not.toContain("evil");
  });

  test("is not taken for root when it closes its socket at once", async () => {
    const { up, url } = await daemon("--memory", "--no-status-files");
    await using _ = up;
    const { port } = new URL(url);
    await Promise.all(Array.from({ length: 20 }, () => asOther(CLOSE_AT_ONCE, port, REGISTER)));
    expect((await run(["agents", "--json", "--url", url])).stdout).not.toContain("evil");
  });

  test("cannot open the socket, which the owner uses without a word", async () => {
    using home = scratch();
    const env = { XDG_STATE_HOME: home.path };
    const { up } = await daemon("--data-dir", join(home.path, "rollcall"), "--no-status-files");
    await using _ = up;
    const path = join(home.path, "rollcall", "rollcall.sock");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await asOther(OPEN, path)).toBe("EACCES\n");
    expect((await run(["agents"], { env })).code).toBe(0);
  });

  test("does not pass for a proxy on loopback, unless the operator says it is one", async () => {
    const trust = ["--trust=10.1.0.0/16=operator", "--trusted-proxies=127.0.0.1"];
    const forged = { "x-forwarded-for": "10.1.0.7" };
    const read = async (...flags: readonly string[]) => {
      const doors = ["--addr", ":0", "--http-addr", ":0", "--memory", "--no-status-files"];
      await using up = start(["up", ...doors, ...trust, ...flags]);
      const [, url = ""] = await up.says(/HTTP +(http:\S+)/);
      return await fetchAsOther(`${url}/v1/fleet`, "", forged);
    };
    expect(await read()).toEqual({
      status: 403,
      body: expect.stringContaining("of user 65534, which is no proxy") as string,
    });
    expect(await read("--proxy-users=65534")).toMatchObject({ status: 200 });
  });

  test("is let in where the operator names it, as far as its role goes", async () => {
    const { up, url } = await daemon(
      "--memory",
      "--no-status-files",
      "--allowed-users=65534=viewer",
    );
    await using _ = up;
    expect((await fetchAsOther(`${url}/v1/fleet`)).status).toBe(200);
    expect(await fetchAsOther(`${url}/v1/agents/register`, REGISTER)).toEqual({
      status: 403,
      body: expect.stringContaining("user:65534 (viewer) may not agent.register") as string,
    });
    const asAgent = await daemon("--memory", "--no-status-files", "--allowed-users=65534");
    await using other = asAgent.up;
    const registered = await fetchAsOther(`${asAgent.url}/v1/agents/register`, REGISTER);
    expect(registered.status).toBe(200);
    expect(JSON.parse(registered.body)).toMatchObject({ agent: { owner: "user:65534" } });
    const policy = { id: "p", subject: "*", action: "*", resource: "*", effect: "allow" };
    const set = await fetchAsOther(`${asAgent.url}/v1/policies/set`, JSON.stringify(policy));
    expect(set.body).toContain("may not policy.set");
    expect(other.pid).toBeGreaterThan(0);
  });

  test("is its own principal on gRPC and ARCP, and sees no job of the owner", async () => {
    const { url, arcp, grpc, greet } = await namedUser("65534=agent");
    await using keeper = connect({ address: grpc, socket: false });
    await using agent = await keeper.register({ name: "theirs" });
    expect(await listed(`${url}/v1/agents`)).toMatchObject({
      agents: [{ agentId: agent.id, owner: NAME }],
    });
    await expect(keeper.policies.delete("p")).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining(`${NAME} (agent) may not policy.delete`) as string,
    });

    await using owner = await ArcpClient.connect(arcp, { token: NO_TOKEN });
    await using theirs = await greet(NO_TOKEN);
    const [mine, own] = await Promise.all(
      [owner, theirs].map(async (client) => {
        const job = await client.submit({ agent: "echo", input: 1 });
        await job.done;
        return job.id;
      }),
    );
    const { jobs } = await listed(`${url}/v1/jobs`);
    expect(jobs).toHaveLength(2);
    expect(jobs).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: mine, principal: "local" }),
        expect.objectContaining({ id: own, principal: NAME }),
      ]),
    );
    const { body } = await fetchAsOther(`${url}/v1/jobs`);
    expect(JSON.parse(body)).toMatchObject({ total: 1, jobs: [{ id: own }] });
    const seen: string[] = [];
    for await (const { jobId } of theirs.listJobs()) seen.push(jobId);
    expect(seen).toEqual([own]);
    // Only the owner's word stands for a token while there is none.
    await expect(greet("guessed")).rejects.toThrow("the token is not known");
  });

  test("as a viewer reads over gRPC, and neither changes anything nor submits", async () => {
    const { grpc, greet } = await namedUser("65534=viewer");
    await using keeper = connect({ address: grpc, socket: false });
    expect(await keeper.find()).toEqual([]);
    const mayNot = (action: string) => `${NAME} (viewer) may not ${action}`;
    await expect(keeper.register({ name: "evil" })).rejects.toThrow(mayNot("agent.register"));
    await expect(greet(NO_TOKEN)).rejects.toThrow(mayNot("job.submit"));
  });
});
