import { expect, test } from "vitest";
import { RollcallError } from "../../core/errors.ts";
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

test.each([
  "http://me:hunter2@box",
  "me:hunter2@box:9",
  "http://me:hun/ter2@box",
  "x://me:h@ter2@b",
])("a password is not repeated: %s", (text) => {
  const refusal = "--url has a user or a password: give it as http://HOST:PORT, without them";
  expect(() => parseUrl(text, "--url")).toThrow(new RollcallError("INVALID_ARGUMENT", refusal));
});

test.each(["ftp://box", "http://", "box:port", "http://box/?x=1", " "])(
  "%s is refused, with the way to write it",
  (text) => {
    expect(() => parseUrl(text, "--url")).toThrow("--url is");
  },
);
