/** The one frame that is ever added to a conversation: a notification that says the status. */
import { STATUS_KEY, STATUS_METHOD, STATUS_VARIANT } from "../../wires/acp/form.ts";
import type { AcpRecord, StatusForm } from "../../wires/acp/record.ts";

export function statusFrame(form: StatusForm, record: AcpRecord): object {
  const { sessionId } = record;
  switch (form) {
    case "meta": {
      const { questions: _, ...profile } = record;
      const update = { sessionUpdate: "session_info_update", _meta: { [STATUS_KEY]: profile } };
      return notification("session/update", { sessionId, update });
    }
    case "ext":
      return notification(STATUS_METHOD, { sessionId, ...saidOf(record) });
    case "variant": {
      const update = { sessionUpdate: STATUS_VARIANT, ...saidOf(record) };
      return notification("session/update", { sessionId, update });
    }
  }
}

/** These keys and no others: clients in Go take a frame for another by what else is in it. */
function saidOf({ status, message, currentTask }: AcpRecord): object {
  return {
    status,
    ...(message !== null && { message }),
    ...(currentTask !== null && { currentTask }),
  };
}

function notification(method: string, params: object): object {
  return { jsonrpc: "2.0", method, params };
}
