/**
 * Fields of our emitters beyond the public format, in `x_meta`. Written here and read here: as
 * any program may write a status file, a reader takes what has the right shape and no more.
 */
import {
  ACTIVITIES,
  QUESTION_KINDS,
  type Activity,
  type ReportedQuestion,
  type QuestionKind,
} from "../../core/reports.ts";
import { field } from "../../core/text.ts";
import type { ProcessProof } from "../../machine/processes.ts";
import type { TmuxPane } from "../../machine/surroundings.ts";
import type { Status } from "./format.ts";

export interface OwnMeta {
  /** The agent whose row of the fleet it is, where that is not the file's own agent. */
  readonly agentId?: string | undefined;
  /** The process that the file speaks for. */
  readonly process?: ProcessProof | undefined;
  /** Finer than the state of its task. */
  readonly activity?: Activity | undefined;
  readonly question?: FileQuestion | undefined;
  /** The ACP proxy's facts of its conversation. */
  readonly acp?: Readonly<Record<string, unknown>> | undefined;
  readonly tmux?: TmuxPane | undefined;
}

/** A question as hooks and proxies see it; since when it is asked, the task of the file says. */
interface FileQuestion {
  readonly kind: QuestionKind;
  readonly text: string;
  readonly options?: readonly string[];
  /** Which tool of the agent asks. */
  readonly tool?: string;
}

/** `x_meta` of our own, beside what its coding agent says of itself. */
export function writeMeta(own: OwnMeta, coding: Readonly<Record<string, unknown>> = {}) {
  const { agentId, tmux, ...rollcall } = own;
  const isSaid = Object.values(rollcall).some((value) => value !== undefined);
  return {
    ...coding,
    ...(tmux && { tmux_socket: tmux.socket, tmux_pane: tmux.pane }),
    ...(agentId !== undefined && { rollcall_agent_id: agentId }),
    ...(isSaid && { rollcall }),
  };
}

/** The same, as far as it is there. */
export interface MetaFacts extends Omit<OwnMeta, "question" | "tmux"> {
  readonly question: Partial<Omit<ReportedQuestion, "sinceMs">>;
  /** "Step 2/5: Finding Rust files", of an agent behind the ACP proxy. */
  readonly currentTask?: string | undefined;
}

export function readMeta({ x_meta }: Status): MetaFacts {
  if (!x_meta) return NOTHING;
  const own = x_meta["rollcall"];
  const acp = field(own, "acp");
  return {
    agentId: textOf(x_meta["rollcall_agent_id"]) || undefined,
    process: processOf(field(own, "process")),
    activity: ACTIVITIES.find((each) => each === field(own, "activity")),
    question: questionOf(field(own, "question")),
    acp: typeof acp === "object" && acp !== null ? { ...acp } : undefined,
    currentTask: textOf(field(acp, "current_task")),
  };
}

const NOTHING: MetaFacts = { question: {} };

function processOf(value: unknown): ProcessProof | undefined {
  const [pid, start] = [field(value, "pid"), field(value, "start")];
  return typeof pid === "number" && typeof start === "string" ? { pid, start } : undefined;
}

function questionOf(value: unknown): MetaFacts["question"] {
  const kind = QUESTION_KINDS.find((each) => each === field(value, "kind"));
  const [text, options] = [textOf(field(value, "text")), field(value, "options")];
  return {
    ...(kind && { kind }),
    ...(text !== undefined && { text }),
    ...(Array.isArray(options) && { options: options.flatMap((each) => textOf(each) ?? []) }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
