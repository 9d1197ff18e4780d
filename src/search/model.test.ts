import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { builtInEmbedder } from "./embedder.ts";
import { parseModel } from "./model-file.ts";
import { loadModel, Model } from "./model.ts";
import { HALF, modelFile } from "../../test/support/search/fixture.ts";

function lengthOf(vector: Float32Array): number {
  return Math.hypot(...vector);
}

describe("a model made by hand", () => {
  const tiny = new Model(
    parseModel(
      modelFile({
        tokens: ["x", "y", "##y"],
        dimensions: 4,
        groupSize: 2,
        scales: [HALF.one, HALF.half, HALF.two, HALF.one, HALF.one, HALF.one],
        weights: [3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, -8],
      }),
    ),
  );

  test("the vector of a token is its row, one unit long", () => {
    expect([...tiny.embed("x")]).toEqual([1, 0, 0, 0]);
    expect([...tiny.embed("Y")]).toEqual([0, 1, 0, 0]);
  });

  test("the vector of a text is the mean of its tokens, each with its scales", () => {
    expect([...tiny.embed("x y")]).toEqual([0.6, 0.8, 0, 0].map(Math.fround));
    const long = Math.hypot(3, 8);
    expect([...tiny.embed("xy")]).toEqual([3 / long, 0, 0, -8 / long].map(Math.fround));
  });

  test("a text with nothing it knows is all zeros", () => {
    expect([...tiny.embed("???")]).toEqual([0, 0, 0, 0]);
  });
});

describe("the model that comes with us", () => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel();
  });

  // Computed from the same file by another program, in another language.
  test.each([
    ["Fetches and parses web pages", [0.139964, 0.138437, -0.118749, -0.023754], -0.008052],
    ["Déjà-vu: unreadable naïveté, 東京 tokyo!", [-0.050707, -0.201892, -0.218207], 0.015809],
    ["Kubernetes helm-chart re-deployer_v2", [0.192762, 0.019915, 0.063817, -0.294406], 0.01106],
    ["ΑΘΗΝΑ straße 서울 ﬁnance", [0.243225, -0.197779, -0.377943, -0.035927], 0.02847],
    ["😀 robots\u200b \u0000ok \ufffdfine", [-0.189577, 0.12175, -0.136294, -0.09968], 0.002113],
  ])("%j has the vector it should have", (text, beginning, end) => {
    const vector = model.embed(text);
    expect(vector).toHaveLength(256);
    for (const [i, value] of beginning.entries()) expect(vector[i]).toBeCloseTo(value, 5);
    expect(vector[255]).toBeCloseTo(end, 5);
  });

  test("texts that mean the same are near each other", () => {
    const a = model.embed("book flights and hotels");
    const b = model.embed("arrange a trip with airline and accommodation");
    expect(a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)).toBeCloseTo(0.603533, 5);
  });

  test("whatever the text, its vector is one unit long or zero, and always the same", () => {
    const texts = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.lorem());
    fc.assert(
      fc.property(texts, (text) => {
        const vector = model.embed(text);
        const length = lengthOf(vector);
        if (length !== 0) expect(length).toBeCloseTo(1, 5);
        expect(model.embed(text)).toEqual(vector);
      }),
    );
  });

  test("a megabyte of anything is embedded as its beginning", () => {
    for (const unit of ["robot ", "\u0000", "😀", "\ud83d", "é", "東"]) {
      const length = lengthOf(model.embed(unit.repeat(1_000_000 / unit.length)));
      expect([0, 1]).toContain(Math.round(length * 1e5) / 1e5);
    }
  });

  test("one that is not there is an error that says where it was looked for", async () => {
    const missing = new URL("./missing.bin", import.meta.url);
    await expect(loadModel(missing)).rejects.toThrow(/cannot be read from .*missing\.bin/);
  });
});

describe("the built-in embedder", () => {
  test("loads its model once, at the first use, and keeps the order of many texts", async () => {
    let loads = 0;
    const embedder = builtInEmbedder(() => {
      loads += 1;
      return loadModel();
    });
    expect(loads).toBe(0);
    const texts = Array.from({ length: 100 }, (_, i) => `robot number ${i}`);
    const [vectors] = await Promise.all([embedder.embed(texts), embedder.embed(["a"])]);
    const model = await loadModel();
    expect(vectors).toEqual(texts.map((text) => model.embed(text)));
    expect(loads).toBe(1);
  });

  test("tries again to load it when that failed", async () => {
    const answers = [Promise.reject(new Error("disk on fire")), loadModel()];
    const embedder = builtInEmbedder(() => answers.shift() ?? loadModel());
    await expect(embedder.embed(["a"])).rejects.toThrow("disk on fire");
    expect(await embedder.embed(["a"])).toHaveLength(1);
  });

  test("stops when whoever asked gives up", async () => {
    const embedder = builtInEmbedder();
    await expect(embedder.embed(["a"], AbortSignal.abort())).rejects.toThrow(/abort/);
  });
});
