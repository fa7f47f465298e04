/** Mode `fresh`: an undisturbed performance comes to what its scenario says, and to its golden head. */
import assert from 'node:assert/strict';
import { type GoldenScenario, goldenOf } from '../scenarios/goldens.js';
import type { Replayed } from '../scenarios/run-scenario.js';
import type { Case } from './cases.js';

/** Holds a performance to its scenario. */
export function holdToScenario({ scenario }: Case, { outcome, events, told, open, wire }: Replayed): void {
  const { ends } = scenario;
  assert.deepEqual(outcome.stop, ends.stop);
  if (typeof ends.text === 'string') assert.equal(outcome.text, ends.text);
  else assert.match(outcome.text, ends.text);
  const types = events.map(({ type }) => type);
  assert.deepEqual(types, ends.events);
  assert.equal(wire.requests, ends.requests);
  assert.deepEqual(told, ends.told ?? []);
  assert.equal(open, ends.open ?? 0);
  if (ends.shown !== undefined) assert.match(wire.newest, ends.shown);
}

/** Holds a performance to what is pinned of it. */
export async function holdToGolden(replayed: Replayed, pinned: GoldenScenario | undefined): Promise<void> {
  assert.deepEqual(await goldenOf(replayed), pinned);
}
