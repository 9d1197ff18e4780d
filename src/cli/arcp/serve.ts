/** `arcp serve`: a runtime with one agent to try things out with. */
import { buildCommand } from "@stricli/core";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { sqliteStore } from "../../log/sqlite/store.ts";
import type { Store } from "../../log/store.ts";
import type { LedgerSize } from "../../wires/arcp/ledger/import.ts";
import { ArcpRuntime } from "../../wires/arcp/server/runtime.ts";
import { serveWebSocket } from "../../wires/arcp/transports/serve-websocket.ts";
import { staticTokens } from "../../wires/arcp/server/verifiers.ts";
import type { Context } from "../context.ts";
import { defaultFlag, hostFlag, portFlag, requiredFlag, textFlag } from "../flags.ts";
import { about } from "../help.ts";
import { PythonLog } from "./python-log.ts";

interface Flags {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly principal: string;
  readonly db?: string;
}

export const serve = buildCommand<Flags, [], Context>({
  docs: about(
    "Run a runtime that serves the agent `echo`, until Ctrl-C. With --db sessions, jobs and " +
      "events outlive it. `rollcall up` is the one for real agents.",
    { call: "arcp serve --token tok", does: "at ws://127.0.0.1:7777/arcp" },
    { call: "arcp serve --token tok --port 0 --db arcp.db", does: "durable, at a free port" },
  ),
  parameters: {
    flags: {
      host: hostFlag,
      port: portFlag("7777"),
      token: requiredFlag("TOKEN", "The token it takes"),
      principal: defaultFlag("cli-user", {
        placeholder: "NAME",
        brief: "Who has this token",
        parse: String,
      }),
      db: textFlag("FILE", "Where to keep what must last [in memory]"),
    },
  },
  async func({ host, port, token, principal, db }) {
    const interrupted = this.untilInterrupted();
    const store = db === undefined ? undefined : sqliteStore({ path: db });
    try {
      const onImport = ({ jobs, sessions }: LedgerSize) =>
        void this.err.line(`takes over ${jobs} jobs and ${sessions} sessions of an older version`);
      await using runtime = demoRuntime({ token, principal, store, onImport });
      await runtime.start().catch((error: unknown) => explain(error, db));
      const isEverywhere = host === "0.0.0.0" || host === "::";
      await using door = await serveWebSocket((transport) => runtime.accept(transport), {
        host,
        port,
        // The names that this machine has are not known here; the token is the lock.
        ...(isEverywhere && { allowedHosts: ["*"] }),
      });
      await this.err.line(`arcp serve listening on ${door.url}`);
      if (interrupted.aborted) return;
      await new Promise((resolve) => interrupted.addEventListener("abort", resolve));
    } finally {
      await store?.close();
    }
  },
});

interface DemoOptions {
  readonly token: string;
  readonly principal: string;
  readonly store: Store | undefined;
  readonly onImport: (found: LedgerSize) => void;
}

function demoRuntime({ token, principal, store, onImport }: DemoOptions): ArcpRuntime {
  const runtime = new ArcpRuntime({
    runtime: { name: "arcp-cli", version: releaseVersion() },
    bearer: staticTokens({ [token]: principal }),
    cancelBy: "principal",
    onImport,
    ...(store && { store }),
  });
  return runtime.registerAgent("echo", async (input, job) => {
    await job.log("info", "echo started");
    return { echoed: input ?? null };
  });
}

/** Throws what says more of a file that is not ours, where more is known. */
async function explain(error: unknown, db = ""): Promise<never> {
  using python = codeOf(error) === "STORAGE_CORRUPT" ? await PythonLog.open(db) : undefined;
  if (!python) throw error;
  const sessions = python.sessions();
  const [kept, them] = sessions === 1 ? ["1 session", "it"] : [`${sessions} sessions`, "them"];
  throw new RollcallError(
    "WRONG_STATE",
    `--db ${db} was written by the Python SDK's arcp serve and has frames of ${kept}, ` +
      `but no tokens to resume ${them} with: use another file for this runtime; ` +
      "`arcp replay` reads this one",
    { cause: error },
  );
}
