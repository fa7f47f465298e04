/** `GET /api/state?cell&at`: the state of a cell after a frame. */
import { formatAddress, RepriseError } from '@reprise/contracts';
import { reducerFor } from '@reprise/kernel';
import { frameOf } from '@reprise/operators/page';
import { frameAt } from '../../ask/frame-at.js';
import { AT, CELL } from '../../ask/parameters.js';
import { question } from '../../ask/question.js';
import type { StateReport } from '../../contract/index.js';

export const state = question({ cell: CELL, at: AT }, async (asked, { cell, at }): Promise<StateReport> => {
  const { store, past, signal, apps } = asked;
  const frame = await frameOf(store, at);
  const { app, legacy = [] } = await apps();
  if ([app, ...legacy].every((one) => reducerFor(one, cell[0]) === undefined))
    throw new RepriseError('unknown_reducer', 'the app has no such reducer', { where: 'cell', actual: cell[0] });
  const recorded = await frameAt(store, frame);
  return past.read(frame, signal, async (then) => {
    const value = await then.state(cell);
    if (value === undefined)
      throw new RepriseError('cell_absent', 'the cell does not exist', {
        ...{ where: `frame ${frame}`, actual: formatAddress(cell), hint: 'Choose another frame.' },
      });
    const { digest } = then.head;
    return { frame, cell: formatAddress(cell), state: value, head: digest, replayed: digest === recorded.head };
  });
});
