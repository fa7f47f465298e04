/**
 * `server/Tokens@1`: the tokens of one principal that were taken back before their end. Its key is the SHA-256 of
 * the principal.
 *
 * Invariants
 * T1  It holds ids and times, never a token: a reader of the journal can make none.
 * T2  An entry stays until its token has ended by itself; a later revocation removes it after that.
 * T3  A revocation is never refused: the list has no bound but the tokens that were issued and have not ended.
 */
import * as z from '@reprise/contracts/schema';
import { by, creates, defineReducer, from, type Table } from '@reprise/kernel/define';

/** The name of the reducer. */
export const TOKENS = 'server/Tokens@1';

/** How many entries of ended tokens a revocation removes at most: more than the one that it adds. */
const SWEPT = 8;

/** The digits of the largest time. */
const END_DIGITS = 16;

const ms = z.int().min(0);

const revokeToken = z.strictObject({ id: z.string().min(1).max(64), ends: ms });

/** The state of a list: tokens that were issued up to this time are refused. */
const tokenListState = z.strictObject({ refused_until: ms });

/** The list of the tokens that were taken back. */
export const tokenList = defineReducer({
  name: TOKENS,
  state: tokenListState,
  events: {
    'server/RevokeToken@1': creates(from(revokeToken, by.outside)),
    'server/RevokeTokens@1': creates(from(z.strictObject({}), by.outside)),
  },
  tables: { revoked: ms, ending: z.string() },
  init: () => ({ refused_until: 0 }),
  reduce(draft, event, ctx) {
    const revoked: Table<number> = ctx.table('revoked');
    const ending: Table<string> = ctx.table('ending');
    for (const [key, id] of ending.range({ before: endKey(ctx.now + 1, ''), limit: SWEPT })) {
      ending.delete(key);
      revoked.delete(id);
    }
    if (event.name === 'server/RevokeTokens@1') {
      // A token that was issued after an earlier one of this millisecond states a later time.
      draft.refused_until = Math.max(ctx.now, draft.refused_until + 1);
      return;
    }
    const { id, ends } = event.value;
    revoked.set(id, ends);
    ending.set(endKey(ends, id), id);
  },
});

/** Sorts tokens by their ends. */
function endKey(ends: number, id: string): string {
  return `${String(ends).padStart(END_DIGITS, '0')}.${id}`;
}
