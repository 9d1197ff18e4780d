/** Changes of agents behind the proxy, a line each: when, who, what, and which step of its plan. */
import type { AcpRecord } from "../../wires/acp/derive/record.ts";
import { clean } from "../terminal/clean.ts";
import type { Output, Style } from "../terminal/output.ts";
import { padEnd } from "../terminal/width.ts";

type LineRecord = Pick<
  AcpRecord,
  "state" | "status" | "message" | "currentTask" | "background" | "stalled"
>;

const STYLES: Readonly<Record<AcpRecord["status"], Style>> = {
  waiting: "yellow",
  writing: "green",
  reading: "cyan",
  thinking: "blue",
  idle: "dim",
};

/** As long as the longest of the words. */
const WIDTH = 8;

/** `reading   Read notes.txt · Step 1/2: Look at the notes` */
export function changeOf(shown: LineRecord, out: Output): string {
  const word = stateWord(shown);
  const painted = out.paint(STYLES[shown.status], padEnd(word, WIDTH));
  const marks = [shown.stalled && "stalled", shown.background && "in the background"];
  const rest = [
    shown.message === null ? "" : clean(shown.message),
    shown.currentTask === null ? "" : out.paint("dim", clean(shown.currentTask)),
    ...marks.flatMap((mark) => (mark === false ? [] : out.paint("red", mark))),
  ].filter((part) => part !== "");
  return `${painted}  ${rest.join(out.paint("dim", " · "))}`.trimEnd();
}

/** "starting" and "exited" say more than the word of the proposal. */
export function stateWord({ state, status }: Readonly<Record<"state" | "status", string>>): string {
  return state === "starting" || state === "exited" ? state : status;
}
