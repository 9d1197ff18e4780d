/**
 * The ways from a machine to its team: a reverse proxy with TLS, the team's own TLS, a tunnel; and
 * what the machine says when its certificate or its token does not do.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { daemon, run, scratch, type Running } from "../e2e/programs.ts";
import { tlsDaemon } from "../e2e/tls-daemon.ts";
import { daemonBehind, proxyOf } from "../support/nginx.ts";
import { Cable } from "../support/cable.ts";

const TOKEN = ["tokens", "create", "box", "--role", "outpost", "--host", "box"];

interface Outpost {
  readonly up: Running;
  readonly url: string;
  readonly folder: string;
}

/** A machine that joins with these flags, and the token in its file. */
async function outpost(team: string, token: string, ...flags: readonly string[]): Promise<Outpost> {
  const home = scratch();
  const file = join(home.path, "token");
  writeFileSync(file, token);
  const where = ["--data-dir", join(home.path, "data"), "--no-status-files"];
  const { up, url } = await daemon(...where, "--join", team, "--token-file", file, ...flags);
  onTestFinished(async () => {
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  return { up, url, folder: home.path };
}

interface TeamStatus {
  readonly team: { readonly state: string; readonly reason: string };
}

async function link({ url }: Outpost): Promise<TeamStatus["team"]> {
  const answer = await fetch(`${url}/v1/status`);
  const { team } = (await answer.json()) as TeamStatus;
  return team;
}

async function isIn(box: Outpost, state: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const now = await link(box);
      expect(now).toMatchObject({ state });
      return now.reason;
    },
    { timeout: 20_000 },
  );
}

test("a certificate or a token that does not do: the machine names the fix", async () => {
  const team = await tlsDaemon("--node", "hq");
  const token = await team.create("box", "outpost", "--host", "box");
  const stranger = await outpost(team.url, token);
  expect(await isIn(stranger, "refused")).toBe(
    `the certificate of ${team.url} signed itself, and is not known here: set join_ca to a file ` +
      "that has it, or that of its authority; the file is read at the next try",
  );
  const ca = ["--join-ca", team.tls.certFile];
  const box = await outpost(team.url, "rc_wrong", ...ca);
  expect(await isIn(box, "refused")).toMatch(
    /^the token is not known: make another by `rollcall tokens create NAME --role outpost/,
  );
  writeFileSync(join(box.folder, "token"), token);
  await isIn(box, "connected");
  await team.owner("tokens", "revoke", "box");
  expect(await isIn(box, "refused")).toContain("put it into token_file");
  const doctor = await run(["doctor"], { env: { ROLLCALL_DATA_DIR: join(box.folder, "data") } });
  expect(doctor.stdout).toContain("rollcall tokens create NAME --role outpost");
}, 60_000);

test.skipIf(lacks("nginx"))("through nginx with TLS, as its recipe says", async () => {
  const home = scratch();
  onTestFinished(() => home[Symbol.dispose]());
  const team = await daemonBehind(home.path, "--node", "hq", "--allowed-hosts", "127.0.0.1");
  const proxy = await proxyOf(home.path, team);
  const { stdout } = await run(TOKEN, { env: team.env });
  const at = `https://127.0.0.1:${proxy.port}`;
  const box = await outpost(at, stdout, "--join-ca", proxy.certFile, "--accept", "jobs");
  await isIn(box, "connected");
  await vi.waitFor(async () => {
    const listed = await run(["outposts"], { env: team.env });
    expect(listed.stdout).toMatch(/^box +connected/m);
  });
  // The stream down passes at once: the proxy does not buffer it.
  const asked = await run(["outposts", "run", "box", "nobody"], { env: team.env });
  expect(asked.stderr).toMatch(/box: .*nobody/);
});

test("through a tunnel to another port, which the team's daemon must know", async () => {
  const home = scratch();
  const tunnel = await Cable.open();
  onTestFinished(() => {
    tunnel.close();
    home[Symbol.dispose]();
  });
  const where = ["--no-status-files", "--node", "hq", "--data-dir", join(home.path, "data")];
  const closed = await daemon(...where);
  tunnel.port = Number(new URL(closed.url).port);
  const { stdout } = await run([...TOKEN, "--url", closed.url]);
  const box = await outpost(`http://${tunnel.host}`, stdout);
  expect(await isIn(box, "refused")).toMatch(/is not a name of this daemon.*see allowed_hosts/);
  await closed.up[Symbol.asyncDispose]();
  const open = await daemon(...where, "--allowed-hosts", tunnel.host);
  onTestFinished(() => open.up[Symbol.asyncDispose]());
  tunnel.port = Number(new URL(open.url).port);
  await isIn(box, "connected");
});
