/** How a cost grows with size: the slope between the logarithms of both. */

export interface Point {
  readonly size: number;
  readonly value: number;
}

/** 0 for a cost that does not grow, 1 for one that grows as the size does. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(({ size, value }) => ({ x: Math.log(size), y: Math.log(value) }));
  const mean = (of: (log: { readonly x: number; readonly y: number }) => number) =>
    logs.reduce((sum, each) => sum + of(each), 0) / logs.length;
  const [x, y] = [mean((log) => log.x), mean((log) => log.y)];
  const spread = mean((log) => (log.x - x) ** 2);
  return spread === 0 ? 0 : mean((log) => (log.x - x) * (log.y - y)) / spread;
}
