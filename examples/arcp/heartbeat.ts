/** A link that dies without a word is noticed by its silence; the client comes back by itself. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";
import type { Transport } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "heartbeat", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
  sessions: { heartbeatSec: 1 }, // 30 unless said; two silent intervals are a lost link
});
let finish = () => {};
const isFinished = new Promise<void>((resolve) => (finish = resolve));
runtime.registerAgent("patient", async () => {
  await isFinished;
  return "still here";
});

const states: string[] = [];
const pings: string[] = [];
await using client = await ArcpClient.connect(connect, {
  token: "demo",
  onState: ({ kind }) => {
    states.push(kind);
    if (kind === "resumed") finish();
  },
});
const job = await client.submit({ agent: "patient" });
const { result } = await job.done;
console.log(states, result); // [ 'live', 'lost', 'resumed' ] still here

assert.deepEqual(states, ["live", "lost", "resumed"]);
assert.equal(result, "still here");
assert.equal(pings.length, 1);

/** The first link carries one ping and then nothing any more, in either direction. */
function connect(): Transport {
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  if (states.length > 0) return theirs;
  const isDead = () => pings.length > 0;
  return {
    maxFrameBytes: theirs.maxFrameBytes,
    waitingBytes: 0,
    send: (frame) => isDead() || theirs.send(frame),
    close: (ending) => theirs.close(ending),
    open: (listener) =>
      theirs.open({
        onFrame: (frame) => {
          if (isDead()) return;
          listener.onFrame(frame);
          if (frame.includes('"session.ping"')) pings.push(frame);
        },
        onDrained: () => listener.onDrained(),
        onClosed: (ending) => listener.onClosed(ending),
      }),
  };
}
