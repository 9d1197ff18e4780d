/** A key made for one job: bounded by its lease, renewed on demand, and gone when the job ends. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";
import type { Provisioner } from "rollcall/arcp";

/** Stands for the service that makes keys: a proxy before the models, a vault… */
const valid = new Map<string, unknown>();
const provisioner: Provisioner = {
  async issue({ jobId, constraints }) {
    const id = `cred_${jobId}`;
    valid.set(id, constraints);
    return [{ id, scheme: "bearer", value: "sk-1", endpoint: "https://models.test", constraints }];
  },
  async rotate({ credentialIds: [id = ""] }) {
    return { id, scheme: "bearer", value: "sk-2", endpoint: "https://models.test" };
  },
  async revoke({ credentialIds }) {
    for (const id of credentialIds) valid.delete(id);
  },
};

await using runtime = new ArcpRuntime({
  runtime: { name: "provisioned-credentials", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
  provisioner,
});
runtime.registerAgent("writer", async (_, job) => {
  const [key] = job.credentials;
  job.authorizeModel("tier-fast/small"); // in the lease, so allowed
  assert.throws(() => job.authorizeModel("tier-slow/large"), isDenied);
  const renewed = key && (await job.rotateCredential(key.id));
  return { first: key?.value, second: renewed?.value, issued: valid.get(key?.id ?? "") };
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({ agent: "writer", lease: { "model.use": ["tier-fast/*"] } });
const { result } = await job.done;
console.log(result); // { first: 'sk-1', second: 'sk-2', issued: { 'model.use': [ … ] } }

assert.deepEqual(result, {
  first: "sk-1",
  second: "sk-2",
  issued: { "model.use": ["tier-fast/*"] },
});
assert.equal(valid.size, 0);

function isDenied(error: unknown): boolean {
  return codeOf(error) === "PERMISSION_DENIED";
}
