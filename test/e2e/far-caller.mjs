/**
 * Calls a daemon from wherever this runs, by every door, and prints what came back as JSON. Its one
 * argument, as JSON: where each door is (https, http, grpc, arcp), a token, and the file of the CA.
 */
import { readFileSync } from "node:fs";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { ArcpClient } from "../../dist/lib/arcp.js";

const { https, http, grpc, arcp, token, ca } = JSON.parse(process.argv[2] ?? "{}");

/** @param {string} url @param {Record<string, string>} headers */
async function get(url, headers = {}) {
  try {
    const answer = await fetch(url, { headers });
    return [answer.status, (await answer.text()).slice(0, 300)];
  } catch (error) {
    return [0, String(error instanceof Error ? error.cause : error)];
  }
}

/** The status of a call of gRPC. @param {string} [secret] */
function check(secret) {
  const channel = credentials.createSsl(readFileSync(ca));
  const client = new Client(grpc, channel);
  const metadata = new Metadata();
  if (secret) metadata.set("authorization", `Bearer ${secret}`);
  const asIs = (/** @type {Buffer} */ bytes) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      "/agentkeeper.v1.RegistryService/Find",
      asIs,
      asIs,
      Buffer.alloc(0),
      metadata,
      (error) => {
        client.close();
        resolve(error ? [error.code, error.details] : [0, ""]);
      },
    );
  });
}

/** @param {string} secret */
async function hello(secret) {
  try {
    const client = await ArcpClient.connect(arcp, { token: secret });
    await client.close();
    return [0, client.session.runtime.name];
  } catch (error) {
    return [1, error instanceof Error ? error.message : String(error)];
  }
}

const bearer = { authorization: `Bearer ${token}` };
const heard = {
  probe: await get(`${http}/healthz`, { host: "anything.example" }),
  readiness: await get(`${https}/readyz`),
  plain: await get(`${http}/v1/fleet`, bearer),
  nobody: await get(`${https}/v1/fleet`),
  metrics: await get(`${https}/metrics`),
  wrong: await get(`${https}/v1/fleet`, { authorization: "Bearer rollcall_guess" }),
  token: await get(`${https}/v1/fleet`, bearer),
  counted: await get(`${https}/metrics`, bearer),
  grpcNobody: await check(),
  grpcWrong: await check("rollcall_guess"),
  grpcToken: await check(token),
  arcpNobody: await hello("anonymous"),
  arcpWrong: await hello("rollcall_guess"),
  arcpToken: await hello(token),
};
process.stdout.write(`${JSON.stringify(heard)}\n`);
