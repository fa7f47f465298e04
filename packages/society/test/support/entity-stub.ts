/** A cell in place of an entity: it takes what groups and hot contexts tell it, and sends what a test asks it to. */
import { address, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, defineReducer } from '@reprise/kernel/define';
import { topicEvents } from '@reprise/org/contracts';
import { ENTITY } from '../../src/pure/contracts/cell/names.js';
import { boardNews } from '../../src/pure/contracts/group/group.js';

const anything = value();

/** An entity that keeps what it hears, and refuses memberships of the group `closed`. */
export const entityStub = defineReducer({
  name: ENTITY,
  state: z.strictObject({ heard: z.array(z.strictObject({ name: z.string(), value: anything })) }),
  events: {
    'test/Make@1': creates(z.strictObject({})),
    'test/Send@1': creates(z.strictObject({ to: address, name: z.string(), value: anything })),
    'society/Membership@1': z.strictObject({
      group: z.string(),
      role: z.nullable(z.string()),
      by: z.nullable(anything),
    }),
    'society/GroupTerms@1': z.strictObject({ group: z.string(), terms: anything, departure: z.string() }),
    'society/Notice@1': z.strictObject({ event: z.string(), group: z.nullable(z.string()), payload: anything }),
    'society/News@1': boardNews,
    'society/L1Told@1': z.record(z.string(), anything),
    'society/Told@1': z.record(z.string(), anything),
    'flow/Published@1': topicEvents['flow/Published@1'],
  },
  init: () => ({ heard: [] as { name: string; value: z.output<typeof anything> }[] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Make@1') return;
    if (event.name === 'test/Send@1') {
      const { to, name, value: sent } = event.value;
      ctx.send(to, { name, value: sent });
      return;
    }
    if (event.name === 'society/Membership@1' && event.value.group === 'closed') ctx.reject('too_many_memberships');
    draft.heard.push({ name: event.name, value: event.value as never });
  },
});
