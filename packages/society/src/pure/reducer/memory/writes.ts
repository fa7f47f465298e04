/** What the writes of an entity have in common. */

import { formatAddress, present, type Ref } from '@reprise/contracts';
import { openStore } from '@reprise/org/contracts';
import { groupOfStore } from '../../contracts/cell/names.js';
import { countsOf, type EntityContext, setCounts } from '../context/entity.js';

/** What every write has: where it comes from, and when it expires. The first write to a store of its own opens it. */
export function writeOf(store: string, ctx: EntityContext) {
  const group = groupOfStore(store);
  const stores = ctx.table('stores');
  if (group === undefined && stores.get(store) === undefined) {
    openStore(ctx, store);
    stores.set(store, null);
  }
  const message = countsOf(ctx).write;
  setCounts({ write: message + 1 }, ctx);
  const seconds = group === undefined ? 0 : (ctx.table('terms').get(group)?.ttl_default ?? 0);
  const origin = { cell: formatAddress(ctx.address), message };
  return { origin, expires_at: seconds === 0 ? null : ctx.now + seconds * 1_000 };
}

/** States the place that a write comes from: what nothing states is a gap in the provenance of the item. */
export function linkWrite(
  { origin: { message: id } }: ReturnType<typeof writeOf>,
  what: 'write' | 'share' | 'archive' | 'return',
  ctx: EntityContext,
  text_ref?: Ref,
): void {
  ctx.record('memory/Linked@1', { kind: 'message', id, title: `${what} ${id}`, from: [], ...present({ text_ref }) });
}
