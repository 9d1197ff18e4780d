import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { codeOf } from "../core/errors.ts";
import { loadConfig, type Config, type ConfigSources } from "./config.ts";

const home = join(tmpdir(), "home-of-nobody");
const URL = "postgres://rollcall@db1,db2:5433/fleet?schema=team";

function load(sources: Partial<ConfigSources>): Promise<Config> {
  return loadConfig({ flags: {}, env: {}, home, cwd: "/here", ...sources });
}

async function problem(sources: Partial<ConfigSources>): Promise<string> {
  const error: unknown = await load(sources).catch((reason: unknown) => reason);
  expect(codeOf(error)).toBe("INVALID_ARGUMENT");
  return error instanceof Error ? error.message : "";
}

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "rollcall-config-")), "file");
  writeFileSync(path, text);
  return path;
}

test("without a word the log is a SQLite file beside the state", async () => {
  const config = await load({ flags: { "data-dir": "/d" } });
  expect(config.log).toEqual({ kind: "sqlite", path: "/d/rollcall.db" });
  expect((await load({ flags: { "data-dir": "/d", log: "sqlite:" } })).log).toEqual(config.log);
});

test("another file is named by its path, from where it was said", async () => {
  const other = { kind: "sqlite", path: "/here/x.db" };
  expect(await load({ flags: { log: "sqlite:x.db", "data-dir": "/d" } })).toMatchObject({
    log: other,
    dataDir: "/d",
  });
  expect((await load({ env: { ROLLCALL_LOG: "sqlite:~/x.db" } })).log).toMatchObject({
    path: join(home, "x.db"),
  });
});

test("in memory is said by log or by memory, and the strongest voice counts", async () => {
  const inMemory = { dataDir: undefined, log: { kind: "memory" } };
  expect(await load({ flags: { log: "memory:" } })).toMatchObject(inMemory);
  const env = { ROLLCALL_LOG: URL };
  expect(await load({ env, flags: { memory: "true" } })).toMatchObject(inMemory);
  const stronger = await load({ env: { ROLLCALL_MEMORY: "true" }, flags: { log: URL } });
  expect(stronger.log.kind).toBe("postgres");
  expect(stronger.dataDir).toContain(home);
  expect(await problem({ flags: { memory: "true", log: URL } })).toBe(
    "memory and log exclude each other: give one of them",
  );
  expect(await problem({ flags: { log: "memory:", "data-dir": "/d" } })).toBe(
    "log memory: and data_dir /d exclude each other: give one of them",
  );
});

test("a log in Postgres has its folder for the rest, and is strict unless told", async () => {
  const { log, dataDir } = await load({ flags: { log: URL, "data-dir": "/d" } });
  expect(log).toMatchObject({ kind: "postgres", url: URL, durability: "strict" });
  expect(dataDir).toBe("/d");
  const flags = { log: URL, "log-durability": "trust" };
  expect((await load({ flags })).log).toMatchObject({ durability: "trust" });
  expect(await problem({ flags: { log: URL, "log-durability": "maybe" } })).toContain(
    "expected one of strict, trust",
  );
  const backups = await load({ flags: { log: URL, "backup-every": "1" } });
  expect(backups.backups).toMatchObject({ everyMs: 3_600_000 });
});

test("no password of a URL is taken, and none is repeated", async () => {
  const wrong = [
    "postgres://me:hunter2@db/fleet",
    "postgres://me:hunter2@db:port/fleet?schema=A B",
    "mysql://me:hunter2@db/fleet",
  ];
  for (const log of wrong) {
    const said = await problem({ env: { ROLLCALL_LOG: log } });
    expect(said).not.toContain("hunter2");
  }
  expect(await problem({ flags: { log: wrong[0] ?? "" } })).toContain("log_credentials_file");
});

test("the password comes from a file, each time anew, and is never printed", async () => {
  const path = file("hunter2\n");
  const { log } = await load({ flags: { log: URL, "log-credentials-file": path } });
  const password = log.kind === "postgres" ? log.password : undefined;
  expect(await password?.()).toBe("hunter2");
  expect(inspect(log, { depth: 9 })).not.toContain("hunter2");
  writeFileSync(path, "two\nlines\n");
  await expect(password?.()).rejects.toThrow(`${path} holds no password`);
  expect(await problem({ flags: { "log-credentials-file": path } })).toContain(
    "needs a log in Postgres",
  );
});
