import { expect, test } from "vitest";
import { findUrl, parseUrl } from "./url.ts";

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

test("the flag wins over ROLLCALL_URL, that over ROLLCALL_HTTP_ADDR, that over the default", () => {
  const env = { ROLLCALL_URL: "http://a:1", ROLLCALL_HTTP_ADDR: ":2" };
  expect(findUrl("http://b:3", env)).toBe("http://b:3");
  expect(findUrl(undefined, env)).toBe("http://a:1");
  expect(findUrl(undefined, { ROLLCALL_HTTP_ADDR: ":2" })).toBe("http://127.0.0.1:2");
  expect(findUrl(undefined, { ROLLCALL_URL: "" })).toBe("http://127.0.0.1:9090");
});
