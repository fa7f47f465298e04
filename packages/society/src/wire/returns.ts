/** The tools by which an agent brings back what it has found elsewhere, and its parent decides on it. */
import * as z from 'zod';
import { IDENTITY_BOUNDS } from '../pure/contracts/agent/identity.js';
import { DECISIONS } from '../pure/contracts/staging/returns.js';
import { AgentId, CommandId, Digest, GroupId, ItemId, NOTES } from './defs.js';
import { toolsOf } from './tool.js';

const brought = z.strictObject({
  group: GroupId,
  type: z.string().min(1).max(32),
  content: z.string().min(1).max(20_000),
  confidence: z.number().min(0).max(1).optional(),
  subject_key: z.string().min(1).max(128).optional(),
});

const StagingId = z.string().regex(/^staging-[a-f0-9]{64}-[0-9]{1,16}$/);

export const returnTools = toolsOf({
  agent_return: {
    description: 'Brings back what an agent has found elsewhere, signed: its parent reviews it.',
    input: z.strictObject({
      agent_id: AgentId.optional(),
      nonce: z.string().min(1).max(128).register(NOTES, { description: 'Of a challenge with the purpose return.' }),
      chain_hash: Digest,
      session_count: z.int().min(0),
      base_hash: Digest.optional().register(NOTES, {
        description: 'The link of the chain at which the agent left; without it the divergence is unknown.',
      }),
      memories: z.array(brought).max(IDENTITY_BOUNDS.items),
      signature: z.string().regex(/^[A-Za-z0-9+/]{86}==$/),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      staging_group_id: StagingId,
      divergence: z
        .union([z.int().min(0), z.null()])
        .register(NOTES, { description: 'Sessions since the base; null for a base that this world does not know.' }),
      conflicts: z.array(z.strictObject({ item: ItemId, with: ItemId, subject_key: z.string() })),
      items: z.int().min(0),
      merged: z.boolean(),
      review: z.enum(['none', 'usual', 'forced']),
    }),
  },
  staging_review: {
    description:
      'Decides on what an agent has brought back: approved items are written with the rights of the parent. A return whose review is forced is approved by naming its items.',
    input: z.strictObject({
      staging_group_id: StagingId,
      decision: z.enum(DECISIONS),
      items: z.array(ItemId).max(IDENTITY_BOUNDS.items).optional().register(NOTES, {
        description: 'The items that the decision partial approves; the others are rejected.',
      }),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      staging_group_id: StagingId,
      copied: z.array(ItemId),
      rejected: z.array(ItemId),
      refused: z.array(z.strictObject({ item: ItemId, code: z.string() })).register(NOTES, {
        description: 'Approved items that the parent may not write at this moment: they stay staged.',
      }),
    }),
  },
});
