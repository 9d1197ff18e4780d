/**
 * ARCP in one import: a runtime for agents, a client for who sends them work, and what carries the
 * frames between them.
 *
 *   const runtime = new ArcpRuntime({
 *     runtime: { name: "quickstart", version: "1.1.0" },
 *     bearer: staticTokens({ demo: "me@example.com" }),
 *   });
 *   runtime.registerAgent("echo", async (input, job) => {
 *     await job.log("info", "echo started");
 *     return { echoed: input };
 *   });
 *   const [theirs, ours] = pairMemoryTransports();
 *   runtime.accept(ours);
 *   await using client = await ArcpClient.connect(theirs, { token: "demo" });
 *   const job = await client.submit({ agent: "echo", input: { hi: 1 } });
 *   console.log((await job.done).result);
 */
export { ArcpClient } from "./wires/arcp/client/client.ts";
export type { JobHandle } from "./wires/arcp/client/job.ts";
export type * from "./wires/arcp/client/types.ts";
export { codeOf, RollcallError, type ErrorCode } from "./core/errors.ts";
export type { AgentListing } from "./core/jobs/agent-ref.ts";
export type { JobStreamEvent as JobEvent, JobLogLevel as LogLevel } from "./core/jobs/events.ts";
export type { Entitlement } from "./core/jobs/lease-subset.ts";
export { parseLease, type JobLease as Lease, type LeaseRequest } from "./core/jobs/lease.ts";
export type { JobStatus, Outcome } from "./core/jobs/outcome.ts";
export type { JobAgent as Agent, AgentOptions } from "./jobs/agents.ts";
export type { JobContext } from "./jobs/context.ts";
export type { ChildJob, DelegateOptions } from "./jobs/delegation.ts";
export type { AgentFunction, Driver } from "./jobs/driver.ts";
export type { Job, JobLimits } from "./core/jobs.ts";
export type { SessionLimits } from "./core/sessions.ts";
export type { Run } from "./jobs/run.ts";
export type { Entitled, JobAuthorizer, JobObserver, SubmitQuestion } from "./jobs/observer.ts";
export type {
  IssuedCredential,
  IssueRequest,
  Provisioner,
  RevokeRequest,
} from "./jobs/provisioner.ts";
export type { ResultWriter } from "./jobs/result-writer.ts";
export { memoryStore } from "./log/memory/store.ts";
export { sqliteStore, type SqliteStoreOptions } from "./log/sqlite/store.ts";
export type { Store } from "./log/store.ts";
export { mount, type Mounted } from "./wires/arcp/server/mount.ts";
export { ArcpRuntime, type ArcpRuntimeOptions } from "./wires/arcp/server/runtime.ts";
export type { ArcpStats } from "./wires/arcp/server/service.ts";
export { withTracing } from "./wires/arcp/server/tracing.ts";
export type {
  Transport,
  TransportEnding,
  TransportListener,
} from "./wires/arcp/server/transport.ts";
export { pairMemoryTransports } from "./wires/arcp/transports/memory.ts";
export { serveWebSocket } from "./wires/arcp/transports/serve-websocket.ts";
export { processTransport, stdioTransport } from "./wires/arcp/transports/stdio.ts";
export { connectWebSocket } from "./wires/arcp/transports/websocket.ts";
export {
  jwtTokens,
  staticTokens,
  type JwtOptions,
  type Verifier,
} from "./wires/arcp/server/verifiers.ts";
