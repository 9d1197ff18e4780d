import { expect, test } from "vitest";
import { byOf } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import { LOCAL } from "../core/principals.ts";
import type { Report } from "../core/reports.ts";
import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../../test/support/engine/fixture.ts";
import { OutpostService, type Step, type WholePart } from "./outposts.ts";

const BOX = byOf({ ...LOCAL, name: "token:box", roles: ["outpost"], host: "box" }, "http");

function stepOn(agent: string): Step {
  const report: Report = {
    alias: `file@box:${agent}`,
    agentId: `${agent}@box`,
    links: [],
    order: 1,
    reportedAtMs: 1,
    facts: { liveness: { value: "alive", rule: "r" } },
  };
  return { to: "", reports: [report], gone: [], jobs: [], jobsGone: [] };
}

test("a last part that was too much, and is sent again, ends nothing that was told", async () => {
  const { engine, clock } = await openEngine();
  let isTooMuch = false;
  const busy: Pick<Engine, "execute" | "peek" | "nowMs"> = {
    nowMs: engine.nowMs,
    peek: (select) => engine.peek(select),
    execute: (command, by) =>
      isTooMuch
        ? Promise.reject(new RollcallError("LIMIT_EXCEEDED", "too many wait for the disk"))
        : engine.execute(command, by),
  };
  const service = new OutpostService({ engine: busy as Engine, clock, ownHosts: [] });
  const facts = { machine: "m", version: "1", share: "all", accept: "nothing" } as const;
  const joining = { facts: { instance: "one", ...facts }, clockMs: engine.nowMs };
  const { session } = await service.join("box", joining, BOX);
  const take = (agent: string, whole: WholePart) =>
    service.take("box", { session, from: "", steps: [stepOn(agent)], whole }, BOX);
  const livenessOf = (agent: string) =>
    engine.peek(({ reports }) => reports.byAlias.get(`file@box:${agent}`))?.report.facts.liveness;
  await take("gone", "only");
  await take("a", "first");
  isTooMuch = true;
  await expect(take("b", "last")).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  isTooMuch = false;
  await take("b", "last");
  expect(livenessOf("a")?.value).toBe("alive");
  expect(livenessOf("b")?.value).toBe("alive");
  expect(livenessOf("gone")?.value).toBe("exited");
  await engine.close();
});
