import { expect, test } from "vitest";
import { checkEnvironment, nodeFinding } from "./runtime.ts";

test("the oldest Node that works is well, the one before it is not", () => {
  expect(nodeFinding("20.19.0").verdict).toBe("ok");
  expect(nodeFinding("22.0.0").verdict).toBe("ok");
  expect(nodeFinding("20.18.9")).toMatchObject({
    verdict: "fail",
    fix: "install Node 22 or newer",
  });
  expect(nodeFinding("18.20.0").verdict).toBe("fail");
});

async function saidOf(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const scene = {
    env,
    config: undefined,
    target: { url: "", socket: false as const },
    daemon: new Error("none"),
    nowMs: 0,
  };
  return (await checkEnvironment(scene)).map(({ verdict, what }) => `${verdict}: ${what}`);
}

test("a misspelt setting and what slows every start are found", async () => {
  expect(await saidOf({ ROLLCALL_ADDR: ":1", ROLLCALL_DEBUG: "1" })).toEqual([
    "ok: no variable that causes trouble",
  ]);
  expect(await saidOf({ ROLLCALL_HTTP_ADR: ":1" })).toEqual([
    "warn: ROLLCALL_HTTP_ADR is not a setting and has no effect",
  ]);
  expect(await saidOf({ NODE_EXTRA_CA_CERTS: "all.pem", NODE_OPTIONS: "--inspect" })).toEqual([
    "warn: NODE_EXTRA_CA_CERTS is set: it slows the start of every command",
    'warn: NODE_OPTIONS is "--inspect": it loads more into every command',
  ]);
});
