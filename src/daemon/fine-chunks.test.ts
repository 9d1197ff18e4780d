import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { MIB, SECOND } from "../core/units.ts";
import { WaitingBytes } from "../net/waiting.ts";
import { readBody } from "./body.ts";
import { chunksOf, joinFineChunks } from "./fine-chunks.ts";

const HEAD =
  "POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
const END = "0\r\n\r\n";
/** Of one letter, of more than is joined, of one letter again. */
const BODY = ["a".repeat(1_500).split(""), ["b".repeat(9_000)], "c".repeat(1_500).split("")].flat();

test("a body in chunks of any size comes whole, in few pieces, to a late reader", async () => {
  const requests = new WaitingBytes({ bytes: MIB, eachBytes: MIB, ms: SECOND });
  const pieces: number[] = [];
  let chunks: number | undefined;
  const server = createServer((request, response) => {
    joinFineChunks(request);
    const answer = async () => {
      request.on("data", ({ length }: Buffer) => pieces.push(length));
      response.end(await readBody(request, { maxBytes: MIB, requests }));
      chunks = chunksOf(request);
    };
    setImmediate(() => void answer());
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.end(
    HEAD + BODY.map((each) => `${each.length.toString(16)}\r\n${each}\r\n`).join("") + END,
  );
  let answer = "";
  for await (const text of client.setEncoding("utf8")) answer += text;

  expect(answer.split("\r\n\r\n")[1]).toBe(BODY.join(""));
  expect(chunks).toBe(BODY.length);
  expect(pieces.length).toBeLessThan(10);
});
