import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect as connectHttp } from "../../src/wires/api/client/client.ts";
import { clientOf, daemonOf, folder } from "./fixture.ts";

/** No server is there. */
const NOWHERE = "127.0.0.1:9";

test("a client presents its token with every call, and is what the token says", async () => {
  const { grpcAddress, url } = await daemonOf();
  await using http = connectHttp({ url });
  const created = await http.post("/v1/tokens/create", { name: "ci", role: "viewer" });
  const viewer = clientOf(grpcAddress, { token: String(created["secret"]) });
  expect(await viewer.find()).toEqual([]);
  await expect(viewer.register({ name: "a" })).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: "token:ci (viewer) may not agent.register",
  });
  const wrong = clientOf(grpcAddress, { token: "rollcall_guess" });
  await expect(wrong.find()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("a client goes by the daemon's own socket where it is there", async () => {
  const dataDir = folder();
  await daemonOf({ dataDir });
  const socket = join(dataDir, "rollcall.sock");
  expect(existsSync(socket)).toBe(true);
  expect(await clientOf(NOWHERE, { socket }).find()).toEqual([]);
});

test.each(["a file", "nothing"])("and by its address where the socket is %s", async (what) => {
  const { grpcAddress } = await daemonOf();
  const socket = join(folder(), "rollcall.sock");
  if (what === "a file") writeFileSync(socket, "");
  expect(await clientOf(grpcAddress, { socket }).find()).toEqual([]);
});

test("a socket whose server hangs up at once is an outage, not a crash", async () => {
  const socket = join(folder(), "rollcall.sock");
  const server = createServer((connection) => connection.destroy());
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  const keeper = clientOf(NOWHERE, { socket, limits: { firstRetryMs: 1, lastRetryMs: 5 } });
  await expect(keeper.find({ timeoutMs: 200 })).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
