/** An app that serves one tool: what `reprise serve --app` opens a world with. */
import type { Address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, defineReducer } from '@reprise/kernel/define';

const LIST: Address = ['test/List@1', 'all'];

const list = defineReducer({
  name: LIST[0],
  state: z.strictObject({ ids: z.array(z.string()) }),
  events: { 'test/Put@1': creates(z.strictObject({ id: z.string() })) },
  init: () => ({ ids: [] }),
  reduce(draft, event) {
    draft.ids.push(event.value.id);
  },
});

export const world = () => ({
  parts: [
    {
      name: 'list',
      reducers: [list],
      handle: () => undefined,
      served: {
        tools: [
          { name: 'put', description: 'Puts.', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
        ],
        async call(view: import('@reprise/kernel').WorldView, _name: string, _args: unknown, id: string) {
          const { seq } = await view.request(LIST, { name: 'test/Put@1', value: { id } }, { id });
          return { structured: { frame: seq, by: view.principal }, isError: false };
        },
      },
    },
  ],
});
