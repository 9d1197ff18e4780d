import { expect, test } from "vitest";
import type { Context } from "../context.ts";
import { Output } from "../terminal/output.ts";
import { tellEnd } from "./follow.ts";

test("the code of another runtime's error moves no cursor either", async () => {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  let exitCode = 0;
  const context = {
    err: new Output({ write }, {}),
    endWith: (code) => (exitCode = code),
  } as Partial<Context> as Context;
  const error = { code: "BAD\u001b]0;title\u0007\u001b[2J", message: "\u001b[31mno\u202e" };
  await tellEnd(context, { status: "error", error } as Parameters<typeof tellEnd>[1], false);
  expect(written).toEqual(["error: the job failed: BAD: no\n"]);
  expect(exitCode).toBe(1);
});
