import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  checkContextName,
  contextsPath,
  readContexts,
  writeContexts,
  type DaemonContext,
} from "./contexts.ts";
import { findTarget } from "./target.ts";

const folder = mkdtempSync(join(tmpdir(), "rollcall-contexts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const ENV = { HOME: folder, XDG_CONFIG_HOME: join(folder, "config") };
const TEAM = { url: "https://team:9090", token: "of-team" };
const LOCAL = { url: "http://127.0.0.1:9090", context: "local" };

beforeEach(() => rmSync(ENV.XDG_CONFIG_HOME, { recursive: true, force: true }));

function fileWith(text: string): string {
  const path = join(folder, "token");
  writeFileSync(path, text);
  return path;
}

describe("the file of contexts", () => {
  test("gives back what was written, and is the user's alone, whatever it was before", () => {
    mkdirSync(dirname(contextsPath(ENV)), { recursive: true });
    writeFileSync(contextsPath(ENV), "{}");
    chmodSync(contextsPath(ENV), 0o644);
    const contexts = { current: "team", byName: new Map([["team", TEAM]]) };
    writeContexts(contexts, ENV);
    expect(readContexts(ENV)).toEqual(contexts);
    expect(statSync(contextsPath(ENV)).mode & 0o777).toBe(0o600);
  });

  test("is made in a folder that is the user's alone", () => {
    writeContexts({ current: "local", byName: new Map() }, ENV);
    expect(statSync(dirname(contextsPath(ENV))).mode & 0o777).toBe(0o700);
  });

  test.each([
    "",
    "[]",
    '{"current": 1}',
    '{"current": "a", "contexts": {"a": {"token": "secret"}}}',
  ])("that is broken is named and not repeated: %s", (text) => {
    writeContexts({ current: "local", byName: new Map() }, ENV);
    writeFileSync(contextsPath(ENV), text);
    const message = `${contextsPath(ENV)} is not a file of contexts: correct it, or remove it`;
    expect(() => readContexts(ENV)).toThrow(message);
    expect(() => readContexts(ENV)).not.toThrow("secret");
    expect(readFileSync(contextsPath(ENV), "utf8")).toBe(text);
  });

  test.each(["local", "", "a b", "../x", "x".repeat(65)])("has no context %j", (name) => {
    expect(() => checkContextName(name)).toThrow(`"${name}" is`);
  });
});

describe("the daemon that a command talks to", () => {
  const logIn = () => {
    const byName = new Map<string, DaemonContext>([
      ["team", TEAM],
      ["lab", { url: "http://127.0.0.1:9090", tokenFile: fileWith("of-lab\n") }],
    ]);
    writeContexts({ current: "team", byName }, ENV);
  };

  test("is this machine's, by its socket, where nothing is said", () => {
    expect(findTarget({}, { ...ENV, ROLLCALL_SOCKET: "/s" })).toEqual({ ...LOCAL, socket: "/s" });
    const elsewhere = { ...ENV, ROLLCALL_HTTP_ADDR: ":9191" };
    expect(findTarget({}, elsewhere)).toMatchObject({
      url: "http://127.0.0.1:9191",
      socket: false,
    });
  });

  test("is that of the flag, else of the environment, else of the current context", () => {
    logIn();
    const env = { ...ENV, ROLLCALL_URL: "http://env:1" };
    expect(findTarget({ url: "flag:1" }, env).url).toBe("http://flag:1");
    expect(findTarget({ context: "lab" }, env).context).toBe("lab");
    expect(findTarget({}, env).url).toBe("http://env:1");
    expect(findTarget({}, { ...ENV, ROLLCALL_CONTEXT: "lab" }).context).toBe("lab");
    expect(findTarget({}, { ...ENV, ROLLCALL_URL: "" })).toMatchObject(TEAM);
    expect(findTarget({}, { ...ENV, ROLLCALL_HTTP_ADDR: ":9191" })).toMatchObject(TEAM);
    expect(findTarget({ context: "local" }, ENV)).toMatchObject(LOCAL);
  });

  test("is never the socket of this machine for a context, though a tunnel begins there", () => {
    logIn();
    const target = findTarget({ context: "lab" }, { ...ENV, ROLLCALL_SOCKET: "/s" });
    expect(target).toMatchObject({ socket: false, token: "of-lab" });
  });

  test("gets the token of the flag, else of the environment, else the context's own", () => {
    logIn();
    const env = { ...ENV, ROLLCALL_TOKEN: "of-env" };
    expect(findTarget({ tokenFile: fileWith("of-flag") }, env).token).toBe("of-flag");
    expect(findTarget({}, env).token).toBe("of-env");
    expect(findTarget({}, ENV).token).toBe("of-team");
  });

  test("gets no token of a context where a URL was given: it may be another's daemon", () => {
    logIn();
    expect(findTarget({ url: "https://team:9090" }, ENV).token).toBeUndefined();
  });

  test("is named once: a URL and a context from one source are refused", () => {
    expect(() => findTarget({ url: "a:1", context: "b" }, ENV)).toThrow(
      "--url and --context are two ways to name a daemon: give one of them",
    );
    expect(() => findTarget({}, { ...ENV, ROLLCALL_URL: "a:1", ROLLCALL_CONTEXT: "b" })).toThrow(
      "ROLLCALL_URL and ROLLCALL_CONTEXT are two ways",
    );
  });

  test("that is not there is refused with those that are", () => {
    logIn();
    expect(() => findTarget({ context: "tem" }, ENV)).toThrow(
      "no context tem: there are local, team, lab",
    );
  });

  test("is not asked without the token that a context names and that cannot be read", () => {
    const byName = new Map([["gone", { url: "http://box:1", tokenFile: join(folder, "none") }]]);
    writeContexts({ current: "gone", byName }, ENV);
    expect(() => findTarget({}, ENV)).toThrow("none of gone cannot be read");
  });
});
