/** The numbers of an entity as a member of groups. */

import type { Row } from '../../contracts/index.js';
import type { EntityContext } from './entity.js';

const NONE: Row<'counts'> = { next: 1, dropped: 0, write: 1 };

export function countsOf(ctx: EntityContext): Row<'counts'> {
  return ctx.table('counts').get(COUNTS) ?? NONE;
}

export function setCounts(change: Partial<Row<'counts'>>, ctx: EntityContext): void {
  ctx.table('counts').set(COUNTS, { ...countsOf(ctx), ...change });
}

const COUNTS = 'counts';
