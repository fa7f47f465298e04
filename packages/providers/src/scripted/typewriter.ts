/** Slows down a model that answers at once: its text comes word by word, which gives time to watch and to stop it. */
import { requireArgument } from '@reprise/contracts';
import type { ModelClient, ModelContext, ModelResult } from '../model/model.js';
import { requireClient } from '../model/require-client.js';

/**
 * Returns the same model with a pause between words, of its reasoning and then of its text: for demonstrations with a
 * scripted model. Calls come at the end.
 *
 * @param wordMs the pause between two words, in milliseconds
 * @example typewriter(script({ text: 'Once upon a time …' }), 30)
 */
export function typewriter(model: ModelClient, wordMs: number): ModelClient {
  requireClient(model, 'typewriter');
  const fits = typeof wordMs === 'number' && wordMs >= 0;
  requireArgument(fits, 'typewriter(wordMs)', 'the pause between two words, in milliseconds', wordMs);
  return {
    ...model,
    generate: async (request, context) => {
      const result = await model.generate(request, { ...context, progress: () => undefined });
      return result.ok ? spoken(result, context, wordMs) : result;
    },
  };
}

/** Emits a whole answer word by word; when stopped, it returns the text so far. */
async function spoken(
  result: ModelResult & { readonly ok: true },
  { signal, progress }: ModelContext,
  wordMs: number,
): Promise<ModelResult> {
  const thoughts = (result.response.opaque ?? []).flatMap(({ kind, text }) =>
    kind === 'reasoning' ? (text ?? []) : [],
  );
  for (const word of wordsOf(thoughts.join(''))) {
    if (!(await passed(wordMs, signal))) break;
    progress({ type: 'delta', channel: 'reasoning', index: 0, text: word });
  }
  let said = '';
  for (const word of wordsOf(result.response.text ?? '')) {
    if (!(await passed(wordMs, signal))) break;
    progress({ type: 'delta', channel: 'text', index: 0, text: word });
    said += word;
  }
  if (!signal.aborted) return result;
  if (said === '') return { ok: false, failure: { status: 'cancelled' } };
  return { ok: true, response: { ...result.response, text: said, calls: [], finishReason: 'interrupted' } };
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** Waits; returns false when the signal stopped it. */
function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
