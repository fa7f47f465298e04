/** Capabilities and rights as commands and events carry them. */
import { type Capability, type capability, present } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { canonical, leq } from '@reprise/kernel/authority';

type Recorded = z.infer<typeof capability>;

/** A capability in the form that commands and events carry. */
export function recorded(of: Capability): Recorded {
  return canonical(of) as Recorded;
}

/**
 * Both sides of an entity's rights as the kernel holds them. Sessions are cells of the entity, and a cell has at most what
 * its maker may hand on: so the grant side has what the entity uses itself as well, except stores. What may be handed on
 * to agents is the declared side alone, which registration is judged by.
 */
export function recordedSides({ exercise, grant }: { readonly exercise: Capability; readonly grant: Capability }): {
  readonly exercise: Recorded;
  readonly grant: Recorded;
} {
  return { exercise: recorded(exercise), grant: recorded(withOwn(grant, exercise)) };
}

function withOwn(grant: Capability, exercise: Capability): Capability {
  const { mem_read: _, mem_write: __, ...used } = exercise.may;
  if (leq({ ...exercise, may: { ...used, ...storesOf(grant) } }, grant)) return grant;
  const may = Object.fromEntries(
    Object.entries(grant.may).flatMap(([dimension, patterns]) => {
      if (dimension in storesOf(grant)) return [[dimension, patterns]];
      const own = used[dimension];
      return own === undefined ? [] : [[dimension, [...new Set([...patterns, ...own])]]];
    }),
  );
  const expires_at = largest(grant.expires_at, exercise.expires_at);
  return present({ may, expires_at, max_parallel: largest(grant.max_parallel, exercise.max_parallel) });
}

function storesOf({ may: { mem_read, mem_write } }: Capability): Capability['may'] {
  return present({ mem_read, mem_write });
}

/** The larger of two bounds; without one there is no bound. */
function largest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}
