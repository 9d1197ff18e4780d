/** Where the system does not tell the user of a connection, a token in a file stands for it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { connect } from "../../src/wires/keeper/client/keeper.ts";
import { daemon, run, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 60_000 });

async function ground() {
  const home = scratch();
  const data = join(home.path, "rollcall");
  const flags = ["--data-dir", data, "--local-trust", "token", "--socket", "off"];
  const { up, url } = await daemon(...flags, "--no-status-files");
  onTestFinished(async () => {
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const [, grpc = ""] = await up.says(/gRPC +(\S+)/);
  const file = join(data, "rollcall.token");
  return { up, url, grpc, file, env: { ROLLCALL_DATA_DIR: data } };
}

test("the owner's own clients find the token by themselves; all others are refused", async () => {
  const { up, url, grpc, file, env } = await ground();
  expect(up.stdout).toContain(`by the socket, or with the token in ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { status } = await fetch(`${url}/v1/whoami`);
  expect(status).toBe(401);
  const stranger = await run(["whoami", "--url", url]);
  expect(stranger.stderr).toContain("callers on this machine present the token of rollcall.token");
  const owner = await run(["whoami", "--url", url, "--json"], { env });
  expect(JSON.parse(owner.stdout)).toMatchObject({ name: "local", roles: ["admin"] });
  await using refused = connect({ address: grpc });
  await expect(refused.find()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  vi.stubEnv("ROLLCALL_DATA_DIR", env.ROLLCALL_DATA_DIR);
  onTestFinished(() => void vi.unstubAllEnvs());
  await using keeper = connect({ address: grpc });
  expect(await keeper.find()).toEqual([]);
});

test("the token goes to the daemon's own ports, and is gone with the daemon", async () => {
  const { up, file, env } = await ground();
  const [secret = ""] = readFileSync(file, "utf8").split("\n");
  const heard: unknown[] = [];
  const other = createServer(({ headers }, response) => {
    heard.push(headers.authorization);
    response.end("{}");
  });
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  await run(["whoami", "--url", `:${(other.address() as AddressInfo).port}`], { env });
  expect(heard).toEqual([undefined]);
  up.signal("SIGTERM");
  const { stdout, stderr } = await up.end();
  expect(existsSync(file)).toBe(false);
  expect(stdout + stderr).not.toContain(secret);
});
