/** Every row of "what can go wrong" (our notes on ACP, 6.2) about bytes and processes. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { hasProcess } from "../../src/machine/processes.ts";
import { node, PROGRAM, proxied, proxyHome, ProxyRun, sh, sha256 } from "./acp-proxy.ts";

const SOON = { timeout: 20_000, interval: 20 };
/** Real processes on a machine that may be busy. */
const PATIENT = { timeout: 60_000 };
const MIB = 1024 * 1024;

/** What goes in comes out of `cat` behind the proxy. */
async function there(bytes: Buffer, pieces: readonly Buffer[] = [bytes]): Promise<Buffer> {
  using home = proxyHome();
  await using proxy = proxied(home, ["cat"]);
  for (const piece of pieces) {
    if (!proxy.child.stdin.write(piece)) {
      await new Promise((resolve) => proxy.child.stdin.once("drain", resolve));
    }
  }
  proxy.child.stdin.end();
  expect(await proxy.ended).toEqual({ code: 0, signal: null });
  expect(proxy.stderr).toBe("");
  expect(home.complaints()).toBe("");
  return proxy.output;
}

describe("every byte goes through as it is", PATIENT, () => {
  const frame = '{"jsonrpc":"2.0","method":"x","params":{"n":1.0e0,"n":12345678901234567890}}';
  test.each([
    ["numbers and keys that reading and writing anew would change", `${frame}\n`],
    ["Windows line ends and blank lines", `${frame}\r\n\r\n\n${frame}\r\n`],
    ["what is no JSON", "Loading...\n\u0000\u001b[31mred\n[1,2]\n"],
    ["a last line without an end", `${frame}\n${frame}`],
    ["nothing at all", ""],
  ])("%s", async (_, text) => {
    expect((await there(Buffer.from(text))).toString()).toBe(text);
  });

  test("characters that are split anywhere", async () => {
    const bytes = Buffer.from(`${JSON.stringify({ text: "añ日本🎉" })}\n`);
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await there(bytes, pieces)).toEqual(bytes);
  });

  test("bytes that are no text", async () => {
    const bytes = Buffer.concat([randomBytes(3 * MIB), Buffer.from("\n\xff\xfe\n", "latin1")]);
    expect(sha256(await there(bytes))).toBe(sha256(bytes));
  });

  test("a line of a hundred megabytes", async () => {
    const head = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","data":"';
    const bytes = Buffer.concat([
      Buffer.from(head),
      Buffer.alloc(100 * MIB, "a"),
      Buffer.from('"}}\n'),
    ]);
    expect(sha256(await there(bytes))).toBe(sha256(bytes));
  });

  test("from a file and into a file", () => {
    using home = proxyHome();
    const [from, to] = [join(home.path, "from"), join(home.path, "to")];
    writeFileSync(from, randomBytes(2 * MIB));
    const { status } = spawnSync(process.execPath, [PROGRAM, "acp", "--", "cat"], {
      env: home.env,
      stdio: [openSync(from, "r"), openSync(to, "w"), "inherit"],
    });
    expect(status).toBe(0);
    expect(sha256(readFileSync(to))).toBe(sha256(readFileSync(from)));
  });
});

describe("a slow reader", PATIENT, () => {
  test("stops the agent's output and not its input, and loses nothing", async () => {
    using home = proxyHome();
    const script = `
      const out = require("crypto").randomBytes(8 * 1024 * 1024);
      require("fs").writeFileSync(process.argv[1], out);
      process.stdout.write(out);
      let taken = 0;
      process.stdin.on("data", (chunk) => {
        taken += chunk.length;
        require("fs").writeFileSync(process.argv[2], String(taken));
      });`;
    const [sent, heard] = [join(home.path, "sent"), join(home.path, "heard")];
    await using proxy = proxied(home, [...node(script), sent, heard]);
    proxy.child.stdout.pause();
    await vi.waitFor(() => expect(existsSync(sent)).toBe(true), SOON);
    // The output is full and stands still; what is said in the other direction still arrives.
    proxy.child.stdin.write(Buffer.alloc(MIB, "x"));
    await vi.waitFor(() => expect(readFileSync(heard, "utf8")).toBe(String(MIB)), SOON);
    proxy.child.stdout.resume();
    proxy.child.stdin.end();
    expect((await proxy.ended).code).toBe(0);
    expect(sha256(proxy.output)).toBe(sha256(readFileSync(sent)));
  });

  test("gets what is left after the agent has ended", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("head -c 4000000 /dev/zero"));
    proxy.child.stdout.pause();
    await vi.waitFor(() => expect(home.statuses()).toEqual([]), SOON);
    proxy.child.stdout.resume();
    expect((await proxy.ended).code).toBe(0);
    expect(proxy.output.length).toBe(4_000_000);
  });
});

describe("it ends as its agent does", PATIENT, () => {
  test("with its code", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("echo last words; exit 42"));
    expect(await proxy.ended).toEqual({ code: 42, signal: null });
    expect(proxy.output.toString()).toBe("last words\n");
  });

  test.each(["SIGKILL", "SIGTERM", "SIGSEGV"] as const)("of %s", async (signal) => {
    using home = proxyHome();
    await using proxy = proxied(home, sh(`kill -${signal.slice(3)} $$`));
    expect(await proxy.ended).toEqual({ code: null, signal });
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "which %s is handed on to",
    async (signal) => {
      using home = proxyHome();
      const trap = `trap 'echo got it; exit 9' ${signal.slice(3)}`;
      const script = `${trap}; echo up; while :; do sleep 0.05; done`;
      await using proxy = proxied(home, sh(script));
      await proxy.says("up");
      proxy.child.kill(signal);
      expect(await proxy.ended).toEqual({ code: 9, signal: null });
      expect(proxy.output.toString()).toBe("up\ngot it\n");
    },
  );

  test("which is not there: 127, and one line that says so", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, ["no-such-agent", "--acp"]);
    expect(await proxy.ended).toEqual({ code: 127, signal: null });
    expect(proxy.stderr).toBe('rollcall acp: "no-such-agent": there is no such command\n');
    expect(proxy.output.length).toBe(0);
    expect(home.complaints()).toBe("");
  });

  test("which may not be run: 126", async () => {
    using home = proxyHome();
    const path = join(home.path, "no-program");
    writeFileSync(path, "");
    await using proxy = proxied(home, [path]);
    expect((await proxy.ended).code).toBe(126);
    expect(proxy.stderr).toMatch(/may not be run\n$/);
  });

  test("when the client closes its end, after the agent had its time", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("cat; echo put away; exit 3"));
    proxy.child.stdin.end();
    expect((await proxy.ended).code).toBe(3);
    expect(proxy.output.toString()).toBe("put away\n");
  });

  test("when the client no longer reads", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("while echo x; do sleep 0.02; done"));
    await proxy.says("x");
    proxy.child.stdout.destroy();
    const { code, signal } = await proxy.ended;
    expect(code !== 0 || signal !== null).toBe(true);
  });

  test("which became another program on the way", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("echo up; exec sh -c 'cat; exit 6'"));
    await proxy.says("up");
    proxy.child.stdin.end("still here\n");
    expect(await proxy.ended).toEqual({ code: 6, signal: null });
    expect(proxy.output.toString()).toBe("up\nstill here\n");
  });

  test("although somebody it started holds its output open", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("sleep 600 2> /dev/null & echo child=$!; exit 5"));
    expect((await proxy.ended).code).toBe(5);
    const child = Number(/child=(\d+)/.exec(proxy.output.toString())?.[1]);
    expect(hasProcess(child)).toBe(true);
    process.kill(child, "SIGKILL");
  });
});

describe("when the proxy is killed", PATIENT, () => {
  test("the agent sees the end of its input", async () => {
    using home = proxyHome();
    const mark = join(home.path, "left");
    await using proxy = proxied(home, sh(`echo up; cat > /dev/null; echo left > ${mark}`));
    await proxy.says("up");
    proxy.child.kill("SIGKILL");
    await vi.waitFor(() => expect(existsSync(mark)).toBe(true), SOON);
  });
});

describe("nothing of its own is seen", PATIENT, () => {
  test("stderr is the agent's, and much of it holds nobody up", async () => {
    using home = proxyHome();
    await using proxy = proxied(home, sh("head -c 400000 /dev/zero | tr '\\0' e >&2; echo ok"));
    expect((await proxy.ended).code).toBe(0);
    expect(proxy.output.toString()).toBe("ok\n");
    expect(proxy.stderr).toBe("e".repeat(400_000));
  });

  test("the environment goes on as it is, and says whose the agent is", async () => {
    using home = proxyHome({ MINE: "kept" });
    await using proxy = proxied(home, ["env"]);
    await proxy.ended;
    const env = proxy.output.toString().split("\n");
    const given = Object.entries(home.env).map(([name, value]) => `${name}=${value}`);
    expect(env).toEqual(expect.arrayContaining(given));
    const added = env.filter((line) => line !== "" && !given.includes(line));
    expect(added.filter((line) => !/^(?:_|PWD|SHLVL)=/.test(line))).toEqual([
      expect.stringMatching(/^ROLLCALL_AGENT_ID=acp-env-[0-9a-f]{8}$/),
    ]);
  });

  test("with hardly any environment it works all the same", async () => {
    using home = proxyHome();
    await using proxy = new ProxyRun(["--", "cat"], { PATH: process.env["PATH"], HOME: home.path });
    proxy.say({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
    await proxy.says("initialize");
    proxy.child.stdin.end();
    expect(await proxy.ended).toEqual({ code: 0, signal: null });
    expect(proxy.stderr).toBe("");
  });

  test("arguments are the agent's, whatever they hold", async () => {
    using home = proxyHome();
    const words = ["a b", "$HOME", "'", '"', "--inject=meta", "--", "*"];
    await using proxy = proxied(home, [
      ...node("console.log(JSON.stringify(process.argv.slice(1)))"),
      "--",
      ...words,
    ]);
    await proxy.ended;
    expect(JSON.parse(proxy.output.toString())).toEqual(words);
  });

  test("where status files cannot be written, the conversation goes on", async () => {
    using home = proxyHome();
    writeFileSync(join(home.path, "file"), "");
    await using proxy = proxied(home, ["cat"], ["--dir", join(home.path, "file", "no")]);
    proxy.child.stdin.end("hello\n");
    expect(await proxy.ended).toEqual({ code: 0, signal: null });
    expect(proxy.output.toString()).toBe("hello\n");
    expect(proxy.stderr).toBe("");
    expect(home.complaints()).toMatch(/cannot write|write/);
  });
});

describe("wrong words", PATIENT, () => {
  test.each([
    [["--inject=loud", "--", "cat"], /--inject is "loud": not one of off, meta/],
    [["--wrong", "--", "cat"], /there is no flag --wrong/],
    [["--url=nonsense://x", "--", "cat"], /--url is "nonsense:\/\/x"/],
    [["--inject=meta", "cat"], /command is missing behind --/],
    [["record", "--", "cat"], /record needs a FILE/],
    [["record"], /record needs a FILE/],
    [["--"], /command is missing behind --/],
  ])("%j", async (words, complaint) => {
    using home = proxyHome();
    await using proxy = new ProxyRun(words, home.env);
    expect((await proxy.ended).code).toBe(2);
    expect(proxy.stderr).toMatch(complaint);
    expect(proxy.output.length).toBe(0);
  });
});

const seed = Number(process.env["ROLLCALL_SEED"] ?? Date.now() % 1_000_000);

describe(`random bytes, in random pieces (ROLLCALL_SEED=${seed})`, PATIENT, () => {
  test("never change and never end it", async () => {
    let state = seed;
    const random = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state % below;
    };
    const id = () => random(4);
    const frames: readonly (() => string)[] = [
      () => randomBytes(random(3000)).toString("latin1"),
      () => "\n".repeat(random(3)),
      () => `{"jsonrpc":"2.0","id":${id()},"method":"initialize","params":{}}\r\n`,
      () => `{"jsonrpc":"2.0","id":${id()},"result":{"protocolVersion":${id()},"sessionId":"S"}}\n`,
      () => `{"jsonrpc":"2.0","id":${id()},"method":"session/prompt","params":{"sessionId":"S"}}\n`,
      () => `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}\n`,
      () =>
        `{"method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":` +
        `"tool_call","toolCallId":${JSON.stringify(String.fromCharCode(random(256)))}}}}\n`,
      () => `${"[".repeat(random(5000))}\n`,
      () => `{"params":{"update":{"__proto__":{"x":1},"sessionUpdate":"plan","entries":7}}}\n`,
    ];
    const texts = Array.from({ length: 1500 }, () => frames[random(frames.length)]?.() ?? "");
    const bytes = Buffer.from(texts.join(""), "latin1");
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + random(20_000);
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    expect(sha256(await there(bytes, pieces))).toBe(sha256(bytes));
  });
});
