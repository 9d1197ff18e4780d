import { describe, expect, test } from "vitest";
import { der, positive, TAG, time } from "./der.ts";

describe("a value of DER", () => {
  test.each([
    [[0], "020100"],
    [[0, 0], "020100"],
    [[1], "020101"],
    [[0x7f], "02017f"],
    [[0x80], "02020080"],
    [[0, 0x12, 0x34], "02021234"],
    [[0, 0x80], "02020080"],
  ])("that is the number of the bytes %j is as short as it can be", (bytes, hex) => {
    expect(positive(Buffer.from(bytes)).toString("hex")).toBe(hex);
  });

  test.each([
    [0x7f, "7f"],
    [0x80, "8180"],
    [0xff, "81ff"],
    [0x1234, "821234"],
  ])("of %i bytes has its length before them", (length, hex) => {
    const written = der(TAG.bytes, Buffer.alloc(length)).toString("hex");
    expect(written.slice(2, -2 * length)).toBe(hex);
  });

  test("that is a time has two digits of the year until 2049", () => {
    const last = Date.UTC(2049, 11, 31, 23, 59, 59);
    expect(time(last).subarray(2).toString()).toBe("491231235959Z");
    expect(
      time(last + 1000)
        .subarray(2)
        .toString(),
    ).toBe("20500101000000Z");
  });
});
