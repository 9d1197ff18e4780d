/**
 * The victim: opens a file of an older program and takes it over, as a start does. It says when it
 * begins and when it is done, unless it is killed.
 */
import { writeSync } from "node:fs";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { importLedger } from "../../src/wires/arcp/ledger/import.ts";

const [path = ""] = process.argv.slice(2);
const store = sqliteStore({ path });
await importLedger(store, { node: "n1", onImport: () => writeSync(1, "begins\n") });
await store.close();
writeSync(1, "done\n");
