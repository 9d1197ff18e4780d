import { array, assert, constantFrom, oneof, property, string, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { encoded, HeaderDecoder, type Field } from "./hpack.ts";
import { huffmanDecoded } from "./huffman.ts";

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(" ", ""), "hex");
}

// RFC 7541, appendix C.4: three requests on one connection, in Huffman code.
test("the examples of the standard are read as it says", () => {
  const decoder = new HeaderDecoder(10_000);
  const common = [
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/"],
    [":authority", "www.example.com"],
  ];
  expect(decoder.decode(bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"))).toEqual(common);
  expect(decoder.decode(bytes("8286 84be 5886 a8eb 1064 9cbf"))).toEqual([
    ...common,
    ["cache-control", "no-cache"],
  ]);
  expect(
    decoder.decode(bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf")),
  ).toEqual([
    [":method", "GET"],
    [":scheme", "https"],
    [":path", "/index.html"],
    [":authority", "www.example.com"],
    ["custom-key", "custom-value"],
  ]);
});

test("what is written is read again", () => {
  const name = oneof(constantFrom(":status", "content-type", "grpc-status"), string());
  const fields = array(tuple(name, string({ maxLength: 300 })), { maxLength: 20 });
  assert(
    property(fields, (given) => {
      const latin1 = given.map(([a, b]): Field => [ascii(a), ascii(b)]);
      expect(new HeaderDecoder(1_000_000).decode(encoded(latin1))).toEqual(latin1);
    }),
  );
});

function ascii(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

describe("a block", () => {
  test.each([
    ["refers to what is not there", "ff80 01"],
    ["refers to nothing", "80"],
    ["ends in a text", "4003 6162"],
    ["ends in a number", "ff"],
    ["has a number without an end", "ffff ffff ffff ff"],
    ["makes the table larger than agreed", "3fe1 7f"],
    ["changes the table behind a header", "8220"],
    ["has no such Huffman code", "0084 ffff ffff 00"],
    ["has wrong Huffman padding", "0081 fe00"],
  ])("that %s is refused", (_what, hex) => {
    expect(() => new HeaderDecoder(10_000).decode(bytes(hex))).toThrow(
      expect.objectContaining({ name: "ConnectionError", number: 9 }),
    );
  });

  test("with too many headers is none, and the next one is read as it should be", () => {
    const decoder = new HeaderDecoder(100);
    const kept = Buffer.concat([bytes("40 03"), Buffer.from("abc"), bytes("01"), Buffer.from("x")]);
    expect(decoder.decode(Buffer.concat([kept, kept, kept]))).toBeUndefined();
    expect(decoder.decode(bytes("be"))).toEqual([["abc", "x"]]);
  });

  test("cannot make the table hold more than it may", () => {
    const decoder = new HeaderDecoder(1_000_000);
    const long = Buffer.concat([bytes("40 01 61 7f a1 0f"), Buffer.alloc(2_080, "v")]);
    decoder.decode(Buffer.concat([long, long, long]));
    // Only one of them fits.
    expect(decoder.decode(bytes("be"))).toEqual([["a", "v".repeat(2_080)]]);
    expect(() => decoder.decode(bytes("bf"))).toThrow("no header at 63");
  });
});

test("a path is read from its second spelling on as from its first", () => {
  const paths = ["/a", "/b", `/${"x".repeat(125)}`, `/${"x".repeat(126)}`, `/${"x".repeat(300)}`];
  for (const path of [...paths, ...paths, ...paths.toReversed()]) {
    const decoder = new HeaderDecoder(10_000);
    const fields: Field[] = [
      [":path", path],
      ["user-agent", path],
    ];
    const block = encoded(fields);
    expect(decoder.decode(block)).toEqual(fields);
    expect(() => decoder.decode(block.subarray(0, 2))).toThrow("block");
  }
});

test("a path that is no Huffman code is refused each time", () => {
  for (let i = 0; i < 2; i += 1) {
    expect(() => new HeaderDecoder(10_000).decode(bytes("0481 00"))).toThrow("Huffman");
  }
});

test("every byte has a Huffman code", () => {
  // Of RFC 7541, appendix B: the shortest, some in between, and the longest.
  expect(huffmanDecoded(bytes("07")).toString("latin1")).toBe("0");
  expect(huffmanDecoded(bytes("ff c7")).toString("latin1")).toBe("\u0000");
  expect(huffmanDecoded(bytes("ff ff ff f3")).toString("latin1")).toBe("\n");
});
