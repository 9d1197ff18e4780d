/** How well Find finds: the share of first places, and the mean reciprocal rank. */
import { expect, test } from "vitest";
import { textOf } from "./document.ts";
import { Documents } from "./documents.ts";
import { EXAMPLES } from "../../test/support/search/evaluation-set.ts";
import { document } from "../../test/support/search/fixture.ts";
import { loadModel } from "./model.ts";

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

async function indexed() {
  const model = await loadModel();
  const documents = new Documents();
  for (const { name, description, tools } of EXAMPLES) {
    const each = document(name, { description, tools });
    documents.add(each);
    documents.setVector(name, model.embed(textOf(each)));
  }
  const rankOf = (query: string, name: string) => {
    const limit = EXAMPLES.length;
    const ids = documents.rank({ query, vector: model.embed(query), tools: [], limit });
    return ids.indexOf(name) + 1;
  };
  return { rankOf };
}

function judged(ranks: readonly number[]): { first: number; reciprocal: number } {
  const first = ranks.filter((rank) => rank === 1).length / ranks.length;
  const reciprocal = ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length;
  return { first, reciprocal };
}

test("the set has 40 agents or more, and paraphrases share no content word with theirs", () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(40);
  const shared = EXAMPLES.flatMap(({ name, description, tools, paraphrase }) => {
    const known = new Set(contentWords(`${name} ${description} ${tools.join(" ")}`));
    return contentWords(paraphrase).flatMap((word) =>
      known.has(word) ? [`${name}: ${word}`] : [],
    );
  });
  expect(shared).toEqual([]);
});

test("three of four queries find their agent in first place", async ({ annotate }) => {
  const { rankOf } = await indexed();
  const direct = EXAMPLES.map(({ name, query }) => rankOf(query, name));
  const paraphrased = EXAMPLES.map(({ name, paraphrase }) => rankOf(paraphrase, name));
  const all = judged([...direct, ...paraphrased]);
  await annotate(
    `R@1 ${all.first.toFixed(3)}, MRR ${all.reciprocal.toFixed(3)}; ` +
      `paraphrases R@1 ${judged(paraphrased).first.toFixed(3)}`,
  );
  expect(all.first).toBeGreaterThanOrEqual(0.75);
  expect(all.reciprocal).toBeGreaterThanOrEqual(0.8);
  expect(judged(direct).first).toBeGreaterThanOrEqual(0.95);
  expect(judged(paraphrased).first).toBeGreaterThanOrEqual(0.6);
});

test("the exact name of an agent finds it", async () => {
  const { rankOf } = await indexed();
  expect(EXAMPLES.filter(({ name }) => rankOf(name, name) !== 1)).toEqual([]);
});
