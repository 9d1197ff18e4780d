/** ACP: what an editor's agent does, derived from its frames. */
export type { AcpExit } from "./wires/acp/derive/connection.ts";
export { AcpDamper } from "./wires/acp/derive/damper.ts";
export { AcpDeriver, type AcpDeriverOptions } from "./wires/acp/derive/deriver.ts";
export {
  STATUS_KEY,
  STATUS_METHOD,
  statusMessage,
  type ReportedStatus as AgentStatus,
} from "./wires/acp/derive/form.ts";
export {
  readFrame,
  type AcpFrame as Frame,
  type FrameId,
  type FrameSender as Sender,
} from "./wires/acp/derive/frames.ts";
export { AcpObserver, type AcpObserverOptions } from "./wires/acp/derive/observer.ts";
export { AcpLineReader as FrameReader } from "./wires/acp/derive/reader.ts";
export {
  STATUSES,
  type AcpFacts,
  type AcpOption,
  type AcpProgram,
  type AcpQuestion,
  type AcpRecord,
  type AcpSessionFacts,
  type AcpSource,
  type AcpState,
  type AcpStatus,
  type StatusForm,
} from "./wires/acp/derive/record.ts";
export {
  onAgentStatus,
  withAgentStatus,
  type AcpStream,
  type AgentStatusReporter,
} from "./wires/acp/sdk.ts";
