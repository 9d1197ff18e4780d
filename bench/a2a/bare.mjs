/** What HTTP costs by itself: a node:http server that sends the bytes of a file to whoever asks. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , address = "", file = ""] = process.argv;
const [host, port] = address.split(":");
const bytes = readFileSync(file);
const headers = { "Content-Type": "application/json", "Content-Length": bytes.length };
createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(200, headers).end(bytes));
}).listen(Number(port), host);
