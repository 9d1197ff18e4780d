/** Questions that agents wait for a person to answer. */
import { z } from "zod";
import type { Access } from "../core/access.ts";
import { type Order, pageOf, sortedPage } from "../core/pages.ts";
import type { Question } from "../core/questions.ts";
import { AT, moment, SOME_ID, someOf, text } from "./fields.ts";
import { QUESTION_SHAPE, QUESTION_STATES } from "./fleet-shapes.ts";
import { listJson, matching, PAGE, PAGED } from "./lists.ts";
import { momentOf } from "./moments.ts";
import { operation, type Uses } from "./operation.ts";

/** The oldest first. */
const ORDER: Order<Pick<Question, "sinceMs" | "id">> = {
  atMs: ({ sinceMs }) => sinceMs,
  key: ({ id }) => id,
};

/** The answer and its stream take the same. */
export const STATE = someOf(QUESTION_STATES);

const list = operation({
  path: "/v1/questions",
  effect: "reads",
  access: { action: "question.read", resource: "question:*" },
  brief: "List the questions of agents",
  about: "Questions that agents wait for a person to answer, the oldest first.",
  input: z.strictObject({ state: STATE, ...PAGE, at: AT }),
  output: z.strictObject({
    sequence: PAGED.sequence,
    atMs: moment("Of which moment it is"),
    total: PAGED.total,
    cursor: PAGED.cursor,
    questions: z.array(QUESTION_SHAPE),
  }),
  async run({ fleet }: Uses<"fleet">, { state, at, ...wanted }) {
    const thenMs = momentOf(at);
    if (thenMs === undefined) {
      const { questions: all, ...now } = await fleet.questions(state);
      const { items, ...page } = sortedPage(all, ORDER, wanted);
      return { ...now, ...page, questions: items };
    }
    const { questions: all, sequence, atMs } = await fleet.at(thenMs);
    const isAsked = (each: Question) => state.length === 0 || state.includes(each.state);
    const { items, ...page } = pageOf(matching(all, isAsked), ORDER, wanted);
    return { sequence, atMs, ...page, questions: items };
  },
  json: listJson("questions", ORDER),
});

const DISMISS: Access = { action: "question.dismiss", resource: "question:{id}" };

const dismiss = operation({
  path: "/v1/questions/dismiss",
  effect: "ends",
  access: DISMISS,
  brief: "Dismiss a question",
  about:
    "Take a question off the list without an answer: its agent no longer counts as one that " +
    "needs a person. The same question stays dismissed when it is repeated; a new one is listed.",
  input: z.strictObject({
    id: text("A question by its id, or its agent: all that the agent asks now", SOME_ID),
  }),
  output: z.strictObject({ ids: z.array(z.string()).describe("The questions dismissed") }),
  async run({ engine, fleet, permit }: Uses<"engine" | "fleet" | "permit">, { id }, { by }) {
    const ids = await idsOf(id, { engine, fleet });
    for (const each of ids) permit(by, DISMISS, { id: each });
    for (const each of ids) await engine.execute({ type: "question.dismiss", id: each }, by);
    return { ids };
  },
});

async function idsOf(
  given: string,
  { engine, fleet }: Uses<"engine" | "fleet">,
): Promise<readonly string[]> {
  if (await engine.read(({ questions: { byId } }) => byId.has(given))) return [given];
  const { row } = await fleet.find(given);
  const open = await fleet.questions(["open"]);
  return open.questions.flatMap(({ id, agentId }) => (agentId === row.id ? [id] : []));
}

export const questions = { list, dismiss } as const;
