/**
 * How an agent's own status travels in ACP, and what is understood of it.
 *
 *   variant   session/update { update: { sessionUpdate: "agent_status_update", status, … } }
 *   flat      session/update { sessionUpdate: "agent_status_update", status, … }
 *   meta      session/update { update: { sessionUpdate: "session_info_update", _meta } }
 *   ext       _rollcall/agent_status { sessionId, status, … }
 *
 * `meta` is valid everywhere. The variant is unknown to every client of ACP v1, and some take it
 * for another update. The flat form is the proposal's own example, which no schema allows: clients
 * drop it with an error, or fail; it is only sent when it was asked for by name.
 */
import { field } from "../../../core/text.ts";
import { textIn } from "./frames.ts";
import { STATUSES, type AcpSource, type AcpStatus, type StatusForm } from "./record.ts";
import { shownText } from "./shown.ts";

/** The key in `_meta` under which a status travels, and under which a client asks for it. */
export const STATUS_KEY = "rollcall/status";
export const STATUS_METHOD = "_rollcall/agent_status";
export const STATUS_VARIANT = "agent_status_update";

/** The status that an agent reports: the three fields of the proposal. */
export interface ReportedStatus {
  readonly status: AcpStatus;
  readonly message?: string | null;
  /** "Step 2/5: Finding Rust files". */
  readonly currentTask?: string | null;
}

/** The same, as it was understood. */
export interface SaidStatus {
  readonly status: AcpStatus;
  readonly message: string | null;
  readonly currentTask: string | null;
  readonly source: Extract<AcpSource, "agent_status_update" | "meta">;
}

const FORMS: readonly StatusForm[] = ["meta", "ext", "variant", "flat"];

/** The status in the parameters of a `session/update`, in whichever form it came. */
export function saidIn(params: unknown): SaidStatus | undefined {
  const update = field(params, "update");
  if (textIn(update, "sessionUpdate") === STATUS_VARIANT) return said(update, STATUS_VARIANT);
  if (textIn(update, "sessionUpdate") === "session_info_update") {
    const value = field(field(update, "_meta"), STATUS_KEY);
    return textIn(value, "status") === undefined ? undefined : said(value, "meta");
  }
  if (update === undefined && textIn(params, "sessionUpdate") === STATUS_VARIANT) {
    return said(params, STATUS_VARIANT);
  }
  return undefined;
}

/** A word that is not one of the five still says that something goes on. */
export function said(value: unknown, source: SaidStatus["source"]): SaidStatus {
  const word = textIn(value, "status");
  return {
    status: STATUSES.find((status) => status === word) ?? "thinking",
    message: shownText(textIn(value, "message")),
    currentTask: shownText(textIn(value, "currentTask")),
    source,
  };
}

/** A notification to the client that carries a status in this form. */
export function statusMessage(form: StatusForm, sessionId: string, status: ReportedStatus): object {
  const message = (method: string, params: object): object => ({ jsonrpc: "2.0", method, params });
  switch (form) {
    case "meta": {
      const update = { sessionUpdate: "session_info_update", _meta: { [STATUS_KEY]: status } };
      return message("session/update", { sessionId, update });
    }
    case "ext":
      return message(STATUS_METHOD, { sessionId, ...threeFields(status) });
    case "variant": {
      const update = { sessionUpdate: STATUS_VARIANT, ...threeFields(status) };
      return message("session/update", { sessionId, update });
    }
    case "flat": {
      const update = { sessionUpdate: STATUS_VARIANT, ...threeFields(status) };
      return message("session/update", { sessionId, ...update });
    }
  }
}

/** No other field: some clients tell an update by the fields it has. */
function threeFields({ status, message, currentTask }: ReportedStatus): object {
  return { status, ...(message && { message }), ...(currentTask && { currentTask }) };
}

/** `"meta"`, or `true` for the safest form, in the `_meta` of the client's capabilities. */
export function wantedForm(clientCapabilities: unknown): StatusForm | null {
  const wish = field(field(clientCapabilities, "_meta"), STATUS_KEY);
  if (wish === true) return "meta";
  return FORMS.find((form) => form === wish) ?? null;
}
