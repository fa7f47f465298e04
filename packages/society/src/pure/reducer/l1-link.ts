/** Links of a hot context's chain of sessions: what each is the digest of. */
import type { Value } from '@reprise/contracts';
import type { L1State } from '../contracts/l1.js';

/** The part of a hot context that a link states. */
export type LinkedL1 = Pick<L1State, 'parent_entity_id' | 'agent_type' | 'identity' | 'fields' | 'progress_ppm'>;

/**
 * What a link is the digest of. What waits in the inbox is shown in the hot context, and is no part of it.
 *
 * @param prev the link before; null for the first
 * @param count the sessions begun so far
 */
export function linkContent(
  { parent_entity_id, agent_type, identity, fields, progress_ppm }: LinkedL1,
  { prev, count, capabilities }: { readonly prev: string | null; readonly count: number; readonly capabilities: Value },
): Value {
  const content = { parent_entity_id, agent_type, identity, fields, progress_ppm, capabilities };
  return { prev, count, content } as unknown as Value;
}
