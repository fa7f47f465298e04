/** `reprise show`: one frame, record, blob or cell, in full. */
import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import type { Io } from '../process/io.js';
import { toJson } from '../text/json.js';
import { findMentions } from '../world/links.js';
import { withWorld } from '../world/open.js';
import { parseTarget, type Target } from '../world/target.js';
import { cellView } from './show-cell.js';
import { diffView } from './show-diff.js';
import { digestView } from './show-digest.js';
import { frameView } from './show-frame.js';
import { historyView } from './show-history.js';

export interface ShowArguments {
  /** The frame after which a cell is shown; the newest when absent. */
  readonly at?: number;
  readonly app?: string;
  readonly legacy?: readonly string[];
  /** The records that concern a cell, instead of its state. */
  readonly history?: true;
  /** The changes that the events of one frame made in a cell, instead of its state. */
  readonly diff?: true;
  readonly json?: true;
}

/** The output: as data for programs, and as text for people, ready to print. */
export interface View {
  readonly data: unknown;
  readonly text: string;
}

/** Prints one thing of a world. */
export async function show(io: Io, world: string, what: string, options: ShowArguments): Promise<void> {
  const target = parseTarget(what);
  const { at, app, legacy } = options;
  if (target.kind !== 'cell' && (at ?? app ?? legacy) !== undefined) {
    throw new RepriseError('invalid_argument', '--at, --app and --legacy need the address of a cell', {
      actual: what,
    });
  }
  if (options.diff === true && target.kind !== 'cell')
    throw new RepriseError('invalid_argument', '--diff needs the address of a cell', { actual: what });
  if (options.history === true && (target.kind !== 'cell' || (at ?? app ?? legacy ?? options.diff) !== undefined)) {
    throw new RepriseError('invalid_argument', '--history needs the address of a cell and no other option', {
      actual: what,
    });
  }
  await withWorld(world, async (store) => {
    const { data, text } = await viewOf(store, world, target, options);
    await io.out.write(options.json === true ? `${toJson(data)}\n` : text);
  });
}

function viewOf(store: ReadonlyStore, world: string, target: Target, options: ShowArguments): Promise<View> {
  switch (target.kind) {
    case 'frame':
      return target.digits === undefined
        ? frameView(store, target.seq, target.i)
        : numberView(store, target.seq, target.digits);
    case 'digest':
      return digestView(store, target.digits);
    case 'cell':
      if (options.history === true) return historyView(store, world, target.address);
      return options.diff === true
        ? diffView(store, target.address, options)
        : cellView(store, target.address, options);
    default:
      return target satisfies never;
  }
}

/** The frame with a number, or else what has a digest that begins with the same digits. */
async function numberView(store: ReadonlyStore, seq: number, digits: string): Promise<View> {
  const { seq: last } = await store.journal.head();
  if (seq > last && (await findMentions(store, digits)).length > 0) return digestView(store, digits);
  return frameView(store, seq);
}
