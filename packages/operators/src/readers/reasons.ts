/** Why a holder may read a store or not: the first link of its chain that decides. */
import type { Capability } from '@reprise/contracts';
import type { WorldAt } from '@reprise/kernel';
import { isExpired, permits } from '@reprise/kernel/authority';
import type { ReaderRow } from './report.js';

/** What is asked of rights: which store, and when. */
interface StoreQuestion {
  readonly store: string;
  readonly at: number;
}

type Rights = Awaited<ReturnType<WorldAt['rights']>>;
type Reason = Pick<ReaderRow, 'may' | 'reason' | 'by' | 'patterns'>;

/** The effect that reads an item, and the dimension that names stores. */
const READ = { effect: 'memory.read@1', dimension: 'mem_read' } as const;

const NO_LINK = { by: null, patterns: null } as const;

/** Whether the rights of a holder permit reading a store, and which part of its chain says so. */
export function reasonOf({ effective, chain }: Rights, question: StoreQuestion): Reason {
  if (effective === undefined) return { may: false, reason: 'broken', ...NO_LINK };
  const refusal = refusalIn(chain, question);
  if (refusal !== undefined) return refusal;
  for (const [i, { holder, declared }] of chain.entries()) {
    const patterns = patternsIn(sideOf(declared, i));
    if (patterns !== null) return { may: true, reason: 'rights', by: holder, patterns };
  }
  return { may: true, reason: 'not_narrowed', ...NO_LINK };
}

/** The first link, from the holder up, that does not permit it. */
function refusalIn(chain: Rights['chain'], question: StoreQuestion): Reason | undefined {
  for (const [i, { holder, declared }] of chain.entries()) {
    if (declared === undefined) continue;
    const side = sideOf(declared, i);
    const refused = side === null ? undefined : refusedBy(side, question);
    if (refused !== undefined) return { may: false, by: holder, ...refused };
    for (const [granter, hold] of declared.holds ?? []) {
      const held = refusedBy(hold, question);
      if (held !== undefined)
        return { may: false, by: granter, ...held, reason: held.reason === 'expired' ? 'expired' : 'held' };
    }
  }
  return undefined;
}

/** The side that counts: a holder exercises its own, and those above it narrow by what they may hand on. */
function sideOf(declared: Rights['chain'][number]['declared'], i: number): Capability | null {
  return (i === 0 ? declared?.exercise : declared?.grant) ?? null;
}

function refusedBy(
  capability: Capability,
  { store, at }: StoreQuestion,
): Pick<ReaderRow, 'reason' | 'patterns'> | undefined {
  if (isExpired(capability, at)) return { reason: 'expired', patterns: null };
  if (!permits(capability, 'effect', READ.effect))
    return { reason: 'narrowed', patterns: [...(capability.may.effect ?? [])] };
  if (!permits(capability, READ.dimension, store)) return { reason: 'narrowed', patterns: patternsIn(capability) };
  return undefined;
}

function patternsIn(capability: Capability | null | undefined): string[] | null {
  const patterns = capability?.may[READ.dimension];
  return patterns === undefined ? null : [...patterns];
}
