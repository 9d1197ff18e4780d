/** The few messages of etcd's protocol that are compared with ours, as bytes. */
const ID = 7;

/** A field of a protobuf message: a number, or bytes. */
function field(number: number, value: number | Buffer): Buffer {
  if (typeof value === "number") return Buffer.from([number << 3, ...varint(value)]);
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

/** Seven bits at a time, the lowest first. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}

const KEY = field(1, Buffer.from("job-1"));
/** Longer than this takes. */
const TTL_SECONDS = field(1, 86_400);

export const ETCD = {
  /** A lease with the id that the others name; only the first one finds that free. */
  grantOnce: {
    path: "/etcdserverpb.Lease/LeaseGrant",
    body: Buffer.concat([TTL_SECONDS, field(2, ID)]),
  },
  grant: { path: "/etcdserverpb.Lease/LeaseGrant", body: TTL_SECONDS },
  put: {
    path: "/etcdserverpb.KV/Put",
    body: Buffer.concat([KEY, field(2, Buffer.alloc(32, "f")), field(3, ID)]),
  },
  keepAlive: { path: "/etcdserverpb.Lease/LeaseKeepAlive", body: field(1, ID) },
  /** Of the one key that is written. */
  watch: {
    path: "/etcdserverpb.Watch/Watch",
    body: field(1, KEY),
  },
} as const;
