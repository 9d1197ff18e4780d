/** The recipe for nginx in docs/security.md, with the real program in front of a real daemon. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { systemClock } from "../../src/machine/clock.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { connectWebSocket } from "../../src/wires/arcp/transports/websocket.ts";
import { pairFor } from "../support/tls/pairs.ts";
import { run, scratch, start } from "./programs.ts";

const DOCUMENT = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
const NAME = "rollcall.example";

function recipe(language: "toml" | "nginx"): string {
  const from = DOCUMENT.indexOf("**Behind nginx or Caddy.**");
  const [, block = ""] =
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(DOCUMENT.slice(from)) ?? [];
  return block;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function daemonOf(folder: string) {
  const config = join(folder, "rollcall.toml");
  writeFileSync(config, recipe("toml"));
  const data = join(folder, "daemon");
  const doors = ["--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--data-dir", data];
  const up = start(["up", ...doors, "--config", config, "--no-status-files"]);
  onTestFinished(() => up[Symbol.asyncDispose]());
  const [, http = "", grpc = ""] = await up.says(/HTTP +http:\/\/(\S+)\n +gRPC +(\S+)/);
  const env = { ROLLCALL_DATA_DIR: data };
  const { stdout } = await run(["tokens", "create", "ci", "--role", "operator"], { env });
  return { http, grpc, token: stdout.trim() };
}

/** nginx as the recipe has it, but for ports and paths. */
async function proxyOf(folder: string, { http, grpc }: { http: string; grpc: string }) {
  const port = await freePort();
  const { cert, key } = pairFor([NAME, "127.0.0.1"]);
  const [certFile, keyFile] = [join(folder, "rollcall.pem"), join(folder, "rollcall.key")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const server = recipe("nginx")
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("/etc/ssl/rollcall.pem", certFile)
    .replace("/etc/ssl/rollcall.key", keyFile)
    .replace("127.0.0.1:9090", http)
    .replace("127.0.0.1:7070", grpc);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join("\n");
  const config = join(folder, "nginx.conf");
  const outer = `daemon off; pid ${join(folder, "nginx.pid")}; error_log stderr; events {}`;
  writeFileSync(config, `${outer}\nhttp {\naccess_log off;\n${paths}\n${server}}\n`);
  const child = spawn("nginx", ["-p", folder, "-e", "stderr", "-c", config], { stdio: "inherit" });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  return { port, cert, certFile };
}

test.skipIf(lacks("nginx") || lacks("curl"))(
  "a daemon behind nginx, as its recipe says",
  async () => {
    const home = scratch();
    onTestFinished(() => home[Symbol.dispose]());
    const daemon = await daemonOf(home.path);
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
