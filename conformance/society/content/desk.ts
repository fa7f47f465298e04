/** A cell of the app that owns a group and sends the events of groups that a world has it send. */
import { address, value } from '@reprise/contracts';
import { creates, defineReducer } from 'reprise/kernel';
import type { WorldPart } from 'reprise/org';
import * as z from 'zod';

const desk = defineReducer({
  name: 'test/Desk@1',
  state: z.strictObject({}),
  events: { 'test/Send@1': creates(z.strictObject({ to: address, name: z.string(), value: value() })) },
  init: () => ({}),
  reduce: (_draft, { value: { to, name, value: sent } }, ctx) => ctx.send([...to], { name, value: sent }),
});

/** The part of the cell; its app lets it send to the cells of a society. */
export const deskPart: WorldPart<undefined> = {
  name: 'desk',
  reducers: [desk],
  policy: [{ send: 'society/*', who: 'cell:test/Desk@1/*', decision: 'allow' }],
  handle: () => undefined,
};

/** The cell. */
export const DESK = ['test/Desk@1', 'desk'] as const;
