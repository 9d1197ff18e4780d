/** Facts for tests: what hooks said, one millisecond after the other. */
import { DIALECTS } from "../../../src/coding-agents/hooks/dialects.ts";
import { factOf, type Fact, type HookEvent } from "../../../src/coding-agents/hooks/fact.ts";

/** An event, with what its payload says beside it. */
export type Said = HookEvent | readonly [HookEvent, Readonly<Record<string, unknown>>];

const START_MS = 1_700_000_000_000;

export function facts(said: readonly Said[]): readonly Fact[] {
  return said.flatMap((each, i) => {
    const [event, more] = typeof each === "string" ? [each, {}] : each;
    const payload = { hook_event_name: event, session_id: "s", ...more };
    const order = (i + 1) * 1000;
    const id = String(order).padStart(16, "0");
    const circumstances = { id, order, atMs: START_MS + i + 1 };
    return factOf(payload, circumstances, DIALECTS["claude-code"]) ?? [];
  });
}
