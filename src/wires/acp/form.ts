/**
 * How an agent's own status travels in ACP, and what is understood of it.
 *
 *   variant   session/update { update: { sessionUpdate: "agent_status_update", status, … } }
 *   flat      session/update { sessionUpdate: "agent_status_update", status, … }   read, never sent
 *   meta      session/update { update: { sessionUpdate: "session_info_update", _meta: { KEY: … } } }
 *   ext       _rollcall/agent_status { sessionId, status, … }
 *
 * The proposal shows the flat form, which no schema allows; the variant is unknown to every client
 * of ACP v1, and some take it for another update. `meta` is valid everywhere.
 */
import { field, text } from "./frames.ts";
import { STATUSES, type AcpSource, type AcpStatus, type StatusForm } from "./record.ts";
import { shown } from "./shown.ts";

/** The key in `_meta` under which a status travels, and under which a client asks for it. */
export const STATUS_KEY = "rollcall/status";
export const STATUS_METHOD = "_rollcall/agent_status";
export const STATUS_VARIANT = "agent_status_update";

/** What an agent says of itself. */
export interface SaidStatus {
  readonly status: AcpStatus;
  readonly message: string | null;
  readonly currentTask: string | null;
  readonly source: Extract<AcpSource, "agent_status_update" | "meta">;
}

const FORMS: readonly StatusForm[] = ["meta", "ext", "variant"];

/** The status in the parameters of a `session/update`, in whichever form it came. */
export function saidIn(params: unknown): SaidStatus | undefined {
  const update = field(params, "update");
  if (text(update, "sessionUpdate") === STATUS_VARIANT) return said(update, STATUS_VARIANT);
  if (text(update, "sessionUpdate") === "session_info_update") {
    const value = field(field(update, "_meta"), STATUS_KEY);
    return text(value, "status") === undefined ? undefined : said(value, "meta");
  }
  if (update === undefined && text(params, "sessionUpdate") === STATUS_VARIANT) {
    return said(params, STATUS_VARIANT);
  }
  return undefined;
}

/** A word that is not one of the five still says that something goes on. */
export function said(value: unknown, source: SaidStatus["source"]): SaidStatus {
  const word = text(value, "status");
  return {
    status: STATUSES.find((status) => status === word) ?? "thinking",
    message: shown(text(value, "message")),
    currentTask: shown(text(value, "currentTask")),
    source,
  };
}

/** `"meta"`, or `true` for the safest form, in the `_meta` of the client's capabilities. */
export function wantedForm(clientCapabilities: unknown): StatusForm | null {
  const wish = field(field(clientCapabilities, "_meta"), STATUS_KEY);
  if (wish === true) return "meta";
  return FORMS.find((form) => form === wish) ?? null;
}
