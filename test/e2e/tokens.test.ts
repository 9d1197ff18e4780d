/** Bearer tokens at a running daemon: on HTTP, gRPC, ARCP and the command line. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect as http2Connect } from "node:http2";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { daemon, run, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 60_000 });
const SOON = { timeout: 15_000, interval: 50 };
const REGISTER = JSON.stringify({ card: { name: "evil", version: "1" } });

async function ground() {
  const home = scratch();
  const data = join(home.path, "rollcall");
  const { up, url } = await daemon("--data-dir", data, "--no-status-files");
  onTestFinished(async () => {
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const rollcall = (args: readonly string[], token?: string) =>
    run([...args, "--url", url], { env: token === undefined ? {} : { ROLLCALL_TOKEN: token } });
  const create = async (name: string, ...flags: readonly string[]) => {
    const { code, stdout, stderr } = await rollcall(["tokens", "create", name, ...flags]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout.trim();
  };
  const ask = async (path: string, token: string, body?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      // The daemon cuts those of a revoked token, maybe while the next call takes one up again.
      connection: "close",
    };
    const answer = await fetch(url + path, body ? { method: "POST", headers, body } : { headers });
    return { status: answer.status, body: await answer.text() };
  };
  return { home: home.path, data, up, url, rollcall, create, ask };
}

/** A call of gRPC that goes on until somebody ends it. */
async function watchHealth(port: string, token: string) {
  const session = http2Connect(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Watch",
    "content-type": "application/grpc",
    authorization: `Bearer ${token}`,
  });
  const state = { status: "", isOpen: false, isClosed: false };
  const take = ({ "grpc-status": status }: Record<string, unknown>) => {
    if (typeof status === "string") state.status = status;
  };
  stream
    .on("response", take)
    .on("trailers", take)
    .on("error", () => undefined);
  stream.on("data", () => (state.isOpen = true));
  session.on("error", () => undefined).on("close", () => (state.isClosed = true));
  onTestFinished(() => session.destroy());
  stream.end(Buffer.alloc(5));
  return state;
}

/** The stream of events, up to the first of this topic. */
async function eventsUntil(url: string, topic: string): Promise<string> {
  const { body } = await fetch(url);
  let text = "";
  for await (const bytes of body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.includes(`event: ${topic}`)) break;
  }
  return text;
}

describe("a token", () => {
  test("of a viewer reads and changes nothing, on every door and for the owner too", async () => {
    const { home, url, rollcall, create, ask } = await ground();
    const token = await create("ci", "--role", "viewer");
    expect((await ask("/v1/agents", token)).status).toBe(200);
    const refused = "token:ci (viewer) may not agent.register";
    expect(await ask("/v1/agents/register", token, REGISTER)).toEqual({
      status: 403,
      body: expect.stringContaining(refused) as string,
    });
    expect((await ask("/v1/tokens", token)).body).toContain("may not token.read");
    expect((await rollcall(["agents"], token)).code).toBe(0);
    expect((await rollcall(["agents", "register", "evil"], token)).stderr).toContain(refused);
    const file = join(home, "ci.token");
    writeFileSync(file, `${token}\n`);
    const bySocket = { env: { XDG_STATE_HOME: home } };
    const typed = ["agents", "register", "evil", "--token-file", file];
    expect((await run(typed, bySocket)).stderr).toContain(refused);
    const arcp = `${url.replace("http", "ws")}/arcp`;
    await expect(ArcpClient.connect(arcp, { token })).rejects.toThrow("may not job.submit");
    expect((await rollcall(["agents", "--json"])).stdout).not.toContain("evil");
  });

  test("that is wrong, expired or revoked is refused, though its caller is the owner", async () => {
    const { up, url, rollcall, create, ask } = await ground();
    const brief = await create("brief", "--role", "admin", "--ttl", "1s");
    const gone = await create("gone", "--role", "admin");
    expect((await rollcall(["tokens", "revoke", "gone"])).code).toBe(0);
    const refusals = [
      ["rollcall_guess", "the token is not known"],
      [brief, "the token brief is expired"],
      [gone, "the token gone is revoked"],
    ] as const;
    const [, port = ""] = await up.says(/gRPC +127.0.0.1:(\d+)/);
    for (const [token, reason] of refusals) {
      await vi.waitFor(async () => {
        const { status, body } = await ask("/v1/agents", token);
        expect({ status, body }).toEqual({
          status: 401,
          body: expect.stringContaining(reason) as string,
        });
      }, SOON);
      const { stderr } = await rollcall(["ls"], token);
      expect(stderr.split("\n")[0]).toBe(`error: ${reason}`);
      const arcp = `${url.replace("http", "ws")}/arcp`;
      await expect(ArcpClient.connect(arcp, { token })).rejects.toThrow(reason);
      const watched = await watchHealth(port, token);
      await vi.waitFor(() => expect(watched.status).toBe("16"), SOON);
    }
    await using owner = await ArcpClient.connect(`${url.replace("http", "ws")}/arcp`, {
      token: "anonymous",
    });
    expect(owner.session.runtime.name).toBe("rollcall");
  });

  test("that is revoked takes its open connections with it, and no others", async () => {
    const { up, url, rollcall, create } = await ground();
    const [one, other] = [
      await create("one", "--role", "agent"),
      await create("two", "--role", "agent"),
    ];
    const [, port = ""] = await up.says(/gRPC +127.0.0.1:(\d+)/);
    const follow = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const { status, body } = await fetch(`${url}/v1/events`, { headers });
      expect(status).toBe(200);
      const state = { isClosed: false };
      void new Response(body)
        .text()
        .catch(() => undefined)
        .finally(() => (state.isClosed = true));
      const states: string[] = [];
      const client = await ArcpClient.connect(`${url.replace("http", "ws")}/arcp`, {
        token,
        onState: ({ kind }) => states.push(kind),
      });
      onTestFinished(() => client.close());
      const grpc = await watchHealth(port, token);
      await vi.waitFor(() => expect(grpc.isOpen).toBe(true), SOON);
      return { ended: () => [state.isClosed, grpc.isClosed, states.includes("lost")] };
    };
    const [revoked, kept] = [await follow(one), await follow(other)];
    expect([...revoked.ended(), ...kept.ended()]).not.toContain(true);
    expect((await rollcall(["tokens", "revoke", "one"])).code).toBe(0);
    await vi.waitFor(() => expect(revoked.ended()).toEqual([true, true, true]), SOON);
    expect(kept.ended()).toEqual([false, false, false]);
  });

  test("leaves nothing of its secret in files, events or logs", async () => {
    const { data, up, url, rollcall, create, ask } = await ground();
    const secret = await create("ci", "--role", "operator");
    await ask("/v1/agents/register", secret, REGISTER);
    await rollcall(["policies", "set", "a", "allow", "b", "c", "d"], secret);
    await rollcall(["tokens", "revoke", "ci"]);
    const failed = await rollcall(["ls", "--verbose"], secret);
    expect(failed.code).not.toBe(0);
    const told = (await eventsUntil(`${url}/v1/events?from=0`, "token.revoked")) + failed.stderr;
    up.signal("SIGTERM");
    const { stdout, stderr } = await up.end();
    const files = readdirSync(data, { withFileTypes: true }).filter((each) => each.isFile());
    const texts = files.map(({ name }) => readFileSync(join(data, name), "latin1"));
    expect(texts.join("")).toContain("token.created");
    for (const text of [...texts, stdout, stderr, told]) expect(text).not.toContain(secret);
  });
});
