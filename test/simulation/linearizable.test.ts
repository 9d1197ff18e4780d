import { expect, test } from "vitest";
import { check, type Model, type Operation } from "./linearizable.ts";

/** One value that is written and read: the textbook's example. */
type RegisterInput =
  | { readonly kind: "write"; readonly value: number }
  | { readonly kind: "read"; readonly value: number };

const register: Model<number, RegisterInput> = {
  initial: 0,
  step: (state, { kind, value }) => {
    if (kind === "write") return value;
    return state === value ? state : undefined;
  },
  key: String,
};

function write(value: number, calledAt: number, returnedAt = Infinity): Operation<RegisterInput> {
  return { input: { kind: "write", value }, calledAt, returnedAt };
}

function read(value: number, calledAt: number, returnedAt: number): Operation<RegisterInput> {
  return { input: { kind: "read", value }, calledAt, returnedAt };
}

function verdict(...operations: readonly Operation<RegisterInput>[]): string {
  return check(register, operations).kind;
}

test("a read that runs beside a write may see it or not", () => {
  expect(verdict(write(1, 0, 10), read(0, 2, 3), read(1, 4, 5))).toBe("linearizable");
});

test("what was seen once cannot be unseen", () => {
  expect(verdict(write(1, 0, 10), read(1, 2, 3), read(0, 4, 5))).toBe("not linearizable");
});

test("a read that begins after a write ended sees it", () => {
  expect(verdict(write(1, 0, 1), read(0, 2, 3))).toBe("not linearizable");
  expect(verdict(write(1, 0, 1), read(1, 2, 3))).toBe("linearizable");
});

test("what ends when another begins is concurrent with it", () => {
  expect(verdict(write(1, 0, 2), read(0, 2, 3))).toBe("linearizable");
});

test("a write of unknown outcome may happen late, or never", () => {
  expect(verdict(write(1, 0), read(0, 2, 3), read(1, 8, 9))).toBe("linearizable");
  expect(verdict(write(1, 0), read(0, 2, 3), read(0, 8, 9))).toBe("linearizable");
});

test("a write of unknown outcome happens once, and not before it was asked for", () => {
  expect(verdict(write(1, 0), read(1, 1, 2), write(2, 3, 4), read(1, 5, 6))).toBe(
    "not linearizable",
  );
  expect(verdict(read(1, 0, 1), write(1, 2))).toBe("not linearizable");
});

test("nobody sees what nobody wrote", () => {
  expect(verdict(write(1, 0, 1), read(7, 2, 3))).toBe("not linearizable");
});

test("all orders are tried: the first choice may be the wrong one", () => {
  const operations = [write(1, 0, 10), write(2, 0, 10), read(2, 11, 12), read(2, 13, 14)];
  expect(verdict(...operations)).toBe("linearizable");
  expect(verdict(...operations, read(1, 15, 16))).toBe("not linearizable");
});

test("a refusal names what it could not explain", () => {
  expect(check(register, [write(1, 0, 1), read(0, 2, 3)])).toEqual({
    kind: "not linearizable",
    explained: [{ kind: "write", value: 1 }],
    stuck: { kind: "read", value: 0 },
  });
});

test("a search that grows too long says so instead of guessing", () => {
  const operations = Array.from({ length: 30 }, (_, i) => write(i, 0, 10));
  expect(check(register, [...operations, read(99, 11, 12)], 1000).kind).toBe("undecided");
});

test("hundreds of operations that overlap in pairs are quick", () => {
  const operations = Array.from({ length: 600 }, (_, i) => write(i, 2 * i, 2 * i + 3));
  expect(verdict(...operations, read(599, 2000, 2001))).toBe("linearizable");
  expect(verdict(...operations, read(1, 2000, 2001))).toBe("not linearizable");
});
