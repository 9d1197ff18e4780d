import { expect, test } from "vitest";
import type { Question } from "../core/questions.ts";
import { emptyState, type State } from "../core/state.ts";
import { Heap } from "../core/heap.ts";
import { atOnce } from "../core/steps.ts";
import { makeQuestions } from "./inbox.ts";

function stateWith(...questions: readonly Partial<Question>[]): State {
  const state = emptyState();
  for (const [i, given] of questions.entries()) {
    const question: Question = {
      id: `q${i}`,
      agentId: "a",
      alias: "acp:a",
      kind: "permission",
      text: "Write?",
      sinceMs: 10_000,
      state: "open",
      endedAtMs: 0,
      ...given,
    };
    state.questions.byId.set(question.id, { question, timer: new Heap<string>().add(0, "") });
  }
  return state;
}

function asked(...questions: readonly Partial<Question>[]): readonly string[] {
  return atOnce(makeQuestions(stateWith(...questions))).map(({ id, alias }) => `${id} of ${alias}`);
}

test("a question that two sources of one agent tell is one", () => {
  expect(asked({ sinceMs: 10_400 }, { alias: "file@box:a", sinceMs: 10_000 })).toEqual([
    "q1 of file@box:a",
  ]);
});

test("what one source asks twice is two questions, and so is what two agents ask", () => {
  expect(asked({}, { sinceMs: 10_100 })).toHaveLength(2);
  expect(asked({}, { agentId: "b", alias: "acp:b" })).toHaveLength(2);
});

test("the same words, much later and from another source, are another question", () => {
  expect(asked({}, { alias: "file@box:a", sinceMs: 60_000 })).toHaveLength(2);
});

test("two sources that end it in different ways tell of one question, as who saw more does", () => {
  const state = stateWith({ state: "answered" }, { alias: "file@box:a", state: "withdrawn" });
  expect(atOnce(makeQuestions(state))).toMatchObject([{ state: "answered" }]);
  expect(atOnce(makeQuestions(state)).filter((each) => each.state === "withdrawn")).toEqual([]);
});

test("what one source still sees open is open", () => {
  const state = stateWith({ state: "answered" }, { alias: "file@box:a", sinceMs: 10_400 });
  expect(atOnce(makeQuestions(state)).filter((each) => each.state === "open")).toMatchObject([
    { id: "q1" },
  ]);
  expect(atOnce(makeQuestions(state))).toHaveLength(1);
});
