/** The program beside a session. Hooks start it, and borrow its hands where it cannot run. */
import { pathToFileURL } from "node:url";
import { sidecar } from "../hosts/sidecar.ts";

export { recordOf } from "../hosts/record.ts";

const [, program = "", ...words] = process.argv;
if (import.meta.url === pathToFileURL(program).href) sidecar(words);
