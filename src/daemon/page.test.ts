import { afterEach, beforeEach, expect, test } from "vitest";
import type { HttpDoor } from "./http-door.ts";
import { pageRoutes } from "./page.ts";
import { ask, openDoor } from "../../test/support/daemon/fixture.ts";

let door: HttpDoor;
let port = 0;

beforeEach(async () => {
  ({ door, port } = await openDoor());
  door.mount({ routes: pageRoutes() });
});

afterEach(() => door.close(0));

test("the page may run and load its own files, and nothing else", async () => {
  const { status, headers, body } = await ask(port, "/");
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  });
  expect(body).toMatch(/^<!doctype html>/);
  expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
});

test("every file it names is there, with its type", async () => {
  const { body } = await ask(port, "/");
  const named = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
  const types: Record<string, unknown> = {};
  for (const path of named) {
    const { status, headers } = await ask(port, path);
    types[path] = [status, headers["content-type"]];
  }
  expect(types).toEqual({
    "/page/elements.mjs": [200, "text/javascript; charset=utf-8"],
    "/page/icon.svg": [200, "image/svg+xml"],
    "/page/page.css": [200, "text/css; charset=utf-8"],
    "/page/page.mjs": [200, "text/javascript; charset=utf-8"],
  });
});

test("what a browser has already is not sent again", async () => {
  const { headers } = await ask(port, "/page/page.mjs");
  expect(headers["cache-control"]).toBe("no-cache");
  const etag = headers.etag ?? "";
  expect(etag).toMatch(/^"[\w-]{27}"$/);
  const again = await ask(port, "/page/page.mjs", { headers: { "if-none-match": etag } });
  expect(again).toMatchObject({ status: 304, body: "", headers: { etag } });
  const other = await ask(port, "/page/page.css", { headers: { "if-none-match": etag } });
  expect(other.status).toBe(200);
});

test.each(["/page/", "/page/tsconfig.json", "/page/../package.json", "/index.html"])(
  "nothing beside these files can be had: %s",
  async (path) => {
    expect((await ask(port, path)).status).toBe(404);
  },
);
