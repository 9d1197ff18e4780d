/** Logging in to a daemon elsewhere, over TLS, and every client of ours there. */
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:tls";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { connect } from "../../src/wires/api/client/client.ts";
import { connect as connectKeeper } from "../../src/wires/keeper/client/keeper.ts";
import { tlsFiles } from "../support/tls-files.ts";
import { environment, programFile, run, scratch, type Ended } from "./programs.ts";
import { tlsDaemon } from "./tls-daemon.ts";

vi.setConfig({ testTimeout: 60_000 });

/** Another test may have a daemon at the address that is told where none is. */
const NO_DAEMON_HERE = { ROLLCALL_HTTP_ADDR: "127.0.0.1:1" };

/** A daemon with TLS, and a person elsewhere. */
async function ground() {
  const daemon = await tlsDaemon();
  const person = join(daemon.folder, "person");
  const rollcall = (...args: readonly string[]) => run(args, { home: person, env: NO_DAEMON_HERE });
  const typing = (input: string, ...args: readonly string[]) => piped(input, args, person);
  return { ...daemon, person, rollcall, typing };
}

async function piped(input: string, args: readonly string[], home: string): Promise<Ended> {
  const child = spawn(process.execPath, [programFile("rollcall"), ...args], {
    env: environment(home),
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, ...said }));
  });
}

describe("login", () => {
  test("pins the certificate and keeps the token for its user; commands go there", async () => {
    const { url, tls, create, person, rollcall, typing } = await ground();
    const token = await create("ci", "viewer");
    const wish = ["login", url, "--context", "team"];
    const unpinned = await typing(token, ...wish);
    expect(unpinned).toMatchObject({ code: 4, stdout: "" });
    expect(unpinned.stderr).toContain(`its SHA-256 fingerprint is ${tls.fingerprint}`);
    const pinned = await typing(token, ...wish, "--fingerprint", tls.fingerprint);
    expect(pinned).toMatchObject({ code: 0, stdout: "" });
    expect(pinned.stderr).toContain(`logged in to ${url} as token:ci (viewer)`);
    const file = join(person, ".config/rollcall/contexts.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await rollcall("context", "current")).stdout).toBe("team\n");
    const who = await rollcall("whoami", "--json");
    expect(JSON.parse(who.stdout)).toMatchObject({ name: "token:ci", roles: ["viewer"] });
    expect(await rollcall("ls")).toMatchObject({ code: 0 });
    expect((await rollcall("agents", "register", "evil")).stderr).toContain(
      "may not agent.register",
    );
    expect((await rollcall("run", "echo")).stderr).toContain(
      "token:ci (viewer) may not job.submit",
    );
    expect((await rollcall("whoami", "--context", "local")).code).toBe(3);
    const listed = await rollcall("context", "list", "--json");
    expect(listed.stdout).not.toContain(token);
    expect((await rollcall("doctor")).stdout).toContain(`team: commands talk to ${url}`);
    await rollcall("context", "rename", "team", "box");
    expect((await rollcall("context", "current")).stdout).toBe("box\n");
    await rollcall("context", "use", "local");
    expect((await rollcall("whoami", "--context", "box")).stdout).toContain("token:ci");
    await rollcall("context", "use", "box");
    expect((await rollcall("context", "remove", "box")).stderr).toContain("this machine now");
    expect(readFileSync(file, "utf8")).not.toContain(token);
    expect((await rollcall("whoami")).code).toBe(3);
    expect((await rollcall("context", "use", "nowhere")).code).toBe(1);
  });

  test("by an authority needs no pin; a token file is kept by its path", async () => {
    const { url, tls, create, person, rollcall } = await ground();
    const file = join(person, "..", "ci.token");
    writeFileSync(file, `${await create("one", "viewer")}\n`, { mode: 0o600 });
    const files = ["--ca-file", tls.certFile, "--token-file", file];
    expect(await rollcall("login", url, ...files)).toMatchObject({ code: 0 });
    const kept = readFileSync(join(person, ".config/rollcall/contexts.json"), "utf8");
    expect(JSON.parse(kept)).toEqual({
      current: "127.0.0.1",
      contexts: { "127.0.0.1": { url, caFile: tls.certFile, tokenFile: file } },
    });
    writeFileSync(file, `${await create("two", "operator")}\n`);
    expect((await rollcall("whoami")).stdout).toContain("token:two");
  });

  test("keeps nothing for a wrong token, and sends none to another certificate", async () => {
    const { url, tls, person, typing } = await ground();
    const wrong = await typing("rollcall_guess", "login", url, "--fingerprint", tls.fingerprint);
    expect(wrong.code).toBe(4);
    expect(wrong.stderr).toContain("error: the token is not known\ntry: on the daemon's machine");
    const stranger = tlsFiles(join(person, ".."), "stranger");
    let heard = "";
    const server = createServer(stranger, (socket) => {
      socket.on("data", (bytes: Buffer) => (heard += bytes.toString()));
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const evil = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const refused = await typing("secret", "login", evil, "--fingerprint", tls.fingerprint);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(`has the fingerprint ${stranger.fingerprint}, not the one`);
    expect(heard).toBe("");
    expect(() => statSync(join(person, ".config/rollcall/contexts.json"))).toThrow("ENOENT");
  });

  test("sends no token in clear text to another machine", async () => {
    const home = scratch();
    onTestFinished(() => home[Symbol.dispose]());
    const { code, stderr } = await piped("secret", ["login", "http://192.0.2.1:9"], home.path);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("would get the token in clear text: use https://") as string,
    });
  });
});

test("every client of the library takes a token and a pinned certificate", async () => {
  const { url, grpc, tls, create } = await ground();
  const token = await create("worker", "agent");
  const trust = { fingerprint: tls.fingerprint };
  await using http = connect({ url, token, trust });
  expect(await http.get("/v1/whoami")).toMatchObject({ name: "token:worker" });
  await using keeper = connectKeeper({ address: grpc, token, trust });
  await using agent = await keeper.register({ name: "a" });
  expect(agent.id).toMatch(/^[0-9a-f]{32}$/);
  const arcp = `${url.replace("http", "ws")}/arcp`;
  await using jobs = await ArcpClient.connect(arcp, { token, trust });
  expect(jobs.session.runtime.name).toBe("rollcall");
  const other = { fingerprint: tls.fingerprint.replaceAll(/[A-F]/g, "0") };
  await expect(connect({ url, token, trust: other }).get("/v1/whoami")).rejects.toThrow(
    "not the one that is pinned",
  );
  await expect(ArcpClient.connect(arcp, { token, trust: other })).rejects.toThrow(
    "not the one that is pinned",
  );
});
