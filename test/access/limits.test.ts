/**
 * Every refusal for want of room is by shares, or stands here with the reason why principals need
 * not share that limit.
 */
import { expect, test } from "vitest";
import { isSource, repositoryFiles, textOf } from "../tidy/source.ts";

const UNSHARED: Readonly<Record<string, string>> = {
  "src/core/elections.ts": "of one agent",
  "src/core/leases.ts": "of one agent",
  "src/core/reports.ts": "of one agent, which others do not report on",
  "src/core/tasks.ts": "of one agent",
  "src/core/directory-rules.ts": "of one sender",
  "src/core/job-submit.ts": "of one principal, or of one job",
  "src/core/members.ts": "nodes, which operators bring",
  "src/core/sessions.ts": "of one principal",
  "src/core/shares.ts": "the rule itself",
  "src/daemon/body.ts": "bytes of requests on their way in, for seconds",
  "src/daemon/call-rate.ts": "a rate, of one principal",
  "src/engine/leading.ts": "what waits for the disk, for milliseconds",
  "src/fleet/turns.ts": "looks at the past that wait, for seconds",
  "src/jobs/credentials.ts": "of one job",
  "src/log/entries.ts": "of one append",
  "src/log/nats/append.ts": "of one append",
  "src/log/postgres/pool.ts": "reads that wait for the database, for milliseconds",
  "src/log/writer.ts": "what waits for the database, for milliseconds",
  "src/log/sqlite/commits.ts": "of one batch",
  "src/net/grpc/client-stream.ts": "of a client",
  "src/net/grpc/health.ts": "watchers of health: one that finds no room asks for it instead",
  "src/net/grpc/server-call.ts": "bytes of calls on their way in, for seconds",
  "src/wires/a2a/client/provider.ts": "of a client",
  "src/wires/arcp/client/pending.ts": "of a client",
  "src/wires/arcp/server/dispatch.ts": "of one session",
  "src/core/outposts.ts": "outposts: only an admin makes the tokens that they join with",
  "src/outposts/outposts.ts": "of one host",
  "src/outposts/requests.ts": "of one host",
  "src/search/thread.ts": "finds that wait, for milliseconds",
};

test("no limit is filled by one principal while others need it", () => {
  const ours = repositoryFiles().filter((path) => isSource(path) && path.startsWith("src/"));
  const refusing = ours.filter(
    (path) => !path.endsWith(".test.ts") && /\(\s*"LIMIT_EXCEEDED"/.test(textOf(path)),
  );
  expect(refusing.toSorted()).toEqual(Object.keys(UNSHARED).toSorted());
});
