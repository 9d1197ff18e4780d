import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { OUTSIDE, world } from "../../../test/support/fetch/fixture.ts";

const CARD_URL = "http://agent.example/.well-known/agent.json";
/** Another address of the internet. */
const DEAD = "93.184.216.35";
const UNIFORM = { code: "UNAVAILABLE", message: "it could not be fetched" };

function json(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

const card: RequestListener = (_, response) => json(response, { name: "a" });

function redirectTo(location: string): RequestListener {
  return (_, response) => response.writeHead(302, { location }).end();
}

describe("what it fetches", () => {
  test("the text, from the address its name means, without a word about us", async () => {
    const seen: IncomingMessage[] = [];
    await using here = await world((request, response) => {
      seen.push(request);
      json(response, { name: "a" });
    });
    await expect(here.fetcher.text(`${CARD_URL}?v=1`)).resolves.toBe('{"name":"a"}');
    expect(here.asked).toEqual(["agent.example"]);
    expect(here.dialled).toMatchObject([{ address: OUTSIDE, port: 80 }]);
    const [{ method, url, headers } = {}] = seen as Partial<IncomingMessage>[];
    expect({ method, url }).toEqual({ method: "GET", url: "/.well-known/agent.json?v=1" });
    expect(headers).toEqual({
      host: "agent.example",
      accept: "application/json",
      "accept-encoding": "gzip",
      "user-agent": "rollcall",
      connection: "close",
    });
  });

  test("the first candidate that can be read, after one look at the name", async () => {
    const paths: unknown[] = [];
    await using here = await world((request, response) => {
      paths.push(request.url);
      if (request.url === "/b") json(response, { name: "b" });
      else response.writeHead(404).end();
    });
    const urls = ["/a", "/b", "/c"].map((path) => `http://agent.example${path}`);
    const read = (text: string): unknown => JSON.parse(text);
    await expect(here.fetcher.first(urls, read)).resolves.toEqual({ name: "b" });
    expect(paths).toEqual(["/a", "/b"]);
    expect(here.asked).toEqual(["agent.example"]);
  });

  test("what is packed, unpacked", async () => {
    await using here = await world((_, response) => {
      response.writeHead(200, {
        "content-type": "application/a2a+json",
        "content-encoding": "gzip",
      });
      response.end(gzipSync('{"name":"é"}'));
    });
    await expect(here.fetcher.text(CARD_URL)).resolves.toBe('{"name":"é"}');
  });

  test("from the next address where nobody answers at the first", async () => {
    await using here = await world(card, {
      names: () => [DEAD, OUTSIDE],
      refuses: (address) => address === DEAD,
    });
    await expect(here.fetcher.text(CARD_URL)).resolves.toBe('{"name":"a"}');
    expect(here.dialled.map((dial) => dial.address)).toEqual([DEAD, OUTSIDE]);
  });

  test("no second file where nobody answers at all", async () => {
    await using here = await world(card, { refuses: () => true });
    const urls = ["/a", "/b", "/c"].map((path) => `http://agent.example${path}`);
    await expect(here.fetcher.first(urls, (text) => text)).rejects.toMatchObject(UNIFORM);
    expect(here.dialled).toHaveLength(1);
  });

  test("from loopback, where that is allowed", async () => {
    await using here = await world(card, {
      reach: { allowsLoopback: true },
      names: () => ["127.0.0.1", "::1"],
    });
    await expect(here.fetcher.text("http://localhost:8000/")).resolves.toBe('{"name":"a"}');
    expect(here.dialled).toMatchObject([{ address: "127.0.0.1", port: 8000 }]);
  });
});

describe("where it does not go", () => {
  const NUMBERS = [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "①②⑦.⓪.⓪.①",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::]",
    "0",
    "0.0.0.0",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "0xa.1",
    "192.168.1",
    "[fe80::1]",
  ];

  test.each(NUMBERS)("to %s, a number in whatever clothes", async (host) => {
    await using here = await world(card);
    await expect(here.fetcher.text(`http://${host}/`)).rejects.toMatchObject(UNIFORM);
    expect(here.dialled).toEqual([]);
    expect(here.asked).toEqual([]);
  });

  test.each([
    ["a zone", "http://[fe80::1%25eth0]/"],
    ["a password", "http://user:secret@agent.example/"],
    ["a user", "http://user@agent.example/"],
    ["a port of mail", "http://agent.example:25/"],
    ["a port of redis", "http://agent.example:6379/"],
    ["another scheme", "file:///etc/passwd"],
    ["no scheme", "agent.example"],
    ["a URL without end", `http://agent.example/${"a/".repeat(2000)}`],
  ])("to %s", async (_, url) => {
    await using here = await world(card);
    await expect(here.fetcher.text(url)).rejects.toMatchObject(UNIFORM);
    expect(here.dialled).toEqual([]);
    expect(here.asked).toEqual([]);
    expect(JSON.stringify(here.failures)).not.toContain("secret");
  });

  test("to a name of which one address is inside: to none of them", async () => {
    for (const inside of ["10.0.0.1", "::1", "fe80::1%eth0", "169.254.169.254"]) {
      await using here = await world(card, { names: () => [OUTSIDE, inside] });
      await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
      expect(here.dialled).toEqual([]);
    }
  });

  test("to where a name leads the second time it is asked", async () => {
    const answers = [[OUTSIDE], ["127.0.0.1"], ["169.254.169.254"]];
    const paths: unknown[] = [];
    await using here = await world(
      (request, response) => {
        paths.push(request.url);
        if (request.url === "/c") json(response, {});
        else response.writeHead(307, { location: request.url === "/a" ? "/b" : "/c" }).end();
      },
      { names: () => answers.shift() ?? [] },
    );
    await expect(here.fetcher.text("http://agent.example/a")).resolves.toBe("{}");
    expect(paths).toEqual(["/a", "/b", "/c"]);
    expect(here.asked).toEqual(["agent.example"]);
    expect(here.dialled.map((dial) => dial.address)).toEqual([OUTSIDE, OUTSIDE, OUTSIDE]);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[fe80::1]/",
    "http://127.0.0.1/",
    "//169.254.169.254/",
    "https://agent.example/",
    "http://agent.example:8080/",
    "http://user:secret@agent.example/",
    "file:///etc/passwd",
    "http://",
  ])("to %s, because an agent said so", async (location) => {
    const sent: unknown[] = [];
    await using here = await world((request, response) => {
      sent.push(`${request.headers.host}${request.url}`);
      response.writeHead(302, { location }).end();
    });
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
    expect(sent).toEqual([CARD_URL.replace("http://", "")]);
    expect(here.asked).toEqual(["agent.example"]);
    expect(here.dialled).toMatchObject([{ address: OUTSIDE, port: 80 }]);
  });

  test("further than two redirects", async () => {
    await using here = await world(redirectTo("/again"));
    await expect(here.fetcher.text(CARD_URL)).rejects.toMatchObject(UNIFORM);
    expect(here.dialled).toHaveLength(3);
  });

  test("to more addresses of one errand than it is given", async () => {
    const urls = Array.from({ length: 8 }, (_, n) => `http://agent.example/${n}`);
    const paths: unknown[] = [];
    await using here = await world((request, response) => {
      paths.push(request.url);
      response.writeHead(404).end();
    });
    await expect(here.fetcher.first(urls, (text) => text)).rejects.toMatchObject(UNIFORM);
    expect(paths).toHaveLength(8);
    expect(here.asked).toHaveLength(1);
  });

  test("to a second origin on the same errand", async () => {
    await using here = await world(card);
    const urls = ["http://agent.example/", "http://other.example/"];
    await expect(here.fetcher.first(urls, (text) => text)).rejects.toMatchObject(UNIFORM);
    expect(here.asked).toEqual([]);
  });
});
