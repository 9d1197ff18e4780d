/** `arcp replay`: the frames that a runtime kept of a session, from its file. */
import { existsSync, statSync } from "node:fs";
import { buildCommand } from "@stricli/core";
import { codeOf, invalidArgument, RollcallError } from "../../core/errors.ts";
import { sessionStream } from "../../core/job-stream.ts";
import { rules } from "../../core/rules.ts";
import { load } from "../../engine/replica.ts";
import { sqliteStore } from "../../log/sqlite/store.ts";
import type { Store } from "../../log/store.ts";
import { jobFrame } from "../../wires/arcp/codec/job-frames.ts";
import type { Profile } from "../../wires/arcp/codec/profile.ts";
import { framesAfter, hasFrames } from "../../wires/arcp/ledger/frames.ts";
import { numberedEntries } from "../../wires/arcp/server/stream-reader.ts";
import type { Context } from "../context.ts";
import { defaultFlag, parseSequence, requiredFlag } from "../flags.ts";
import { about } from "../help.ts";
import { pythonJson } from "./python-json.ts";
import { PythonLog, type SessionPart } from "./python-log.ts";

interface Flags {
  readonly db: string;
  readonly session: string;
  readonly afterSeq: number;
}

/** The fields of an envelope in the order in which they are printed; others follow. */
const ORDER = ["arcp", "id", "type", "session_id", "trace_id", "job_id", "event_seq", "payload"];

export const replay = buildCommand<Flags, [], Context>({
  docs: about(
    "Print what a runtime kept of a session, one frame a line, from the file that `arcp serve " +
      "--db` writes, also while it runs: ours, or that of the Python SDK. Nothing is printed for " +
      "a session that is not in it.",
    {
      call: "arcp replay --db arcp.db --session sess_01J… --after-seq 40",
      does: "what came after event 40",
    },
  ),
  parameters: {
    flags: {
      db: requiredFlag("FILE", "The runtime's file"),
      session: requiredFlag("SESSION", "Its session"),
      afterSeq: defaultFlag("0", {
        placeholder: "SEQ",
        brief: "Only what came after this event",
        parse: parseSequence,
      }),
    },
  },
  async func({ db, session, afterSeq }) {
    if (!existsSync(db)) throw new RollcallError("NOT_FOUND", `--db ${db}: there is no such file`);
    for await (const frame of framesOf(db, { session, afterSeq })) {
      await this.out.line(pythonJson(inOrder(JSON.parse(frame) as object)));
    }
  },
});

async function* framesOf(db: string, part: SessionPart): AsyncGenerator<string> {
  if (statSync(db).size === 0) throw foreign(db);
  const store = sqliteStore({ path: db, readOnly: true });
  try {
    await store.log.open();
    yield* ourFrames(store, part);
  } catch (error) {
    if (codeOf(error) !== "STORAGE_CORRUPT") throw error;
    using python = await PythonLog.open(db);
    if (!python) throw foreign(db, error);
    yield* python.frames(part);
  } finally {
    await store.close();
  }
}

async function* ourFrames(
  store: Store,
  { session, afterSeq }: SessionPart,
): AsyncGenerator<string> {
  if (await hasFrames(store.streams, session)) {
    for await (const { frame } of framesAfter(store.streams, session, afterSeq)) yield frame;
    return;
  }
  const { log, streams } = store;
  const stream = sessionStream(session);
  const { head: through } = await streams.range(stream);
  // Now, so that the state knows every job up to there: the runtime may be at work beside us.
  await log.open();
  const { state } = await load(log, rules);
  const { profile = "spec" } = state.sessions.byId.get(session)?.session ?? {};
  const jobOf = (jobId: string) => state.jobs.byId.get(jobId)?.job;
  const place = { stream, position: 0, through };
  const frames = numberedEntries({ streams, job: jobOf }, place, afterSeq);
  for await (const { seq, job, entry } of frames) {
    const time = (atMs: number) => new Date(atMs).toISOString();
    yield jobFrame({ sessionId: session, profile: profile as Profile, seq, job, entry, time });
  }
}

function foreign(db: string, cause?: unknown): RollcallError {
  return invalidArgument(`--db ${db}: this is not the file of an ARCP runtime`, cause);
}

function inOrder(frame: object): object {
  const known = ORDER.map((name) => [name, (frame as Record<string, unknown>)[name]] as const);
  const others = Object.entries(frame).filter(([name]) => !ORDER.includes(name));
  return Object.fromEntries([...known, ...others].filter(([, value]) => value !== undefined));
}
