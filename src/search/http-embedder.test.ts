import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { codeOf } from "../core/errors.ts";
import { httpEmbedder, type HttpEmbedderOptions } from "./http-embedder.ts";
import { ENDPOINT } from "./limits.ts";

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
}

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

type Answer = (asked: EmbeddingRequest, response: ServerResponse, request: IncomingMessage) => void;

async function endpoint(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    void readText(request).then((body) =>
      answer(JSON.parse(body) as EmbeddingRequest, response, request),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`;
}

async function embedder(answer: Answer, options: Partial<HttpEmbedderOptions> = {}) {
  return httpEmbedder({ url: await endpoint(answer), model: "small", ...options });
}

const lengths: Answer = ({ input }, response) => {
  const data = input.map((text, index) => ({ index, embedding: [text.length, 0, 0] }));
  response.end(JSON.stringify({ data: data.reverse() }));
};

async function refusalOf(answer: Answer, options: Partial<HttpEmbedderOptions> = {}) {
  const asked = await embedder(answer, options);
  const error = await asked.embed(["a"]).catch((reason: unknown) => reason);
  return `${codeOf(error)} ${error instanceof Error ? error.message : ""}`;
}

describe("an endpoint that works", () => {
  test("gets model, texts and key, and its vectors come back in order, one unit long", async () => {
    const seen: unknown[] = [];
    const asked = await embedder(
      ({ model, input }, response, { headers }) => {
        seen.push([model, input, headers.authorization]);
        const data = [
          { index: 1, embedding: [0, 2] },
          { index: 0, embedding: [3, 4] },
        ];
        response.end(JSON.stringify({ data, usage: { total_tokens: 2 } }));
      },
      { key: "secret" },
    );
    const vectors = await asked.embed(["one", "two"]);
    expect(vectors.map((each) => [...each])).toEqual([
      [Math.fround(0.6), Math.fround(0.8)],
      [0, 1],
    ]);
    expect(seen).toEqual([["small", ["one", "two"], "Bearer secret"]]);
  });

  test("gets no more texts at once than a batch has", async () => {
    const sizes: number[] = [];
    const answer: Answer = (asked, response, request) => {
      sizes.push(asked.input.length);
      lengths(asked, response, request);
    };
    const asked = await embedder(answer, { batch: 2 });
    expect(await asked.embed(["a", "b", "c", "d", "e"])).toHaveLength(5);
    expect(sizes).toEqual([2, 2, 1]);
  });
});

describe("an endpoint that does not", () => {
  test.each<[string, Answer, RegExp]>([
    ["refuses", (_, response) => response.writeHead(401).end(), /answers with status 401/],
    ["sends us elsewhere", (_, r) => r.writeHead(307, { location: "/b" }).end(), /be reached/],
    ["sends no JSON", (_, response) => response.end("<html>"), /something else than embeddings/],
    ["sends other JSON", (_, response) => response.end('{"data":[{}]}'), /something else than/],
    ["leaves one out", (_, response) => response.end('{"data":[]}'), /no vector for text 1 of 1/],
    ["hangs up", (_, response) => response.destroy(), /cannot be reached/],
  ])("%s: the error is UNAVAILABLE and says so", async (_, answer, message) => {
    const refusal = await refusalOf(answer);
    expect(refusal).toMatch(message);
    expect(refusal).toMatch(/^UNAVAILABLE the embedding endpoint http:\/\/127\.0\.0\.1:\d+\/v1/);
  });

  test("sends more than anybody needs: it is not read to the end", async () => {
    const chunk = Buffer.alloc(1024 * 1024, " ");
    const endless: Answer = (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    };
    expect(await refusalOf(endless)).toContain(`more than ${ENDPOINT.answerBytes} bytes`);
  });

  test("never answers: it is given up after the time-out", async () => {
    const refusal = await refusalOf(() => undefined, { timeoutMs: 20 });
    expect(refusal).toMatch(/^UNAVAILABLE .* did not answer within 20 ms/);
  });

  test("never answers: whoever asked may give up first", async () => {
    const giveUp = new AbortController();
    const asked = await embedder(() => giveUp.abort());
    const error = await asked.embed(["a"], giveUp.signal).catch((reason: unknown) => reason);
    expect(codeOf(error)).toBe("CANCELLED");
  });

  test("changes the size of its vectors: those of before could not be compared", async () => {
    let size = 1;
    const asked = await embedder((_, response) => {
      size += 1;
      const embedding = Array.from({ length: size }, () => 1);
      response.end(JSON.stringify({ data: [{ index: 0, embedding }] }));
    });
    await asked.embed(["a"]);
    await expect(asked.embed(["a"])).rejects.toThrow(/gives 3 dimensions after 2/);
  });
});

test("an address or a batch that cannot be is refused at once", () => {
  const refused = (url: string, batch = 1) => {
    expect(() => httpEmbedder({ url, model: "m", batch })).toThrow(/embedding/);
  };
  refused("localhost:1234");
  refused("file:///etc/passwd");
  refused("http://localhost/v1/embeddings", 0);
  refused("http://localhost/v1/embeddings", 1e9);
});
