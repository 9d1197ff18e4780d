/** The notice to a person when an agent starts to need them, safe for every place to show it. */
import { clean } from "../core/clean.ts";
import { NOTICES } from "./limits.ts";

export interface Need {
  readonly agentId: string;
  /** Where it works. */
  readonly workspace?: string;
  /** Why: "permission", "a question". */
  readonly reason: string;
  readonly question?: string;
  readonly sinceMs: number;
}

export interface Notice {
  /** One line: who and where. */
  readonly title: string;
  /** One line: what it wants. */
  readonly text: string;
  /** The needs it is about. */
  readonly needs: readonly Need[];
}

export function noticeOf(needs: readonly Need[]): Notice {
  const harmless = needs.map(cleaned);
  const [first] = harmless;
  if (!first || harmless.length > 1) return noticeOfMany(harmless);
  return {
    title: short(`${placeOf(first)} needs you`, NOTICES.titleLength),
    text: short([first.reason, first.question].filter(Boolean).join(": "), NOTICES.textLength),
    needs: harmless,
  };
}

function noticeOfMany(needs: readonly Need[]): Notice {
  const places = [...new Set(needs.map(placeOf))];
  const named = places.slice(0, NOTICES.named).join(", ");
  const rest = places.length - NOTICES.named;
  return {
    title: `${needs.length} agents need you`,
    text: short(rest > 0 ? `${named} and ${rest} more` : named, NOTICES.textLength),
    needs,
  };
}

/** The folder's name says where it is; the agent's id does if there is none. */
function placeOf({ workspace, agentId }: Need): string {
  return workspace?.split("/").findLast((step) => step !== "") ?? agentId;
}

function cleaned({ agentId, workspace, reason, question, sinceMs }: Need): Need {
  return {
    agentId: short(clean(agentId), NOTICES.titleLength),
    reason: short(clean(reason), NOTICES.textLength),
    sinceMs,
    ...(workspace !== undefined && { workspace: short(clean(workspace), NOTICES.textLength) }),
    ...(question !== undefined && { question: short(clean(question), NOTICES.textLength) }),
  };
}

function short(text: string, length: number): string {
  const characters = Array.from(text.slice(0, length * 4));
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
