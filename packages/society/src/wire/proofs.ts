/** The tools by which an agent proves who it is. */
import * as z from 'zod';
import { AgentId, CommandId, Time } from './defs.js';
import { toolsOf } from './tool.js';

const base64 = () => z.string().regex(/^[A-Za-z0-9+/_-]{1,1400}={0,2}$/);

export const proofTools = toolsOf({
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
});
