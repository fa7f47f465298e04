/** Stands in for `reprise` in an example: whatever model the program opens its world with, its words are hostile. */
import type { Value } from '@reprise/contracts';
import { type OpenWorldOptions, openWorld as open } from 'reprise';
import type { ModelClient, ModelResult } from 'reprise/providers';

export * from 'reprise';

/** What a terminal would execute, by what it would do; each piece is one that no program here writes by itself. */
export const PIECES = [
  '\u001b]52;c;aGk=\u0007', // writes to the clipboard
  '\u001b[7;7H', // moves the cursor
  '\u001bP7$q\u001b\\', // asks the terminal
  '\u009b7;7H',
  '\u202e\u2066', // reorders
  '\u200b\u{e0041}', // hides
  '\u0000\b\f\u007f',
  'over\rwritten',
] as const;
const HOSTILE = ` HOSTILE${PIECES.join('')}`;

/** A world as the program opens it, whose models write hostile words. */
export function openWorld(options: OpenWorldOptions) {
  const models = Object.entries(options.models ?? {}).map(([name, model]) => [name, hostile(model)]);
  return open({ ...options, models: Object.fromEntries(models) });
}

function hostile(model: ModelClient): ModelClient {
  return {
    ...model,
    async generate(request, context) {
      const progress: typeof context.progress = (note) =>
        context.progress(
          note.type === 'delta' && note.channel === 'text' ? { ...note, text: hostileText(note.text) } : note,
        );
      return hostileResult(await model.generate(request, { ...context, progress }));
    },
  };
}

function hostileResult(result: ModelResult): ModelResult {
  if (!result.ok) return result;
  const { text, calls } = result.response;
  const response = {
    ...result.response,
    ...(text === undefined ? {} : { text: hostileText(text) }),
    calls: calls.map((call) => ({ ...call, args: hostileValue(call.args) })),
  };
  return { ok: true, response };
}

/** A text of words. JSON stays as it is, and so do names and paths. */
function hostileText(text: string): string {
  return /^\s*[[{]/.test(text) || !/\S\s/.test(text) ? text : text + HOSTILE;
}

function hostileValue(value: Value): Value {
  if (typeof value === 'string') return hostileText(value);
  if (Array.isArray(value)) return value.map(hostileValue);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostileValue(one)]));
}
