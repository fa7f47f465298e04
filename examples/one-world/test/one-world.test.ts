/** The office, whose process dies at random moments, is forked and verified, and forgets what a person wrote. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentWorld, openWorld } from 'reprise';
import { memory, type Store } from 'reprise/kernel';
import { putText, readText } from 'reprise/org';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../conformance/dying-store.js';
import { spread, stepOf } from '../../../conformance/part.js';
import { randomFrom } from '../../../conformance/random.js';
import { program } from '../../../scripts/lib/program.js';
import { DESK } from '../src/desk.js';
import { dev, grove, leader, members, office, options } from '../src/office.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const QUESTION = 'What is in this repository?';
const SEED = 20;
const STEPS_MAX = 80;
const model = options.models.main;

/** What the program does, from the first line or once more. */
async function question(world: AgentWorld): Promise<string> {
  await world.part(office).open();
  const ann = await world.part(members).human('ann');
  const capabilities = { tools: ['delegate'] };
  const bot = await ann.register({ agentType: 'custom', displayName: 'Leader', capabilities }, { id: 'leader' });
  const agent = world.part(members).entity(bot.agent_id);
  return (await agent.send(leader, QUESTION, { id: 'question-1' })).text();
}

async function playOn(store: Store, clock: VirtualClock, isDead: () => boolean) {
  const world = await openWorld({ store, clock, ...options });
  let text: string | undefined;
  question(world).then(
    (said) => {
      text = said;
    },
    () => undefined,
  );
  for (let step = 0; step < STEPS_MAX; step++) {
    await clock.settle();
    if (isDead()) break;
    if (text !== undefined && (await world.part(dev).project('job-1').state())?.status === 'done')
      return { world, text };
    await clock.advance(500);
  }
  await world.close().catch(() => undefined);
  if (!isDead()) throw new Error('the office is stuck');
  return undefined;
}

/** Plays the question on a store; when its holder dies, the world is opened again and the same is asked. */
async function played(store: DyingStore) {
  const clock = new VirtualClock();
  for (;;) {
    const { deaths } = store;
    const isDead = () => store.deaths > deaths;
    const done = await playOn(store, clock, isDead).catch((error: unknown) => {
      if (!isDead()) throw error;
      return undefined;
    });
    if (done !== undefined) return done;
  }
}

/** The answers of the model and the calls that reached the desk, each as often as the journal has it. */
async function callsIn({ kernel }: AgentWorld): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records) {
      if (record.kind === 'event' && record.to[0] === DESK[0] && record.event.name === 'aos.agent/OwnerCall@1')
        found.push((record.event.value as { readonly name: string }).name);
      if (record.kind === 'fact' && record.name === 'aos.agent/LlmStepAnswered@1') found.push('answer');
    }
    if (seq === kernel.head.seq) break;
  }
  return found.sort();
}

async function endOf(world: AgentWorld) {
  return {
    desk: await world.kernel.state(DESK),
    waiting: await world.kernel.table(DESK, 'waiting', {}),
    trees: (await world.part(grove).all()).items.map(({ name, status }) => [name, status]),
    results: (await world.part(dev).project('job-1').results()).map(({ id, status, processed }) => [
      id,
      status,
      processed,
    ]),
    calls: await callsIn(world),
    unverified: (await world.verify()).unverified,
  };
}

describe('a society, a team and trees in one world', () => {
  it('the end is the same and no call is made twice, whenever its process dies, at appends drawn from the seed 20', async () => {
    const counting = new DyingStore(memory());
    const clean = await played(counting);
    const [expected, answer] = [await endOf(clean.world), clean.text];
    await clean.world.close();
    expect(answer).toContain('It is a library, says the survey.');
    expect(expected).toMatchObject({
      desk: { made: 2 },
      waiting: [],
      unverified: 0,
      trees: [['survey-2', 'complete']],
    });
    expect(expected.calls.filter((name) => name !== 'answer')).toEqual(['delegate', 'report', 'survey']);
    const drawn = randomFrom(SEED);
    for (let round = 0; round < 12; round += stepOf(4)) {
      const dying = new DyingStore(memory());
      const [at, side] = [1 + Math.floor(drawn() * counting.appends), drawn() < 0.5 ? 'before' : 'after'] as const;
      dying.dieAt(at, side);
      const before = model.requests.length;
      const { world, text } = await played(dying);
      expect([at, side, text, await endOf(world)]).toEqual([at, side, answer, expected]);
      const answers = expected.calls.filter((name) => name === 'answer').length;
      expect(model.requests.length - before).toBeLessThanOrEqual(answers + dying.deaths);
      await world.close();
    }
  });

  it('a dry fork from any frame since the question has the same end, and asks no model [FORK-3, OWN-9]', async () => {
    const clock = new VirtualClock();
    const done = await playOn(memory(), clock, () => false);
    if (done === undefined) throw new Error('the office is stuck');
    const expected = await endOf(done.world);
    const asked = model.requests.length;
    const last = done.world.kernel.head.seq;
    const first = await frameOfQuestion(done.world);
    const stores: [number, Store][] = [];
    for (const at of spread(3, [first, first + 3, Math.floor((first + last) / 2), last - 1])) {
      const into = memory();
      await done.world.fork({ into, at });
      stores.push([at, into]);
    }
    await done.world.close();
    for (const [at, store] of stores) {
      const again = await playOn(store, new VirtualClock(), () => false);
      if (again === undefined) throw new Error('the fork is stuck');
      expect([at, await endOf(again.world)]).toEqual([at, expected]);
      await again.world.close();
    }
    expect(model.requests.length).toBe(asked);
  });

  it('the world is verified after what a person wrote was erased, and says what is erased', async () => {
    const done = await playOn(memory(), new VirtualClock(), () => false);
    if (done === undefined) throw new Error('the office is stuck');
    await using world = done.world;
    const written = await putText(world.kernel.content, QUESTION);
    expect((await world.kernel.erase({ refs: [written] })).erased).toBe(1);
    expect(await world.verify()).toMatchObject({ erased: 1, unverified: 0 });
    await expect(readText(world.kernel.content, written)).rejects.toMatchObject({ code: 'blob_erased' });
  });
});

async function frameOfQuestion({ kernel }: AgentWorld): Promise<number> {
  for await (const { seq, records } of kernel.frames(0))
    if (records.some((record) => record.kind === 'request' && record.event.name === 'society/Send@1')) return seq;
  return -1;
}

const MAIN = await program(new URL('../src/main.ts', import.meta.url));

describe('the program', () => {
  const start = (cwd: string) => {
    const child = spawn(process.execPath, [MAIN], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (piece) => {
      out += String(piece);
    });
    return { child, ended: new Promise<string>((resolve) => child.on('close', () => resolve(out))) };
  };

  it('a process that is killed at random moments goes on when it is started again, and prints the same', async () => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'reprise-office-'));
    try {
      const drawn = randomFrom(SEED);
      for (let kills = 0; kills < 3; kills += stepOf(3)) {
        const { child, ended } = start(cwd);
        setTimeout(() => child.kill('SIGKILL'), 1_500 + drawn() * 2_000);
        await ended;
      }
      const printed = await start(cwd).ended;
      expect(printed).toContain('It is a library, says the survey.');
      expect(printed).toContain('survey-2 complete\n0\n');
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });

  it('the page shows the files of the program as they are', () => {
    const page = readFileSync(path.join(ROOT, 'docs/how-to/connect-all-in-one-world.md'), 'utf8');
    for (const name of ['desk.ts', 'office.ts', 'main.ts']) {
      const text = readFileSync(path.join(ROOT, 'examples/one-world/src', name), 'utf8');
      expect(page).toContain(`\`\`\`ts file=${name}\n${text}\`\`\``);
    }
    expect(readFileSync(path.join(ROOT, 'examples/one-world/src/desk.ts'), 'utf8').split('\n').length).toBeLessThan(
      150,
    );
  });
});
