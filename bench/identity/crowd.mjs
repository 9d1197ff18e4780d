/**
 * A process that holds connections open: as many as it is told, to the port it is told. It says
 * when they are all there, and ends with whoever started it.
 */
import { connect } from "node:net";

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Fewer than wait to be accepted at any server. */
const AT_ONCE = 128;

let opened = 0;
let held = 0;

function open() {
  if (opened === count) return;
  opened += 1;
  connect(port, "127.0.0.1").once("connect", () => {
    held += 1;
    if (held === count) process.send?.("there");
    else open();
  });
}

for (let i = 0; i < AT_ONCE; i += 1) open();
process.on("disconnect", () => process.exit());
