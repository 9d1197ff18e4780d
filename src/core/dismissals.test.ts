import { describe, expect, test } from "vitest";
import { FLEET } from "./limits.ts";
import type { Facts, Report } from "./reports.ts";
import { SECOND, World } from "../../test/support/core/fixture.ts";

const ALIVE = { liveness: { value: "alive", rule: "fresh" } } as const;
const WORKING: Facts = { ...ALIVE, activity: { value: "working", rule: "task.state" } };

function asking(text: string, sinceMs = 1): Facts {
  const question = { value: { kind: "choice", text, sinceMs }, rule: "hook" } as const;
  return { ...ALIVE, activity: { value: "waiting", rule: "hook" }, question };
}

/** One agent that asks, and an operator. */
class Inbox extends World {
  say(facts: Facts, rest: Partial<Report> = {}): readonly string[] {
    const about = { alias: "acp:a", agentId: "a", links: [], order: this.nowMs };
    const report = { ...about, reportedAtMs: this.nowMs, facts, ...rest };
    return this.topicsOf(() => this.run({ type: "fleet.report", report }));
  }

  get asked(): readonly string[] {
    return [...this.state.questions.openOf.values()];
  }

  dismiss(id = this.asked[0] ?? ""): readonly string[] {
    return this.topicsOf(() => this.run({ type: "question.dismiss", id }));
  }

  factsOf(alias = "acp:a"): Facts | undefined {
    return this.state.reports.byAlias.get(alias)?.report.facts;
  }
}

describe("a dismissed question", () => {
  test("is over, and its agent needs nobody", () => {
    const inbox = new Inbox();
    inbox.say(asking("may I?"));
    const [id = ""] = inbox.asked;
    expect(inbox.dismiss()).toEqual(["question.dismissed", "fleet.reported"]);
    expect(inbox.state.questions.byId.get(id)?.question).toMatchObject({
      state: "dismissed",
      endedAtMs: inbox.nowMs,
    });
    expect(inbox.factsOf()).toEqual({
      ...ALIVE,
      activity: { value: "idle", rule: "its question was dismissed" },
    });
    expect(inbox.dismiss(id)).toEqual([]);
  });

  test("stays so while it is only repeated", () => {
    const inbox = new Inbox();
    inbox.say(asking("may I?"));
    inbox.dismiss();
    for (let times = 0; times < 3; times += 1) {
      inbox.pass(SECOND);
      expect(inbox.say({ ...asking("may I?"), lastActivityAtMs: inbox.nowMs })).not.toContain(
        "question.asked",
      );
    }
    expect(inbox.asked).toEqual([]);
  });

  test.each([
    ["at a later time", asking("may I?", 2)],
    ["in other words", asking("may I now?")],
  ])("comes back when it is asked anew, %s", (_, anew) => {
    const inbox = new Inbox();
    inbox.say(asking("may I?"));
    inbox.dismiss();
    inbox.pass(SECOND);
    expect(inbox.say(anew)).toContain("question.asked");
    expect(inbox.asked).toHaveLength(1);
  });

  test("comes back when its agent went on in between", () => {
    const inbox = new Inbox();
    inbox.say(asking("may I?"));
    inbox.dismiss();
    inbox.say(WORKING);
    expect(inbox.say(asking("may I?"))).toContain("question.asked");
  });

  test("is dismissed for all sources of its agent that asked it together", () => {
    const inbox = new Inbox();
    inbox.say(asking("may I?", 5_000));
    inbox.say(asking("Bash?", 4_000), { alias: "script:a" });
    inbox.say(asking("another", 60_000), { alias: "hook:a" });
    inbox.dismiss();
    expect(inbox.asked.map((id) => inbox.state.questions.byId.get(id)?.question.text)).toEqual([
      "another",
    ]);
  });

  test("is one that is open", () => {
    const inbox = new Inbox();
    expect(inbox.refusal({ type: "question.dismiss", id: "none" })).toBe(
      "NOT_FOUND: no question none",
    );
    inbox.say(asking("may I?"));
    const [id = ""] = inbox.asked;
    inbox.say(WORKING);
    expect(inbox.refusal({ type: "question.dismiss", id })).toBe(
      `WRONG_STATE: question ${id} is answered`,
    );
  });
});

describe("a dismissed report", () => {
  test("is gone with what it asked, until its source reports again", () => {
    const inbox = new Inbox();
    inbox.say(asking("paste your key"));
    const aliases = ["acp:a", "none:b", "acp:a"];
    const dismiss = () => inbox.run({ type: "fleet.dismiss", aliases });
    expect(inbox.topicsOf(dismiss)).toEqual(["question.dismissed", "fleet.dismissed"]);
    expect(inbox.factsOf()).toBeUndefined();
    expect(dismiss()).toEqual({ aliases: [] });
    expect(inbox.say(WORKING)).toEqual(["fleet.reported"]);
  });

  test("comes with a bounded number of others", () => {
    const aliases = Array.from({ length: FLEET.dismissedAtOnce + 1 }, (_, i) => `acp:${i}`);
    expect(new World().refusal({ type: "fleet.dismiss", aliases })).toContain("aliases has 513");
  });
});
