/** The way back from a lost database, as an operator goes it: by commands alone. */
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Newcomer } from "../seeds/newcomer.ts";
import { daemon, run, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 60_000 });

async function started(data: string) {
  const { up, url } = await daemon("--data-dir", data, "--no-status-files");
  const rollcall = async (...args: readonly string[]) => {
    const ended = await run([...args, "--url", url]);
    expect({ args, ...ended }).toMatchObject({ code: 0 });
    return ended.stdout;
  };
  return { rollcall, stop: () => up[Symbol.asyncDispose]() };
}

async function lease(rollcall: (...args: readonly string[]) => Promise<string>, key: string) {
  const agent = (await rollcall("agents", "register", `holder of ${key}`)).trim();
  return Number(await rollcall("leases", "acquire", key, "--agent", agent));
}

test("a backup of a running daemon is restored, and tokens go on above all others", async () => {
  const home = scratch();
  onTestFinished(() => home[Symbol.dispose]());
  const data = join(home.path, "state");
  const file = join(home.path, "one.backup");
  const first = await started(data);
  await first.rollcall("tokens", "create", "ci", "--role", "viewer");
  await lease(first.rollcall, "before");
  const made = await run(["backup", file, "--data-dir", data, "--json"]);
  expect(made).toMatchObject({ code: 0 });
  expect(JSON.parse(made.stdout)).toMatchObject({ file, head: expect.any(Number) as number });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const token = await lease(first.rollcall, "after");
  expect(await run(["restore", file, "--data-dir", data, "--yes"])).toMatchObject({ code: 4 });
  await first.stop();

  // It was killed, and has its write-ahead log beside it.
  for (const end of ["", "-wal"]) renameSync(`${data}/rollcall.db${end}`, `${file}.lost${end}`);
  const unasked = await run(["restore", file, "--data-dir", data]);
  expect(unasked).toMatchObject({ code: 2 });
  expect(unasked.stderr).toContain("ci  viewer");
  const restored = await run(["restore", file, "--data-dir", data, "--yes"]);
  expect(restored).toMatchObject({ code: 0 });
  expect(restored.stdout).toContain(`rollcall up --data-dir ${data}`);
  // Whatever looks at it first takes nothing from what it owes.
  for (const look of [["doctor"], ["doctor", "--deep"], ["compact"]]) {
    expect(await run([...look, "--data-dir", data])).toMatchObject({ code: 0 });
  }
  const next = await started(data);
  const leases = await next.rollcall("leases", "list", "--json");
  expect(leases).toContain("before");
  expect(leases).not.toContain("after");
  expect(await lease(next.rollcall, "after")).toBeGreaterThan(token);
  expect(await next.rollcall("doctor", "--deep", "--data-dir", data)).toContain("checksum holds");
  await next.stop();
  expect(await run(["compact", "--data-dir", data])).toMatchObject({ code: 0 });
});

test("on a terminal a refusal stands on a line of its own, not behind the progress", async () => {
  const home = scratch();
  onTestFinished(() => home[Symbol.dispose]());
  const data = join(home.path, "state");
  const { stop } = await started(data);
  onTestFinished(stop);
  const file = join(home.path, "there.backup");
  expect(await run(["backup", file, "--data-dir", data])).toMatchObject({ code: 0 });
  const person = new Newcomer({ NO_COLOR: "1" });
  const { code, stderr } = await person.types(`rollcall backup ${file} --data-dir ${data}`, {
    isTTY: true,
    columns: 200,
  });
  expect(code).not.toBe(0);
  expect(`\u001b[K${stderr}`).toContain("\u001b[Kerror: ");
});

test("policies and tokens go to a file and come back from it", async () => {
  const home = scratch();
  onTestFinished(() => home[Symbol.dispose]());
  const { rollcall, stop } = await started(join(home.path, "state"));
  onTestFinished(stop);
  await rollcall("policies", "set", "web", "allow", "scraper-*", "call", "tool:browser");
  const secret = (await rollcall("tokens", "create", "ci", "--role", "viewer")).trim();
  const file = join(home.path, "access.toml");
  const exported = await rollcall("export");
  writeFileSync(file, exported);
  expect(exported).not.toContain(secret);
  await rollcall("policies", "delete", "web");
  await rollcall("tokens", "revoke", "ci");
  expect(await rollcall("import", file)).toMatch(/^ci rollcall_\S+\n$/);
  expect(await rollcall("import", file)).toBe("");
  expect(await rollcall("export")).toContain('subject = "scraper-*"');
});
