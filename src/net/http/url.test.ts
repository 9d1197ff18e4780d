import { expect, test } from "vitest";
import { parseUrl } from "./url.ts";

test.each([
  ["http://box:9090", "http://box:9090"],
  ["https://box/rollcall/", "https://box/rollcall"],
  ["box:9090", "http://box:9090"],
  [":9191", "http://127.0.0.1:9191"],
  ["0.0.0.0:9090", "http://127.0.0.1:9090"],
  ["[::]:9090", "http://[::1]:9090"],
  ["[::1]:9090", "http://[::1]:9090"],
])("%s is the daemon at %s", (text, url) => {
  expect(parseUrl(text)).toBe(url);
});

test.each(["ftp://box", "http://", "box:port", "http://user:secret@box", "http://box/?x=1", " "])(
  "%s is refused, with the way to write it",
  (text) => {
    expect(() => parseUrl(text, "--url")).toThrow("--url is");
  },
);
