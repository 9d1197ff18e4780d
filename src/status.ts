/** The library of status files: what runs on this machine, without a daemon. */
export { HEADLINES, type Headline } from "./fleet/headline.ts";
export {
  derive,
  deriveFile,
  displayOrder,
  type DerivedState,
  type DeriveOptions,
} from "./wires/files/derive.ts";
export { statusFolder, statusPath } from "./wires/files/folder.ts";
export { StatusEmitter, type StatusEmitterOptions } from "./wires/files/emitter.ts";
export {
  LIFECYCLES,
  SCHEMA_VERSION,
  TASK_STATES,
  type Lifecycle,
  type Status,
  type StatusA2a,
  type StatusGoal,
  type StatusRuntime,
  type StatusTask,
  type TaskState,
} from "./wires/files/format.ts";
export { prune, type PruneOptions } from "./wires/files/prune.ts";
export {
  readStatus,
  readStatusDir,
  type Oddity,
  type ReadOptions,
  type RefusedFile,
  type StatusFile,
  type StatusReading,
} from "./wires/files/read.ts";
export { headlineOf } from "./wires/files/judgement.ts";
export { STATUS_SCHEMA } from "./wires/files/schema.ts";
export { isStatus, validate } from "./wires/files/validate.ts";
export {
  watchStatusDir,
  type StatusChanges,
  type StatusWatch,
  type StatusWatchOptions,
} from "./wires/files/watch.ts";
export { writeStatus, writeStatusSync } from "./wires/files/write.ts";
