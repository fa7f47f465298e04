/** Mode `fresh`: an undisturbed run reaches the end of its scenario, and its golden head. */
import assert from 'node:assert/strict';
import { type GoldenScenario, goldenOf } from '../scenarios/goldens.js';
import type { Replayed } from '../scenarios/run-scenario.js';
import type { Case } from './cases.js';

/** Compares a run with its scenario. */
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
  if (ends.shown !== undefined) assert.match(wire.newest(ends.shownTo), ends.shown);
}

/** Compares a run with its pinned results. */
export async function holdToGolden(replayed: Replayed, pinned: GoldenScenario | undefined): Promise<void> {
  assert.deepEqual(await goldenOf(replayed), pinned);
}
