/*
 * What is measured, for one commit: real sessions against a model server, then verification and opening of what they
 * wrote. It runs bundled with the sources of that commit, in a process of its own, and prints one line of JSON.
 *
 * It uses only names of the front door that every commit compared here has.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decode } from 'cbor-x';
import { openWorld } from 'reprise';
import { bareLoop, clerk, cpuOf, models, sha256, store, takeTurn, task } from './clerk.mjs';

const { file, sessions, turns, warmup, rounds, counted = false } = task;

/** Bytes that the codec writes and reads for what a function does, a turn; for a bundle whose codec counts. */
async function codecBytesOf(work) {
  Object.assign(globalThis.codecBytes, { encoded: 0, decoded: 0 });
  await work();
  const { encoded, decoded } = globalThis.codecBytes;
  return (encoded + decoded) / result.turns;
}

const target = store();
const options = { store: target, models, agents: [clerk] };
const result = {};
{
  await using world = await openWorld(options);
  const talk = async (from, to) => {
    for (let turn = from; turn < to; turn++)
      await Promise.all(Array.from({ length: sessions }, (_, i) => takeTurn(world, i, turn)));
  };
  await talk(0, warmup);
  const began = performance.now();
  result.live = (await cpuOf(() => talk(warmup, warmup + turns))) / (turns * sessions);
  result.liveWall = (performance.now() - began) / (turns * sessions);
  result.turns = (warmup + turns) * sessions;
  const verified = [];
  for (let round = 0; round < rounds; round++) verified.push((await cpuOf(() => world.verify())) / result.turns);
  result.verify = Math.min(...verified);
  if (counted) result.codecBytes = await codecBytesOf(() => world.verify());
}
if (file !== undefined) {
  result.fileBytes = statSync(file).size;
  result.open = await cpuOf(async () => {
    await using world = await openWorld(options);
    await world.sessions();
  });
}
const frames = await framesOf(target);
const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
Object.assign(result, { frames: frames.length / result.turns, frameBytes: bytes / result.turns });
result.hashFloor = await cpuPerTurn(() => {
  for (const frame of frames) sha256(frame);
});
result.decodeFloor = await cpuPerTurn(() => {
  for (const frame of frames) decode(frame);
});
result.syncFloor = file === undefined ? undefined : synced(frames) / result.turns;
result.loopFloor = await bareLoop(Math.min(turns, 50));
console.log(JSON.stringify(result));

async function framesOf(store) {
  const reader = await store.openReadonly();
  const all = [];
  for await (const frame of reader.journal.read(0)) all.push(frame.bytes);
  await reader.close();
  return all;
}

/** The best of some rounds, so that a floor is measured warm, as what stands on it is. */
async function cpuPerTurn(work) {
  const all = [];
  for (let round = 0; round < 5; round++) all.push((await cpuOf(work)) / result.turns);
  return Math.min(...all);
}

/** Wall milliseconds to write frames to a file, each followed by fdatasync. */
function synced(frames) {
  const name = path.join(tmpdir(), `reprise-bench-floor-${process.pid}`);
  const descriptor = openSync(name, 'w');
  const began = performance.now();
  for (const frame of frames) {
    writeSync(descriptor, frame);
    fdatasyncSync(descriptor);
  }
  const took = performance.now() - began;
  closeSync(descriptor);
  rmSync(name);
  return took;
}
