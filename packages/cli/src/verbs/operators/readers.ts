/** `reprise readers`: who may read an item of a memory, and why. */
import { ownerWords, shortKey } from '@reprise/operators/names';
import { type ReaderRow, type ReadersReport, readersOf } from '@reprise/operators/readers';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { timeOf } from '../../text/record-line.js';
import { requireApp } from '../../world/app.js';
import { withWorld } from '../../world/open.js';

interface ReadersArguments {
  readonly at?: number;
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly limit?: number;
  readonly after?: string;
  readonly json?: true;
}

/** Prints who may read an item, and who may not. */
export async function readers(io: Io, world: string, item: string, options: ReadersArguments): Promise<void> {
  const { at, limit, after, json } = options;
  const report = await withWorld(world, async (store) =>
    readersOf(store, await requireApp(store, options), item, {
      ...(at === undefined ? {} : { at }),
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    }),
  );
  await io.out.write(json === true ? `${toJson(report)}\n` : textOf(report, io.out.columns));
}

function textOf({ frame, store, item, rows, next }: ReadersReport, columns: number | undefined): string {
  const what = item === null ? store : `${store}#${item.id}`;
  const by =
    item === null ? '' : `, written by ${item.author_name ?? item.author} at ${timeOf(item.created_at)}, ${item.state}`;
  const of = (isReader: boolean) => rows.filter(({ may }) => may === isReader).map(lineOf);
  const lines = [
    `${what}${by}; after frame ${frame}`,
    ...section('may read it:', of(true)),
    ...section('may not:', of(false)),
    ...(next === null ? [] : ['There are more rows: --json has the cursor of the rest.']),
  ].map((line) => escapeLine(shortKey(line)));
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

function section(head: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [head, ...lines];
}

function lineOf(row: ReaderRow): string {
  return `  ${row.of === null ? row.holder : (row.of.agent ?? ownerWords(row.of))}: ${wordsOf(row)}`;
}

/** Why a holder may read or not, in words for people. */
function wordsOf({ reason, role, by_name, by, patterns }: ReaderRow): string {
  const whose = by_name ?? by ?? '';
  const named = patterns === null || patterns.length === 0 ? 'nothing' : patterns.join(', ');
  switch (reason) {
    case 'operator':
      return 'the operator may do everything';
    case 'owner':
      return 'the store is its own';
    case 'member':
      return `a member of the group, as ${role}`;
    case 'rights':
      return `the rights of ${whose} name ${named}`;
    case 'not_narrowed':
      return 'no rights narrow what it may read';
    case 'not_member':
      return 'a person who is not in the group';
    case 'not_own_agent':
      return 'a person who did not make the agent that brought it back';
    case 'narrowed':
      return `the rights of ${whose} name ${named}`;
    case 'held':
      return `${whose} holds it to ${named}`;
    case 'expired':
      return `the rights of ${whose} have ended`;
    case 'broken':
      return 'a cell above it has ended or was made anew';
  }
}
