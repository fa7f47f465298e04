/*
 * What is measured, for one commit, one drive and its floor: CPU, or the functions that run. It runs bundled with the
 * sources of that commit, in a process of its own, and prints one line of JSON.
 */

import { coverage } from './coverage.mjs';
import { DRIVES, openFloor } from './drives.mjs';

const { drive: name, mode, warmup, times, rounds } = JSON.parse(process.argv[2]);
const stages = { drive: await DRIVES[name].open(), floor: await openFloor(DRIVES[name]) };
const made = { drive: 0, floor: 0 };
console.log(JSON.stringify(await (mode === 'cpu' ? cpu() : count(stages[mode], mode))));
process.exit(0); // worlds are left open: what they would do at the end is no part of a drive

/** CPU milliseconds of a drive and of its floor, by turns, one pair a round. */
async function cpu() {
  for (const which of ['floor', 'drive']) await repeat(which, warmup);
  const all = [];
  for (let round = 0; round < rounds; round++) all.push({ floor: await cpuOf('floor'), drive: await cpuOf('drive') });
  return all;
}

async function cpuOf(which) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await repeat(which, times);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}

async function repeat(which, count) {
  for (let i = 0; i < count; i++) await stages[which].drive(made[which]++);
}

/** The functions that one drive runs and what it writes, after others, so that nothing is done for the first time. */
async function count({ store, world }, which) {
  await repeat(which, warmup);
  const from = await framesOf(store);
  const functions = await coverage(() => repeat(which, 1));
  const frames = (await framesOf(store)).slice(from.length);
  const records = await recordsOf(world, { from: from.length, count: frames.length });
  const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
  return { functions, frames: frames.length, records, bytes };
}

async function recordsOf(world, { from, count }) {
  let [records, read] = [0, 0];
  for await (const frame of world.kernel.frames(from)) {
    records += frame.records.length;
    if (++read === count) break; // it would wait for the next one
  }
  return records;
}

async function framesOf(store) {
  const reader = await store.openReadonly();
  const all = [];
  for await (const frame of reader.journal.read(0)) all.push(frame.bytes);
  await reader.close();
  return all;
}
