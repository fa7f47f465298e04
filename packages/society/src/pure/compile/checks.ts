/** The checks of a call, in the order in which a refusal names them. */
import type { Capability } from '@reprise/contracts';
import { isExpired, permits } from '@reprise/kernel/authority';

/** A check of a call. */
export const CHECKS = ['tool', 'group', 'visibility', 'parallel', 'ttl'] as const;

/** A check of a call. */
export type CallCheck = (typeof CHECKS)[number];

/** What a call needs. */
export interface CallNeeds {
  readonly tool: string;
  /** The group that it names. */
  readonly group?: string | undefined;
  /** The stores that it reads or writes. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/**
 * Finds the first check that a call fails.
 *
 * @param rights the effective rights of the caller
 * @param open its effects that are under way
 * @param now the time in milliseconds
 * @returns undefined when it passes. The gate decides again when it acts
 */
export function firstFailed(rights: Capability, needs: CallNeeds, open: number, now: number): CallCheck | undefined {
  const { tool, group, reads = [], writes = [] } = needs;
  if (!permits(rights, 'tool', tool)) return 'tool';
  if (group !== undefined && !permits(rights, 'group', group)) return 'group';
  const seen = reads.every((store) => permits(rights, 'mem_read', store));
  if (!seen || !writes.every((store) => permits(rights, 'mem_write', store))) return 'visibility';
  if (rights.max_parallel !== undefined && open >= rights.max_parallel) return 'parallel';
  return isExpired(rights, now) ? 'ttl' : undefined;
}
