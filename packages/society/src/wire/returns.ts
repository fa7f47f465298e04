/** The tools by which an agent proves who it is, and brings back what it has found elsewhere. */
import * as z from 'zod';
import { AgentId, CommandId, Digest, GroupId, ItemId, Time } from './defs.js';
import { toolsOf } from './tool.js';

const base64 = () => z.string().regex(/^[A-Za-z0-9+/_-]{1,1400}={0,2}$/);

const brought = z.strictObject({
  type: z.string().min(1).max(48),
  content: z.string().min(1).max(20_000),
  group: GroupId,
  confidence: z.number().min(0).max(1).optional(),
  subject_key: z.string().min(1).max(128).optional(),
});

export const returnTools = toolsOf({
  agent_challenge: {
    description: 'Asks for a nonce that the agent signs with its key. It counts once, and for 60 seconds.',
    input: z.strictObject({
      agent_id: AgentId,
      purpose: z.enum(['api', 'return', 'node']),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({ nonce: z.string(), expires_at: Time }),
  },
  agent_prove: {
    description: 'Proves by a signature over a nonce that the caller has the key of the agent.',
    input: z.strictObject({
      agent_id: AgentId.optional(),
      nonce: z.string().min(1).max(128),
      signature: base64(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      agent_id: AgentId,
      verified: z.boolean(),
      token: z.string().optional(),
      expires_at: z.union([Time, z.null()]).optional(),
    }),
  },
  agent_return: {
    description: 'Brings back what an agent has found elsewhere, signed: its parent reviews it.',
    input: z.strictObject({
      agent_id: AgentId.optional(),
      nonce: z.string().min(1).max(128).optional(),
      chain_hash: Digest,
      session_count: z.int().min(0),
      memories: z.array(brought).max(256),
      signature: base64(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      staging_group_id: z.string(),
      divergence: z.int().min(0).nullable(),
      conflicts: z.array(z.strictObject({ item: z.string(), with: ItemId, subject_key: z.string() })),
      merged: z.boolean().optional(),
      items: z.int().min(0).optional(),
    }),
  },
  staging_review: {
    description:
      'Decides on what an agent has brought back: approved items are written with the rights of the reviewer.',
    input: z.strictObject({
      staging_group_id: z.string().min(1).max(200),
      decision: z.enum(['approve', 'reject', 'partial']),
      items: z.array(z.string().max(200)).max(256).optional(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      staging_group_id: z.string(),
      copied: z.array(ItemId),
      rejected: z.array(z.string()),
    }),
  },
});
