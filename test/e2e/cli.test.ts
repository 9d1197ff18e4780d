import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createConnection, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entriesOf } from "../../src/cli/program.ts";
import { PROGRAM } from "../../src/cli/tree.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { Newcomer } from "../seeds/newcomer.ts";
import { daemon, environment, programFile, run, scratch, start } from "./programs.ts";
import { appendAt } from "../support/log/append.ts";

describe("help", () => {
  test("without a word the program says what it can do", async () => {
    const { code, stdout } = await run([]);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: rollcall COMMAND [FLAGS]");
    for (const line of [
      /^ {2}up +Start the daemon/m,
      /^ {2}events +Follow/m,
      /^ {2}doctor +Find/m,
    ]) {
      expect(stdout).toMatch(line);
    }
    expect(stdout).toContain("Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 no daemon, 4");
    expect(stdout).not.toContain("__complete");
  });

  test.each([[], ["up"], ["restore"], ["tasks", "create"], ["login"]])(
    "that of %j fits 80 columns in a pager",
    async (...words) => {
      const { stdout } = await run([...words, "--help"]);
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    },
  );

  test("up says every setting, with its default", async () => {
    const { code, stdout } = await run(["up", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: rollcall up [FLAGS]");
    expect(stdout).toContain("  rollcall up --memory ");
    expect(stdout).toMatch(
      /^ {2}--addr HOST:PORT +Where gRPC listens, or off \[127.0.0.1:7070\]$/m,
    );
    expect(stdout).toMatch(
      /^ {2}--http-addr HOST:PORT +Where HTTP listens \(also --metrics-addr\)/m,
    );
    expect(stdout).toMatch(/^ {2}--data-dir DIR/m);
    expect(stdout).toMatch(/^ {2}--config FILE/m);
    const headings = stdout.split("\n").filter((line) => /^\w[\w ]+$/.test(line));
    expect(headings.slice(0, 4)).toEqual(["Examples", "Ports", "State", "Cluster"]);
  });

  test("every command has examples and ends well when asked for help", async () => {
    const commands = Object.entries(entriesOf(PROGRAM)).flatMap(([name, entry]) =>
      "commands" in entry ? Object.keys(entry.commands).map((each) => `${name} ${each}`) : [name],
    );
    const shown = commands.filter((command) => command !== "__complete");
    expect(shown.length).toBeGreaterThan(25);
    const someone = new Newcomer({});
    for (const command of shown) {
      const { code, stdout } = await someone.types(`rollcall help ${command}`);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: rollcall ${command}`);
      expect(stdout).toMatch(/^Examples\n {2}.*rollcall/m);
      const [prose = "", flags = ""] = stdout.split(/^(?:Flags|Ports)$/m);
      expect(prose.split("\n").filter((line) => line.length > 88)).toEqual([]);
      expect(flags.split("\n").filter((line) => line.length > 110)).toEqual([]);
    }
  });

  test("a group of commands alone shows them", async () => {
    const { code, stdout } = await run(["leases", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: rollcall leases COMMAND");
    expect(stdout).toContain("Without a command it is `list`.");
    expect(stdout).toMatch(/^ {2}acquire +Acquire a lease, and print its token$/m);
  });
});

describe("usage", () => {
  test.each([
    [["evnts"], "there is no command `evnts`; did you mean `events`?"],
    [["events", "--from", "soon"], '--from is "soon": not a sequence'],
    [["events", "--form", "1"], "there is no flag --form; did you mean --from?"],
    [["up", "--http-adr", "x"], "there is no flag --http-adr; did you mean --http-addr?"],
    [["ls", "--need-me"], "there is no flag --need-me; did you mean --needs-me?"],
    [["backup", "/no-such-folder/x"], "FILE is /no-such-folder/x: there is no /no-such-folder"],
    [["events", "--url", "ftp://x"], '--url is "ftp://x": give it as http://HOST:PORT'],
    [["completion", "tcsh"], "not one of bash, zsh, fish"],
    [["agents", "gett"], "there is no command `gett`; did you mean `get`?"],
    [["agents", "--limit", "0"], '--limit is "0": not a whole number from 1 up'],
    [["leases", "acquire"], "KEY is missing"],
    [["leases", "acquire", "k", "--ttl", "soon"], '--ttl is "soon": not a duration'],
    [["leases", "release", "k", "--token", "x"], '--token is "x": not a token'],
    [["up", "--addr", "nowhere"], "addr"],
    [["up", "--memory", "--data-dir", "x"], "exclude each other"],
  ])("%j is refused with 2 and a line that says why", async (args, why) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(why);
    expect(stderr).toMatch(/^error: /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("no daemon is 3, with the way to start one", async () => {
    const { code, stderr } = await run(["events"], { env: { ROLLCALL_URL: "127.0.0.1:1" } });
    expect(code).toBe(3);
    expect(stderr).toContain("no daemon answers at http://127.0.0.1:1 (connection refused)");
    expect(stderr).toContain("rollcall up");
  });

  test("arcp says its version as the SDK's own does, and what it can do", async () => {
    const { stdout } = await run(["--version"], { program: "arcp" });
    expect(stdout).toMatch(/^arcp, version \d+\.\d+\.\d+ \(rollcall, ARCP 1\.1\)\n$/);
    const help = await run(["--help"], { program: "arcp" });
    for (const command of ["serve", "submit", "tail", "replay"]) {
      expect(help.stdout).toMatch(new RegExp(`^ {2}${command} +\\w`, "m"));
    }
    const unknown = await run(["sumbit"], { program: "arcp" });
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      "error: there is no command `sumbit`; did you mean `submit`?\ntry: arcp --help\n",
    ]);
  });

  test("version is for people and for programs", async () => {
    const { stdout } = await run(["--version"]);
    expect(stdout).toMatch(/^rollcall \d+\.\d+\.\d+ \(node \d+/);
    const json = JSON.parse((await run(["version", "--json"])).stdout) as { rollcall: string };
    expect(stdout).toContain(json.rollcall);
  });
});

describe("up", () => {
  test("says where it listens and keeps its state, answers, ends with 0 in under 5 s", async () => {
    const { up, url } = await daemon("--memory");
    await using _ = up;
    expect(up.stdout).toMatch(/gRPC +127\.0\.0\.1:\d+\n +state +memory/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const startedAt = performance.now();
    up.signal("SIGTERM");
    expect(await up.end()).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("a second signal ends it at once, with the code of that signal", async () => {
    const { up, url } = await daemon("--memory");
    await using _ = up;
    // A request that never ends keeps the door from closing at once.
    const slow = createConnection(Number(new URL(url).port), "127.0.0.1");
    await new Promise<void>((resolve) => slow.write("GET /healthz HTTP/1.1\r\n", () => resolve()));
    up.signal("SIGTERM");
    await up.says(/closing/, "stderr");
    up.signal("SIGINT");
    expect((await up.end()).code).toBe(130);
    slow.destroy();
  });

  test("a port that was asked for and is taken is refused with 4, by its name", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await run([
      "up",
      "--memory",
      "--addr",
      `:${port}`,
      "--http-addr",
      ":0",
    ]);
    server.close();
    expect(code).toBe(4);
    expect(stderr).toContain(`error: cannot listen on 127.0.0.1:${port}`);
    expect(stderr).toContain("--addr");
  });

  test("state that another daemon has is refused with 4, by its process", async () => {
    using folder = scratch();
    const { up } = await daemon("--data-dir", folder.path);
    await using _ = up;
    const args = ["up", "--addr", ":0", "--http-addr", ":0", "--data-dir", folder.path];
    const { code, stderr } = await run(args);
    expect(code).toBe(4);
    expect(stderr).toContain(`in use by process ${up.pid}`);
  });

  test("a log with events of a newer program is refused with 4, and with what to do", async () => {
    using folder = scratch();
    const path = join(folder.path, "rollcall.db");
    const store = sqliteStore({ path, writtenBy: "rollcall 9.1.0" });
    await store.log.open();
    await appendAt(store.log, { entries: ['1700000000000 {"type":"robot.danced"}'] }, 0);
    await store.close();
    const args = ["up", "--addr", ":0", "--http-addr", ":0", "--data-dir", folder.path];
    const { code, stderr } = await run(args);
    expect(code).toBe(4);
    expect(stderr).toMatch(/event 1 of the log: .*robot\.danced; .*written by rollcall 9\.1\.0/);
    expect(stderr).toContain("run that version or newer, or restore a backup made before it");
  });

  test("flags win over the environment, that over the file", async () => {
    using folder = scratch();
    const file = join(folder.path, "rollcall.toml");
    writeFileSync(
      file,
      'addr = "127.0.0.1:0"\nhttp_addr = "127.0.0.1:0"\nnode = "file"\nmemory = true\n',
    );
    const nodeOf = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
      await using up = start(["up", "--config", file, ...args], { env });
      const [, url = ""] = await up.says(/HTTP +(http:\S+)[^]*only this machine/);
      const status = (await (await fetch(`${url}/v1/status`)).json()) as { node: string };
      return status.node;
    };
    expect(await nodeOf([], {})).toBe("file");
    expect(await nodeOf([], { ROLLCALL_NODE: "variable" })).toBe("variable");
    expect(await nodeOf(["--node", "flag"], { ROLLCALL_NODE: "variable" })).toBe("flag");
  });

  test("agentkeeper is the same daemon, in memory unless told where", async () => {
    using folder = scratch();
    const args = ["--addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0"];
    await using brief = start(args, { program: "agentkeeper" });
    await brief.says(/state +memory/);
    const kept = [...args, `--data-dir=${folder.path}`];
    await using lasting = start(kept, { program: "agentkeeper" });
    await lasting.says(/state +sqlite at .*rollcall\.db/);
  });
});

describe("doctor", () => {
  test("says that all is well, or what to do, for people and for programs", async () => {
    using folder = scratch();
    const env = { ROLLCALL_URL: "127.0.0.1:1", ROLLCALL_ADDR: ":0", ROLLCALL_HTTP_ADDR: ":0" };
    const options = { home: folder.path, env };
    const { code, stdout } = await run(["doctor"], options);
    expect(stdout).toMatch(/^ok {4}node +\d+/m);
    expect(stdout).toMatch(/^ok {4}sqlite +3\./m);
    expect(stdout).toMatch(
      /^warn {2}daemon +no daemon answers at http:\/\/127.0.0.1:1 .*\n +fix: rollcall up/m,
    );
    expect(code).toBe(0);
    const json = JSON.parse((await run(["doctor", "--json"], options)).stdout) as { fail: number };
    expect(json.fail).toBe(0);
  });

  test("finds the daemon and the process that has the state", async () => {
    using folder = scratch();
    const { up, url } = await daemon("--data-dir", folder.path);
    await using _ = up;
    const { code, stdout } = await run(["doctor", "--url", url, "--data-dir", folder.path]);
    expect(stdout).toMatch(new RegExp(`^ok +daemon +rollcall \\S+ process ${up.pid},`, "m"));
    expect(stdout).toMatch(new RegExp(`^ok +database +.* is in use by process ${up.pid} `, "m"));
    expect(stdout).toMatch(/^ok +ready/m);
    expect(code).toBe(0);
  });

  test("finds the daemon of this user by its socket, and says its real address", async () => {
    using folder = scratch();
    const home = { home: folder.path };
    await using up = start(["up", "--addr=127.0.0.1:0", "--http-addr=127.0.0.1:0"], home);
    const [, url = ""] = await up.says(/HTTP +(http:\S+)[^]*socket/);
    const { stdout } = await run(["doctor"], home);
    expect(stdout).toMatch(new RegExp(`^ok +daemon +.* answers at ${url}$`, "m"));
  });

  test("a daemon that refuses its caller is not taken for one that is absent", async () => {
    using folder = scratch();
    const { up, url } = await daemon("--data-dir", folder.path);
    await using _ = up;
    const flags = ["--data-dir", join(folder.path, "another"), "--url", url];
    const env = { ROLLCALL_TOKEN: "wrong", ROLLCALL_HTTP_ADDR: new URL(url).host };
    const { code, stdout } = await run(["doctor", ...flags], { env });
    expect(stdout).toMatch(/^warn {2}daemon +the token is not known\n +fix: give --token-file/m);
    expect(stdout).not.toContain("another program");
    expect(code).toBe(0);
  });

  test("ends with 1 when something is broken: a setting, a file that is no database", async () => {
    using folder = scratch();
    const options = { env: { ROLLCALL_URL: "127.0.0.1:1" } };
    writeFileSync(
      join(folder.path, "rollcall.db"),
      "this is not a database, whatever its name says",
    );
    const { code, stdout } = await run(["doctor", "--data-dir", folder.path], options);
    expect(stdout).toMatch(/^fail {2}database /m);
    expect(code).toBe(1);
    const missing = await run(["doctor", "--config", join(folder.path, "no.toml")], options);
    expect(missing.stdout).toMatch(/^fail {2}config +.*no\.toml/m);
    expect(missing.code).toBe(1);
  });
});

describe("completion", () => {
  /** What bash proposes for a line, with the script loaded as a user loads it. */
  function completeInBash(line: string): readonly string[] {
    const script = [
      `rollcall() { "${process.execPath}" "${programFile("rollcall")}" "$@"; }`,
      "source <(rollcall completion bash)",
      `COMP_LINE='${line}' COMP_POINT=${line.length}`,
      'COMP_WORDS=("x") COMP_CWORD=0',
      "_rollcall",
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ];
    const env = environment(process.cwd());
    const { stdout, stderr } = spawnSync("bash", ["-c", script.join("\n")], {
      env,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return stdout.split("\n").filter(Boolean);
  }

  test("bash completes commands, flags and values", () => {
    expect(completeInBash("rollcall ")).toEqual(
      expect.arrayContaining(["up", "events", "doctor", "completion", "version"]),
    );
    expect(completeInBash("rollcall ")).not.toContain("__complete");
    expect(completeInBash("rollcall ev")).toEqual(["events"]);
    expect(completeInBash("rollcall up --ht")).toEqual(["--http-addr"]);
    expect(completeInBash("rollcall completion z")).toEqual(["zsh"]);
    expect(completeInBash("rollcall events --topic le")).toEqual(["leader.", "lease."]);
    expect(completeInBash("rollcall events --topic=lea")).toEqual(["leader.", "lease."]);
    expect(completeInBash("rollcall nonsense ")).toEqual([]);
  });

  test("bash completes the commands of a group, and its flags with or without one", () => {
    expect(completeInBash("rollcall le")).toEqual(["leases"]);
    expect(completeInBash("rollcall leases ")).toEqual(
      expect.arrayContaining(["list", "get", "acquire", "renew", "release"]),
    );
    expect(completeInBash("rollcall leases re")).toEqual(["renew", "release"]);
    expect(completeInBash("rollcall leases acquire --tt")).toEqual(["--ttl"]);
    expect(completeInBash("rollcall agents --sta")).toEqual(["--status"]);
    expect(completeInBash("rollcall agents list --status un")).toEqual(["unreachable"]);
    expect(completeInBash("rollcall policies set id d")).toEqual(["deny"]);
    expect(completeInBash("rollcall leases nonsense ")).toEqual([]);
  });
});
