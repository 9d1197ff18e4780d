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
export const WASM_PAGE_BYTES = 65_536;
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
  readonly products: (
    ...[query, rows, scales, count, size, out]: [number, number, number, number, number, number]
  ) => void;
}

type Code = readonly number[];

function code(...parts: readonly (number | Code)[]): Code {
  return parts.flat();
}

/** LEB128, as every number in a module is written. */
function unsigned(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

const sized = (content: Code): Code => code(unsigned(content.length), content);
const list = (...items: readonly Code[]): Code => code(unsigned(items.length), ...items);
const section = (id: number, content: Code): Code => code(id, sized(content));
const simd = (operation: number): Code => code(0xfd, unsigned(operation));

const [I32, V128] = [0x7f, 0x7b];
const [BLOCK, LOOP, NOTHING, BR, BR_IF, FINISH] = [0x02, 0x03, 0x40, 0x0c, 0x0d, 0x0b];
const [ADD, SUBTRACT, IS_ZERO, IS_LESS] = [0x6a, 0x6b, 0x45, 0x49];
const [F32_CONVERT, F32_MUL] = [0xb2, 0x94];
const [F32_LOAD, F32_STORE] = [code(0x2a, 2, 0), code(0x38, 2, 0)];
const [EXTEND_LOW, EXTEND_HIGH] = [simd(135), simd(136)];
const [DOT, ADD_LANES, V128_LOAD, LANE] = [simd(186), simd(174), simd(0), simd(27)];
const ZERO = code(simd(12), Array<number>(16).fill(0));

/** The locals, by number; parameters come first. */
const [QUERY, ROWS, SCALES, COUNT, SIZE, OUT] = [0, 1, 2, 3, 4, 5];
const [END, AT, EVEN, ODD, ROW] = [6, 7, 8, 9, 10];

const get = (local: number): Code => code(0x20, local);
const set = (local: number, ...value: readonly (number | Code)[]): Code =>
  code(...value, 0x21, local);
/** Only constants below 64, whose sign bit is clear. */
const constant = (value: number): Code => code(0x41, value);
const advance = (local: number, bytes: number): Code =>
  set(local, get(local), constant(bytes), ADD);
const load = (address: number, offset: number): Code => code(get(address), V128_LOAD, 0, offset);
const accumulate = (sum: number, offset: number, extend: Code): Code =>
  set(sum, get(sum), load(AT, offset), get(ROW), extend, DOT, ADD_LANES);
const lane = (index: number): Code => code(get(EVEN), LANE, index);

const SIXTEEN = code(
  set(ROW, load(ROWS, 0)),
  accumulate(EVEN, 0, EXTEND_LOW),
  accumulate(ODD, 16, EXTEND_HIGH),
  advance(ROWS, 16),
  advance(AT, 32),
);
const SUM = code(lane(0), lane(1), ADD, lane(2), ADD, lane(3), ADD);

const BODY = code(
  code(BLOCK, NOTHING, LOOP, NOTHING, get(COUNT), IS_ZERO, BR_IF, 1),
  code(set(EVEN, ZERO), set(ODD, ZERO), set(AT, get(QUERY))),
  set(END, get(ROWS), get(SIZE), ADD),
  code(LOOP, NOTHING, SIXTEEN, SIXTEEN, SIXTEEN, SIXTEEN),
  code(get(ROWS), get(END), IS_LESS, BR_IF, 0, FINISH),
  set(EVEN, get(EVEN), get(ODD), ADD_LANES),
  code(get(OUT), SUM, F32_CONVERT, get(SCALES), F32_LOAD, F32_MUL, F32_STORE),
  code(advance(SCALES, 4), advance(OUT, 4)),
  set(COUNT, get(COUNT), constant(1), SUBTRACT),
  code(BR, 0, FINISH, FINISH, FINISH),
);

const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const PARAMETERS = [I32, I32, I32, I32, I32, I32];
const LOCALS = list([2, I32], [3, V128]);
const MODULE = new Uint8Array(
  code(
    MAGIC,
    section(1, list(code(0x60, sized(PARAMETERS), 0))),
    section(2, list(code(named(""), named("memory"), 2, 1, 1, unsigned(MAX_PAGES)))),
    section(3, list([0])),
    section(7, list(code(named("products"), 0, 0))),
    section(10, list(sized(code(LOCALS, BODY)))),
  ),
);

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
