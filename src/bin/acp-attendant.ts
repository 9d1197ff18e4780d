/** The thread beside `rollcall acp -- COMMAND…` that reads along; started by bin/acp.ts. */
import { parentPort, workerData } from "node:worker_threads";
import { attend } from "../cli/acp/attend.ts";

if (parentPort) attend(parentPort, workerData as Parameters<typeof attend>[1]);
