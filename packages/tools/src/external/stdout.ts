/** Runs a program that reads a prompt, prints its answer and exits: one turn is one run of the program. */
import type { ToolContext } from '@reprise/agent';
import { type Command, startGroup } from '../process/group.js';
import { LastWords } from '../process/last-words.js';

/** The most bytes of an output that are read at once. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The whole output of a program, as text. Watchers do not see it as it arrives, since it is not yet the answer.
 *
 * @throws as {@link printed}, and when the output has more than 16 MiB
 */
export async function allPrinted(command: Command, ctx: ToolContext, begun?: (group: number) => void): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const piece of printed(command, { ...ctx, progress: () => undefined }, begun)) {
    bytes += piece.length;
    if (bytes > OUTPUT_BYTES_MAX) throw new Error(`the program printed more than ${OUTPUT_BYTES_MAX} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Yields the program's output as it arrives.
 *
 * @param begun called with the id of the program's group when it was started
 * @throws when the program could not be started, was stopped, or failed; the output before that was already yielded
 */
export async function* printed(
  command: Command,
  ctx: ToolContext,
  begun?: (group: number) => void,
): AsyncGenerator<Uint8Array> {
  const group = await startGroup(command, 'apart');
  if (typeof group === 'string') throw new Error(group);
  const words = new LastWords(ctx.scrubber);
  group.errors.on('data', (bytes: Uint8Array) => words.add(bytes));
  const stop = () => group.stop();
  const stops = [ctx.signal, ctx.closing];
  for (const signal of stops) signal.addEventListener('abort', stop, { once: true });
  if (stops.some(({ aborted }) => aborted)) stop();
  const decoder = new TextDecoder();
  try {
    begun?.(group.pid);
    for await (const bytes of group.output as AsyncIterable<Uint8Array>) {
      ctx.progress({ type: 'delta', channel: 'text', index: 0, text: decoder.decode(bytes, { stream: true }) });
      yield bytes;
    }
    const how = await group.ended;
    if (how !== 'exit 0') throw new Error(words.text() === '' ? how : `${how}: ${words.text()}`);
  } finally {
    for (const signal of stops) signal.removeEventListener('abort', stop);
    group.stop();
  }
}
