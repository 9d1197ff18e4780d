import { array, assert, asyncProperty, constantFrom, oneof, record } from "fast-check";
import { expect, test } from "vitest";
import { NO_AUDIT, openApi, type Api } from "../../test/support/daemon/api.ts";
import { oldJob } from "../../test/support/core/jobs.ts";
import { byOf, LIBRARY, type By } from "../core/by.ts";
import { DEFAULT_NAMESPACE, type Role } from "../core/principals.ts";
import { sightOf } from "../core/visibility.ts";
import { permitBy } from "./access.ts";
import { eventAnswer } from "./events.ts";
import type { Operation, OperationServices } from "./operation.ts";
import { servicesFor, shownTo, TOPICS } from "./sight.ts";
import { operations, TABLE, type InputOf } from "./table.ts";

type Name = "ann" | "bob";

function caller(name: string, role: Role): By {
  const about = { kind: "agent", namespace: DEFAULT_NAMESPACE } as const;
  return byOf({ ...about, name: `token:${name}`, roles: [role] }, "http");
}

const CALLERS = { ann: caller("ann", "agent"), bob: caller("bob", "agent") };
const OPERATOR = caller("op", "operator");

const ACTS = ["task", "report", "link", "register", "claim", "complete", "lease", "job"] as const;
/** Of these nothing is shared: the registry and leases are. */
const OWN_ACTS = ["task", "report", "link", "claim", "complete", "job"] as const;

type Act = (typeof ACTS)[number];

/** Two principals at work. All that one of them says has its mark in it; ids have none. */
class Workplace {
  readonly #api: Api;
  readonly #services: OperationServices;
  readonly #agents: Record<Name, string[]> = { ann: [], bob: [] };
  readonly #claimed: Record<Name, string[]> = { ann: [], bob: [] };
  readonly #reports: string[] = [];
  readonly ids: Record<Name, string[]> = { ann: [], bob: [] };

  constructor(api: Api) {
    this.#api = api;
    const status = () => {
      throw new Error("nobody asks for it here");
    };
    const permit = permitBy(api.engine);
    const search = { find: async () => [] };
    this.#services = { ...api, audit: NO_AUDIT, search, permit, status };
  }

  /** What is refused is not done: the next thing may be. */
  async act(who: Name, what: Act): Promise<void> {
    await this.#act(who, what).catch(() => undefined);
  }

  async #act(who: Name, what: Act): Promise<void> {
    const mark = `of-${who}`;
    const tool = `tool-${who === "ann" ? 1 : 2}`;
    const ids = this.ids[who];
    const next = `${who}-${ids.length}`;
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
        ids.push(task.id);
        return;
      }
      case "report":
      case "link": {
        // Names are one space: ann tries what is bob's, but that ann has one is no secret to bob.
        const known = this.#reports.filter((each) => who === "ann" || each.includes(who));
        const [last = "script:0"] = known.slice(-1);
        const alias = `script:${next}`;
        ids.push(`row-${next}`);
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
        ids.push(agent.agentId);
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
        ids.push(id);
        return;
      }
    }
  }

  /** Everything that a caller can read, as text. */
  async readBy(by: By, ids = Object.values(this.ids).flat()): Promise<string> {
    const { engine } = this.#api;
    const permit = permitBy(engine);
    const services = servicesFor(this.#services, by);
    const parts: unknown[] = [];
    for (const [, operation] of operations()) {
      if (operation.effect !== "reads") continue;
      for (const input of this.#inputsOf(operation, ids)) {
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
  #inputsOf({ path, input }: Operation, ids: readonly string[]) {
    const [, field] = /\{(\w+)\}/.exec(path) ?? [];
    const at = new Date(this.#api.engine.nowMs).toISOString();
    const given =
      field === undefined
        ? [{}, { at }]
        : ids.flatMap((id) => [{ [field]: id }, { [field]: id, at }]);
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

const bobs = record({ who: constantFrom<Name>("bob"), what: constantFrom(...ACTS) });
const anns = record({ who: constantFrom<Name>("ann"), what: constantFrom(...OWN_ACTS) });
const mixed = array(oneof(bobs, anns), { minLength: 10, maxLength: 30 });

/** Both have an agent, as all may see; then these acts are played. */
async function played(acts: readonly { readonly who: Name; readonly what: Act }[]) {
  const api = await openApi();
  const place = new Workplace(api);
  for (const who of ["ann", "bob"] as const) await place.act(who, "register");
  for (const { who, what } of acts) await place.act(who, what);
  return { place, [Symbol.asyncDispose]: () => api.close() };
}

/**
 * Ids and digests by the order in which they first appear. Places in the log and fencing tokens are
 * one row of numbers for all: left out.
 */
function comparable(read: string): unknown {
  const names = new Map<string, string>();
  const text = read.replaceAll(/[\da-f]{32}/g, (id) => {
    const name = names.get(id) ?? `id ${names.size}`;
    names.set(id, name);
    return name;
  });
  return JSON.parse(text.replaceAll(/"(sequence|token)":[1-9]\d*/g, '"$1":1'));
}

test("what a principal reads is the same whether another is at work or not", async () => {
  await assert(
    asyncProperty(mixed, async (acts) => {
      await using busy = await played(acts);
      await using calm = await played(acts.filter(({ who }) => who === "bob"));
      // What is another's is answered as what never was.
      const [, ...hidden] = busy.place.ids.ann;
      const read = async ({ place }: typeof busy) => {
        const { ann, bob } = place.ids;
        const seen = [...ann.slice(0, 1), ...bob];
        return comparable(await place.readBy(CALLERS.bob, [...seen, ...hidden]));
      };
      expect(await read(busy)).toEqual(await read(calm));
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

test("who may list something may watch its events, and nobody else", () => {
  const reads = operations().filter(
    ([, { effect, path }]) => effect === "reads" && !path.includes("{"),
  );
  const rights = reads.map(([, { access }]) => access);
  for (const access of Object.values(TOPICS)) expect(rights).toContainEqual(access);
});
