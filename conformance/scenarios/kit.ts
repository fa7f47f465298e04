/** What several scenarios are made of: tools, an agent, words for calls and events. */
import { defineAgent, defineTool } from 'reprise';
import * as z from 'zod';
import type { Called } from './scenario.js';

/** May happen once. */
export const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});

/** Has {@link add}. */
export const adder = defineAgent({ name: 'adder', model: 'main', instructions: 'Add.', tools: [add] });

/** A call of {@link add}. */
export const adds = (id: string, a: number, b: number): Called => ({ id, tool: 'add', args: { a, b } });

/** How a run begins. */
export const BEGIN = ['input.accepted', 'lifecycle', 'turn.started'] as const;
/** A model is asked and answers. */
export const STEP = ['llm_step.requested', 'llm_step.completed'] as const;
/** A tool is called and answers. */
export const CALL = ['tool.requested', 'tool.completed'] as const;
/** How a run ends. */
export const END = ['lifecycle'] as const;
