/** `reprise diff`: what changed between two frames, in all cells or in one. */
import { parseAddress, present, shortText } from '@reprise/contracts';
import { type CellDiff, type DiffReport, diffOf, type Patch, type TableChange } from '@reprise/operators/diff';
import { shortKey } from '@reprise/operators/names';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { requireApp } from '../../world/app.js';
import { withWorld } from '../../world/open.js';

interface DiffArguments {
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
  readonly limit?: number;
  readonly after?: string;
}

/** Prints what changed. @param frames the two frames, the earlier one first @param cell the address of one cell */
export async function diff(
  io: Io,
  world: string,
  frames: { readonly a: number; readonly b: number; readonly cell?: string },
  options: DiffArguments,
): Promise<void> {
  const { a, b, cell } = frames;
  const { limit, after } = options;
  const report = await withWorld(world, async (store) => {
    const apps = await requireApp(store, options);
    return diffOf(
      store,
      apps,
      { a, b, ...(cell === undefined ? {} : { cell: parseAddress(cell) }) },
      present({ limit, after }),
    );
  });
  await io.out.write(options.json === true ? `${toJson(report)}\n` : textOf(report, io.out.columns));
}

function textOf({ a, b, cells, next }: DiffReport, columns: number | undefined): string {
  const head =
    cells.length === 0
      ? `nothing changed from frame ${a} to frame ${b}`
      : `from frame ${a} to frame ${b}: ${next === null ? '' : 'the first '}${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
  const more = next === null ? [] : ['There are more cells: --json has the cursor for --after.'];
  const lines = [head, ...cells.flatMap(linesOf), ...more].map(escapeLine);
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

const MADE_OR_ENDED = { made: ' (made)', ended: ' (ended)', changed: '' } as const;

function linesOf({ cell, change, patches, logs, tables }: CellDiff): readonly string[] {
  return [
    `${shortKey(cell)}${MADE_OR_ENDED[change]}`,
    ...patches.map(lineOfPatch),
    ...Object.entries(logs).map(([log, { from, to }]) => `  log ${log}: ${from} → ${to} items`),
    ...Object.entries(tables).flatMap(([table, changes]) => changes.map((one) => lineOfEntry(table, one))),
  ];
}

function lineOfPatch({ op, path, before, value }: Patch): string {
  const was = op === 'add' ? '' : ` ${valueText(before)}`;
  const is = op === 'remove' ? '' : `${op === 'add' ? '' : ' →'} ${valueText(value)}`;
  return `  ${op.padEnd(7)} ${path.join('.') || '(the state)'}${was}${is}`;
}

function lineOfEntry(table: string, { op, key, value }: TableChange): string {
  return `  ${op === 'put' ? 'put    ' : 'remove '} ${table}[${shortKey(key)}]${op === 'remove' ? '' : ` ${valueText(value)}`}`;
}

/** The characters of a value at most; --json has all of it. */
const VALUE_MAX = 160;

function valueText(value: unknown): string {
  return shortText(shortKey(toJson(value, { shortLinks: true })), VALUE_MAX);
}
