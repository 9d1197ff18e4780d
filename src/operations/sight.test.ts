import { array, assert, asyncProperty, constantFrom, record } from "fast-check";
import { expect, test } from "vitest";
import { NO_AUDIT, openApi, type Api } from "../../test/support/daemon/api.ts";
import { oldJob } from "../../test/support/core/jobs.ts";
import { byOf, LIBRARY, type By } from "../core/by.ts";
import { DEFAULT_NAMESPACE, type Role } from "../core/principals.ts";
import { sightOf } from "../core/visibility.ts";
import { permitBy } from "./access.ts";
import { eventAnswer } from "./events.ts";
import type { Operation, Services } from "./operation.ts";
import { servicesFor, shownTo } from "./sight.ts";
import { operations, TABLE, type InputOf } from "./table.ts";

type Name = "ann" | "bob";

function caller(name: string, role: Role): By {
  const about = { kind: "agent", namespace: DEFAULT_NAMESPACE } as const;
  return byOf({ ...about, name: `token:${name}`, roles: [role] }, "http");
}

const CALLERS = { ann: caller("ann", "agent"), bob: caller("bob", "agent") };
const OPERATOR = caller("op", "operator");

const ACTS = ["task", "report", "link", "register", "claim", "complete", "lease", "job"] as const;

/** Two principals at work. All that one of them says has its mark in it; ids have none. */
class Workplace {
  readonly #api: Api;
  readonly #services: Services;
  readonly #agents: Record<Name, string[]> = { ann: [], bob: [] };
  readonly #claimed: Record<Name, string[]> = { ann: [], bob: [] };
  readonly #reports: string[] = [];
  readonly #ids: string[] = [];

  constructor(api: Api) {
    this.#api = api;
    const status = () => {
      throw new Error("nobody asks for it here");
    };
    this.#services = { ...api, audit: NO_AUDIT, search: { find: async () => [] }, status };
  }

  /** What is refused is not done: the next thing may be. */
  async act(who: Name, what: (typeof ACTS)[number]): Promise<void> {
    await this.#act(who, what).catch(() => undefined);
  }

  async #act(who: Name, what: (typeof ACTS)[number]): Promise<void> {
    const mark = `of-${who}`;
    const tool = `tool-${who === "ann" ? 1 : 2}`;
    const next = this.#ids.length;
    const [agentId = ""] = this.#agents[who];
    const call = { by: CALLERS[who], signal: new AbortController().signal };
    const { agents, tasks, leases, fleet } = TABLE;
    switch (what) {
      case "task": {
        const fields = { type: mark, inputText: mark, requiredTools: [tool] };
        const { task } = await tasks.create.run(
          this.#services,
          tasks.create.input.parse(fields),
          call,
        );
        this.#ids.push(task.id);
        return;
      }
      case "report":
      case "link": {
        const [last = "script:0"] = this.#reports.slice(-1);
        const alias = `script:${next}`;
        this.#ids.push(`row-${next}`);
        this.#reports.push(alias);
        const links = what === "link" ? [last] : [];
        const value = { kind: "text", text: mark, sinceMs: 1 } as const;
        const facts = {
          name: mark,
          liveness: { value: "alive", rule: mark },
          question: { rule: mark, value },
        } as const;
        const report: InputOf<"fleet.report"> = { alias, agentId: `row-${next}`, links, facts };
        await fleet.report.run(this.#services, fleet.report.input.parse(report), call);
        return;
      }
      case "register": {
        const card = { name: "helper", tools: [tool] };
        const input = agents.register.input.parse({ card });
        const { agent } = await agents.register.run(this.#services, input, call);
        this.#agents[who].push(agent.agentId);
        this.#ids.push(agent.agentId);
        return;
      }
      case "claim": {
        const input = tasks.claim.input.parse({ agentId });
        const { task } = await tasks.claim.run(this.#services, input, call);
        if (task) this.#claimed[who].push(task.id);
        return;
      }
      case "complete": {
        const taskId = this.#claimed[who].pop() ?? "";
        const input = tasks.complete.input.parse({ taskId, agentId, outputText: mark });
        await tasks.complete.run(this.#services, input, call);
        return;
      }
      case "lease": {
        const input = leases.acquire.input.parse({ taskId: "shared", agentId });
        await leases.acquire.run(this.#services, input, call);
        return;
      }
      case "job": {
        const id = `job_${next}`;
        const principal = `token:${who}`;
        const job = oldJob({ id, principal, agent: mark, reason: mark });
        await this.#api.engine.execute({ type: "job.import", job }, LIBRARY);
        this.#ids.push(id);
        return;
      }
    }
  }

  /** Everything that a caller can read, as text. */
  async readBy(by: By): Promise<string> {
    const { engine } = this.#api;
    const permit = permitBy(engine);
    const services = servicesFor(this.#services, by);
    const parts: unknown[] = [];
    for (const [, operation] of operations()) {
      if (operation.effect !== "reads") continue;
      for (const input of this.#inputsOf(operation)) {
        const ask = async () => {
          permit(by, operation.access, input);
          return operation.run(services, input, { by, signal: new AbortController().signal });
        };
        parts.push(await ask().catch(String));
      }
    }
    const isShown = shownTo(engine, by.principal) ?? (() => true);
    for await (const recorded of engine.history(() => true)) {
      if (isShown(recorded.event)) parts.push(eventAnswer(sightOf(by.principal), recorded));
    }
    return JSON.stringify(parts);
  }

  /** As a list, now and in the past; and for each id that there is, whosever it is. */
  #inputsOf({ path, input }: Operation) {
    const [, field] = /\{(\w+)\}/.exec(path) ?? [];
    const at = new Date(this.#api.engine.nowMs).toISOString();
    const given =
      field === undefined
        ? [{}, { at }]
        : this.#ids.flatMap((id) => [{ [field]: id }, { [field]: id, at }]);
    return given.flatMap((each) => {
      const { success, data } = input.safeParse(each);
      return success ? [data] : [];
    });
  }
}

const steps = array(
  record({ who: constantFrom<Name>("ann", "bob"), what: constantFrom(...ACTS) }),
  { minLength: 1, maxLength: 20 },
);

test("nothing of one principal appears in what another reads; an operator reads all", async () => {
  await assert(
    asyncProperty(steps, async (acts) => {
      const api = await openApi();
      try {
        const place = new Workplace(api);
        for (const { who, what } of acts) await place.act(who, what);
        expect(await place.readBy(CALLERS.ann)).not.toContain("of-bob");
        expect(await place.readBy(CALLERS.bob)).not.toContain("of-ann");
        const [first] = acts.filter(({ what }) => what === "task" || what === "report");
        if (first) {
          expect(await place.readBy(CALLERS[first.who])).toContain(`of-${first.who}`);
          expect(await place.readBy(OPERATOR)).toContain(`of-${first.who}`);
        }
      } finally {
        await api.close();
      }
    }),
    { numRuns: 25 },
  );
});

test("a watch follows the policies: what is denied later is no longer shown", async () => {
  const api = await openApi();
  const isShown = shownTo(api.engine, OPERATOR.principal);
  const event = { type: "policy.deleted", id: "x" } as const;
  const set = (action: string, effect: "deny" | "allow") =>
    api.engine.execute(
      {
        type: "policy.set",
        policy: { id: "p", subject: "role:operator", action, resource: "*", effect },
      },
      LIBRARY,
    );
  expect(isShown?.(event)).toBe(true);
  await set("policy.read", "deny");
  expect(isShown?.(event)).toBe(false);
  await set("event.read", "deny");
  expect(isShown?.(event)).toBe(false);
  await set("event.read", "allow");
  expect(isShown?.(event)).toBe(true);
  expect(shownTo(api.engine, LIBRARY.principal)).toBeUndefined();
  await api.close();
});
