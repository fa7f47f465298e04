/** Ways to resume that look right and are not: the law has to find each. */

import { openViews } from '@reprise/kernel/views';
import type { Cursor } from '../../src/index.js';
import { cursorOf, isBehind, watch } from '../../src/session/run/events.js';
import { eventPlaces, pastBefore } from '../../src/timeline/event-places.js';
import type { Past } from '../../src/timeline/event-scope.js';
import { all, type RecordedWorld } from './recorded-world.js';
import { itemOf, type Stream, shownAs } from './resume-law.js';

/** A wrong stream in place of a right one. */
export type Mutant = (recorded: RecordedWorld) => (stream: Stream) => Stream;

/** The events of the world, resumed by something that forgets. */
function forgetful(forget: (past: Past) => Partial<Past>): Mutant {
  return ({ world }) =>
    (stream) => {
      const scope = stream.scope;
      if (scope === undefined) return stream;
      const read = async (after: Cursor | undefined) => {
        const views = await openViews(world.kernel, [eventPlaces]);
        const recall = async (frame: number): Promise<Past> => {
          await views.caughtUp();
          const past = pastBefore(views.view(eventPlaces), frame);
          return { ...past, ...forget(past) };
        };
        const found = await all(watch(world.kernel, scope, recall, shownAs(after)));
        await views.close();
        return found.map(itemOf);
      };
      return { ...stream, read };
    };
}

/** By what is wrong with them. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'it forgets the children that there were': forgetful(() => ({ below: async (sessions) => sessions })),
  'it forgets what waited for people': forgetful(() => ({ effectOf: async () => undefined })),
  'it forgets where the last step stood': forgetful(() => ({ placeOf: async () => ({}) })),
  'it forgets the run at the root': forgetful(() => ({ rootOf: async () => undefined })),
  'it takes an effect that was over for one that waits': forgetful((past) => ({
    effectOf: async (effect) => {
      const opened = await past.effectOf(effect);
      return opened && { ...opened, waits: new Map([[effect, null], ...opened.waits]) };
    },
  })),
  'it says the event at the place once more': () => (stream) => ({
    ...stream,
    read: async (after) => {
      const items = await stream.read(undefined);
      if (after === undefined) return items;
      const [seq, record] = cursorOf(after);
      return items.filter(({ cursor }) => cursor === undefined || isBehind(cursor, [seq, record - 1]));
    },
  }),
  'a page begins its message again': () => (stream) => ({
    ...stream,
    read: async (after) => {
      const [first] = await stream.read(undefined);
      const rest = await stream.read(after);
      return after === undefined || first === undefined || !stream.name.startsWith('page') ? rest : [first, ...rest];
    },
  }),
};
