/** Agents on the keeper wire: a worker, a lease, a leader, and whoever watches sees it all. */
import assert from "node:assert/strict";
// #region use
import { connect, decodeJson } from "rollcall/keeper";
import { startEmbedded } from "rollcall/embedded";

// A daemon in this very process; without it, connect() finds the one on this machine.
await using daemon = await startEmbedded();
await using keeper = connect({ address: daemon.grpcAddress });
await using events = keeper.watch({ topics: ["task."] });

// Alive from here to the end of the scope: heartbeats go by themselves.
await using scraper = await keeper.register({
  name: "scraper-1",
  description: "Fetches and parses web pages",
  tools: ["browser"],
});

// One holder at a time. The signal aborts before anybody else can have it.
await using lease = await scraper.acquireLease("site:example.org");
console.log(lease?.isHeld, lease?.token); // true 1

// Claims tasks that fit its tools, keeps them while it works, and reports what came of them.
await using worker = scraper.work(async (task, { signal }) => {
  const { url } = decodeJson(task.input) as { url: string };
  return { url, title: await titleOf(url, signal) };
});
await keeper.tasks.create({ type: "title", json: { url: "https://example.org" }, maxRetries: 3 });

// Every event once and in order, even if the daemon restarts meanwhile.
for await (const event of events) {
  if (event.kind !== "event" || event.topic !== "task.completed") continue;
  console.log(decodeJson(event.task.output)); // { url: 'https://example.org', title: 'Example' }
  break;
}

// Whoever leads does so until the signal aborts: it resigned, died, or lost touch.
await using campaign = await scraper.campaign("orchestrators");
const { term, signal } = await campaign.elected();
console.log(term, signal.aborted); // 1 false
// #endregion

async function titleOf(_url: string, aborted: AbortSignal): Promise<string> {
  aborted.throwIfAborted();
  return "Example";
}

assert.equal(lease?.isHeld, true);
assert.equal(campaign.isLeader, true);
const [task] = await keeper.tasks.list({ status: "completed" });
assert.deepEqual(task && decodeJson(task.output), {
  url: "https://example.org",
  title: "Example",
});
assert.equal(worker.running, 0);
