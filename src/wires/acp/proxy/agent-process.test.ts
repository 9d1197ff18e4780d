import { expect, test, vi } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import { hasProcess } from "../../../machine/processes.ts";
import { AgentProcess } from "./agent-process.ts";
import { AGENT_END } from "./limits.ts";

const SOON = { timeout: 8_000, interval: 10 };

/** An agent that says what happens to it. */
function agent(script: string) {
  const clock = new TestClock();
  const started = new AgentProcess({
    command: "sh",
    args: ["-c", script],
    env: process.env,
    clock,
  });
  let said = "";
  started.output.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const says = (text: string) => vi.waitFor(() => expect(said).toContain(text), SOON);
  return { started, clock, says };
}

test("an agent that ignores the end of its input gets SIGTERM after ten seconds", async () => {
  const { started, clock, says } = agent("echo up; while :; do sleep 0.05; done");
  await says("up");
  started.input.end();
  started.dismiss();
  await clock.advance(AGENT_END.graceMs - 1);
  expect(hasProcess(started.pid ?? 0)).toBe(true);
  await clock.advance(1);
  expect(await started.exited).toEqual({ code: null, signal: "SIGTERM" });
  expect(clock.timers).toBe(0);
});

test("one that ignores SIGTERM is killed five seconds later, with what it started", async () => {
  const ignoring = "trap '' TERM; sleep 600 & echo child=$!; while :; do sleep 0.05; done";
  const { started, clock, says } = agent(ignoring);
  let text = "";
  started.output.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await says("child=");
  const child = Number(/child=(\d+)/.exec(text)?.[1]);
  started.dismiss();
  await clock.advance(AGENT_END.graceMs + AGENT_END.termMs - 1);
  expect(hasProcess(child)).toBe(true);
  await clock.advance(1);
  expect(await started.exited).toEqual({ code: null, signal: "SIGKILL" });
  await vi.waitFor(() => expect(hasProcess(child)).toBe(false), SOON);
});

test("one that ends by itself in time is sent nothing", async () => {
  const { started, clock } = agent("trap 'exit 9' TERM; cat; exit 3");
  started.input.end();
  started.dismiss();
  expect(await started.exited).toEqual({ code: 3, signal: null });
  expect(clock.timers).toBe(0);
});

test("a signal is the agent's, and what it does with it is its own affair", async () => {
  const { started, says } = agent("trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done");
  await says("up");
  started.pass("SIGTERM");
  expect(await started.exited).toEqual({ code: 5, signal: null });
});

test("an agent that was signalled can still be dismissed", async () => {
  const { started, clock, says } = agent(
    "trap 'echo no' INT; echo up; while :; do sleep 0.05; done",
  );
  await says("up");
  started.pass("SIGINT");
  await says("no");
  started.dismiss();
  await clock.advance(AGENT_END.graceMs);
  expect((await started.exited).signal).toBe("SIGTERM");
});

test("what an agent leaves running when it ends by itself is left alone", async () => {
  const { started, says } = agent("sleep 600 > /dev/null & echo child=$!; exit 0");
  let text = "";
  started.output.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await says("child=");
  const child = Number(/child=(\d+)/.exec(text)?.[1]);
  await started.exited;
  try {
    expect(hasProcess(child)).toBe(true);
  } finally {
    process.kill(child, "SIGKILL");
  }
});

test("a command that is not there is told", async () => {
  const clock = new TestClock();
  const started = new AgentProcess({ command: "no-such-agent", args: [], env: process.env, clock });
  await expect(started.exited).rejects.toMatchObject({ code: "ENOENT" });
});
