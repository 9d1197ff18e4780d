// Conversations of real agents, as they were captured, and the timeline that follows from each.
import { expect, test } from "vitest";
import { AcpDamper } from "./damper.ts";
import { AcpDeriver } from "./deriver.ts";
import { FrameReader } from "./reader.ts";
import type { AcpRecord } from "./record.ts";
import { inWords } from "./testing.ts";

const EXAMPLE_AGENT = `
0.002 C {"id":0,"method":"initialize","params":{"protocolVersion":1}}
0.196 A {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":false}}}
0.199 C {"id":1,"method":"session/new","params":{"cwd":"/home/dev/app","mcpServers":[]}}
0.202 A {"id":1,"result":{"sessionId":"9891"}}
0.203 C {"id":2,"method":"session/prompt","params":{"sessionId":"9891","prompt":[{"type":"text","text":"Hello, agent!"}]}}
0.205 A U {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I'll help."}}
1.208 A U {"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Reading project files","kind":"read","status":"pending"}
2.210 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed"}
3.214 A U {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" Now I understand."}}
4.214 A U {"sessionUpdate":"tool_call","toolCallId":"call_2","title":"Modifying critical configuration file","kind":"edit","status":"pending"}
4.218 A {"id":0,"method":"session/request_permission","params":{"sessionId":"9891","toolCall":{"toolCallId":"call_2","title":"Modifying critical configuration file","kind":"edit","status":"pending"},"options":[{"kind":"allow_once","name":"Allow","optionId":"allow"},{"kind":"reject_once","name":"Skip","optionId":"reject"}]}}
6.698 C {"id":0,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}
6.701 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_2","status":"completed"}
7.705 A U {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" Done."}}
7.705 A {"id":2,"result":{"stopReason":"end_turn"}}`;

test("the example agent of the SDK", () => {
  expect(timeline(EXAMPLE_AGENT, "9891")).toEqual([
    "0.202 idle",
    "0.203 thinking: Thinking",
    "0.205 thinking: Responding",
    "1.208 reading: Reading project files",
    "2.210 thinking: Responding",
    "4.214 writing: Modifying critical configuration file",
    "4.218 waiting: Modifying critical configuration file",
    "6.698 writing: Modifying critical configuration file",
    "6.701 thinking: Responding",
    "7.705 idle: Done",
  ]);
});

const V2_AGENT = `
0.000 C {"id":0,"method":"initialize","params":{"protocolVersion":2}}
0.001 A {"id":0,"result":{"protocolVersion":2}}
0.002 C {"id":1,"method":"session/new","params":{"cwd":"/home/dev/app"}}
0.003 A {"id":1,"result":{"sessionId":"9891"}}
0.226 C {"id":2,"method":"session/prompt","params":{"sessionId":"9891","prompt":[{"type":"text","text":"Hi"}]}}
0.228 A {"id":2,"result":{"messageId":"4ae4"}}
0.228 A U {"sessionUpdate":"user_message","messageId":"4ae4","content":[{"type":"text","text":"Hi"}]}
0.229 A U {"sessionUpdate":"state_update","state":"running"}
0.481 A U {"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"Hello"}]}
0.481 A U {"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`;

test("the agent of both versions, in v2: no idle until it says so", () => {
  expect(timeline(V2_AGENT, "9891")).toEqual([
    "0.003 idle",
    "0.226 thinking: Thinking",
    "0.481 thinking: Responding",
    "0.481 idle: Done",
  ]);
});

const OPENCODE = `
3.000 C {"id":0,"method":"initialize","params":{"protocolVersion":1}}
3.100 A {"id":0,"result":{"protocolVersion":1}}
3.200 C {"id":1,"method":"session/new","params":{"cwd":"/home/dev/app"}}
3.300 A {"id":1,"result":{"sessionId":"9891"}}
3.645 C {"id":2,"method":"session/prompt","params":{"sessionId":"9891","prompt":[{"type":"text","text":"Go"}]}}
4.910 A U {"sessionUpdate":"tool_call","toolCallId":"call_0","title":"todowrite","kind":"other","status":"pending"}
5.000 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_0","status":"completed"}
5.245 A U {"sessionUpdate":"tool_call","toolCallId":"call_1","title":"read","kind":"read","status":"pending"}
5.246 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed"}
5.552 A U {"sessionUpdate":"tool_call","toolCallId":"call_2","title":"write","kind":"edit","status":"pending"}
5.559 A {"id":1,"method":"session/request_permission","params":{"sessionId":"9891","toolCall":{"toolCallId":"call_2","title":"app/out.txt","status":"pending"},"options":[{"optionId":"once","kind":"allow_once","name":"Once"}]}}
5.560 C {"id":1,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}
5.561 A {"id":3,"method":"fs/write_text_file","params":{"sessionId":"9891","path":"/home/dev/app/out.txt","content":"x"}}
5.562 C {"id":3,"result":{}}
5.563 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_2","status":"completed"}
5.970 A U {"sessionUpdate":"tool_call","toolCallId":"call_3","title":"bash","kind":"execute","status":"pending"}
6.020 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_3","title":"echo done","kind":"execute","status":"in_progress"}
6.040 A {"id":2,"method":"session/request_permission","params":{"sessionId":"9891","toolCall":{"toolCallId":"call_3","title":"echo done","status":"pending"},"options":[{"optionId":"once","kind":"allow_once","name":"Once"}]}}
6.100 C {"id":2,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}
6.112 A U {"sessionUpdate":"tool_call_update","toolCallId":"call_3","status":"completed"}
6.640 A {"id":2,"result":{"stopReason":"end_turn"}}`;

test("opencode: it asks while the tool is in progress, and both sides use the id 2", () => {
  expect(timeline(OPENCODE, "9891")).toEqual([
    "3.300 idle",
    "3.645 thinking: Thinking",
    "4.910 thinking: todowrite",
    "5.000 thinking: Thinking",
    "5.245 reading: read",
    "5.246 thinking: Thinking",
    "5.552 writing: write",
    "5.559 waiting: app/out.txt",
    "5.560 writing: app/out.txt",
    "5.563 thinking: Thinking",
    "5.970 writing: bash",
    "6.020 writing: echo done",
    "6.040 waiting: echo done",
    "6.100 writing: echo done",
    "6.112 thinking: Thinking",
    "6.640 idle: Done",
  ]);
});

test("on a display its read of one millisecond is not seen, and its questions are at once", () => {
  expect(timeline(OPENCODE, "9891", { isDamped: true })).toEqual([
    "3.300 idle",
    "3.895 thinking: Thinking",
    "4.910 thinking: todowrite",
    "5.160 thinking: Thinking",
    "5.559 waiting: app/out.txt",
    "5.813 thinking: Thinking",
    "6.040 waiting: echo done",
    "6.362 thinking: Thinking",
    "6.640 idle: Done",
  ]);
});

test.each([EXAMPLE_AGENT, V2_AGENT, OPENCODE])(
  "the same frames give the same records",
  (frames) => {
    const [first, second] = [records(frames), records(frames)];
    expect(first).toEqual(second);
  },
);

function timeline(
  transcript: string,
  sessionId: string,
  { isDamped = false } = {},
): readonly string[] {
  const damper = new AcpDamper();
  const shown: string[] = [];
  const show = (seconds: number, record: AcpRecord): void => {
    const words = inWords(record);
    if (record.sessionId === sessionId && !shown.at(-1)?.endsWith(` ${words}`)) {
      shown.push(`${seconds.toFixed(3)} ${words}`);
    }
  };
  for (const { seconds, record } of records(transcript)) {
    const nowMs = Math.round(seconds * 1000);
    if (!isDamped) {
      show(seconds, record);
      continue;
    }
    for (;;) {
      const nextMs = damper.nextDeadlineMs;
      if (nextMs === undefined || nextMs > nowMs) break;
      for (const due of damper.tick(nextMs)) show(nextMs / 1000, due);
    }
    for (const due of damper.offer(record, nowMs)) show(seconds, due);
  }
  return shown;
}

function records(transcript: string): readonly { seconds: number; record: AcpRecord }[] {
  const deriver = new AcpDeriver();
  const readers = { C: new FrameReader(), A: new FrameReader() };
  return transcript
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [, at = "", side = "", isUpdate, message = ""] =
        /^(\S+) ([CA]) (U )?(.*)$/.exec(line) ?? [];
      const seconds = Number(at);
      const params = `{"sessionId":"9891","update":${message}}`;
      const json = isUpdate ? `{"method":"session/update","params":${params}}` : message;
      const frames = readers[side === "C" ? "C" : "A"].push(Buffer.from(`${json}\n`));
      return frames.flatMap((frame) =>
        deriver
          .observe(side === "C" ? "client" : "agent", frame, Math.round(seconds * 1000))
          .map((record) => ({ seconds, record })),
      );
    });
}
