/**
 * How alike a query is to many vectors: their dot products, by WebAssembly with SIMD. Each vector
 * is a row of 8-bit numbers with a scale. That is sixteen numbers an instruction: 100,000 rows of
 * 256 take about as long as reading them once, and a loop in JavaScript thirty times as long.
 *
 * No compiler comes along for forty instructions: the module is put together here. As text it is
 *
 *   (import "" "memory" (memory 1 65536))
 *   (func (export "products")
 *         (param $query i32) (param $rows i32) (param $scales i32)
 *         (param $count i32) (param $size i32) (param $out i32)
 *         (local $end i32) (local $at i32) (local $even v128) (local $odd v128) (local $row v128)
 *     (block $done
 *       (loop $next
 *         (br_if $done (i32.eqz (local.get $count)))
 *         $even = $odd = 0;  $at = $query;  $end = $rows + $size
 *         (loop $along                                       ;; four of these at a time:
 *           $row = (v128.load $rows)                         ;;   sixteen numbers of the row,
 *           $even += (i32x4.dot_i16x8_s (v128.load $at)      ;;   with eight of the query
 *                                       (i16x8.extend_low_i8x16_s $row))
 *           $odd += (i32x4.dot_i16x8_s (v128.load $at+16)    ;;   and the next eight
 *                                      (i16x8.extend_high_i8x16_s $row))
 *           $rows += 16;  $at += 32
 *           (br_if $along (i32.lt_u $rows $end)))
 *         (f32.store $out (f32.mul (f32.load $scales) (f32.convert_i32_s (sum of the lanes))))
 *         $scales += 4;  $out += 4;  $count -= 1
 *         (br $next))))
 *
 * Sums cannot overflow: 8,192 numbers times 127 × 127 are a sixteenth of what 32 bits hold.
 */

/** A row takes a multiple of this many bytes: what one turn of the inner loop reads. */
export const ROW_STEP = 64;
export const PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;

export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The types of Node 20 leave it out. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number; maximum: number }) => KernelMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, object>>,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

export interface Kernel {
  readonly memory: KernelMemory;
  /**
   * Writes `count` products (f32) to `out`. All but `count` and `size` are addresses: of the query
   * (i16), the rows (i8, `size` bytes each) and their scales (f32).
   */
  products(
    ...[query, rows, scales, count, size, out]: [number, number, number, number, number, number]
  ): void;
}

type Code = readonly number[];

/** LEB128, as every number in a module is written. */
function unsigned(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

/** Only for constants below 64, whose sign bit is clear. */
const constant = (value: number): Code => [0x41, value];
const simd = (code: number): Code => [0xfd, ...unsigned(code)];
const sized = (content: Code): Code => [...unsigned(content.length), ...content];
const list = (...items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const section = (id: number, content: Code): Code => [id, ...sized(content)];

const [I32, V128] = [0x7f, 0x7b];
const [QUERY, ROWS, SCALES, COUNT, SIZE, OUT, END, AT, EVEN, ODD, ROW] = [...Array(11).keys()] as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

const get = (local: number): Code => [0x20, local];
const set = (local: number, value: Code): Code => [...value, 0x21, local];
const load = (address: number, offset: number): Code => [...get(address), ...simd(0), 0, offset];
const ADD: Code = [0x6a];
const advance = (local: number, bytes: number): Code =>
  set(local, [...get(local), ...constant(bytes), ...ADD]);

const [EXTEND_LOW, EXTEND_HIGH, DOT, ADD_LANES] = [135, 136, 186, 174].map(simd) as [
  Code,
  Code,
  Code,
  Code,
];
const ZERO: Code = [...simd(12), ...Array<number>(16).fill(0)];

function accumulate(sum: number, queryOffset: number, extend: Code): Code {
  const product = [...load(AT, queryOffset), ...get(ROW), ...extend, ...DOT];
  return set(sum, [...get(sum), ...product, ...ADD_LANES]);
}

const SIXTEEN: Code = [
  ...set(ROW, load(ROWS, 0)),
  ...accumulate(EVEN, 0, EXTEND_LOW),
  ...accumulate(ODD, 16, EXTEND_HIGH),
  ...advance(ROWS, 16),
  ...advance(AT, 32),
];
const lane = (index: number): Code => [...get(EVEN), ...simd(27), index];
const SUM: Code = [
  ...set(EVEN, [...get(EVEN), ...get(ODD), ...ADD_LANES]),
  ...[...lane(0), ...lane(1), ...ADD, ...lane(2), ...ADD, ...lane(3), ...ADD],
];
const F32_LOAD: Code = [0x2a, 2, 0];
const F32_STORE: Code = [0x38, 2, 0];
const [F32_CONVERT, F32_MUL, LESS, IS_ZERO, MINUS] = [0xb2, 0x94, 0x49, 0x45, 0x6b];
const [BLOCK, LOOP, NOTHING, BR, BR_IF, FINISH] = [0x02, 0x03, 0x40, 0x0c, 0x0d, 0x0b];

const BODY: Code = [
  ...[BLOCK, NOTHING, LOOP, NOTHING, ...get(COUNT), IS_ZERO, BR_IF, 1],
  ...[...set(EVEN, ZERO), ...set(ODD, ZERO), ...set(AT, get(QUERY))],
  ...set(END, [...get(ROWS), ...get(SIZE), ...ADD]),
  ...[LOOP, NOTHING, ...SIXTEEN, ...SIXTEEN, ...SIXTEEN, ...SIXTEEN],
  ...[...get(ROWS), ...get(END), LESS, BR_IF, 0, FINISH],
  ...[...get(OUT), ...SUM, F32_CONVERT, ...get(SCALES), ...F32_LOAD, F32_MUL, ...F32_STORE],
  ...[...advance(SCALES, 4), ...advance(OUT, 4)],
  ...set(COUNT, [...get(COUNT), ...constant(1), MINUS]),
  ...[BR, 0, FINISH, FINISH, FINISH],
];

const LOCALS = list([2, I32], [3, V128]);
const MEMORY: Code = [...sized([]), ...named("memory"), 2, 1, 1, ...unsigned(MAX_PAGES)];
const MODULE = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, list([0x60, ...list(...Array<Code>(6).fill([I32])), 0])),
  ...section(2, list(MEMORY)),
  ...section(3, list([0])),
  ...section(7, list([...named("products"), 0, 0])),
  ...section(10, list(sized([...LOCALS, ...BODY]))),
]);

function named(text: string): Code {
  return sized([...Buffer.from(text)]);
}

export function newKernel(): Kernel {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE), {
    "": { memory },
  });
  return { memory, products: exports["products"] as Kernel["products"] };
}
