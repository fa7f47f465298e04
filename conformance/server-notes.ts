/** A world of notes for clients: what `reprise serve --app` loads. */
import { creates, defineReducer } from 'reprise/kernel';
import type { WorldPart } from 'reprise/org';
import * as z from 'zod';

const NOTES = ['conformance/Notes@1', 'all'] as const;

interface State {
  readonly notes: readonly { readonly id: string; readonly text: string }[];
}

const reducer = defineReducer({
  name: NOTES[0],
  state: z.strictObject({ notes: z.array(z.strictObject({ id: z.string(), text: z.string() })) }),
  events: { 'conformance/Add@1': creates(z.strictObject({ id: z.string(), text: z.string() })) },
  init: () => ({ notes: [] }),
  reduce(draft, event) {
    draft.notes.push(event.value);
  },
});

const part: WorldPart<void> = {
  name: 'notes',
  reducers: [reducer],
  handle: () => undefined,
  served: {
    tools: [
      {
        name: 'note_add',
        description: 'Adds a note.',
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string' }, command_id: { type: 'string' } },
          required: ['text'],
          additionalProperties: false,
        },
        outputSchema: {
          type: 'object',
          properties: { number: { type: 'integer' } },
          required: ['number'],
          additionalProperties: false,
        },
      },
    ],
    async call(view, _name, args, id) {
      const { text } = args as { readonly text: string };
      await view.request([...NOTES], { name: 'conformance/Add@1', value: { id, text } }, { id });
      const { notes: all } = (await view.state([...NOTES])) as unknown as State;
      return { structured: { number: all.findIndex((note) => note.id === id) + 1 }, isError: false };
    },
    resources: [
      {
        uri: 'notes://all',
        name: 'All notes',
        mediaType: 'text/plain',
        async read(view) {
          const { notes: all } = ((await view.state([...NOTES])) ?? { notes: [] }) as unknown as State;
          return new TextEncoder().encode(all.map(({ text }) => text).join('\n'));
        },
      },
    ],
  },
};

/** The options of the world. */
export const notes = { parts: [part] };

export { notes as world };
