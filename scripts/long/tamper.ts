/**
 * Tampering with a sample world, exhaustively:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/tamper.ts [--flips 64] [--file-flips 300] [--seed N]
 *
 * Over every frame: so many single bits, removed, repeated, exchanged, other columns. Over every blob: bits, removed.
 * Every cut of the tail. Every row and blob of the real file, through the real reader. Each must be found, in the
 * frame or blob that was tampered with. Forgeries (a bit turned and all heads made to fit) must be found by the head
 * that was acknowledged; how many replay finds by itself is printed. Bits of the file itself, wherever they lie, must
 * be found or change nothing that is read.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { agentApp } from '@reprise/agent';
import { randomFrom } from '../../conformance/random.js';
import { makeSample, storeOf } from '../../conformance/tamper/sample.js';
import {
  expectFound,
  flippedFrames,
  forgedFrames,
  movedFrames,
  type Trial,
  tamperedBlobs,
  verdict,
} from '../../conformance/tamper/trials.js';
import {
  cutTail,
  expectFoundInFile,
  fileTrials,
  flippedFile,
  unpacked,
  verdictOnFile,
} from '../../packages/store-sqlite/test/tamper/on-disk.js';

const { values: options } = parseArgs({
  options: {
    flips: { type: 'string', default: '64' },
    'file-flips': { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const seed = Number(options.seed);
const flips = Number(options.flips);
const random = randomFrom(seed);
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;

const sample = await makeSample();
const bytes = sample.frames.reduce((sum, frame) => sum + frame.bytes.length, 0);
console.log(
  `tamper, long form: seed ${seed}; ${sample.frames.length} frames of ${bytes} bytes, ${sample.blobs.size} blobs, ${sample.db}`,
);
assert.equal(await verdict(storeOf(sample)), undefined);

async function all(what: string, trials: Iterable<Trial>): Promise<number> {
  let count = 0;
  for (const trial of trials) {
    await expectFound(trial);
    count++;
  }
  console.log(`${what}: ${count} of ${count} found, each in its place, with the app and without; ${seconds()}`);
  return count;
}

let total = await all('bits of frames', flippedFrames(sample, flips, random));
total += await all('frames moved', movedFrames(sample));
total += await all('blobs', tamperedBlobs(sample, 4, random));

for (let length = 1; length < sample.frames.length; length++) {
  const cut = { ...sample, frames: sample.frames.slice(0, length) };
  assert.equal(await verdict(storeOf(cut)), undefined, `cut after ${length}`);
  const found = await verdict(storeOf(cut), { app: agentApp, expect: sample.head });
  assert.equal(found?.code, 'head_mismatch', `cut after ${length}`);
}
console.log(`tails cut: ${sample.frames.length - 1} found by the acknowledged head, none without; ${seconds()}`);

const forged = { all: 0, byReplay: 0, damaged: 0 };
for (const { what, sample: forgery } of forgedFrames(sample, Math.ceil(flips / 2), random)) {
  forged.all++;
  const alone = await verdict(storeOf(forgery));
  if (alone !== undefined) forged[alone.code === 'replay_divergence' ? 'byReplay' : 'damaged']++;
  assert.ok(
    (await verdict(storeOf(forgery), { app: agentApp, expect: sample.head })) !== undefined,
    `${what}: not found`,
  );
}
const alone = forged.byReplay + forged.damaged;
console.log(
  `forgeries: ${forged.all} found by the acknowledged head; ${alone} of them without it ` +
    `(${forged.byReplay} by replay, ${forged.damaged} by shape or content); ${seconds()}`,
);

const plain = await unpacked(sample);
const inPlain = await fileTrials(plain, random);
for (const trial of inPlain) await expectFoundInFile(plain, trial);
const inPacks = (await fileTrials(sample, random)).filter(({ what }) => /pack|row/.test(what));
for (const trial of inPacks) await expectFoundInFile(sample, trial);
const onDisk = [...inPlain, ...inPacks];
const cut = await verdictOnFile(plain, cutTail(Math.floor(plain.frames.length / 2)), { expect: sample.head });
assert.equal(cut?.code, 'head_mismatch');
console.log(`rows and blobs of the file: ${onDisk.length} found, each in its place; ${seconds()}`);

const size = statSync(sample.db).size;
const file = { found: 0, harmless: 0 };
for (let i = 0; i < Number(options['file-flips']); i++) {
  const trial = flippedFile(Math.floor(random() * size), Math.floor(random() * 8));
  // Indexes, notes and unused space are not the journal: such a bit may go unseen, if all that is read is the same.
  const error = await verdictOnFile(sample, trial, { app: agentApp, expect: sample.head });
  file[error === undefined ? 'harmless' : 'found']++;
}
console.log(
  `bits of the file, ${size} bytes: ${file.found} found, ${file.harmless} in what is not the world; ${seconds()}`,
);

sample.dispose();
console.log(`tamper, long form: ok; ${total + onDisk.length + forged.all} tamperings; seed ${seed}, ${seconds()}`);
