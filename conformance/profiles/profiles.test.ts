/** Ten scenarios × every way to reach a model: what the run comes to, its events, its replay and its requests. */

import type { Store } from '@reprise/kernel';
import { verifyRequests } from '@reprise/providers';
import { memory, openWorld } from 'reprise';
import { replay } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { mockProvider } from '../../packages/providers/test/mock-provider.js';
import { PROFILES, type Profile } from './clients.js';
import { SCENARIOS, type Scenario } from './scenarios.js';

describe.each(Object.entries(PROFILES))('%s', (_, profileOf) => {
  it.each(SCENARIOS)('$name', async (scenario) => {
    const mock = await mockProvider();
    const gate = gateOf();
    scenario.says(mock, gate.opened);
    const profile = profileOf(mock);
    const store = memory();
    const { outcome, events } = await play(scenario, profile, store, gate.open);
    expect(outcome.stop).toMatchObject(scenario.stop);
    expect(outcome.text).toMatch(scenario.text);
    expect(events).toEqual(scenario.events);
    expect(profile.requests()).toBe(scenario.requests);
    if (scenario.told !== undefined) expect(JSON.stringify(mock.getLastRequest()?.body)).toMatch(scenario.told);
    const { client } = profile;
    const answered = scenario.answered ?? scenario.requests;
    expect(await verifyRequests(await store.openReadonly(), { main: client })).toEqual({
      equal: answered,
      different: [],
      uncompared: [],
    });
    const replayed = await replay(store);
    expect(replayed.firstDifference).toBeUndefined();
    expect([replayed.sealed, replayed.performed > 0]).toEqual([0, true]);
  });
});

/** Plays a scenario to the end of its run, and performs the world again before it is closed. */
async function play(
  { agents, policy, prepare, meanwhile }: Scenario,
  { client }: Profile,
  store: Store,
  letGo: () => void,
) {
  const rules = policy === undefined ? {} : { policy };
  await using world = await openWorld({ store, models: { main: client }, agents, ...rules });
  await prepare?.(world);
  const run = await world.session('s', agents[0]).send('Go.');
  await meanwhile?.(run, letGo);
  const outcome = await run.result();
  const events: string[] = [];
  for await (const { type } of run.events()) events.push(type);
  await world.verify();
  return { outcome, events };
}

function gateOf(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
