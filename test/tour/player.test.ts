import { expect, test } from "vitest";
import { LEFT_OUT, play, type Step } from "./player.ts";
import type { Scene } from "./scene.ts";
import { Stage, wrapped } from "./stage.ts";

function step(title: string, rest: Partial<Step> = {}): Step {
  return { title, says: `about ${title}`, play: async () => undefined, ...rest };
}

interface Options {
  readonly keys?: boolean;
  readonly isMissing?: boolean;
  readonly signal?: AbortSignal;
}

/** The steps here need nobody. */
const NOBODY = {} as Scene;

async function played(steps: readonly Step[], options: Options = {}) {
  const { keys = true, isMissing = false, signal = new AbortController().signal } = options;
  let text = "";
  const write = (more: string) => {
    text += more;
    return true;
  };
  const stage = new Stage({ write }, { scene: NOBODY, env: {}, isPaged: true });
  const code = await play(steps, {
    stage,
    goesOn: () => Promise.resolve(keys),
    isMissing: () => isMissing,
    signal,
  });
  return { code, text };
}

test("steps are told in order, each with what it claims", async () => {
  const { code, text } = await played([
    step("first", { play: (stage) => stage.claim("it is so", true) }),
    step("second"),
  ]);
  expect(code).toBe(0);
  expect(text).toMatch(/first {2}1 of 2[^]*about first[^]*✓ it is so[^]*second {2}2 of 2/);
});

test("a step that does not show what it says ends the tour with 1", async () => {
  const { code, text } = await played([
    step("first", { play: (stage) => stage.claim("it is so", false) }),
    step("second"),
  ]);
  expect(code).toBe(1);
  expect(text).toContain("✗ it is not so: it is so");
  expect(text).not.toContain("second");
});

test("who leaves has seen enough: that is no failure", async () => {
  const { code, text } = await played([step("first"), step("second")], { keys: false });
  expect(code).toBe(0);
  expect(text).not.toContain("second");
});

test("what goes wrong because of an interruption is not told as if it were wrong", async () => {
  const interruption = new AbortController();
  const failing = step("first", {
    play: () => {
      interruption.abort();
      return Promise.reject(new Error("gone"));
    },
  });
  const { code, text } = await played([failing], { signal: interruption.signal });
  expect(code).toBe(130);
  expect(text).not.toContain("gone");
});

test("a step whose need is missing says so and is left out", async () => {
  const failing = step("first", {
    needs: "workers",
    play: () => Promise.reject(new Error("played")),
  });
  const { code, text } = await played([failing], { isMissing: true });
  expect(code).toBe(0);
  expect(text).toContain(LEFT_OUT.workers);
});

test("what somebody else wrote cannot touch the terminal", async () => {
  const { text } = await played([
    step("first", {
      play: async (stage) => {
        await stage.claim("a\u001b[2Jb", true);
        await stage.prompt("kill \u001b]0;title\u0007 it");
      },
    }),
  ]);
  expect(text).toContain("✓ ab");
  expect(text).not.toContain("\u001b");
});

test("paragraphs are broken between words, and only there", () => {
  expect(wrapped("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapped("incomprehensibilities", 7)).toEqual(["incomprehensibilities"]);
});
