import { expect, test } from "vitest";
import type { Connection } from "./driver.ts";
import { isPassing, NAME_TAKEN, NO_STREAM, Refused } from "./failure.ts";
import { openLayout, type LayoutOptions } from "./layout.ts";
import { namesOf } from "./names.ts";

const names = namesOf("race");
const options: LayoutOptions = {
  names,
  place: "here/race",
  writtenBy: "test",
  logId: undefined,
  replicas: 3,
};

/** Servers that take the first orders of another member, and know of no stream until they did. */
function busyServers(unready: number): Connection {
  const info = {
    config: { metadata: { "rollcall-log": "theirs", "rollcall-schema": "1" } },
    state: { messages: 1 },
  };
  let questions = 0;
  const call = (subject: string) => {
    if (subject.startsWith("STREAM.CREATE")) throw new Refused(NAME_TAKEN, "name in use");
    questions += 1;
    if (questions <= unready) throw new Refused(NO_STREAM, "stream not found");
    return Promise.resolve(info);
  };
  return { facts: { version: "2.12.0" }, call } as unknown as Connection;
}

// A name is taken from the moment that the servers agree on it; the stream is there a bit later.
test("a log that another member is about to make is asked for again", async () => {
  const servers = busyServers(2);
  const error: unknown = await openLayout(servers, options).catch((refused: unknown) => refused);
  expect(error).toMatchObject({ code: NAME_TAKEN });
  expect(isPassing(error)).toBe(true);
  expect(await openLayout(servers, options)).toMatchObject({ logId: "theirs" });
});
