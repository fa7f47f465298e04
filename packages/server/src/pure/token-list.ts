/**
 * `server/Tokens@1`: the tokens of one principal that were taken back before their end. Its key is the SHA-256 of
 * the principal.
 *
 * Invariants
 * T1  It holds ids and times, never a token: a reader of the journal can make none.
 * T2  An entry stays until its token has ended by itself.
 */
import * as z from '@reprise/contracts/schema';
import { by, creates, defineReducer, from, type Table } from '@reprise/kernel/define';

/** The name of the reducer. */
export const TOKENS = 'server/Tokens@1';

/** The most tokens of one principal that are taken back one by one. */
const REVOKED_MAX = 1_000;

const ms = z.int().min(0);

/** Takes back one token. */
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
  tables: { revoked: ms },
  init: () => ({ refused_until: 0 }),
  reduce(draft, event, ctx) {
    const revoked: Table<number> = ctx.table('revoked');
    for (const [id, ends] of revoked.range()) if (ends <= ctx.now) revoked.delete(id);
    if (event.name === 'server/RevokeTokens@1') {
      draft.refused_until = ctx.now;
      return;
    }
    if (revoked.size >= REVOKED_MAX) ctx.reject('too_many_revoked');
    revoked.set(event.value.id, event.value.ends);
  },
});
