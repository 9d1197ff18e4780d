/** Checks of the ports: our daemon answers there, another program has them, or they are free. */
import { createServer } from "node:net";
import { formatAddress, type Address } from "../../daemon/address.ts";
import type { Config } from "../../daemon/config.ts";
import { fail, ok, warn, type Check, type Finding } from "./finding.ts";

export const checkDaemon: Check = async ({ url, config, daemon }) => {
  if (daemon instanceof Error) {
    const fix = "rollcall up; if a daemon runs elsewhere, give its address with --url";
    const ports = config ? await portFindings(config) : [];
    return [warn("daemon", daemon.message, fix), ...ports];
  }
  const { version, pid, state, trouble } = daemon;
  const name = `rollcall ${String(version)}, process ${String(pid)}, state in ${String(state)}`;
  const readiness =
    typeof trouble === "string" && trouble !== ""
      ? fail("ready", trouble, "read the log of the daemon")
      : ok("ready", "it leads and can write");
  return [ok("daemon", `${name}, answers at ${url}`), readiness, ...exposureFindings(daemon)];
};

/** What is insecure or trusted there. */
function exposureFindings({ exposure }: Readonly<Record<string, unknown>>): readonly Finding[] {
  const said = Array.isArray(exposure) ? exposure.map(String) : [];
  return said.map((each) => warn("exposure", each, "if that is not meant, see docs/security.md"));
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
