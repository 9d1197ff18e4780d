import { expect, test } from "vitest";
import { keeperAddress } from "./address.ts";

test.each([
  [undefined, "127.0.0.1:7070"],
  ["", "127.0.0.1:7070"],
  [":7071", "127.0.0.1:7071"],
  ["0.0.0.0:1", "127.0.0.1:1"],
  ["box.internal:7070", "box.internal:7070"],
  ["[::]:7070", "[::1]:7070"],
  ["[fe80::1]:7070", "[fe80::1]:7070"],
])("%j is called at %s", (text, address) => {
  expect(keeperAddress(text)).toBe(address);
});

test.each([
  "box",
  "box:0",
  "box:65536",
  "http://box:7070",
  "a@b:1",
  "a b:1",
  "::1:7070",
  "ho%st:1",
])("%j is refused, with what is wanted", (text) => {
  expect(() => keeperAddress(text)).toThrow(`the address is "${text}": give it as HOST:PORT`);
});
