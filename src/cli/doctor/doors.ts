/** Checks of the ports: our daemon answers there, another program has them, or they are free. */
import { createServer } from "node:net";
import { codeOf } from "../../core/errors.ts";
import { formatAddress, type Address } from "../../daemon/address.ts";
import type { Config } from "../../daemon/config.ts";
import type { AnswerOf } from "../../operations/table.ts";
import { sinceWhen } from "../../machine/local-time.ts";
import { fail, ok, warn, type Check, type Finding } from "./finding.ts";

type StatusAnswer = AnswerOf<"daemon.status">;

export const checkDaemon: Check = async ({ target, config, daemon, nowMs }) => {
  if (daemon instanceof Error) {
    // Its ports are not another program's.
    const ports = config && !refusesUs(daemon) ? await portFindings(config) : [];
    return [absence(daemon), ...ports];
  }
  const { version, pid, state, trouble, exposure, httpAddress } = daemon;
  // By its socket the daemon of this machine is found wherever its ports are.
  const place = target.socket === false ? target.url : `http://${httpAddress}`;
  const name = `rollcall ${version}, process ${pid}, state in ${state}`;
  const readiness =
    trouble === ""
      ? ok("ready", "it answers and can write")
      : fail("ready", trouble, "read the log of the daemon");
  const exposed = exposure.map((each) =>
    warn("exposure", each, "if that is not meant, see docs/security.md"),
  );
  return [
    ok("daemon", `${name}, answers at ${place}`),
    readiness,
    ...teamFindings(daemon, nowMs),
    ...exposed,
  ];
};

/** To whom it reports, since when, and what. */
function teamFindings({ team }: StatusAnswer, nowMs: number): readonly Finding[] {
  if (!team) return [];
  const { url, host, state, since, reason, policy } = team;
  const at = sinceWhen(Date.parse(since), nowMs);
  if (state === "connected") {
    return [ok("team", `reports to ${url} as ${host} since ${at}; ${policy}`)];
  }
  const fix =
    state === "refused"
      ? "that does not pass by itself: correct join, token_file or join_ca as it says"
      : "it tries again by itself; what happens meanwhile is reported then";
  return [warn("team", `${url} is not reached since ${at}: ${reason || state}; ${policy}`, fix)];
}

/** A daemon that is absent, or refuses, is no fault; a port that another program serves is one. */
function absence(error: Error): Finding {
  if (refusesUs(error)) {
    const fix = "give --token-file a token of that daemon, or ask its owner for access";
    return warn("daemon", error.message, fix);
  }
  if (codeOf(error) !== "INCOMPATIBLE") {
    const fix = "rollcall up; if a daemon runs elsewhere, give its address with --url";
    return warn("daemon", error.message, fix);
  }
  const fix = "use the rollcall that the daemon is of, or give another address with --url";
  return fail("daemon", error.message, fix);
}

function refusesUs(error: Error): boolean {
  const code = codeOf(error);
  return code === "UNAUTHENTICATED" || code === "PERMISSION_DENIED";
}

function portFindings(config: Config): Promise<readonly Finding[]> {
  return Promise.all([
    ...(config.addr ? [portFinding("grpc port", config.addr, "--addr")] : []),
    portFinding("http port", config.httpAddr, "--http-addr"),
  ]);
}

async function portFinding(check: string, address: Address, flag: string): Promise<Finding> {
  const at = formatAddress(address);
  const problem = await bindProblem(address);
  if (problem === undefined) return ok(check, `${at} is free`);
  return fail(
    check,
    `${at}: ${problem}`,
    `stop the program that uses it, or choose another with ${flag}`,
  );
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses it",
  EACCES: "this user may not listen on it",
  EADDRNOTAVAIL: "this machine has no such address",
};

function bindProblem({ host, port }: Address): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", (error) => {
      resolve(("code" in error && PROBLEMS[String(error.code)]) || error.message);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
