/** Connections that say nothing: they keep nobody out, and are told of. */
import { expect, test } from "vitest";
import { many } from "../support/http2/frames.ts";
import { dial } from "./hostile.ts";
import { victim } from "./victim.ts";

test("more connections than the daemon may open files", async () => {
  const daemon = await victim({ files: 250 });
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(many(60, () => dial(daemon.httpPort)));
    await Promise.all(many(60, () => dial(daemon.grpcPort)));
    await daemon.honestCall();
  }
  expect(await daemon.metric("rollcall_connections_refused_total")).toBeGreaterThan(100);
  expect(daemon.log().match(/too many connections/g)).toHaveLength(1);
});
