import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  commandChannel,
  desktopChannel,
  terminalChannel,
  webhookChannel,
  type Runner,
} from "./channels.ts";
import { noticeOf } from "./notice.ts";

const never = new AbortController().signal;
const ESC = "\u001b";

const notice = noticeOf([
  {
    agentId: "claude-1",
    workspace: `/home/ada/w${ESC}]0;evil\u0007eb`,
    reason: "permission",
    question: `Run <b>${ESC}[31mrm -rf\u0007\n& go?`,
    sinceMs: 5,
  },
]);

test("what an agent says reaches nobody as more than text", () => {
  expect(notice).toEqual({
    title: "web needs you",
    text: "permission: Run <b>rm -rf & go?",
    needs: [
      {
        agentId: "claude-1",
        workspace: "/home/ada/web",
        reason: "permission",
        question: "Run <b>rm -rf & go?",
        sinceMs: 5,
      },
    ],
  });
  const long = noticeOf([{ agentId: "a", reason: "x".repeat(9999), sinceMs: 0 }]);
  expect(long.text).toBe(`${"x".repeat(299)}…`);
});

describe("a terminal", () => {
  const written = async (form: "bell" | "osc9", isTTY: boolean) => {
    const texts: string[] = [];
    const terminal = { isTTY, write: (text: string) => texts.push(text) };
    await terminalChannel(terminal, form).deliver(notice, never);
    return texts;
  };

  test("rings, or shows a message; a file gets neither", async () => {
    expect(await written("bell", true)).toEqual(["\u0007"]);
    expect(await written("osc9", true)).toEqual([
      `${ESC}]9;rollcall: web needs you: permission: Run <b>rm -rf & go?\u0007`,
    ]);
    expect(await written("osc9", false)).toEqual([]);
  });
});

describe("a desktop", () => {
  test.each([
    ["linux", "notify-send", "permission: Run &lt;b&gt;rm -rf &amp; go?"],
    ["darwin", "osascript", "permission: Run <b>rm -rf & go?"],
  ] as const)("of %s is told by %s, in words of their own", async (platform, program, text) => {
    const calls: (readonly string[])[] = [];
    const run: Runner = (argv) => Promise.resolve(void calls.push(argv));
    await desktopChannel(platform, run).deliver(notice, never);
    expect(calls[0]?.[0]).toBe(program);
    expect(calls[0]?.slice(-3)).toEqual(["--", "web needs you", text]);
  });
});

describe("a command", () => {
  test("finds everything in its environment, and no shell reads it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rollcall-notify-"));
    try {
      const file = join(folder, "told");
      const script =
        "require('fs').writeFileSync(process.argv[1], JSON.stringify([process.env.ROLLCALL_TITLE," +
        "process.env.ROLLCALL_WORKSPACE, process.env.ROLLCALL_REASON," +
        "process.env.ROLLCALL_QUESTION]))";
      const command = commandChannel([process.execPath, "-e", script, file]);
      const [need] = notice.needs;
      const question = "$(touch /nowhere); `id`";
      await command.deliver(noticeOf([{ ...(need ?? expect.fail()), question }]), never);
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([
        "web needs you",
        "/home/ada/web",
        "permission",
        question,
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("that fails, hangs or is not there says so", async () => {
    const node = (code: string) => commandChannel([process.execPath, "-e", code]);
    await expect(node("process.exit(3)").deliver(notice, never)).rejects.toThrow("ended with 3");
    await expect(commandChannel(["no-such-program"]).deliver(notice, never)).rejects.toThrow(
      "cannot run no-such-program",
    );
    const hanging = node("require('net').createServer().listen(0, '127.0.0.1')");
    await expect(hanging.deliver(notice, AbortSignal.timeout(50))).rejects.toThrow("cannot run");
    expect(() => commandChannel([])).toThrow("empty");
  });
});

describe("a webhook", () => {
  async function answering(status: number) {
    const bodies: unknown[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      request.on("end", () => {
        bodies.push([request.method, request.headers["content-type"], JSON.parse(text)]);
        response.writeHead(status, { location: "/elsewhere" }).end("thanks");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const stop = () => new Promise<void>((done) => void server.close(() => done()));
    return {
      bodies,
      url: `http://127.0.0.1:${port}/hook?secret=s3cret`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await stop();
      },
    };
  }

  test("gets a POST of JSON", async () => {
    await using server = await answering(204);
    await webhookChannel(server.url).deliver(notice, never);
    expect(server.bodies).toEqual([["POST", "application/json", notice]]);
  });

  test.each([500, 302])("that answers %i has failed, and its secret is not told", async (code) => {
    await using server = await answering(code);
    const failure = await webhookChannel(server.url)
      .deliver(notice, never)
      .catch((error: unknown) => error as Error);
    expect(String(failure)).toMatch(/the webhook at 127\.0\.0\.1:\d+/);
    expect(String(failure)).not.toContain("s3cret");
  });

  test.each(["ftp://x/", "file:///etc/passwd", "nowhere"])("is not %s", (address) => {
    expect(() => webhookChannel(address)).toThrow("http:// or https://");
  });
});
