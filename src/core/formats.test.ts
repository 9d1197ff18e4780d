/** What each format of the log may say: the version before must read it (formats.ts). */
import { expect, test } from "vitest";
import { EVENTS } from "../../test/simulation/coverage.ts";
import { introduction } from "../../test/support/core/members.ts";
import { World } from "../../test/support/core/fixture.ts";
import type { Topic } from "./events.ts";
import { FORMATS, SINCE } from "./formats.ts";
import { capture } from "./snapshot.ts";
import type { State } from "./state.ts";

/**
 * These never change: programs are in use that read no others. A new event, or a snapshot of a new
 * version, comes with a new format: raise FORMATS, enter it in SINCE or snapshotVersion, let its
 * rule wait for it, and add a line here.
 */
const EVENTS_OF: Readonly<Record<number, readonly string[]>> = {
  1: [
    "agent: bound died forgotten recovered registered unreachable",
    "credential: issued requested revoked",
    "directory: changed doubted evicted refreshed registered removed verified",
    "election: forgotten joined left",
    "fleet: dismissed forgotten reported",
    "job: cancelling ended forgotten imported progressed started submitted",
    "leader: changed",
    "lease: acquired expired released renewed",
    "node: joined leading left resigned resumed",
    "outpost: forgotten joined silent took",
    "policy: deleted set",
    "question: answered asked dismissed expired forgotten withdrawn",
    "request: answered",
    "session: gone opened proved resumed subscribed unsubscribed",
    "task: cancelled claimed completed created died expired forgotten renewed requeued returned",
    "token: created forgotten revoked",
  ],
  2: ["job: moved", "node: finalized", "outpost: job_told jobs_forgotten"],
};
const SNAPSHOT_OF: Readonly<Record<number, number>> = { 1: 8, 2: 10 };

function eventsOf(format: number): readonly string[] {
  const topics = (Object.keys(EVENTS) as Topic[]).filter((each) => (SINCE[each] ?? 1) === format);
  const nouns = [...new Set(topics.map((topic) => topic.split(".")[0] ?? ""))].toSorted();
  return nouns.map((noun) => {
    const its = topics.filter((topic) => topic.startsWith(`${noun}.`));
    const verbs = its.map((topic) => topic.slice(noun.length + 1));
    return `${noun}: ${verbs.toSorted().join(" ")}`;
  });
}

function versionOf(state: State): unknown {
  const [first = ""] = capture(state);
  return (JSON.parse(first) as { records: [{ version: number }] }).records[0].version;
}

function cluster(format: number): World {
  const world = new World();
  world.run({ type: "node.join", member: introduction() });
  world.state.format = format;
  return world;
}

test.each(Object.keys(EVENTS_OF).map(Number))("format %i is as it was", (format) => {
  expect(eventsOf(format)).toEqual(EVENTS_OF[format]);
  expect(versionOf(cluster(format).state)).toBe(SNAPSHOT_OF[format]);
  expect(FORMATS[1]).toBe(Object.keys(EVENTS_OF).length);
});
