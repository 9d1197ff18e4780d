import { describe } from "vitest";
import { forwarderConformance, ScriptedTarget } from "../../test/support/forward/conformance.ts";
import { InProcessForwarder } from "./forward.ts";

describe("nodes of one process", () => {
  forwarderConformance(async () => {
    const forwarder = new InProcessForwarder();
    const target = new ScriptedTarget();
    forwarder.nodes.set("a", target);
    return { forwarder, target, [Symbol.asyncDispose]: async () => undefined };
  });
});
