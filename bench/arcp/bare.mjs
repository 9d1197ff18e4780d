/**
 * What WebSockets cost by themselves: a `ws` server that answers each submit with canned frames, as
 * many and as long as a runtime's, and knows nothing.
 */
import { WebSocketServer } from "ws";

const [, , address = ""] = process.argv;
const [host = "", port] = address.split(":");

const id = "01KA5N7Z0Q4W3V2T1S0R9P8N7M";
/**
 * @param {string} type
 * @param {object} payload
 * @param {number} [seq]
 */
const frame = (type, payload, seq) =>
  JSON.stringify({
    arcp: "1.1",
    id: `msg_${id}`,
    type,
    session_id: `sess_${id}`,
    trace_id: "0af7651916cd43dd8448eb211c80319c",
    job_id: `job_${id}`,
    event_seq: seq,
    payload,
  });
const at = "2026-11-15T20:05:32.137Z";
const welcome = frame("session.welcome", { session_id: `sess_${id}` });
const accepted = frame("job.accepted", {
  job_id: `job_${id}`,
  agent: "echo",
  accepted_at: at,
  lease: {},
  trace_id: "0af7651916cd43dd8448eb211c80319c",
  request_id: `msg_${id}`,
});
const body = { level: "info", message: "a line of what the agent does" };
const event = frame("job.event", { kind: "log", ts: at, body }, 1000);
const result = frame(
  "job.result",
  { final_status: "success", result: { echoed: { text: "hello" } }, completed_at: at },
  1001,
);

const server = new WebSocketServer({ host, port: Number(port), perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("message", (/** @type {Buffer} */ data) => {
    const text = data.toString();
    if (!text.includes('"job.submit"')) {
      socket.send(welcome);
      return;
    }
    const events = text.includes('"agent":"chatty"') ? 1000 : 1;
    socket.send(accepted);
    for (let i = 0; i < events; i += 1) socket.send(event);
    socket.send(result);
  });
});
