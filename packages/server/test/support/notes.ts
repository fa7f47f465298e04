/** A small part that serves notes: one notebook for each principal, and one that all may read. */
import type { ServedAnswer, ServedCall, WorldPart } from '@reprise/agent';
import type { Address, Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { WorldView } from '@reprise/kernel';
import { creates, defineReducer } from '@reprise/kernel/define';

export const NOTEBOOK = 'test/Notebook@1';

const notebook = defineReducer({
  name: NOTEBOOK,
  state: z.strictObject({ notes: z.array(z.strictObject({ id: z.string(), text: z.string() })) }),
  events: { 'test/Add@1': creates(z.strictObject({ id: z.string(), text: z.string() })) },
  init: () => ({ notes: [] }),
  reduce(draft, event, ctx) {
    if (event.value.text === 'forbidden') ctx.reject('not_here');
    draft.notes.push(event.value);
  },
});

export const SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

export const addInput = {
  $schema: SCHEMA,
  type: 'object',
  additionalProperties: false,
  required: ['notebook', 'text'],
  properties: {
    notebook: { type: 'string', pattern: '^[a-z]{1,16}$' },
    text: { type: 'string', maxLength: 2_000, $comment: 'listed as it is' },
    command_id: { type: 'string', minLength: 1, maxLength: 128 },
  },
};
export const addOutput = {
  $schema: SCHEMA,
  type: 'object',
  additionalProperties: false,
  required: ['number'],
  properties: { number: { type: 'integer', minimum: 1 } },
};

/** What a test changes of the part. */
export interface NotesOptions {
  /** The tools that a principal has. */
  readonly has?: (principal: string) => readonly string[];
  readonly admits?: (principal: string) => boolean;
  /** Names a call anew, so that it is not known again: a defect. */
  readonly renamed?: () => string;
  /** Called before each call. */
  readonly onCall?: (id: string, view: WorldView) => void | Promise<void>;
  /** Called after each call, also one that failed. */
  readonly onReturn?: () => void;
}

/** Answers a call. */
async function answerOf(
  view: WorldView,
  name: string,
  args: Value,
  id: string,
  { signal, progress }: ServedCall,
): Promise<ServedAnswer> {
  if (name === 'note_wrong') return { structured: { number: 'one' }, isError: false };
  if (name === 'note_wait') {
    progress?.(1, 'waiting');
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return { structured: { waited: true }, isError: false };
  }
  const { notebook: key, text } = args as { readonly notebook: string; readonly text: string };
  const to: Address = [NOTEBOOK, key];
  // The same id and the same event are one act, whose place in the journal is the answer.
  const value = { id, text };
  await view.request(to, { name: 'test/Add@1', value }, { id });
  const state = (await view.state(to)) as { readonly notes: readonly { readonly id: string }[] };
  return { structured: { number: state.notes.findIndex((note) => note.id === id) + 1 }, isError: false };
}

/** The part. */
export function notes({ has, admits, onCall, onReturn, renamed }: NotesOptions = {}): WorldPart<undefined> {
  return {
    name: 'notes',
    reducers: [notebook],
    handle: () => undefined,
    served: {
      tools: [
        { name: 'note_add', description: 'Adds a note.', inputSchema: addInput, outputSchema: addOutput },
        {
          name: 'note_wrong',
          description: 'Answers in a wrong form.',
          inputSchema: { type: 'object' },
          outputSchema: addOutput,
        },
        {
          name: 'note_wait',
          description: 'Waits until it is cancelled.',
          inputSchema: { type: 'object' },
          outputSchema: { type: 'object' },
        },
      ],
      async call(view, name, args, given, under): Promise<ServedAnswer> {
        try {
          await onCall?.(given, view);
          return await answerOf(view, name, args, renamed?.() ?? given, under);
        } finally {
          onReturn?.();
        }
      },
      ...(has === undefined ? {} : { listed: async (view: WorldView) => has(view.principal) }),
      ...(admits === undefined ? {} : { admits: async (view: WorldView) => admits(view.principal) }),
      resources: [
        {
          uri: 'notes://{notebook}',
          name: 'A notebook',
          mediaType: 'text/plain',
          async read(view, uri) {
            const state = await view.state([NOTEBOOK, uri.slice('notes://'.length)]);
            if (state === undefined) return undefined;
            const { notes: all } = state as { readonly notes: readonly { readonly text: string }[] };
            return new TextEncoder().encode(all.map(({ text }) => text).join('\n'));
          },
          changed: ({ records }) =>
            records.flatMap((record) =>
              record.kind === 'request' && record.to[0] === NOTEBOOK ? [`notes://${record.to[1]}`] : [],
            ),
        },
        {
          uri: 'notes://',
          name: 'About',
          mediaType: 'text/plain',
          read: async () => new TextEncoder().encode('Notes.'),
        },
      ],
    },
  };
}

/** A notebook that is not full: each takes a hundred notes. */
export function notebookOf(name: string, n: number): string {
  const digits = [...Math.floor(n / 100).toString(26)];
  return `${name}${digits.map((digit) => 'abcdefghijklmnopqrstuvwxyz'[Number.parseInt(digit, 26)]).join('')}`;
}

/** How many notes a notebook holds. */
export async function countOf(
  world: { state(address: Address): Promise<Value | undefined> },
  key: string,
): Promise<number> {
  const state = (await world.state([NOTEBOOK, key])) as { readonly notes: readonly unknown[] } | undefined;
  return state?.notes.length ?? 0;
}
