// Whatever comes over the wire: nothing throws, nothing grows, and noise changes nothing.
import * as fc from "fast-check";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { AcpDeriver } from "./deriver.ts";
import { readFrame, type FrameSender } from "./frames.ts";
import { MEMORY, SHOWN } from "./limits.ts";
import { STATUSES, type AcpRecord } from "./record.ts";
import { Play } from "../../../../test/support/acp/fixture.ts";

interface Step {
  readonly sender: FrameSender;
  readonly message: unknown;
  readonly afterMs: number;
}

const id = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom("0", "1", "a"));
const sessionId = fc.constantFrom("S", "T", "__proto__");
const word = fc.constantFrom(
  ...words(`
    pending in_progress completed failed paused cancelled running idle requires_action
    unknown toString constructor
  `),
);
const variant = fc.constantFrom(
  ...words(`
    agent_message_chunk agent_thought_chunk tool_call tool_call_update plan plan_update
    plan_removed state_update subagent_update compaction_update agent_status_update
    session_info_update async_task_state_update nobody_knows
  `),
);
const anything = fc.jsonValue({ maxDepth: 3 });

const update = fc.record(
  {
    sessionUpdate: variant,
    toolCallId: fc.constantFrom("t1", "t2", "t3", "__proto__"),
    kind: fc.constantFrom("read", "edit", "execute", "think", "hasOwnProperty"),
    status: word,
    state: fc.oneof(word, fc.record({ state: word })),
    title: fc.string(),
    sessionId,
    compactionId: fc.constantFrom("c1", "c2"),
    content: fc.oneof(fc.record({ type: fc.constant("text"), text: fc.string() }), anything),
    background: fc.array(fc.record({ toolCallId: fc.constantFrom("t1", "t2") })),
    entries: fc.array(fc.record({ content: fc.string(), status: word }), { maxLength: 4 }),
    plan: fc.record({ planId: fc.constant("p"), entries: fc.array(fc.record({ status: word })) }),
    _meta: anything,
  },
  { requiredKeys: ["sessionUpdate"] },
);

const methods = fc.constantFrom(
  ...words(`
    initialize authenticate session/new session/load session/resume session/prompt
    session/close session/request_permission elicitation/create fs/read_text_file
    terminal/create terminal/wait_for_exit x/unknown
  `),
);

const message = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      method: fc.constant("session/update"),
      params: fc.record({ sessionId, update }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      id,
      method: methods,
      params: fc.record(
        { sessionId, toolCall: update, title: fc.string() },
        { requiredKeys: ["sessionId"] },
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ id, result: fc.oneof(anything, results()) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      id,
      error: fc.record({ code: fc.constantFrom(-32000, -32800, 1), message: fc.string() }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      method: fc.constant("session/cancel"),
      params: fc.record({ sessionId }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ id: fc.option(id), method: methods, params: anything }) },
);

const step: fc.Arbitrary<Step> = fc.record({
  sender: fc.constantFrom("client", "agent"),
  message,
  afterMs: fc.oneof(fc.constant(0), fc.nat(3000), fc.nat(400_000)),
});

/** Of no session that the stream has, and an answer to nothing that it asked. */
const noise: fc.Arbitrary<Step> = fc.record({
  sender: fc.constantFrom("client", "agent"),
  message: fc.oneof(
    fc
      .record({
        method: fc.constantFrom("_x/hello", "notify", "$/cancel_request"),
        params: anything,
      })
      .filter(({ params }) => !JSON.stringify(params).includes("sessionId")),
    fc.record({ id: fc.constantFrom("noise", 99), result: anything }),
    fc.record({ id: fc.constantFrom("noise", 99), error: anything }),
    fc.record({
      id: fc.constantFrom("noise", 99),
      method: fc.constant("x/noise"),
      params: fc.constant({}),
    }),
    fc.record({
      method: fc.constant("session/update"),
      params: fc.record({ sessionId: fc.constant("N"), update: anything }),
    }),
    anything,
  ),
  afterMs: fc.constant(0),
});

test("a stream of any frames never throws, and every record is within its bounds", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      for (const record of derived(steps)) expectValid(record);
    }),
    { numRuns: 300 },
  );
});

test("unrelated frames in between change no record", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(step, fc.array(noise, { maxLength: 3 })), { maxLength: 40 }),
      (both) => {
        const alone = derived(both.map(([one]) => one));
        const amidNoise = derived(both.flatMap(([one, others]) => [one, ...others]));
        expect(ofSessions(amidNoise)).toEqual(ofSessions(alone));
      },
    ),
    { numRuns: 300 },
  );
});

test("the same prefix gives the same records, whatever follows", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, length) => {
      const prefix = derived(steps.slice(0, length));
      expect(derived(steps).slice(0, prefix.length)).toEqual(prefix);
    }),
    { numRuns: 200 },
  );
});

test("a hostile agent fills no memory: sessions, tools, requests, plans, children, texts", () => {
  const play = new Play().open().prompt();
  const before = usedHeap();
  const long = "y".repeat(20_000);
  for (let index = 0; index < 600; index++) {
    const name = `${index}-${"x".repeat(200)}`;
    play.tool(name, { title: long, kind: long }).ask(name, { title: long }).prompt(name);
    play.update({ sessionUpdate: "tool_call", toolCallId: name, title: long }, name);
    play.update({ sessionUpdate: "subagent_update", sessionId: `child-${index}` }, name);
    play.update({ sessionUpdate: "plan_update", plan: { planId: name, entries: [{}] } });
    play.update({ sessionUpdate: "async_task_spawned", asyncTaskId: name });
    play.update({ sessionUpdate: "compaction_update", compactionId: name, status: "in_progress" });
    const params = { sessionId: "S", command: long };
    play.agent({ id: index, method: "terminal/create", params });
    play.said.length = 0;
  }
  expect(play.deriver.records().length).toBeLessThanOrEqual(MEMORY.sessions);
  expect(play.record().openTools).toBeLessThanOrEqual(MEMORY.tools);
  expect(play.record().pendingAsks).toBeLessThanOrEqual(MEMORY.requests);
  expect(play.record().questions).toHaveLength(SHOWN.questions);
  expect(usedHeap() - before).toBeLessThan(10 * 1024 * 1024);
});

test("a session that nobody misses makes room for a new one, and is said to be closed", () => {
  const play = new Play().open();
  for (let index = 0; index < MEMORY.sessions; index++) play.update({}, `more-${index}`);
  expect(play.said.findLast((record) => record.sessionId === "S")?.state).toBe("exited");
  expect(play.deriver.records()).toHaveLength(MEMORY.sessions);
});

test("a request that is forgotten holds nothing open", () => {
  const play = new Play().open().ask(0, { title: "first" });
  for (let index = 1; index <= MEMORY.requests; index++) {
    play.agent({ id: index, method: "fs/read_text_file", params: { sessionId: "S", path: "a" } });
  }
  expect(play.record()).toMatchObject({ status: "reading", pendingAsks: 0 });
});

function derived(steps: readonly Step[]): readonly AcpRecord[] {
  const deriver = new AcpDeriver({ readsTodos: true });
  let nowMs = 1_000_000;
  return steps.flatMap(({ sender, message: sent, afterMs }) => {
    nowMs += afterMs;
    const ticked = afterMs === 0 ? [] : deriver.tick(nowMs);
    const frame = readFrame(JSON.parse(JSON.stringify(sent)));
    return [...ticked, ...(frame === undefined ? [] : deriver.observe(sender, frame, nowMs))];
  });
}

/** Without the session of the noise, the agent as a whole, and the numbers of questions. */
function ofSessions(records: readonly AcpRecord[]): readonly unknown[] {
  return records
    .filter(({ sessionId: name }) => name !== null && name !== "N")
    .map(({ questions, ...rest }) => ({ ...rest, asked: questions.map(({ text }) => text) }));
}

function expectValid(record: AcpRecord): void {
  expect(STATUSES).toContain(record.status);
  expect(record.message?.length ?? 0).toBeLessThanOrEqual(SHOWN.message);
  expect(record.currentTask?.length ?? 0).toBeLessThanOrEqual(SHOWN.message);
  expect(record.questions.length).toBeLessThanOrEqual(SHOWN.questions);
  expect(record.pendingAsks).toBeGreaterThanOrEqual(record.questions.length - 1);
  expect(record.state === "waiting").toBe(record.status === "waiting");
  if (record.status === "idle") expect(record.currentTask).toBeNull();
  expect(Date.parse(record.since)).not.toBeNaN();
}

function results(): fc.Arbitrary<unknown> {
  return fc.record(
    {
      protocolVersion: fc.constantFrom(1, 2, 3),
      sessionId,
      stopReason: fc.constantFrom("end_turn", "cancelled", "odd"),
      outcome: fc.record({ outcome: fc.constant("selected"), optionId: fc.string() }),
      terminalId: fc.constant("x"),
    },
    { requiredKeys: [] },
  );
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function usedHeap(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
