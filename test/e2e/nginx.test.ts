/** The recipe for nginx in docs/security.md, with the real program in front of a real daemon. */
import { execFile } from "node:child_process";
import { Agent } from "node:https";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { systemClock } from "../../src/machine/clock.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { connectWebSocket } from "../../src/wires/arcp/transports/websocket.ts";
import { daemonBehind, NAME, proxyOf } from "../support/nginx.ts";
import { scratch } from "./programs.ts";

test.skipIf(lacks("nginx") || lacks("curl"))(
  "a daemon behind nginx, as its recipe says",
  async () => {
    const home = scratch();
    onTestFinished(() => home[Symbol.dispose]());
    const daemon = await daemonBehind(home.path);
    const { port, cert, certFile } = await proxyOf(home.path, daemon);
    const url = `https://${NAME}:${port}`;
    const curl = async (path: string, ...flags: readonly string[]) => {
      const there = ["--resolve", `${NAME}:${port}:127.0.0.1`, "--cacert", certFile];
      const format = ["--silent", "--write-out", "%{http_version} %{http_code} "];
      const { stdout } = await promisify(execFile)("curl", [
        ...there,
        ...format,
        ...flags,
        url + path,
      ]);
      return stdout;
    };
    const authorization = `Authorization: Bearer ${daemon.token}`;
    const body = ["--output", "/dev/null"];
    await vi.waitFor(async () => expect(await curl("/healthz", ...body)).toBe("2 200 "));
    expect(await curl("/v1/whoami", "-H", authorization)).toContain("token:ci");
    expect(await curl("/v1/status", ...body)).toBe("2 401 ");
    expect(await curl("/v1/status", ...body, "-H", authorization, "-H", "Host: evil.example")).toBe(
      "2 403 ",
    );
    const agent = new Agent({
      ca: cert,
      lookup: (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }]),
    });
    const dial = () => connectWebSocket(`wss://${NAME}:${port}/arcp`, { agent });
    await using client = await ArcpClient.connect(dial, { token: daemon.token });
    expect(client.session.runtime.name).toBe("rollcall");
    await expect(ArcpClient.connect(dial, { token: "wrong" })).rejects.toThrow("not known");
    const channel = new GrpcChannel({
      address: `127.0.0.1:${port}`,
      timers: systemClock,
      trust: { ca: cert },
      metadata: { authorization: `Bearer ${daemon.token}` },
    });
    onTestFinished(() => channel.close());
    const path = "/agentkeeper.v1.RegistryService/Find";
    await channel.call({ path, body: new Uint8Array(), timeoutMs: 10_000 });
  },
);
