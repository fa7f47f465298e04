/** A row or a blob of a file is not what it was: `verify` says so, and where. The exhaustive form: `scripts/long/tamper.ts`. */

import { agentApp } from '@reprise/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { randomFrom } from '../../../../conformance/random.js';
import { makeSample, type SampleWorld } from '../../../../conformance/tamper/sample.js';
import { cutTail, expectFoundInFile, fileTrials, unpacked, verdictOnFile } from './on-disk.js';

const SEED = 20_26;

let sample: SampleWorld;
let plain: SampleWorld;
beforeAll(async () => {
  sample = await makeSample();
  plain = await unpacked(sample);
});
afterAll(() => sample.dispose());

describe('damage in the file', () => {
  it(`damage in the file is found by the real reader, row by row and blob by blob (seed ${SEED}) [JRN-21]`, async () => {
    const random = randomFrom(SEED);
    const trials = await fileTrials(plain, random);
    for (const trial of trials) {
      if (random() < 0.08 / stepOf(4) || /^(landmarks|requests)/.test(trial.what))
        await expectFoundInFile(plain, trial);
    }
  });

  it(`damage in a packed file is found by the real reader, frame by frame and blob by blob (seed ${SEED}) [JRN-21, JRN-36]`, async () => {
    const random = randomFrom(SEED);
    const trials = (await fileTrials(sample, random)).filter(({ what }) => /pack|row/.test(what));
    expect(trials.filter(({ what }) => what.startsWith('frame')).length).toBeGreaterThan(20);
    for (const trial of trials)
      if (random() < 0.15 / stepOf(4) || trial.what.startsWith('row')) await expectFoundInFile(sample, trial);
  });

  it('a file with a cut tail is found by the acknowledged head [JRN-22]', async () => {
    const middle = cutTail(Math.floor(plain.frames.length / 2));
    expect(await verdictOnFile(plain, middle)).toBeUndefined();
    const found = await verdictOnFile(plain, middle, { app: agentApp, expect: sample.head });
    expect(found).toMatchObject({ code: 'head_mismatch' });
    expect(found?.message).toContain(`sha256:${sample.head}`);
  });
});
