/** `GET /api/rights?holder&at`: what a holder may do. */
import { type Principal, present, RepriseError } from '@reprise/contracts';
import { rightsAt } from '@reprise/operators/rights';
import { AT, CELL, type Parameter, TEXT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { RightsReport } from '../contract/index.js';

/** A principal: the operator, a person, or a cell. */
const HOLDER: Parameter<Principal> = {
  read(text, name) {
    const holder = TEXT.read(text, name);
    if (holder === 'operator' || /^(?:human|agent|system|app):./.test(holder)) return holder as Principal;
    if (holder.startsWith('cell:')) {
      CELL.read(holder.slice('cell:'.length), name);
      return holder as Principal;
    }
    throw new RepriseError('invalid_argument', 'the holder is not one', {
      ...{ where: name, expected: 'operator, human:<id>, or cell:<address>', actual: holder },
    });
  },
};

export const rights = question(
  { holder: HOLDER, at: AT },
  async ({ store, signal, apps }, { holder, at }): Promise<RightsReport> =>
    rightsAt(store, await apps(), holder, present({ at, signal })),
);
