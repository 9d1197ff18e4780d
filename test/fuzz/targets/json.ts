/** Readers of JSON: ARCP frames, cards, status files, hook payloads, lines of ACP. */
import { parseJson } from "../../../src/core/text.ts";
import { redact } from "../../../src/core/redact.ts";
import { DIALECTS } from "../../../src/coding-agents/hooks/dialects.ts";
import { eventOf, factOf, HOOK_HOSTS, sessionIdOf } from "../../../src/coding-agents/hooks/fact.ts";
import { fold, newSession } from "../../../src/coding-agents/hooks/session.ts";
import { candidateUrls } from "../../../src/directory/cards/candidates.ts";
import { canonical } from "../../../src/directory/cards/canonical.ts";
import { endpointsOf, readCard, speaksFor } from "../../../src/directory/cards/card.ts";
import { readHeartbeat } from "../../../src/directory/cards/heartbeat.ts";
import { proseOf } from "../../../src/directory/cards/prose.ts";
import { cardAs } from "../../../src/directory/cards/versions.ts";
import { AcpDeriver } from "../../../src/wires/acp/derive/deriver.ts";
import { AcpLineReader } from "../../../src/wires/acp/derive/reader.ts";
import { decodeReply } from "../../../src/wires/arcp/codec/reading.ts";
import { decodeRequest } from "../../../src/wires/arcp/codec/requests.ts";
import { judgeFile } from "../../../src/wires/files/judgement.ts";
import { jsonText } from "../../../src/wires/files/json-text.ts";
import { readStatusJson } from "../../../src/wires/files/json-read.ts";
import { vitalityOf } from "../../../src/wires/files/liveness.ts";
import { parseStatus } from "../../../src/wires/files/read.ts";
import { reportOf } from "../../../src/wires/files/report.ts";
import { timestampMs } from "../../../src/wires/files/timestamp.ts";
import { REPLIES, REQUESTS } from "../../support/arcp/frames.ts";
import { corpus } from "../corpus.ts";
import { mutateJson, mutateLines } from "../mutate-json.ts";
import { pieces, same, type Target } from "../target.ts";
import { texts } from "../words.ts";

const NOW_MS = Date.parse("2026-06-20T16:45:00Z");

const arcp: Target = {
  name: "arcp-frames",
  seeds: texts(...REQUESTS, ...REPLIES),
  words: texts("job.submit", "job.event", "lease_request", "cost.budget", "USD:1.5", "**/x", "USD"),
  mutate: mutateJson,
  run(input) {
    for (const decoded of [decodeRequest(input.toString()), decodeReply(input.toString())]) {
      if (!decoded.ok && decoded.message.length > 300) throw new Error("a refusal without an end");
    }
  },
};

const cards: Target = {
  name: "cards",
  seeds: corpus("cards"),
  words: texts(
    "url",
    "skills",
    "supportedInterfaces",
    "capabilities",
    "tags",
    "name",
    "1.0",
    "0.3",
  ),
  mutate: mutateJson,
  run(input) {
    const text = input.toString();
    readHeartbeat(text);
    const read = readCard(text);
    if (!read.ok) return;
    const { card } = read;
    const { key } = card;
    const again = readCard(card.text);
    same(again.ok && again.card.key, key, "a card does not survive being written down");
    if (!speaksFor(card, key)) throw new Error("a card that does not speak for itself");
    same(endpointsOf(card).includes(key), true, "its own URL is no endpoint of it");
    for (const version of ["own", "0.3", "1.0"] as const) {
      const shown = readCard(cardAs(card, version));
      same(shown.ok || card.isAmbiguous, true, `as a card of ${version} it is none`);
    }
    JSON.parse(canonical(card.json));
    proseOf(card);
    candidateUrls(card);
  },
};

const status: Target = {
  name: "status-files",
  seeds: corpus("status-files"),
  words: texts(
    "runtime",
    "task",
    "state",
    "input-required",
    "updated_at",
    "x_meta",
    "rollcall",
    "pid",
  ),
  mutate: mutateJson,
  run(input) {
    const text = input.toString();
    const read = readStatusJson(text);
    if (read.ok)
      same(readStatusJson(jsonText(read.value)).ok, true, "what was read is not written back");
    const parsed = parseStatus(text);
    if (!("status" in parsed)) return;
    const updatedAtMs = timestampMs(parsed.status.runtime.updated_at);
    const file = { kind: "status", path: "/x.json", ...parsed, updatedAtMs, oddities: [] } as const;
    const processes = {
      census: () => () => true,
      find: () => undefined,
      startedAtMs: () => undefined,
    };
    const signs = { nowMs: NOW_MS, staleAfterMs: 60_000, processes };
    const vitality = vitalityOf({ file, writer: undefined }, signs);
    reportOf(file, { host: "box", ...vitality, inStateSinceMs: updatedAtMs });
    judgeFile(file, signs);
  },
};

/** One payload a line, as one session after the other sends them. */
const hooks: Target = {
  name: "hook-payloads",
  seeds: corpus("hook-payloads"),
  words: texts(
    "hook_event_name",
    "Stop",
    "PreToolUse",
    "tool_input",
    "command",
    "token=",
    "eyJ",
    "--",
  ),
  mutate: mutateLines,
  run(input) {
    for (const host of HOOK_HOSTS) {
      let session = newSession(host, "s");
      for (const [order, line] of input.toString().split("\n").entries()) {
        const given = parseJson(line);
        const payload = DIALECTS[host].translate?.(given) ?? given;
        eventOf(payload);
        sessionIdOf(payload);
        const circumstances = { id: String(order), order, atMs: NOW_MS + order };
        const fact = factOf(payload, circumstances, DIALECTS[host]);
        if (fact) session = fold(session, fact);
      }
    }
    redact(input.toString());
  },
};

function acpRecords(chunks: readonly Buffer[]): readonly unknown[] {
  const deriver = new AcpDeriver({ readsTodos: true });
  const reader = new AcpLineReader();
  const frames = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.finish()];
  return frames.map((frame, i) =>
    deriver.observe(frame.kind === "request" ? "client" : "agent", frame, i * 1_000),
  );
}

const acp: Target = {
  name: "acp-lines",
  seeds: corpus("acp-lines"),
  words: texts(
    "session/update",
    "session/prompt",
    "sessionUpdate",
    "tool_call",
    "toolCallId",
    "status",
  ),
  mutate: mutateLines,
  run(input) {
    const whole = acpRecords([input]);
    same(whole.length, acpRecords(pieces(input)).length, "frames depend on how they were cut");
  },
};

export const JSONS: readonly Target[] = [arcp, cards, status, hooks, acp];
