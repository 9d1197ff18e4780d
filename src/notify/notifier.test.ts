import { afterEach, describe, expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import type { NoticeChannel } from "./channels.ts";
import type { Notice } from "./notice.ts";
import { Notifier } from "./notifier.ts";

class Listener implements NoticeChannel {
  readonly name = "listener";
  readonly heard: Notice[] = [];

  deliver(notice: Notice): Promise<void> {
    this.heard.push(notice);
    return Promise.resolve();
  }

  get lines(): readonly string[] {
    return this.heard.map(({ title, text }) => `${title} — ${text}`);
  }
}

const clock = new TestClock();
let listener = new Listener();
let notifier = make();

function make(
  more: { mutes?: readonly string[]; channels?: readonly NoticeChannel[] } = {},
): Notifier {
  listener = new Listener();
  return new Notifier({ channels: [listener], mutes: [], clock, ...more });
}

afterEach(async () => {
  await notifier.close();
  expect(clock.timers).toBe(0);
  await clock.advance(600_000);
  notifier = make();
});

function ask(agentId: string, question: string, workspace = "/home/ada/web"): void {
  notifier.needs({ agentId, workspace, reason: "permission", question, sinceMs: 0 });
}

describe("a question", () => {
  test("is told with its workspace and its reason", () => {
    ask("a", "Bash: npm test");
    expect(listener.lines).toEqual(["web needs you — permission: Bash: npm test"]);
  });

  test("is told once, however often it is reported", async () => {
    for (let i = 0; i < 5; i += 1) ask("a", "Run it?");
    await clock.advance(60_000);
    ask("a", "Run it?");
    expect(listener.heard).toHaveLength(1);
  });

  test("is told anew when it was answered and is asked again", () => {
    ask("a", "Run it?");
    notifier.settled("a");
    ask("a", "Run it?");
    expect(listener.heard).toHaveLength(2);
  });

  test("that another one follows is another notification", () => {
    ask("a", "Run it?");
    ask("a", "And this?");
    expect(listener.lines.at(-1)).toContain("And this?");
    expect(listener.heard).toHaveLength(2);
  });

  test("of a workspace that is muted is not told, nor of a folder in it", () => {
    notifier = make({ mutes: ["/home/ada/web/"] });
    ask("a", "x");
    ask("b", "x", "/home/ada/web/sub");
    ask("c", "x", "/home/ada/website");
    expect(listener.lines).toEqual(["website needs you — permission: x"]);
  });
});

describe("when many ask at once", () => {
  test("a few are told one by one, the others together, when there is room", async () => {
    for (let i = 0; i < 12; i += 1) ask(`a${i}`, "?", `/w/p${i}`);
    expect(listener.heard).toHaveLength(5);
    notifier.settled("a11");
    await clock.advance(6000);
    expect(listener.lines.slice(5)).toEqual(["6 agents need you — p5, p6, p7 and 3 more"]);
    await clock.advance(60_000);
    expect(listener.heard).toHaveLength(6);
  });

  test("no more than ten a minute are told for as long as it goes on", async () => {
    for (let second = 0; second < 600; second += 1) {
      ask(`a${second}`, "?");
      await clock.advance(1000);
    }
    expect(listener.heard.length).toBeGreaterThan(95);
    expect(listener.heard.length).toBeLessThanOrEqual(105);
    expect(listener.heard.flatMap(({ needs }) => needs)).toHaveLength(600);
  });

  test("who was answered before there was room is not told", async () => {
    for (let i = 0; i < 6; i += 1) ask(`a${i}`, "?");
    notifier.settled("a5");
    await clock.advance(60_000);
    expect(listener.heard).toHaveLength(5);
  });
});

describe("channels", () => {
  test("one that fails keeps no other from telling, and is told of", async () => {
    const failures: unknown[] = [];
    const failing: NoticeChannel = { name: "bad", deliver: () => Promise.reject(new Error("no")) };
    listener = new Listener();
    notifier = new Notifier({
      channels: [failing, listener],
      mutes: [],
      clock,
      onError: (error, channel) => failures.push([channel, (error as Error).message]),
    });
    ask("a", "?");
    await clock.advance(0);
    expect(failures).toEqual([["bad", "no"]]);
    expect(listener.heard).toHaveLength(1);
  });

  test("one that hangs is cut off, and closing waits for none", async () => {
    const cut: string[] = [];
    const hanging: NoticeChannel = {
      name: "hanging",
      deliver: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            cut.push("cut");
            reject(new Error("late"));
          });
        }),
    };
    notifier = new Notifier({ channels: [hanging], mutes: [], clock });
    ask("a", "?");
    await clock.advance(10_000);
    expect(cut).toEqual(["cut"]);
    ask("b", "?");
    await notifier.close();
    expect(cut).toEqual(["cut", "cut"]);
    ask("c", "?");
    expect(cut).toHaveLength(2);
  });
});
