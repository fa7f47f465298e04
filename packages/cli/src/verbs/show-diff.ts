import { type Address, formatAddress } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type Change, changesOf } from '@reprise/operators/diff';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import type { ShowArguments, View } from './show.js';
import { cellContext } from './show-cell.js';

/**
 * Shows the changes that one frame made in a cell: the events it delivered, each with its patches.
 *
 * @throws RepriseError as `cellView`
 */
export async function diffView(store: ReadonlyStore, address: Address, options: ShowArguments): Promise<View> {
  const { chosen, reducer, seq } = await cellContext(store, address, options);
  const changes = await changesOf(store, chosen, reducer, address, seq);
  const name = formatAddress(address);
  const title = escapeLine(
    `${name} in frame ${seq}: ${changes.length === 0 ? 'no event reached the cell' : ''}`,
  ).trimEnd();
  return { data: { address: name, seq, changes }, text: `${[title, ...changes.flatMap(linesOf)].join('\n')}\n` };
}

function linesOf({ event, sender, patches }: Change): string[] {
  const lines = patches.map(({ op, path, value }) => {
    const after = op === 'remove' ? '' : ` ${toJson(value)}`;
    return `  ${op.padEnd(7)} ${path.join('.') || '(the state)'}${after}`;
  });
  const from = sender === null ? '' : ` from ${toJson(sender)}`;
  return [`${event}${from}`, ...(lines.length === 0 ? ['  nothing'] : lines)].map(escapeLine);
}
