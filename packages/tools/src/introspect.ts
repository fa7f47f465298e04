import { defineTool, type Tool } from '@reprise/agent';
import * as z from 'zod';

const LIMIT_MAX = 100;
const limit = z.int().min(1).max(LIMIT_MAX).default(20).describe('The most to list. Default 20.');

/**
 * Makes tools with which a model inspects its world: `introspect_sessions`, `introspect_open`, `introspect_usage` and
 * `introspect_transcript`. They change nothing; a model can read only its own session's transcript.
 */
export function introspect(): Tool[] {
  return [sessions, open, usage, transcript];
}

const terms = { guarantee: 'idempotent', family: 'introspect' } as const;

const sessions = defineTool({
  ...terms,
  name: 'introspect_sessions',
  description: 'Lists the sessions of this world and their states, the most recently changed first.',
  args: z.strictObject({
    after: z.string().max(4_096).optional().describe('The `next` of the previous page, to continue after it.'),
    limit,
  }),
  polling: true,
  run: (ask, { world }) =>
    world.sessions({ limit: ask.limit, ...(ask.after === undefined ? {} : { after: ask.after }) }),
});

const open = defineTool({
  ...terms,
  name: 'introspect_open',
  description: 'Lists the pending approvals and questions of this world.',
  args: z.strictObject({ limit }),
  polling: true,
  run: (ask, { world }) => world.pending({ limit: ask.limit }),
});

const usage = defineTool({
  ...terms,
  name: 'introspect_usage',
  description: 'Shows what this session has used: steps, tokens, money.',
  args: z.strictObject({}),
  run: (_ask, { world, session }) => world.usage(session.key),
});

const transcript = defineTool({
  ...terms,
  name: 'introspect_transcript',
  description: 'Reads the transcript of this session, including items that are no longer in the context.',
  args: z.strictObject({ from: z.int().min(0).default(0).describe('Index of the first item. Default 0.'), limit }),
  run: (ask, { world, session }) => world.transcript(session.key, { from: ask.from, limit: ask.limit }),
});
