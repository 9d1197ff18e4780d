import { expect, test, vi } from "vitest";
import { agentRowId } from "../core/agent-jobs.ts";
import type { Event } from "../core/events.ts";
import { Trail } from "./trail.ts";

const ID = "9d538a88c39b40c78f93e1b0bb7e069b";

function trailOf(...aliases: readonly string[]): Trail {
  return new Trail({ id: ID, aliases });
}

test.each([
  ["its id", `{"agentId":"${ID}"}`, true],
  ["an alias of it", `{"alias":"keeper:${ID}"}`, true],
  ["a card's URL", '{"url":"https://a.example/\\"x"}', true],
  ["another whose name ends as its own does", `{"agentId":"other-${ID}"}`, false],
  ["another whose name begins as its own does", `{"agentId":"${ID}-other"}`, false],
  ["nobody", '{"type":"node.resumed"}', false],
])("by its text, an event may be about it: one of %s", (_, text, mayBe) => {
  expect(trailOf(`keeper:${ID}`, 'a2a:https://a.example/"x').mayHold(text)).toBe(mayBe);
});

test.each([
  ["of the agent", { id: "job_1", agent: "steps", node: "vm" }, true],
  ["of a version of it", { id: "job_1", agent: "steps@2.0.0", node: "vm" }, true],
  ["of an agent with a longer name", { id: "job_1", agent: "steps-2", node: "vm" }, false],
])("the timeline of an agent that runs jobs has them: one %s", (_, job, isIts) => {
  const text = JSON.stringify({ type: "job.cancelling", job });
  const trail = new Trail({ id: agentRowId({ node: "vm", agent: "steps" }), aliases: [] });
  expect(trail.mayHold(text)).toBe(isIts);
  expect(trail.holds(JSON.parse(text) as Event)).toBe(isIts);
});

test("the text of an event about others is searched once for all names that end alike", () => {
  const trail = trailOf(`keeper:${ID}`);
  const searches = vi.spyOn(String.prototype, "includes");
  trail.mayHold('{"type":"agent.died","agentId":"another"}');
  const { length } = searches.mock.calls;
  searches.mockRestore();
  expect(length).toBe(1);
});
