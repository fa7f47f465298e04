/** The effect that puts the archive of an agent in words: what it was about when it was deactivated. */

import { digestHex, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { effectOf } from '@reprise/org/contracts';
import { AGENT_TYPES, NAME_ID } from '../cell/names.js';

const id = z.string().regex(NAME_ID);

/** What is known of the agent, and the contents of its hot context that its archive shows. */
export const archivedAgent = z.strictObject({
  /** The id of the archive item. */
  key: z.string().max(128),
  agent_id: id,
  parent_entity_id: id,
  display_name: z.string().max(120),
  agent_type: z.nullable(z.enum(AGENT_TYPES)),
  session_count: z.int().min(0),
  chain_hash: digestHex(),
  active: z.nullable(ref()),
  goal: z.nullable(ref()),
  findings: z.nullable(ref()),
  working_memory: z.nullable(ref()),
});

/** `society.archive@1`: stores the archive of an agent as a text that can be erased, and the summary of it. */
export const societyArchive = effectOf('society.archive@1', () => ({
  params: archivedAgent,
  receipt: z.strictObject({ content_ref: ref(), summary_ref: ref() }),
  guarantee: 'idempotent',
}));
