import { readFileSync } from 'node:fs';
import { creates, defineApp, defineReducer } from '@reprise/kernel';
import * as z from 'zod';

/** An app whose reducer reads a file: nothing that could be performed elsewhere. */
export const app = defineApp({
  reducers: [
    defineReducer({
      name: 'demo/Reader@1',
      state: z.strictObject({ text: z.string() }),
      events: { 'demo/Read@1': creates(z.strictObject({ path: z.string() })) },
      init: () => ({ text: '' }),
      reduce(draft, event) {
        draft.text = readFileSync(event.value.path, 'utf8');
      },
    }),
  ],
});
