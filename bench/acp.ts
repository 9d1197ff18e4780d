/**
 * What the proxy costs between an editor and its agent, against `cat` in the same run: how long a
 * frame takes there and back, one at a time, and how much goes through when there is much.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { conclude, inTemporaryFolder, inTurns, median, report, roundsOf } from "./measure.ts";

const ROUNDS = 5;
const FRAMES = 8_000;
/** Until everything is loaded and compiled: about a second. */
const WARM_UP = 4_000;
const MIB = 1024 * 1024;
const STREAM_BYTES = 256 * MIB;

type Cat = ChildProcessByStdio<Writable, Readable, null>;

const update = (text: string) => {
  const content = { type: "text", text };
  const params = { sessionId: "S", update: { sessionUpdate: "agent_message_chunk", content } };
  return Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}\n`);
};

const FRAME = update("a few words of what an agent says, as it says them");
/** What fills a pipe: text in chunks, and now and then the contents of a file. */
const BLOCK = Buffer.concat([
  ...Array.from({ length: 2_000 }, () => FRAME),
  update("x".repeat(700_000)),
]);

/** Times there and back of one frame after the other, in milliseconds. */
async function roundTrips(cat: Cat, frames = FRAMES): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < frames; i += 1) {
    const startMs = performance.now();
    await new Promise<void>((resolve) => {
      let left = FRAME.length;
      const take = (chunk: Buffer) => {
        left -= chunk.length;
        if (left > 0) return;
        cat.stdout.off("data", take);
        resolve();
      };
      cat.stdout.on("data", take);
      cat.stdin.write(FRAME);
    });
    times.push(performance.now() - startMs);
  }
  return times;
}

/** Megabytes in a second, in one direction at a time: what goes in comes out again. */
async function throughput(cat: Cat): Promise<number> {
  // How long a program takes to start is another question.
  await roundTrips(cat, WARM_UP);
  const blocks = Math.ceil(STREAM_BYTES / BLOCK.length);
  const startMs = performance.now();
  const taken = new Promise<void>((resolve) => {
    let left = blocks * BLOCK.length;
    cat.stdout.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left === 0) resolve();
    });
  });
  for (let i = 0; i < blocks; i += 1) {
    if (cat.stdin.write(BLOCK)) continue;
    await new Promise((resolve) => cat.stdin.once("drain", resolve));
  }
  await taken;
  return (blocks * BLOCK.length) / 1e6 / ((performance.now() - startMs) / 1000);
}

async function use<T>(cat: Cat, measure: (cat: Cat) => Promise<T>): Promise<T> {
  const ended = new Promise((resolve) => cat.on("close", resolve));
  try {
    return await measure(cat);
  } finally {
    cat.stdin.end();
    cat.stdout.resume();
    await ended;
  }
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN;
}

await inTemporaryFolder(async (folder) => {
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder, AGENT_STATUS_DIR: "" };
  const start = (words: readonly string[]): Cat => {
    const [command = "", ...args] = words;
    return spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  };
  const cat = () => start(["cat"]);
  const proxied = () => start([process.execPath, "dist/bin/rollcall.cjs", "acp", "--", "cat"]);

  // Of each round by itself, and then the one in the middle: a moment in which somebody else had
  // the machine is longer than all that is measured here.
  const bare: (readonly number[])[] = [];
  const through: (readonly number[])[] = [];
  for (let round = 0; round < roundsOf(ROUNDS); round += 1) {
    bare.push((await use(cat(), (each) => roundTrips(each))).slice(WARM_UP));
    through.push((await use(proxied(), (each) => roundTrips(each))).slice(WARM_UP));
  }
  const of = (rounds: typeof bare, part: number) =>
    median(rounds.map((times) => quantile(times, part)));
  report({ name: "cat: a frame there and back, median", value: of(bare, 0.5), unit: "ms" });
  report({ name: "proxy: a frame there and back, median", value: of(through, 0.5), unit: "ms" });
  report({ name: "cat: a frame there and back, p99", value: of(bare, 0.99), unit: "ms" });
  // There and back is two frames; so is what the promise allows.
  const added = (part: number) => (of(through, part) - of(bare, part)) / 2;
  report({ name: "added to a frame, median", value: added(0.5), unit: "ms" });
  const name = "added to a frame, p99";
  report({ name, value: added(0.99), unit: "ms", target: { atMost: 1 } });

  const [plain = 0, proxy = 0] = await inTurns(
    ROUNDS,
    () => use(cat(), throughput),
    () => use(proxied(), throughput),
  );
  report({ name: "cat: through", value: plain, unit: "MB/s" });
  report({ name: "proxy: through", value: proxy, unit: "MB/s", target: { atLeast: 200 } });
  report({ name: "proxy against cat", value: proxy / plain, unit: "times" });
});
conclude();
