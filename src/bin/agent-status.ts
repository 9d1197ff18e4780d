/** The binary `agent-status`; what it does is in bin/status.ts, whose compiled code is kept. */
import { startKept } from "./start.ts";

startKept("status.cjs");
