/** For tests: a daemon behind nginx, by the recipe of docs/security.md. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { run, start } from "../e2e/programs.ts";
import { pairFor } from "./tls/pairs.ts";

const DOCUMENT = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
export const NAME = "rollcall.example";

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

export async function daemonBehind(folder: string, ...flags: readonly string[]) {
  const config = join(folder, "rollcall.toml");
  writeFileSync(config, recipe("toml"));
  const data = join(folder, "daemon");
  const doors = ["--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--data-dir", data];
  const up = start(["up", ...doors, "--config", config, "--no-status-files", ...flags]);
  onTestFinished(() => up[Symbol.asyncDispose]());
  const [, http = "", grpc = ""] = await up.says(/HTTP +http:\/\/(\S+)\n +gRPC +(\S+)/);
  const env = { ROLLCALL_DATA_DIR: data };
  const { stdout } = await run(["tokens", "create", "ci", "--role", "operator"], { env });
  return { http, grpc, token: stdout.trim(), env };
}

/** nginx as the recipe has it, but for ports and paths. */
export async function proxyOf(folder: string, { http, grpc }: { http: string; grpc: string }) {
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
