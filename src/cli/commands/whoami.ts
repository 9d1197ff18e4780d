/** `rollcall whoami`: how the daemon knows this caller, and where that daemon is. */
import { printFacts } from "../print.ts";
import { operation } from "../operation.ts";

export const whoami = operation("daemon.whoami", {
  examples: [
    { call: "rollcall whoami", does: "at the daemon of the current context" },
    { call: "rollcall whoami --context team", does: "at another one" },
    { call: "rollcall whoami --token-file ci.token", does: "whether a token works, and its role" },
  ],
  show: ({ name, kind, roles, host = "" }, { context }) =>
    printFacts(context, [
      ["name", name],
      ["kind", kind],
      ["roles", roles.join(", ")],
      ["host", host],
    ]),
});
