import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { AGENTKEEPER_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { environment, Running } from "../e2e/programs.ts";
import { tlsDaemon } from "../e2e/tls-daemon.ts";

const SCRIPT = fileURLToPath(new URL("keeper/tls.py", import.meta.url));
const SOON = { timeout: 15_000, interval: 50 };

test.skipIf(lacks("agentkeeper-sdk"))(
  "grpcio calls the daemon over TLS with a token, and is refused with a wrong or old one",
  { timeout: 60_000 },
  async () => {
    const { grpc, tls, folder, owner, create } = await tlsDaemon();
    const env = {
      AGENT: await create("worker", "agent"),
      VIEWER: await create("viewer", "viewer"),
      EXPIRED: await create("expired", "admin", "--ttl", "1s"),
      REVOKED: await create("revoked", "admin"),
      WRONG: "rollcall_guess",
      CERTIFICATE: tls.certFile,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    await owner("tokens", "revoke", "revoked");
    await vi.waitFor(async () => {
      expect((await owner("tokens")).stdout).toMatch(/^expired .* expired /m);
    }, SOON);
    const python = environment(folder, env);
    await using running = new Running(AGENTKEEPER_PYTHON, [SCRIPT, grpc], python);
    const { code, stderr } = await running.end();
    expect({ code, stderr }).toMatchObject({ code: 0 });
  },
);
