import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { codeOf } from "../core/errors.ts";
import { register } from "../../test/support/engine/fixture.ts";
import { startDaemon, type Daemon } from "./compose.ts";
import { loadConfig, type Config } from "./config.ts";
import { createLogger } from "./logger.ts";
import { ask, say } from "../../test/support/daemon/fixture.ts";
import type { DaemonStatus } from "../operations/daemon.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function configured(changes: Partial<Config> = {}): Promise<Config> {
  const flags = { memory: "true", addr: ":0", "http-addr": ":0", "log-level": "silent" };
  const { dataDir } = changes;
  const log = dataDir && ({ kind: "sqlite", path: join(dataDir, "rollcall.db") } as const);
  return { ...(await loadConfig({ flags, env: {} })), ...(log && { log }), ...changes };
}

async function start(changes: Partial<Config> = {}): Promise<Daemon> {
  const daemon = await startDaemon(await configured(changes));
  cleanups.push(() => daemon.close());
  return daemon;
}

function httpPort({ httpAddress }: Daemon): number {
  return httpAddress?.port ?? 0;
}

async function takenPort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const bound = server.address();
  return typeof bound === "object" && bound ? bound.port : 0;
}

function folder(): string {
  return mkdtempSync(join(tmpdir(), "rollcall-daemon-"));
}

describe("a daemon that is up", () => {
  test("says where it is, where its state is, and whom it answers", async () => {
    const daemon = await start();
    expect(daemon.announcement()).toEqual([
      expect.stringMatching(/^rollcall \d+\.\d+\.\d+ is up$/),
      `  HTTP   http://127.0.0.1:${httpPort(daemon)}`,
      `  gRPC   127.0.0.1:${daemon.grpcAddress?.port}`,
      "  state  memory, gone when it stops",
      expect.stringMatching(/^ {2}answers only this machine: users? \w/),
    ]);
    const wide = await start({ addr: { host: "0.0.0.0", port: 0 } });
    const said = wide.announcement().join("\n");
    expect(said).toContain("to answer other machines set tls_cert");
    expect(said).toContain("and tls_key and give them tokens, or name their network");
  });

  test("is healthy, ready, and tells what it is", async () => {
    const daemon = await start({ node: "here" });
    const port = httpPort(daemon);
    expect(await ask(port, "/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect(await ask(port, "/readyz")).toMatchObject({ status: 200, body: "ready" });
    const status: unknown = JSON.parse((await ask(port, "/v1/status")).body);
    expect(status).toMatchObject({
      node: "here",
      mode: "leading",
      head: 1,
      pid: process.pid,
      grpcAddress: `127.0.0.1:${daemon.grpcAddress?.port}`,
      httpAddress: `127.0.0.1:${port}`,
      state: "memory",
      loopbackOnly: true,
    });
  });

  test("is not ready when it cannot work, and says why", async () => {
    const daemon = await start();
    await daemon.engine.close();
    const { status, body } = await ask(httpPort(daemon), "/readyz");
    expect({ status, body }).toEqual({ status: 503, body: "not ready" });
    const told = JSON.parse((await ask(httpPort(daemon), "/v1/status")).body) as DaemonStatus;
    expect(told.trouble).toContain("this node is closed");
    expect((await ask(httpPort(daemon), "/healthz")).status).toBe(200);
  });

  test("keeps its state in a folder that is nobody else's business", async () => {
    const dataDir = join(folder(), "deep", "state");
    const first = await start({ dataDir });
    const agentId = await register(first.engine);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(first.stateDescription).toBe(`sqlite at ${join(dataDir, "rollcall.db")}`);
    await first.close();
    const second = await start({ dataDir });
    const agent = await second.engine.read(({ agents }) => agents.byId.get(agentId)?.agent);
    expect(agent?.status).toBe("alive");
  });
});

describe("a port that is taken", () => {
  test("stops no drop-in that was told no HTTP port: it takes another and says so", async () => {
    const port = await takenPort();
    const daemon = await start({ httpAddr: { host: "127.0.0.1", port }, httpMayMove: true });
    expect(httpPort(daemon)).not.toBe(port);
    expect((await ask(httpPort(daemon), "/healthz")).body).toBe("ok");
    expect(daemon.announcement()[1]).toContain(`(port ${port} is taken)`);
  });

  test("stops every other, with the port and the fix", async () => {
    const port = await takenPort();
    const address = { host: "127.0.0.1", port };
    const wanted = `cannot listen on 127.0.0.1:${port}: another program has this port`;
    const http = startDaemon(await configured({ httpAddr: address }));
    await expect(http).rejects.toThrow(wanted);
    await expect(http).rejects.toThrow("choose another with --http-addr HOST:PORT");
    await expect(startDaemon(await configured({ addr: address }))).rejects.toThrow(
      "choose another with --addr HOST:PORT",
    );
  });

  test("leaves nothing open behind: the state can be used at once", async () => {
    const dataDir = folder();
    const addr = { host: "127.0.0.1", port: await takenPort() };
    await expect(startDaemon(await configured({ dataDir, addr }))).rejects.toThrow("cannot listen");
    await start({ dataDir });
  });
});

describe("a state that cannot be used", () => {
  test("because another daemon has it is told, with who", async () => {
    const dataDir = folder();
    await start({ dataDir });
    const error: unknown = await startDaemon(await configured({ dataDir })).catch(
      (e: unknown) => e,
    );
    expect(codeOf(error)).toBe("LOCKED");
    expect(String(error)).toContain(`process ${process.pid}`);
  });

  test("because its folder cannot be made is told, with the fix", async () => {
    const parent = folder();
    const dataDir = join(parent, "file", "state");
    writeFileSync(join(parent, "file"), "");
    await expect(startDaemon(await configured({ dataDir }))).rejects.toThrow(
      /cannot keep the state in .*choose another with --data-dir/,
    );
  });
});

describe("closing", () => {
  test("ends streams with a reason and takes under 5 s, even if clients are deaf", async () => {
    const daemon = await start();
    const port = httpPort(daemon);
    const request = `GET /v1/events?from=0 HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
    const listening = say(port, request);
    const deaf = say(port, request);
    const dumb = say(port, "GET / HT");
    await vi.waitFor(() => expect(listening.heard).toContain("event: bookmark"));
    deaf.socket.pause();
    const startedAt = performance.now();
    await Promise.all([daemon.close(), daemon.close()]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await Promise.all([listening.closed, dumb.closed]);
    expect(listening.heard).toContain('event: error\ndata: {"error":{"code":"UNAVAILABLE"');
    deaf.socket.destroy();
    await expect(ask(port, "/healthz")).rejects.toThrow("ECONNREFUSED");
  });

  test("is told in the log", async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: "info", isTerminal: true, write: (l) => lines.push(l) });
    const daemon = await startDaemon(await configured(), { logger });
    await daemon.close();
    expect(lines.map((line) => line.slice(9))).toEqual(["INFO closing\n", "INFO closed\n"]);
  });
});
