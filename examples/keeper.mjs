/** Agents on the keeper wire: a worker, a lease, a leader, and whoever watches sees it all. */
import assert from "node:assert/strict";
// #region use
import { connect, decodeJson } from "rollcall/keeper";
import { startEmbedded } from "rollcall/embedded";

// A daemon in this very process; without it, connect() finds the one on this machine.
const daemon = await startEmbedded();
const keeper = connect({ address: daemon.grpcAddress });
const events = keeper.watch({ topics: ["task."] });

// Alive from here until it is closed: heartbeats go by themselves.
const scraper = await keeper.register({
  name: "scraper-1",
  description: "Fetches and parses web pages",
  tools: ["browser"],
});

// One holder at a time. Its signal aborts before anybody else can have it.
const lease = await scraper.acquireLease("site:example.org");
console.log(lease?.isHeld, lease?.token); // true 1

// Claims tasks that fit its tools, keeps them while it works, and reports what came of them.
const worker = scraper.work(async (task) => {
  const { host } = new URL(String(decodeJson(task.input)));
  return { host };
});
await keeper.tasks.create({ type: "host", json: "https://example.org/a", maxRetries: 3 });

// Every event once and in order, even if the daemon restarts meanwhile.
for await (const event of events) {
  if (event.kind !== "event" || event.topic !== "task.completed") continue;
  console.log(decodeJson(event.task.output)); // { host: 'example.org' }
  break;
}

// Whoever leads does so until the signal aborts: it resigned, died, or lost touch.
const campaign = await scraper.campaign("orchestrators");
const { term, signal } = await campaign.elected();
console.log(term, signal.aborted); // 1 false

// With the agent goes all that it holds. TypeScript's `await using` closes each of these by itself.
await scraper.close();
await keeper.close();
await daemon.close();
// #endregion

assert.equal(lease?.isHeld, false);
assert.equal(campaign.isLeader, false);
assert.equal(worker.running, 0);
