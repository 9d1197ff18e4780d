/** What every way between two nodes must do, as tests: each forwarder runs all of them. */
import { expect, test } from "vitest";
import { byOf, withAgentKey, withRequestId, type By } from "../../../src/core/by.ts";
import { RollcallError } from "../../../src/core/errors.ts";
import type { Command } from "../../../src/core/rules.ts";
import type {
  BeatBatch,
  Forwarded,
  Forwarder,
  ForwardTarget,
} from "../../../src/engine/forward.ts";
import { taskCreate } from "../core/fixture.ts";

/** A node that answers as it is told to, and remembers what came. */
export class ScriptedTarget implements ForwardTarget {
  readonly executed: { readonly command: Command; readonly by: By }[] = [];
  readonly batches: BeatBatch[] = [];
  reply: unknown = null;
  failure: RollcallError | undefined;
  head = 7;

  async executeHere<C extends Command>(command: C, by: By): Promise<Forwarded<C>> {
    this.executed.push({ command, by });
    if (this.failure) throw this.failure;
    return { reply: this.reply as Forwarded<C>["reply"], head: this.head };
  }

  async barrierHere(): Promise<number> {
    if (this.failure) throw this.failure;
    return this.head;
  }

  async beatHere(batch: BeatBatch): Promise<readonly string[]> {
    this.batches.push(batch);
    if (this.failure) throw this.failure;
    return batch.agentIds.slice(-1);
  }
}

export interface ForwarderSetup extends AsyncDisposable {
  readonly forwarder: Forwarder;
  /** The node named "a"; there is no other. */
  readonly target: ScriptedTarget;
}

const CALLER = withRequestId(
  withAgentKey(
    byOf(
      { name: "token:ä b", kind: "service", namespace: "default", roles: ["agent"], host: "box" },
      "mcp",
      "192.0.2.7",
    ),
    "digest",
  ),
  "r1",
);

const BEAT = { type: "agent.heartbeat", agentId: "x" } as const;

export function forwarderConformance(open: () => Promise<ForwarderSetup>): void {
  test("the command and its caller arrive as they are, and the reply comes back", async () => {
    await using setup = await open();
    const { forwarder, target } = setup;
    const command = taskCreate({ input: "ü\n\0\u2028", requiredTools: ["sql"] });
    target.reply = { id: "t1", token: 0, list: [1, "zwei"], none: null };
    const { reply, head } = await forwarder.execute("a", command, CALLER);
    expect(reply).toEqual(target.reply);
    expect(head).toBe(7);
    expect(target.executed).toEqual([{ command, by: CALLER }]);
  });

  test("a reply of nothing is one", async () => {
    await using setup = await open();
    expect(await setup.forwarder.execute("a", BEAT, CALLER)).toEqual({ reply: null, head: 7 });
  });

  test.each(["NOT_HOLDER", "WRONG_STATE", "LIMIT_EXCEEDED", "BUDGET_EXHAUSTED"] as const)(
    "a refusal comes back with its code and its reason: %s",
    async (code) => {
      await using setup = await open();
      const message = "agent ä holds 50 % of it:\n„no“";
      setup.target.failure = new RollcallError(code, message);
      const refused = setup.forwarder.execute("a", BEAT, CALLER);
      await expect(refused).rejects.toMatchObject({ code, message });
    },
  );

  test("a command as large as a task may be is carried", async () => {
    await using setup = await open();
    const input = "a".repeat(3_000_000);
    setup.target.reply = { input };
    const { reply } = await setup.forwarder.execute("a", taskCreate({ input }), CALLER);
    expect(reply).toEqual({ input });
  });

  test("a barrier gives the head, or says that the node does not lead", async () => {
    await using setup = await open();
    const { forwarder, target } = setup;
    target.head = 2 ** 40;
    expect(await forwarder.barrier("a")).toBe(2 ** 40);
    target.failure = new RollcallError("UNAVAILABLE", "this node does not lead");
    await expect(forwarder.barrier("a")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "this node does not lead",
    });
  });

  test("heartbeats travel as one batch, an empty one too; the refused come back", async () => {
    await using setup = await open();
    const ids = Array.from({ length: 20_000 }, (_, i) => i.toString(16).padStart(32, "0"));
    const member = { node: "b", instance: "i1" };
    const batches = [
      { ...member, agentIds: ids, unboundAgentIds: ids.slice(0, 2) },
      { ...member, agentIds: [], unboundAgentIds: [] },
    ];
    const refused: (readonly string[])[] = [];
    for (const batch of batches) refused.push(await setup.forwarder.beat("a", batch));
    expect(refused).toEqual([ids.slice(-1), []]);
    expect(setup.target.batches).toMatchObject(batches);
  });

  test("a node that nobody knows cannot be reached, and that is said at once", async () => {
    await using setup = await open();
    const unreachable = {
      code: "UNAVAILABLE",
      message: expect.stringContaining("node z") as string,
    };
    await expect(setup.forwarder.execute("z", BEAT, CALLER)).rejects.toMatchObject(unreachable);
    await expect(setup.forwarder.barrier("z")).rejects.toMatchObject(unreachable);
  });
}
