/** Rights as clients read them: in the form in which capabilities are declared, and who narrows them. */

import type { Capability } from '@reprise/contracts';
import { covers } from '@reprise/kernel/authority';
import type { Capabilities, MemoryScope } from '../../contracts/agent/capability.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { EntityContext } from '../context/entity.js';
import { secondsUntil } from './agent-terms.js';
import { excessIn } from './register.js';
import { aboveOf, compiledOf, handedOnTo, standing } from './rights.js';

/** What an entity may do, and the nearest entity above that narrows a dimension which was declared wider. */
interface ShownRights {
  readonly effective: Capabilities;
  /** What it has once its maker has set what it asked for; absent when it has that. */
  readonly waiting?: Capabilities;
  readonly limited_by: readonly { readonly ancestor: string; readonly dimension: string }[];
}

/** The rights of this entity as they count now: those that it asked its maker for and that do not stand yet are apart. */
export function shownRights(draft: EntityState, ctx: EntityContext): ShownRights {
  const compiled = compiledOf(draft, ctx);
  return {
    effective: shown(standing(draft, compiled).exercise, ctx.now),
    ...(draft.stands === null ? {} : { waiting: shown(compiled.exercise, ctx.now) }),
    limited_by: limitedBy(draft, ctx),
  };
}

/** A capability of the kernel in wire form. Groups are those whose stores it reaches. */
function shown({ may, expires_at, max_parallel }: Capability, now: number): Capabilities {
  const left = expires_at === undefined ? 0 : Math.max(1, secondsUntil(expires_at, now));
  return {
    memory_read: scopeOf(may.mem_read ?? ['*']),
    memory_write: scopeOf(may.mem_write ?? ['*']),
    tools: [...(may.tool ?? ['*'])],
    ...(max_parallel === undefined ? {} : { max_parallel_ops: Math.min(max_parallel, PARALLEL_SHOWN) }),
    ttl_seconds: left,
    autonomous: may.unwatched === undefined || may.unwatched.length > 0,
  };
}

/** The largest parallel limit that the wire form knows. */
const PARALLEL_SHOWN = 100;

function scopeOf(stores: readonly string[]): MemoryScope {
  const has = (prefix: string) => stores.some((store) => store.startsWith(prefix) || covers(store, prefix));
  const groups = stores.flatMap((store) =>
    store.startsWith('group:') ? [store.slice('group:'.length)] : store === '*' ? ['*'] : [],
  );
  const visibility: MemoryScope['visibility'] = [];
  if (has('private:')) visibility.push('private');
  if (groups.length > 0) visibility.push('group');
  if (stores.some((store) => covers(store, 'public'))) visibility.push('public');
  const layers: MemoryScope['layers'] = [];
  if (has('l1-notes:')) layers.push('l1');
  if (visibility.length > 0) layers.push('l2');
  return { layers, groups: groups.slice(0, GROUPS_SHOWN), visibility };
}

const GROUPS_SHOWN = 64;

/** The kernel's dimension of each wire dimension, by which the entity that narrows it is known. */
const KERNEL: Readonly<Record<string, string>> = {
  tools: 'tool',
  memory_write: 'mem_write',
  memory_read: 'mem_read',
  autonomous: 'unwatched',
  max_parallel_ops: 'max_parallel',
  ttl_seconds: 'expires_at',
};

function limitedBy(draft: EntityState, ctx: EntityContext): ShownRights['limited_by'] {
  const { limits } = handedOnTo(ctx);
  return Object.entries(KERNEL).flatMap(([dimension, kernel]) => {
    const declared = draft.declared[dimension as keyof Capabilities];
    if (declared === undefined) return [];
    const excess = excessIn({ ...draft, declared: { [dimension]: declared }, granted: null }, aboveOf(ctx), ctx);
    const ancestor = limits[kernel] ?? draft.parent_entity_id;
    return excess === undefined || ancestor === null ? [] : [{ ancestor, dimension }];
  });
}
