/** Helpers for tests of clients to inspect an answer, for every wire format. */
import { defineTool, readLlmOutput } from '@reprise/agent';
import { llmGenerateReceipt } from '@reprise/contracts';
import * as z from 'zod';
import type { Ran } from './harness.js';

/** A tool that the model may call. */
export const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});

/** The receipt's payload of a successful call. */
export function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

/** The model's output as stored. */
export const outputOf = (ran: Ran) => readLlmOutput(ran.content, payloadOf(ran).output_ref);
/** The text that watchers received on a channel. */
export const concernedCells = ({ notes }: Ran, channel: string) =>
  (notes as { type: string; channel?: string; text?: string }[])
    .filter((note) => note.type === 'delta' && note.channel === channel)
    .map(({ text }) => text)
    .join('');
