/** A verifier of your own: who a token belongs to may be decided by anything, also by a service. */
import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import {
  ArcpClient,
  ArcpRuntime,
  codeOf,
  pairMemoryTransports,
  type Verifier,
} from "rollcall/arcp";

const SECRET = "only the issuer and the runtime know this";
const sign = (user: string) => createHmac("sha256", SECRET).update(user).digest("base64url");

/** `user.signature`; `jwtTokens` is there for tokens of an identity provider. */
const signedTokens: Verifier = (token) => {
  const [user = "", signature = ""] = token.split(".");
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(user))];
  return given.length === right.length && timingSafeEqual(given, right) ? user : undefined;
};

await using runtime = new ArcpRuntime({
  runtime: { name: "custom-auth", version: "1.0.0" },
  bearer: signedTokens,
});
runtime.registerAgent("whoami", (_, job) => job.principal);
const connect = (token: string) => {
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  return ArcpClient.connect(theirs, { token });
};

await using client = await connect(`ada.${sign("ada")}`);
const { result } = await (await client.submit({ agent: "whoami" })).done;
const forged = await connect(`ada.${sign("eve")}`).catch(codeOf);
console.log(result, forged); // ada UNAUTHENTICATED

assert.equal(result, "ada");
assert.equal(forged, "UNAUTHENTICATED");
