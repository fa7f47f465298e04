/** Reads what a cell holds from the leaves of a world, as a caller sees it. */
import { type Address, formatAddress, RepriseError, type Value } from '@reprise/contracts';
import { readLogLeaf } from '../../../ports/content/log-reader.js';
import type { ContentReader } from '../../../ports/content/port.js';
import { requireAddress, requireLeafName } from '../../../pure/arguments/arguments.js';
import { copyNormal, copyValue } from '../../../pure/codec/index.js';
import { type App, cellAddress, type TableRange } from '../../../pure/define/index.js';
import { cellKey, Exhausted, Fault, type LogLeaf, readTable, seenState } from '../../../pure/engine/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { loaded } from '../../../state/loaded.js';

/**
 * A cell's state from a leaf table, as this app sees it.
 *
 * @throws RepriseError `invalid_argument` for an invalid address, `migration_failed`
 */
export async function readState(app: App, table: LeafTable, address: Address): Promise<Value | undefined> {
  requireAddress(address);
  const cell = cellAddress(app, address);
  const leaf = await table.read(cellKey(cell));
  try {
    const state = seenState(app, cell, leaf);
    return state && copyNormal(state);
  } catch (thrown) {
    if (!(thrown instanceof Fault) && !(thrown instanceof Exhausted)) throw thrown;
    throw new RepriseError(
      'migration_failed',
      thrown instanceof Fault ? thrown.detail : 'the migration exhausted the stack',
      {
        where: formatAddress(cell),
        hint: 'The cell is unchanged. Fix the migration; once it was recorded as failed, give it a new version.',
        cause: thrown.cause ?? thrown,
      },
    );
  }
}

/** Entries of a cell's table from the resident leaves; missing ones are loaded. */
export async function readCellTable(
  leaves: LeafTable,
  address: Address,
  name: string,
  range?: TableRange,
): Promise<[key: string, value: Value][]> {
  requireAddress(address);
  requireLeafName(name, 'table');
  return loaded(leaves, () => readTable(leaves, address, name, range));
}

/** The items of a log whose leaf is resident, each as the caller's own. */
export async function* readKeptLog(content: ContentReader, leaf: LogLeaf, from = 0): AsyncGenerator<Value> {
  for await (const item of readLogLeaf(content, leaf, from)) yield copyValue(item);
}
