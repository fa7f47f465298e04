/** The effect of the note of an input on the next opening. */
import {
  type Adapter,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
  type Store,
  systemClock,
  verifyStore,
} from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const knock = defineEffect({ kind: 'demo.knock@1', params: z.strictObject({}), receipt: z.strictObject({}) });
const knockPlan = definePlan({
  name: 'demo/knock_plan@1',
  input: z.strictObject({}),
  effects: [knock],
  *run(_input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(knock, {}));
    plan.raiseEvent({ name: 'demo/Knocked@1', value: { status: receipt.status } });
  },
});
const door = defineReducer({
  name: 'demo/Door@1',
  state: z.strictObject({ heard: z.array(z.string()) }),
  events: {
    'demo/Made@1': creates(z.strictObject({})),
    'demo/Knocked@1': z.strictObject({ status: z.string() }),
  },
  init: () => ({ heard: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'demo/Made@1') ctx.emit({ plan: knockPlan, input: {} });
    else draft.heard.push(event.value.status);
  },
});
const app = defineApp({ reducers: [door], plans: [knockPlan] });
const DOOR: [string, string] = ['demo/Door@1', 'front'];
const endless: Adapter = { effect: knock, name: 'endless', doExecute: () => new Promise(() => undefined) };

/** A world that was left in the middle of a call, and the input that settles it. */
async function leftKnocking(): Promise<{ store: Store; fact: string }> {
  const store = memory();
  const hasty = { ...systemClock, sleep: async () => undefined };
  const world = await openKernelWorld({ store, app, adapters: [endless], clock: hasty });
  await world.request(DOOR, { name: 'demo/Made@1', value: {} });
  const [open] = await world.openEffects();
  await world.close();
  return { store, fact: `receipt ${open?.effect}` };
}

/** The store as the next holder finds it after the last one died, with a note standing. */
function afterDeath(store: Store, note: string | null): Store {
  return { ...store, open: async () => ({ ...(await store.open()), cleanlyClosed: false, markAtOpen: note }) };
}

describe('the note of a fact', () => {
  it.each([
    ['none', null, { heard: ['outcome_unknown'] }],
    ['one death', (fact: string) => `1 ${fact}`, { heard: ['outcome_unknown'] }],
    ['two deaths', (fact: string) => `2 ${fact}`, { heard: [] }],
    ['two deaths of another fact', () => '2 receipt of something else', { heard: ['outcome_unknown'] }],
    ['a note of nobody', () => 'x', { heard: ['outcome_unknown'] }],
  ])('given %s, an input is journaled without its cascade only when two owners died of it', async (_, note, state) => {
    const { store, fact } = await leftKnocking();
    const world = await openKernelWorld({ store: afterDeath(store, note === null ? null : note(fact)), app });
    expect(await world.state(DOOR)).toEqual(state);
    expect(await world.openEffects()).toEqual([]);
    await world.request(DOOR, { name: 'demo/Knocked@1', value: { status: 'later' } });
    await world.close();
    await verifyStore(await store.openReadonly(), { app });
  });
});
