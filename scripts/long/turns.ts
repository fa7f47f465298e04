/**
 * One session of very many turns, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/turns.ts [--turns 100000] [--calls 10] [--switches 3]
 *       [--no-verify]
 *
 * Each turn is an input and an answer, every tenth (`--calls`) with a tool call between, in a world on disk. The window
 * of the model is small, so the session compacts again and again; some times on the way it is switched to a model of
 * another wire format, which has left its own reasoning behind. Every request is checked by the rules of its format. At
 * the end it prints the CPU time of an event late in the session beside that of an early one and the size of the state,
 * and replays the whole.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AGENT_POLICY, agentApp, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { encode, verifyStore } from '@reprise/kernel';
import {
  llmGenerateAdapter,
  type ModelClient,
  type ScriptStep,
  scriptBy,
  type UnifiedRequest,
  validateRequest,
  verifyRequests,
  WIRE_FORMATS,
  type WireFormat,
} from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';
import { draftRequest } from '../../packages/providers/src/generate/formats.js';
import { writtenOf } from '../../packages/providers/src/wire/request-fields.js';

const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', default: '100000' },
    calls: { type: 'string', default: '10' },
    switches: { type: 'string', default: '3' },
    'no-verify': { type: 'boolean', default: false },
  },
});
const [turns, calls, switches] = [Number(options.turns), Number(options.calls), Number(options.switches)];

/** The tokens in the window of each model. */
const WINDOW = 2_000;
/** Turns whose cost is taken together: enough to even out where room is made. */
const BLOCK = Math.max(100, Math.min(1_000, Math.floor(turns / 10)));

const sum = { requests: 0, summaries: 0 };

/** A model of a format: it calls a tool for each input, then answers, and reports the length of its request. */
function modelOf(format: WireFormat): ModelClient {
  const profile = { ...scriptBy(answer).profile, profile_id: format, model_default: `${format}-model` };
  const write = (request: UnifiedRequest) =>
    writtenOf(draftRequest(format, request, { model: profile.model_default, profile }));
  return {
    profile,
    write,
    generate: async (request, context) => {
      const written = write(request);
      const issues = validateRequest(format, JSON.parse(new TextDecoder().decode(written.body)));
      assert.deepEqual(issues, [], `a request of ${format} breaks its rules`);
      sum.requests++;
      // One script for each request: a script remembers its requests, and this measures the session's memory.
      const result = await scriptBy(answer).generate(request, context);
      if (!result.ok) return result;
      const tokens_in = Math.ceil(written.body.length / 4);
      return {
        ok: true,
        response: { ...result.response, request: written, usage: { calls: 1, tokens_in, tokens_out: 20 } },
      };
    },
  };
}

function answer({ unified, last }: { readonly unified: UnifiedRequest; readonly last: string }): ScriptStep {
  if (unified.toolChoice === 'none') {
    sum.summaries++;
    return { text: `Summary ${sum.summaries}: they counted on, and the last they said was: ${last.slice(0, 80)}` };
  }
  const asked = unified.messages.at(-1)?.role === 'user' && Number(/^Turn (\d+)/.exec(last)?.[1]) % calls === 0;
  return asked
    ? { reasoning: 'I look it up.', calls: [{ tool: 'look_up', args: { word: last.slice(-60) } }] }
    : { reasoning: 'That is it.', text: `I have found: ${last.slice(0, 200)}` };
}

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  args: z.strictObject({ word: z.string() }),
  guarantee: 'idempotent',
  run: ({ word }) => `${word} is a word of ${word.length} letters. ${'It is well known. '.repeat(20)}`,
});

const agent = defineAgent({
  name: 'talker',
  model: WIRE_FORMATS[0],
  instructions: 'Look words up.',
  tools: [lookUp],
  contextWindow: WINDOW,
  compaction: { at: 70, keep: 3 },
});

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-turns-'));
const file = path.join(folder, 'world.db');
const models = Object.fromEntries(WIRE_FORMATS.map((format) => [format, modelOf(format)]));
const began = performance.now();
console.log(`one session of ${turns} turns, ${switches} switches of model, window ${WINDOW} tokens`);

const blocks: { readonly turn: number; readonly perFrame: number; readonly state: number }[] = [];
{
  await using world = await openAgentWorld({
    store: sqlite(file),
    agents: [agent],
    models: Object.fromEntries(WIRE_FORMATS.map((format) => [format, { contextWindow: WINDOW }])),
    policy: AGENT_POLICY,
    llm: (judge) => llmGenerateAdapter(models, { judge }),
  });
  const session = world.session('long', agent);
  let [cpu, frames] = [process.cpuUsage(), world.kernel.head.seq];
  for (let turn = 0; turn < turns; turn++) {
    if (switches > 0 && turn > 0 && turn % Math.ceil(turns / (switches + 1)) === 0) await switchModel(turn);
    const run = await session.send(`Turn ${turn}: what is word number ${turn * 7}?`, { pin: turn < 4 });
    const { stop } = await run.result();
    assert.equal(stop.kind, 'Completed', `turn ${turn} ended as ${JSON.stringify(stop)}`);
    if ((turn + 1) % BLOCK !== 0 && turn !== 99) continue;
    const used = process.cpuUsage(cpu);
    const perFrame = (used.user + used.system) / (world.kernel.head.seq - frames);
    const state = encode(await session.state()).length;
    if (turn >= BLOCK) blocks.push({ turn: turn + 1, perFrame, state });
    if (turn === 99 || (turn + 1) % (BLOCK * 5) === 0) report(turn + 1, perFrame, state);
    [cpu, frames] = [process.cpuUsage(), world.kernel.head.seq];
  }

  async function switchModel(turn: number): Promise<void> {
    const model = WIRE_FORMATS[Math.floor((turn * (switches + 1)) / turns) % WIRE_FORMATS.length] as WireFormat;
    assert.equal((await session.reconfigure({ model })).status, 'accepted');
    console.log(`turn ${turn}: from now on ${model}`);
  }
  console.log(`${world.kernel.head.seq} frames, ${Math.round(statSync(file).size / 1e6)} MB`);
}

const [first, last] = [blocks[0], blocks.at(-1)];
if (first === undefined || last === undefined) throw new Error('too few turns to compare');
const late = blocks.slice(-3).reduce((all, { perFrame }) => all + perFrame, 0) / Math.min(3, blocks.length);
const early = blocks.slice(0, 3).reduce((all, { perFrame }) => all + perFrame, 0) / Math.min(3, blocks.length);
console.log(
  `CPU per event ${early.toFixed(0)} µs at turn ${first.turn}, ${late.toFixed(0)} µs at turn ${last.turn}: ` +
    `${(late / early).toFixed(2)} times; state ${first.state} and ${last.state} bytes`,
);
assert.ok(late <= early * 1.3, 'an event costs more the older the session is');
assert.ok(last.state <= first.state + 64, 'the state grows with the age of the session');

if (!options['no-verify']) {
  const reader = await sqlite(file).openReadonly();
  const verified = await verifyStore(reader, { app: agentApp });
  const { equal, different, uncompared } = await verifyRequests(reader, models);
  await reader.close();
  assert.deepEqual([different, uncompared, equal], [[], [], sum.requests]);
  console.log(`replayed: ${verified.replayed} frames; ${equal} requests projected again to the same bytes`);
}
rmSync(folder, { recursive: true, force: true });
console.log(
  `turns, long form: ok; ${turns} turns, ${sum.requests} requests without an issue, ${sum.summaries} summaries, ` +
    `${((performance.now() - began) / 1000).toFixed(0)} s`,
);

function report(turn: number, perFrame: number, state: number): void {
  console.log(
    `turn ${turn}: ${perFrame.toFixed(0)} µs CPU per event, state ${state} bytes, ${sum.summaries} summaries`,
  );
}
