/** How well Find finds: the share of first places, and the mean reciprocal rank. */
import { expect, test } from "vitest";
import { documentText } from "./document.ts";
import { Documents } from "./documents.ts";
import {
  DEVELOPED,
  EXAMPLES,
  JUDGING,
  type Example,
} from "../../test/support/search/evaluation-set.ts";
import { document } from "../../test/support/search/fixture.ts";
import { loadModel } from "./model.ts";

/**
 * What cosine plus 0.02 × BM25 came to, before a word in common counted by how much of the query
 * it covers, and names by themselves: first places of the paraphrases of each half. A name in a
 * sentence was at 0.986, all other kinds at 1.
 */
const BEFORE = { developed: 0.48, judging: 0.519 };

const LITTLE = new Set(
  (
    "a an and are at be by can for from has have i in into is it its me my of on or our out " +
    "over that the their them these they this to up us what when who why will with against " +
    "does do"
  ).split(" "),
);

function contentWords(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  // An s at the end is no other word.
  return words.filter((word) => !LITTLE.has(word)).map((word) => word.replace(/s$/, ""));
}

/** Of a query, the rank of the agent that it should find. */
type RankOf = (query: string, name: string) => number;

async function indexed(): Promise<RankOf> {
  const model = await loadModel();
  const documents = new Documents();
  for (const { name, description, tools } of EXAMPLES) {
    const each = document(name, { description, tools });
    documents.add(each);
    documents.setVector(name, model.embed(documentText(each)));
  }
  return (query, name) => {
    const limit = EXAMPLES.length;
    const ids = documents.rank({ query, vector: model.embed(query), tools: [], limit });
    return ids.indexOf(name) + 1;
  };
}

function judged(ranks: readonly number[]): { first: number; reciprocal: number } {
  const first = ranks.filter((rank) => rank === 1).length / ranks.length;
  const reciprocal = ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length;
  return { first, reciprocal };
}

function paraphrased(examples: readonly Example[], rankOf: RankOf) {
  return judged(
    examples.flatMap(({ name, paraphrases }) => paraphrases.map((each) => rankOf(each, name))),
  );
}

test("the set has 150 agents, and paraphrases share no content word with theirs", () => {
  expect(new Set(EXAMPLES.map(({ name }) => name)).size).toBe(150);
  const shared = EXAMPLES.flatMap(({ name, description, tools, paraphrases }) => {
    const known = new Set(contentWords(`${name} ${description} ${tools.join(" ")}`));
    const words = paraphrases.flatMap(contentWords);
    return words.flatMap((word) => (known.has(word) ? [`${name}: ${word}`] : []));
  });
  expect(shared).toEqual([]);
});

test("paraphrases find their agent among 150 more often than before", async ({ annotate }) => {
  const rankOf = await indexed();
  const [developed, judging] = [paraphrased(DEVELOPED, rankOf), paraphrased(JUDGING, rankOf)];
  await annotate(
    [developed, judging]
      .map(({ first, reciprocal }) => `R@1 ${first.toFixed(3)}, MRR ${reciprocal.toFixed(3)}`)
      .join("; held out: "),
  );
  expect(developed.first).toBeGreaterThanOrEqual(BEFORE.developed + 0.05);
  expect(judging.first).toBeGreaterThanOrEqual(BEFORE.judging + 0.05);
  expect(judging.reciprocal).toBeGreaterThanOrEqual(0.7);
});

test.each<[string, (example: Example) => string]>([
  ["the words of its card", ({ query }) => query],
  ["its exact name", ({ name }) => name],
  ["its name in a sentence", ({ name }) => `please ask the ${name} for help with this`],
])("%s always find an agent", async (_, queryOf) => {
  const rankOf = await indexed();
  const missed = EXAMPLES.filter((example) => rankOf(queryOf(example), example.name) !== 1);
  expect(missed.map(({ name }) => name)).toEqual([]);
});
