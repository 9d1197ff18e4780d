import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { codeOf } from "../core/errors.ts";
import { loadConfig, type Config, type ConfigSources } from "./config.ts";
import { SETTINGS } from "./settings.ts";

const home = join(tmpdir(), "home-of-nobody");

function load(sources: Partial<ConfigSources>): Promise<Config> {
  return loadConfig({ flags: {}, env: {}, home, ...sources });
}

async function problem(sources: Partial<ConfigSources>): Promise<string> {
  const error: unknown = await load(sources).catch((reason: unknown) => reason);
  expect(codeOf(error)).toBe("INVALID_ARGUMENT");
  return error instanceof Error ? error.message : "";
}

function file(text: string): { readonly path: string; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-config-"));
  const path = join(folder, "rollcall.toml");
  writeFileSync(path, text);
  return { path, folder };
}

describe("told nothing", () => {
  test("it listens on this machine and keeps its state at home", async () => {
    expect(await load({})).toMatchObject({
      addr: { host: "127.0.0.1", port: 7070 },
      httpAddr: { host: "127.0.0.1", port: 9090 },
      httpMayMove: false,
      dataDir: join(home, ".local", "state", "rollcall"),
      reflection: true,
      allowedHosts: [],
      rateLimit: 2000,
      logLevel: "info",
    });
  });

  test("its name is the host's", async () => {
    expect((await load({})).node).toContain(hostname().slice(0, 3));
  });

  test("XDG_STATE_HOME moves the state, unless it is relative", async () => {
    const moved = await load({ env: { XDG_STATE_HOME: "/var/state" } });
    expect(moved.dataDir).toBe("/var/state/rollcall");
    const ignored = await load({ env: { XDG_STATE_HOME: "state" } });
    expect(ignored.dataDir).toBe(join(home, ".local", "state", "rollcall"));
  });
});

describe("who says it", () => {
  const { path } = file('addr = ":1"\nhttp_addr = ":2"\nnode = "from-file"\nlog_level = "warn"');

  test("the environment overrules the file, a flag overrules both", async () => {
    const config = await load({
      flags: { addr: ":11", config: path },
      env: { ROLLCALL_ADDR: ":21", ROLLCALL_HTTP_ADDR: ":22" },
    });
    expect(config.addr?.port).toBe(11);
    expect(config.httpAddr.port).toBe(22);
    expect(config.node).toBe("from-file");
    expect(config.logLevel).toBe("warn");
  });

  test("the environment can name the file; an empty variable says nothing", async () => {
    const config = await load({ env: { ROLLCALL_CONFIG: path, ROLLCALL_ADDR: "" } });
    expect(config.addr?.port).toBe(1);
  });

  test("an HTTP address that was given stays, also where another would do", async () => {
    const mayMove = async (sources: Partial<ConfigSources>) =>
      (await load({ mayMoveHttp: true, ...sources })).httpMayMove;
    expect(await mayMove({})).toBe(true);
    expect(await mayMove({ flags: { config: path } })).toBe(false);
    expect(await mayMove({ flags: { "http-addr": ":9090" } })).toBe(false);
  });

  test("--metrics-addr and ROLLCALL_METRICS_ADDR are older names of the HTTP address", async () => {
    expect((await load({ flags: { "metrics-addr": ":5" } })).httpAddr.port).toBe(5);
    expect((await load({ env: { ROLLCALL_METRICS_ADDR: ":6" } })).httpAddr.port).toBe(6);
    expect(await problem({ flags: { "metrics-addr": ":5", "http-addr": ":5" } })).toBe(
      "--http-addr and --metrics-addr are two names of one setting: give one of them",
    );
  });

  test("the strongest voice decides between memory and a folder", async () => {
    const env = { ROLLCALL_DATA_DIR: "/d" };
    expect((await load({ env, flags: { memory: "true" } })).dataDir).toBeUndefined();
    const other = { env: { ROLLCALL_MEMORY: "1" }, flags: { "data-dir": "/d" } };
    expect((await load(other)).dataDir).toBe("/d");
    expect((await load({ env: { ROLLCALL_MEMORY: "false" } })).dataDir).toContain(home);
    expect(await problem({ flags: { memory: "true", "data-dir": "/d" } })).toContain(
      "memory and data_dir /d exclude each other",
    );
  });

  test("a relative folder starts where it was said; ~ is the home", async () => {
    const said = file('data_dir = "state"');
    expect((await load({ flags: { config: said.path } })).dataDir).toBe(join(said.folder, "state"));
    expect((await load({ flags: { "data-dir": "x" }, cwd: "/here" })).dataDir).toBe("/here/x");
    expect((await load({ env: { ROLLCALL_DATA_DIR: "~/x" } })).dataDir).toBe(join(home, "x"));
  });

  test("a list is written with commas, or as a list in the file", async () => {
    const flags = { "allowed-hosts": "a.example, B:80,[::1]" };
    expect((await load({ flags })).allowedHosts).toEqual(["a.example", "b:80", "[::1]"]);
    const listed = file('allowed_hosts = ["a", "b"]\nrate_limit = 0\nreflection = false');
    expect(await load({ flags: { config: listed.path } })).toMatchObject({
      allowedHosts: ["a", "b"],
      rateLimit: 0,
      reflection: false,
    });
  });

  test("a list of one number is that number", async () => {
    const said = file("stuck_after = 5");
    const { patience } = await load({ flags: { config: said.path } });
    expect(patience).toMatchObject({ thinking: 300_000, waiting: 300_000 });
  });
});

describe("a mistake", () => {
  test.each([
    ["addr", "7070", "expected HOST:PORT"],
    ["http-addr", "host:99999", "expected HOST:PORT"],
    ["data-dir", "", "expected the path of a folder"],
    ["memory", "maybe", "expected true or false"],
    ["node", "-x", "expected 1 to 128 letters"],
    ["reflection", "2", "expected true or false"],
    ["allowed-hosts", "http://a", "expected at most 64 of HOST or HOST:PORT"],
    ["rate-limit", "-1", "expected a whole number from 0"],
    ["rate-limit", "", "expected a whole number from 0"],
    ["rate-limit", "1.5", "expected a whole number from 0"],
    ["trust", "10.0.0.0/8=outpost", "expected at most 64 of ADDRESS"],
    ["tls-clients", "box.example=outpost", "expected at most 64 of NAME"],
    ["allowed-users", "box=outpost", "expected at most 64 of USER"],
    ["log-level", "loud", "expected one of trace, debug"],
    ["config", "", "expected the path of a TOML file"],
  ])("in --%s is named with what is allowed: %j", async (flag, value, expected) => {
    const message = await problem({ flags: { [flag]: value } });
    expect(message).toContain(`--${flag} is ${JSON.stringify(value)}: ${expected}`);
  });

  test.each([
    ["join", "http://me:hunter2@box:9090"],
    ["oidc-issuer", "http://me:hun/ter2@login.example"],
    ["embedder-url", "http://me:hunter2@box"],
    ["trust", "postgres://me:hunter2@db/fleet"],
  ])("in --%s does not repeat a password", async (flag, value) => {
    const message = await problem({ flags: { [flag]: value } });
    expect(message).toContain(`--${flag} is not valid: expected`);
    expect(message).not.toContain("ter2");
  });

  test("an outpost without a host is told how to get one", async () => {
    const command = "rollcall tokens create NAME --role outpost --host HOST";
    expect(await problem({ flags: { trust: "10.0.0.7=outpost" } })).toContain(
      `one of viewer, agent, operator, admin; an outpost needs a token (${command})`,
    );
  });

  test("in the environment is named by its variable", async () => {
    expect(await problem({ env: { ROLLCALL_LOG_LEVEL: "loud" } })).toContain(
      'ROLLCALL_LOG_LEVEL is "loud"',
    );
  });

  test("in the file is named by its key and the file, even where a flag overrules it", async () => {
    const { path } = file("addr = 7070");
    const message = await problem({ flags: { config: path, addr: ":1" } });
    expect(message).toContain(`addr in ${path} is 7070: expected HOST:PORT`);
  });

  test.each([
    ['addr.host = "box"', 'addr in FILE is {"host":"box"}: expected HOST:PORT'],
    ['trust = [{ net = "http://me:hunter2@box" }]', "trust in FILE is not valid: expected"],
  ])("in the file that is a table is shown as one: %s", async (text, expected) => {
    const { path } = file(text);
    expect(await problem({ flags: { config: path } })).toContain(expected.replace("FILE", path));
  });

  test("in a name is told from a setting", async () => {
    expect(await problem({ flags: { adr: ":1" } })).toContain(
      "--adr is not a setting; did you mean --addr?",
    );
    const { path } = file("[doors]\naddr = 1");
    expect(await problem({ flags: { config: path } })).toBe(
      `doors in ${path} is not a setting; \`rollcall up --help\` lists them`,
    );
    const nested = file('config = "x"');
    expect(await problem({ flags: { config: nested.path } })).toContain("config in");
  });

  test("in the syntax of the file is told by its line", async () => {
    const { path } = file("addr = ':1'\nnode = =\n");
    expect(await problem({ flags: { config: path } })).toContain(`${path}:2:`);
  });

  test("in the path of the file is told", async () => {
    expect(await problem({ flags: { config: "/no/such.toml" } })).toContain(
      "cannot read the config file: ENOENT",
    );
    const large = file(`# ${"x".repeat(300_000)}`);
    expect(await problem({ flags: { config: large.path } })).toContain("a config file at most");
  });
});

test("keys for signatures of cards come from a file, and are checked at once", async () => {
  const { path, folder } = file('a2a_keys_file = "keys.json"');
  const flags = { config: path };
  expect(await problem({ flags })).toMatch(/^a2a_keys_file .*keys.json: ENOENT/);
  writeFileSync(join(folder, "keys.json"), "{");
  expect(await problem({ flags })).toMatch(/keys.json: the key set is not JSON$/);
  writeFileSync(join(folder, "keys.json"), " ".repeat(256 * 1024 + 1));
  expect(await problem({ flags })).toMatch(/keys.json: it has more than 262144 bytes$/);
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "k1" };
  writeFileSync(join(folder, "keys.json"), JSON.stringify({ keys: [key] }));
  expect((await load({ flags })).a2a.keys).toEqual([{ jwk: key }]);
  expect((await load({})).a2a.keys).toEqual([]);
});

describe("an embedding endpoint", () => {
  const url = "https://models.example/v1/embeddings?api-version=2";
  const flags = { "embedder-url": url, "embedder-model": "small" };

  test("is the built-in model when nothing is said", async () => {
    expect((await load({ env: { ROLLCALL_EMBEDDER_KEY: "for-others" } })).embedder).toBeUndefined();
  });

  test("is an address and a model, with a key or without", async () => {
    expect((await load({ flags })).embedder).toEqual({ url, model: "small", key: undefined });
    const config = await load({ flags, env: { ROLLCALL_EMBEDDER_KEY: "sk-secret" } });
    expect(config.embedder?.key?.()).toBe("sk-secret");
  });

  test("has its key in a file, beside the one that names it; printing it shows none", async () => {
    const { path, folder } = file(
      `embedder_url = "${url}"\nembedder_model = "m"\nembedder_key_file = "key"`,
    );
    writeFileSync(join(folder, "key"), "  sk-secret\n");
    const config = await load({ flags: { config: path } });
    expect(config.embedder?.key?.()).toBe("sk-secret");
    expect(JSON.stringify(config)).not.toContain("secret");
    expect(inspect(config, { depth: 9 })).not.toContain("secret");
  });

  test("is refused by halves", async () => {
    expect(await problem({ flags: { "embedder-url": url } })).toContain("embedder_model is not");
    expect(await problem({ flags: { "embedder-model": "m" } })).toContain("embedder_url is not");
    const keyFile = { "embedder-key-file": "key" };
    expect(await problem({ flags: keyFile })).toContain("embedder_key_file is set, and");
    const env = { ROLLCALL_EMBEDDER_KEY: "sk-1" };
    expect(await problem({ flags: { ...flags, ...keyFile }, env })).toBe(
      "embedder_key_file and ROLLCALL_EMBEDDER_KEY are two keys: give one of them",
    );
  });

  test.each([
    ["http://user:sk-secret@models.example/"],
    ["https://sk-secret@models.example/"],
    ["ftp://models.example/sk-secret"],
    ["models.example?key=sk-secret"],
    [`https://models.example/${"sk-secret".repeat(300)}`],
  ])("is refused at a wrong address, which is not repeated: %#", async (wrong) => {
    const message = await problem({ flags: { ...flags, "embedder-url": wrong } });
    expect(message).toContain("--embedder-url is not valid: expected http(s)://HOST/PATH");
    expect(message).not.toContain("secret");
  });

  test.each([
    "sk-secret sk-secret",
    "sk-secret\nX-Evil: 1",
    "s\u00e9cret",
    "sk-secret".repeat(999),
  ])("is refused with a key that is none, which is not repeated: %#", async (key) => {
    const inEnvironment = await problem({ flags, env: { ROLLCALL_EMBEDDER_KEY: key } });
    expect(inEnvironment).toContain("ROLLCALL_EMBEDDER_KEY holds no key");
    const { path } = file(key);
    const inFile = await problem({ flags: { ...flags, "embedder-key-file": path } });
    expect(inFile).toContain(`${path} holds no key`);
    expect(inEnvironment + inFile).not.toMatch(/s[e\u00e9]cret/);
  });

  test("is refused with a key file that is not there, or empty", async () => {
    expect(await problem({ flags: { ...flags, "embedder-key-file": "/no/key" } })).toContain(
      "cannot read the embedding key: ENOENT",
    );
    const { path } = file("\n");
    expect(await problem({ flags: { ...flags, "embedder-key-file": path } })).toContain(
      "holds no key",
    );
  });
});

test("every setting has a flag, a variable and help", () => {
  for (const { flag, env, help, name } of SETTINGS) {
    expect(env).toBe(`ROLLCALL_${name.toUpperCase()}`);
    expect(flag).toBe(name.replaceAll("_", "-"));
    expect(help).not.toBe("");
  }
});

describe("where the system does not tell the user of a connection", () => {
  test("every process of the machine is let in, unless set otherwise", async () => {
    expect(await load({ platform: "darwin" })).toMatchObject({ localTrust: "any" });
    const flags = { "local-trust": "user", "data-dir": "/data" };
    expect(await load({ platform: "darwin", flags })).toMatchObject({
      localTrust: "token",
      localTokenFile: "/data/rollcall.token",
      socket: "/data/rollcall.sock",
    });
    expect((await load({ platform: "win32", flags })).socket).toBeUndefined();
  });

  test("the token of the user needs a folder", async () => {
    const flags = { "local-trust": "user", memory: "true" };
    expect(await problem({ platform: "darwin", flags })).toContain("give a data_dir");
  });
});
