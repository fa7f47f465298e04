/** Ten scenarios × every client: the result of the run, its events, its replay and its requests. */

import { verifyRequests } from '@reprise/providers';
import { memory } from 'reprise';
import { replay } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../part.js';
import { MATRIX } from '../scenarios/index.js';
import { Latch } from '../scenarios/latch.js';
import { speaksLive, teach } from '../scenarios/mock.js';
import { play } from '../scenarios/play.js';
import { PROFILES } from './clients.js';
import { mockProvider } from './mock-provider.js';

const ALL = Object.entries(PROFILES);

describe.each(ALL)('%s', (name, profileOf) => {
  // A third of the scenarios for a change, which differ from client to client: together they are all of them.
  const place = ALL.findIndex(([other]) => other === name);
  const some = MATRIX.filter((_, i) => (i + place) % stepOf(3) === 0);
  it.each(some.map((scenario) => [scenario.name, scenario] as const))('%s [MOD-1, MOD-2]', async (_name, scenario) => {
    const { ends } = scenario;
    const mock = await mockProvider();
    const held = new Latch();
    teach(mock, scenario.says, held.opened);
    const { client, requests } = profileOf(mock);
    const store = memory();
    const setting = { client, store, letGo: () => held.open(), speaking: speaksLive };
    const { outcome, events } = await play(scenario, setting, (world) => world.verify());
    expect(outcome.stop).toEqual(ends.stop);
    expect(outcome.text).toMatch(ends.text);
    expect(events.map(({ type }) => type)).toEqual(ends.events);
    expect(requests()).toBe(ends.requests);
    if (ends.shown !== undefined) expect(JSON.stringify(mock.getLastRequest()?.body)).toMatch(ends.shown);
    expect(await verifyRequests(await store.openReadonly(), { main: client })).toEqual({
      equal: ends.answered ?? ends.requests,
      different: [],
      uncompared: [],
    });
    const replayed = await replay(store);
    expect(replayed.firstDifference).toBeUndefined();
    expect([replayed.unverified, replayed.replayed > 0]).toEqual([0, true]);
  });
});
