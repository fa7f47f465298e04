/** What tests of clients ask of an answer, whichever wire it came by. */
import { defineTool, readLlmOutput } from '@reprise/agent';
import { llmGenerateReceipt } from '@reprise/contracts';
import * as z from 'zod';
import type { Ran } from './harness.js';

/** A tool to call. */
export const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});

/** The payload of a call that was answered. */
export function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

/** What the model answered, as it is kept. */
export const outputOf = (ran: Ran) => readLlmOutput(ran.content, payloadOf(ran).output_ref);
/** What watchers heard on a channel. */
export const toldOf = ({ notes }: Ran, channel: string) =>
  (notes as { type: string; channel?: string; text?: string }[])
    .filter((note) => note.type === 'delta' && note.channel === channel)
    .map(({ text }) => text)
    .join('');
