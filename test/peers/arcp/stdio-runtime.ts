/** Our runtime as a child: frames on the standard streams. */
import { processTransport } from "../../../src/wires/arcp/transports/stdio.ts";
import { ourRuntime } from "./agents.ts";

ourRuntime().accept(processTransport());
