/**
 * The tools by which a model controls child sessions. The model knows them as c1, c2 … in the order in which they were
 * made.
 */
import { type InputPart, RepriseError, wellFormed } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ContentStore } from '@reprise/kernel';
import { defineSessionTool, type Tool } from './tool.js';

const WAIT_SECONDS_MAX = 7 * 86_400;
const TEXT_MAX = 100_000;

const CHILD = /^c[1-9][0-9]{0,5}$/;
const child = z.string().regex(CHILD);
const text = z.string().min(1).max(TEXT_MAX);
const tokens = z.int().min(1);
const seconds = z.int().min(1).max(WAIT_SECONDS_MAX);

/** The same schemas as JSON Schema, to which each tool adds what a model should know. */
const CHILD_JSON = {
  type: 'string',
  pattern: CHILD.source,
  description: 'The child, as spawn_agent named it: c1, c2 …',
};
const TEXT_JSON = { type: 'string', minLength: 1, maxLength: TEXT_MAX };
const TOKENS_JSON = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const SECONDS_JSON = { type: 'integer', minimum: 1, maximum: WAIT_SECONDS_MAX };

/**
 * Makes the tools `spawn_agent`, `send_input`, `wait_agents` and `close_agent`.
 *
 * @param agents the names of the agents that may be spawned; the model is told them
 * @throws RepriseError `invalid_argument` when the list is empty
 */
export function childTools(agents: readonly string[]): readonly Tool[] {
  const [first, ...others] = agents;
  if (first === undefined) {
    throw new RepriseError('invalid_argument', 'the list of agents to spawn is empty', {
      expected: 'the name of at least one agent',
      hint: 'Leave these tools out of an agent that spawns no agents.',
    });
  }
  return [spawnAgent([first, ...others]), sendInput, waitAgents, closeAgent];
}

function spawnAgent(agents: readonly string[]) {
  return defineSessionTool({
    name: 'spawn_agent',
    description:
      'Starts a child agent on a task of its own. It works in parallel; use wait_agents for its result. Answers with the name of the child.',
    args: z.strictObject({
      agent: z.enum(agents),
      task: text,
      max_tokens: tokens.optional(),
      max_seconds: seconds.optional(),
    }),
    jsonSchema: argsSchema(['agent', 'task'], {
      agent: { type: 'string', enum: agents, description: 'The name of the agent that the child runs as.' },
      task: { ...TEXT_JSON, description: 'The whole task: the child knows nothing else.' },
      max_tokens: { ...TOKENS_JSON, description: 'The most tokens it may use. Default: what is left to you.' },
      max_seconds: { ...SECONDS_JSON, description: 'The most seconds it may take.' },
    }),
    kind: 'spawn',
    operation: async (asked, content) => ({
      op: 'spawn',
      agent: String(asked.agent),
      parts: [await textPart(content, asked.task)],
      ...(asked.max_tokens === undefined ? {} : { max_tokens: asked.max_tokens }),
      ...(asked.max_seconds === undefined ? {} : { max_wall_ms: asked.max_seconds * 1_000 }),
    }),
  });
}

const sendInput = defineSessionTool({
  name: 'send_input',
  description: 'Says something more to a child. One that runs reads it when it is done with what it does.',
  args: z.strictObject({ child, text }),
  jsonSchema: argsSchema(['child', 'text'], { child: CHILD_JSON, text: { ...TEXT_JSON, description: 'What to say.' } }),
  kind: 'send_input',
  operation: async (asked, content) => ({
    op: 'send_input',
    child: asked.child,
    parts: [await textPart(content, asked.text)],
  }),
});

const waitAgents = defineSessionTool({
  name: 'wait_agents',
  description: 'Waits until children have come to something, and answers with what.',
  args: z.strictObject({
    children: z.array(child).min(1).max(64),
    mode: z.enum(['any', 'all']).default('all'),
    max_seconds: seconds.optional(),
  }),
  jsonSchema: argsSchema(['children'], {
    children: {
      type: 'array',
      items: CHILD_JSON,
      minItems: 1,
      maxItems: 64,
      description: 'The names of the children to wait for, as spawn_agent answered.',
    },
    mode: {
      type: 'string',
      enum: ['any', 'all'],
      default: 'all',
      description: 'Whether for all of them or for the first. Default all.',
    },
    max_seconds: { ...SECONDS_JSON, description: 'The most seconds to wait. Default: no limit.' },
  }),
  kind: 'wait',
  operation: async ({ children, mode, max_seconds }) => ({
    op: 'wait',
    children: [...new Set(children)],
    mode,
    ...(max_seconds === undefined ? {} : { within_ms: max_seconds * 1_000 }),
  }),
});

const closeAgent = defineSessionTool({
  name: 'close_agent',
  description: 'Ends a child that is not needed any more; what it does is cancelled.',
  args: z.strictObject({ child }),
  jsonSchema: argsSchema(['child'], { child: CHILD_JSON }),
  kind: 'close',
  operation: async (asked) => ({ op: 'close', child: asked.child }),
});

function argsSchema(required: readonly string[], properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

async function textPart(content: ContentStore, said: string): Promise<InputPart> {
  const bytes = new TextEncoder().encode(wellFormed(said));
  return { kind: 'text', text_ref: await content.put(bytes), bytes: bytes.length };
}
