/** The events of all reducers of Reprise, with their senders; and a reducer that has every form of a declaration. */
import { sessionReducer } from '@reprise/agent';
import { address, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, defineReducer, from, type ReducerDefinition } from '@reprise/kernel';
import { jobReducer } from '@reprise/org';
import { promise, queue, storeReducer, topic } from '@reprise/org/contracts';
import { revocations } from '@reprise/server/tokens';
import { entityReducer, groupReducer, l1Reducer, stagingReducer, swarmReducer } from '@reprise/society/contracts';
import { projectReducer } from '@reprise/specialists/contracts';
import { treeReducer } from '@reprise/tree/contracts';
import { outboxReducer } from '@reprise/webhooks/contracts';
import type { Declared } from './stage.js';

/** The reducers of all packages. */
export const REDUCERS: readonly ReducerDefinition[] = [
  sessionReducer,
  ...[promise, queue, topic],
  jobReducer,
  storeReducer,
  ...(revocations.reducers ?? []),
  treeReducer,
  projectReducer,
  ...[entityReducer, groupReducer, l1Reducer, stagingReducer, swarmReducer],
  outboxReducer,
] as readonly ReducerDefinition[];

/** The events of a reducer but the kernel's notices. One without a declaration takes each sender: as `by.any` does. */
export function eventsOf(reducer: ReducerDefinition): readonly Declared[] {
  return [...reducer.events]
    .filter(([name]) => !name.startsWith('sys/'))
    .map(([name, event]) => ({ reducer, name, from: event.from ?? [by.any] }));
}

const nothing = z.strictObject({ named: z.exactOptional(z.string()) });

/** A reducer with each form, alone and after another one. */
export const everyForm: ReducerDefinition = defineReducer({
  name: 'law/EveryForm@1',
  state: z.strictObject({ owner: z.nullable(address), name: z.string() }),
  tables: { peers: value(), jobs: value() },
  events: {
    'law/Outside@1': creates(from(nothing, by.outside)),
    'law/Adapter@1': from(nothing, by.adapter),
    'law/Self@1': from(nothing, by.self),
    'law/OwnPlan@1': from(nothing, by.ownPlan),
    'law/Maker@1': creates(from(nothing, by.maker)),
    'law/Any@1': creates(from(nothing, by.any)),
    'law/State@1': creates(from(nothing, by.cell({ state: 'owner' }))),
    'law/Fixed@1': creates(from(nothing, by.cell({ reducer: 'law/Peer@1', key: ['desk'] }))),
    'law/Own@1': creates(from(nothing, by.cell({ reducer: 'law/Peer@1', key: [{ own: true }, '/x'] }))),
    'law/Named@1': creates(from(nothing, by.cell({ reducer: 'law/Peer@1', key: [{ event: 'named' }] }))),
    'law/Field@1': creates(from(nothing, by.cell({ reducer: 'law/Peer@1', key: ['a/', { state: 'name' }] }))),
    'law/Row@1': creates(from(nothing, by.row('peers', { reducer: 'law/Peer@1' }))),
    'law/Within@1': from(
      nothing,
      by.row('peers', { reducer: 'law/Peer@1', key: [{ own: true }, '/', { row: true }, '/z'] }),
    ),
    'law/Digits@1': from(nothing, by.row('jobs', { reducer: 'law/Peer@1', key: ['j', { row: true, digits: 7 }] })),
    'law/Above@1': creates(from(nothing, by.above('law/Peer@1'))),
    'law/Several@1': creates(from(nothing, by.self, by.outside, by.row('peers', { reducer: 'law/Peer@1' }), by.maker)),
  },
  init: () => ({ owner: null, name: '' }),
  reduce: () => undefined,
});
