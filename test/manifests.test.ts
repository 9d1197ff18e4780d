/**
 * The files by which people run a cluster: there is no Kubernetes and no Docker engine here, so
 * they are read as YAML, and what they give the daemon is read by the daemon's own settings. The
 * commands of the Compose files are run by e2e/compose.test.ts.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig, type Config } from "../src/daemon/config.ts";
import { SETTINGS } from "../src/daemon/settings.ts";

const NAMES: ReadonlySet<string> = new Set(SETTINGS.map(({ name }) => name));

function read(name: string): string {
  return readFileSync(new URL(`../examples/${name}`, import.meta.url), "utf8");
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Spec;
}

interface Spec {
  readonly serviceName?: string;
  readonly replicas?: number;
  readonly dnsNames?: readonly string[];
  readonly secretName?: string;
  readonly ports?: readonly { readonly name: string; readonly port: number }[];
  readonly template?: {
    readonly spec: {
      readonly containers: readonly [Container];
      readonly volumes: readonly Volume[];
    };
  };
}

interface Volume {
  readonly name: string;
  readonly secret: { readonly secretName: string };
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme: string };
}

/** With the name of the pod put in, as Kubernetes does. */
function configOf({ env }: Container, pod: string): Promise<Config> {
  const given = env.map(({ name, value = pod }) => [name, value.replace("$(ROLLCALL_NODE)", pod)]);
  return loadConfig({ flags: {}, home: "/", env: Object.fromEntries(given) as NodeJS.ProcessEnv });
}

test("the manifests for Kubernetes name settings that there are, and fit together", async () => {
  const documents = parseAllDocuments(read("kubernetes/rollcall.yaml"));
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  const manifests = documents.map((each) => each.toJS() as Manifest);
  const named = (kind: string, name: string) =>
    manifests.find((each) => each.kind === kind && each.metadata.name === name)?.spec;
  const set = named("StatefulSet", "rollcall");
  const pod = set?.template?.spec;
  if (!set || !pod) throw new Error("no StatefulSet");
  const [container] = pod.containers;
  const settings = container.env.map(({ name }) => name.replace("ROLLCALL_", "").toLowerCase());
  expect(settings.filter((name) => !NAMES.has(name))).toEqual([]);
  const config = await configOf(container, "rollcall-0");
  expect(config).toMatchObject({ node: "rollcall-0", dataDir: "/state" });
  const ports = Object.fromEntries(container.ports.map((each) => [each.name, each.containerPort]));
  expect([config.httpAddr.port, config.addr?.port]).toEqual([ports["http"], ports["grpc"]]);
  const service = named("Service", "rollcall-members");
  expect(set.serviceName).toBe("rollcall-members");
  expect(service?.ports?.[0]?.port).toBe(ports["members"]);
  const advertised = container.env.find(({ name }) => name === "ROLLCALL_ADVERTISE")?.value ?? "";
  const [wildcard = ""] = named("Certificate", "members")?.dnsNames ?? [];
  expect(advertised).toBe(`$(ROLLCALL_NODE)${wildcard.slice(1)}:${ports["members"]}`);
  const { livenessProbe, readinessProbe, volumeMounts } = container;
  expect([livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
    { path: "/healthz", port: "http", scheme: "HTTPS" },
    { path: "/readyz", port: "http", scheme: "HTTPS" },
  ]);
  // Every file that is named lies in a volume that is mounted.
  const files = container.env.flatMap(({ value = "" }) =>
    (/\/secrets\/.*/.exec(value) ?? []).slice(0, 1),
  );
  const folders = volumeMounts.map(({ mountPath }) => mountPath);
  expect(files.filter((file) => !folders.some((each) => file.startsWith(`${each}/`)))).toEqual([]);
  const secrets = pod.volumes.map(({ secret }) => secret.secretName);
  const made = manifests.flatMap(({ kind, spec }) =>
    kind === "Certificate" ? [spec.secretName] : [],
  );
  expect(secrets.filter((name) => !made.includes(name))).toEqual(["rollcall-log"]);
});

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly command?: string; readonly volumes: readonly string[] }>
  >;
  readonly volumes: Readonly<Record<string, object>>;
}

test.each(["compose.yaml", "nats.yaml"])("%s gives members flags and volumes", async (file) => {
  const { services, volumes } = parse(read(`compose/${file}`), { merge: true }) as Compose;
  const members = Object.entries(services).filter(([, each]) => each.command?.includes("rollcall"));
  expect(members.map(([name]) => name)).toEqual(["box-1", "box-2", "box-3"]);
  for (const [name, { command = "", volumes: mounts }] of members) {
    const words = command.trim().split(/\s+/);
    expect(words.slice(0, 2)).toEqual(["rollcall", "up"]);
    const pairs = Array.from({ length: (words.length - 2) / 2 }, (_, i) => {
      const [flag = "", value = ""] = words.slice(2 + 2 * i, 4 + 2 * i);
      return [flag.replace(/^--/, ""), value] as const;
    });
    expect(pairs.filter(([flag]) => !NAMES.has(flag.replaceAll("-", "_")))).toEqual([]);
    const config = await loadConfig({ flags: Object.fromEntries(pairs), home: "/", env: {} });
    expect(config).toMatchObject({ node: name, dataDir: "/state" });
    expect(mounts[0]).toBe(`${name}:/state`);
    expect(Object.keys(volumes)).toContain(name);
  }
});
