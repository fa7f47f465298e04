/*
 * What is measured, for one commit: real sessions against a model server, then verification and opening of what they
 * wrote. It runs bundled with the sources of that commit, in a process of its own, and prints one line of JSON.
 *
 * It uses only names of the front door that every commit compared here has.
 */
import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decode } from 'cbor-x';
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

const { url, file, sessions, turns, warmup, rounds, text } = JSON.parse(process.argv[2] ?? '{}');

const read = defineTool({
  name: 'read',
  description: 'Reads a chapter.',
  args: z.strictObject({ chapter: z.string() }),
  run: ({ chapter }) => `${chapter}: ${text}`,
});
const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Answer from the chapters.',
  tools: [read],
  limits: { steps: 8 },
});
const models = { main: openAiCompatible({ baseUrl: url, model: 'scripted' }) };
const store = () => (file === undefined ? memory({ hash: sha256 }) : sqlite(file));

function sha256(bytes) {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

/** CPU milliseconds of this process for what a function does. */
async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const target = store();
const options = { store: target, models, agents: [clerk] };
const result = {};
{
  await using world = await openWorld(options);
  const talk = async (from, to) => {
    for (let turn = from; turn < to; turn++)
      await Promise.all(
        Array.from({ length: sessions }, async (_, i) => {
          const run = await world
            .session(`s${i}`, clerk)
            .send(`${turn}/${i} ${text.slice(turn % 97, 200)}`, { id: `m${turn}-${i}` });
          await run.text();
        }),
      );
  };
  await talk(0, warmup);
  const began = performance.now();
  result.live = (await cpuOf(() => talk(warmup, warmup + turns))) / (turns * sessions);
  result.liveWall = (performance.now() - began) / (turns * sessions);
  result.turns = (warmup + turns) * sessions;
  const verified = [];
  for (let round = 0; round < rounds; round++) verified.push((await cpuOf(() => world.verify())) / result.turns);
  result.verify = Math.min(...verified);
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

/** CPU of a turn without any library: two requests and what the tool returns. */
async function bareLoop(count) {
  const ask = async (messages) => {
    const body = JSON.stringify({ model: 'scripted', stream: true, messages });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
    const events = (await answer.text()).split('\n\n').filter((event) => event.startsWith('data: {'));
    return events.map((event) => JSON.parse(event.slice(6)))[0].choices[0].delta;
  };
  const turn = async () => {
    const user = { role: 'user', content: text.slice(0, 200) };
    const { tool_calls } = await ask([user]);
    const [call] = tool_calls;
    const content = `${JSON.parse(call.function.arguments).chapter}: ${text}`;
    await ask([
      user,
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: call.id, content },
    ]);
  };
  for (let warm = 0; warm < 10; warm++) await turn();
  return (
    (await cpuOf(async () => {
      for (let i = 0; i < count; i++) await turn();
    })) / count
  );
}
