/**
 * Loaded before a command whose output is caught to be shown: it writes for the terminal on which
 * it will be seen, with its colours and its width, though it writes into a pipe.
 */
const columns = Number(process.env["TOUR_COLUMNS"]);
const depth = Number(process.env["TOUR_COLOURS"]);
for (const stream of [process.stdout, process.stderr]) {
  Object.assign(stream, { isTTY: true, columns, rows: 24, getColorDepth: () => depth });
}
