/**
 * One frame or one blob is not what it was: `verify` says so, and where. The exhaustive form: `scripts/long/tamper.ts`;
 * the same in a file: `packages/store-sqlite/test/tamper`.
 */

import { agentApp, defineAgent } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deep, spread, stepOf } from '../part.js';
import { randomFrom } from '../random.js';
import { load, makeSample, type SampleWorld, storeOf } from './sample.js';
import { expectFound, flippedFrames, forgedFrames, movedFrames, tamperedBlobs, verdict } from './trials.js';

const SEED = 20_26;

let sample: SampleWorld;
beforeAll(async () => {
  sample = await makeSample();
});
afterAll(() => sample.dispose());

it('the sample world is valid and contains every kind of content', async () => {
  expect(await verdict(storeOf(sample))).toBeUndefined();
  expect(sample.frames.length).toBeGreaterThan(30);
  expect(new Set(sample.frames.map(({ kind }) => kind))).toEqual(new Set(['manifest', 'request', 'receipt']));
  expect(Math.max(...[...sample.blobs.values()].map(({ length }) => length))).toBeGreaterThan(64 * 1024);
});

describe('damage', () => {
  it(`a changed bit of any frame is found in that frame (seed ${SEED}) [JRN-21]`, async () => {
    for (const trial of spread(8, [...flippedFrames(sample, 1, randomFrom(SEED))])) await expectFound(trial);
  });

  deep('tamper: places', () => {
    it('a frame that is removed, repeated, exchanged or has other columns is found at its place [JRN-21]', async () => {
      // At most every third of them, the first and the last frame's among them.
      const trials = [...movedFrames(sample)].filter((_, i) => i % 3 === 0);
      for (const trial of spread(4, trials)) await expectFound(trial);
    });
  });

  deep('tamper: blobs', () => {
    it(`a changed bit of any blob, or a missing blob, is found in that blob (seed ${SEED}) [RPL-6]`, async () => {
      const trials = [...tamperedBlobs(sample, 0, randomFrom(SEED))].filter((_, i) => i % 3 === 0);
      for (const trial of spread(4, trials)) await expectFound(trial);
    });
  });
});

describe('a blob that the state alone links', () => {
  it('the loss of a blob that only the state links is found: a chunk of a transcript that the last frame wrote [RPL-6]', async () => {
    const store = memory();
    const agent = defineAgent({ name: 'brief', model: 'main', instructions: '' });
    const main = script(...Array.from({ length: 32 }, () => ({ text: 'Yes.' })));
    const world = await openWorld({ store, agents: [agent], models: { main } });
    // Two items a turn: the last answer is the 64th item and closes the second chunk, of which the frame has a digest.
    for (let turn = 0; turn < 32; turn++) await (await world.session('x', agent).send(`${turn}`)).text();
    await world.close();
    const sound = await load(await store.openReadonly());
    expect(await verdict(storeOf(sound))).toBeUndefined();
    const chunks = [...sound.blobs].filter(([, bytes]) => bytes[0] === 0x98 && bytes[1] === 32); // a list of 32 items
    expect(chunks).toHaveLength(2);
    for (const [hex] of chunks) {
      const blobs = new Map(sound.blobs);
      blobs.delete(hex);
      await expectFound({ what: `blob ${hex} removed`, place: hex, sample: { ...sound, blobs } }, [{ app: agentApp }]);
    }
  });
});

describe('a cut tail', () => {
  it('a journal with a cut tail is valid by itself; the acknowledged head finds the cut [JRN-22]', async () => {
    for (let length = 1; length < sample.frames.length; length += 5 * stepOf(3)) {
      const cut = { ...sample, frames: sample.frames.slice(0, length) };
      expect(await verdict(storeOf(cut))).toBeUndefined();
      expect(await verdict(storeOf(cut), { app: agentApp, expect: sample.head })).toMatchObject({
        code: 'head_mismatch',
      });
      const kept = cut.frames.at(-1)?.head ?? '';
      expect(await verdict(storeOf(sample), { app: agentApp, expect: kept })).toBeUndefined();
    }
  });
});

describe('a forgery', () => {
  it(`a forgery with consistent heads is found by the acknowledged head (seed ${SEED}) [JRN-22]`, async () => {
    for (const { what, sample: forged } of spread(3, [...forgedFrames(sample, 1, randomFrom(SEED))])) {
      expect(await verdict(storeOf(forged), { app: agentApp, expect: sample.head }), what).toBeDefined();
    }
  });
});
