/** The queue of reviewers: time limits, budgets and escalations, and a process that dies at random moments. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentWorld, openWorld } from 'reprise';
import { memory, type Store } from 'reprise/kernel';
import { type ScriptStep, scriptBy } from 'reprise/providers';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../conformance/dying-store.js';
import { randomFrom } from '../../../conformance/random.js';
import { program } from '../../../scripts/lib/program.js';
import { type Desk, desk } from '../src/desk.js';
import { reviews } from '../src/reviews.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const SEED = 39;
const LEVELS = [
  { agent: 'reviewer', slots: 2, minutes: 5, tokens: 20_000 },
  { agent: 'senior', slots: 1, minutes: 15, tokens: 40_000 },
];
const BUDGET = { unit: 'tokens', amount: 200_000 } as const;
const ANN = { as: 'human:ann' } as const;

const act = (tool: string, text: string): ScriptStep => ({ calls: [{ tool, args: { text } }] });

/** Reviewers that know nothing of liabilities, and a senior that asks a person about them. */
function reviewing() {
  return scriptBy(({ last, messages, system }) => {
    if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
    if (last.includes('lorem ipsum')) return act('reject', 'It is not finished.');
    if (!last.includes('liability')) return act('approve', 'Nothing is wrong with it.');
    return act('escalate', system.includes('senior') ? 'May we accept this risk?' : 'I am no lawyer.');
  });
}

interface Options {
  readonly store?: Store;
  readonly main?: ReturnType<typeof scriptBy>;
  readonly clock?: VirtualClock;
  readonly levels?: Desk['levels'];
  readonly budget?: number;
}

async function openDesk({
  store = memory(),
  main = reviewing(),
  clock = new VirtualClock(),
  levels = LEVELS,
  budget = BUDGET.amount,
}: Options = {}) {
  const world = await openWorld({ store, clock, models: { main }, parts: [reviews] });
  const queue = world.part(reviews);
  await queue.open(levels, { unit: 'tokens', amount: budget });
  return { world, clock, queue };
}

async function ledgerOf({ kernel }: AgentWorld): Promise<Desk['ledger']> {
  const state = (await kernel.state([desk.name, 'desk'])) as Desk | undefined;
  if (state === undefined) throw new Error('there is no desk');
  return state.ledger;
}

describe('a queue of reviewers', () => {
  it('a document is approved, rejected with reasons, or escalated to the senior and from there to a person', async () => {
    const main = reviewing();
    const { world, queue, clock } = await openDesk({ main });
    await queue.submit('Invoice', 'Two chairs: 120 euros.');
    await queue.submit('Flyer', 'lorem ipsum');
    await queue.submit('Contract', 'The liability is unlimited.');
    await clock.settle();
    expect(await queue.list()).toEqual([
      '1 Invoice: approved: Nothing is wrong with it.',
      '2 Flyer: rejected: It is not finished.',
      '3 Contract: waiting, a person: May we accept this risk?',
    ]);
    const asked = main.requests.find(({ system }) => system.includes('senior'));
    expect(asked?.last).toContain('the question of the level below');
    expect(asked?.last).toContain('I am no lawyer.');
    await queue.decide(3, 'rejected', 'They must limit it.', ANN);
    await clock.settle();
    expect(await queue.list()).toContain('3 Contract: rejected: They must limit it.');
    const answered = main.requests.at(-1);
    expect([answered?.system.includes('senior'), answered?.last]).toEqual([
      true,
      expect.stringMatching(/rejected[\s\S]*They must limit it\./),
    ]);
    expect(await ledgerOf(world)).toMatchObject({ reserved: 0, asked: 4 });
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('what waits for a person is there after its process ended, and the answer reaches the senior that asked', async () => {
    const store = memory();
    const before = await openDesk({ store });
    await before.queue.submit('Contract', 'The liability is unlimited.');
    await before.clock.settle();
    await before.world.close();
    const main = reviewing();
    const { world, queue, clock } = await openDesk({ store, main, clock: before.clock });
    expect(await queue.list()).toEqual(['1 Contract: waiting, a person: May we accept this risk?']);
    await clock.advance(24 * 60 * 60_000); // the time limit of a review stands still while a person is asked
    expect(await queue.list()).toEqual(['1 Contract: waiting, a person: May we accept this risk?']);
    await queue.decide(1, 'approved', 'They have changed it.', ANN);
    await clock.settle();
    expect([await queue.list(), main.requests.length]).toEqual([['1 Contract: approved: They have changed it.'], 1]);
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('a reviewer that takes longer than its time limit loses the document to the level above', async () => {
    const main = scriptBy(({ system, messages }) => {
      if (!system.includes('senior')) return { text: 'Hm.', delayMs: Number.POSITIVE_INFINITY };
      return messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : act('approve', 'It is fine.');
    });
    const { world, queue, clock } = await openDesk({ main });
    await queue.submit('Novel', 'Chapter one.');
    await clock.advance(4 * 60_000);
    expect(await queue.list()).toEqual(['1 Novel: running, reviewer']);
    await clock.advance(3 * 60_000);
    expect(await queue.list()).toEqual(['1 Novel: approved: It is fine.']);
    // Nobody reported what the call that was stopped has used: it counts as all that was set aside for it.
    expect((await ledgerOf(world)).spent.tokens).toBeGreaterThanOrEqual(20_000);
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('a review that uses up its share hands its document up, and the last one to a person, who decides without being asked', async () => {
    const wasteful = scriptBy(() => ({ ...act('nothing', 'x'), usage: { tokens_in: 15_000, tokens_out: 9_000 } }));
    const { world, queue, clock } = await openDesk({ main: wasteful });
    await queue.submit('Novel', 'Chapter one.');
    await clock.settle();
    expect(await queue.list()).toEqual(['1 Novel: in line, a person']);
    await queue.decide(1, 'rejected', 'Too long.', ANN);
    expect(await queue.list()).toEqual(['1 Novel: rejected: Too long.']);
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('documents wait in line when the budget is used up, and are reviewed once a person adds to it', async () => {
    const costly = scriptBy(({ messages }) => ({
      ...(messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : act('approve', 'It is fine.')),
      usage: { tokens_in: 5_000, tokens_out: 1_000 },
    }));
    const { world, queue, clock } = await openDesk({ main: costly, budget: 30_000 });
    for (const title of ['A', 'B', 'C']) await queue.submit(title, `This is ${title}.`);
    expect((await ledgerOf(world)).reserved).toBe(20_000); // for one review only: two would exceed the budget
    await clock.settle();
    expect(await queue.list()).toEqual([
      '1 A: approved: It is fine.',
      '2 B: in line, reviewer',
      '3 C: in line, reviewer',
    ]);
    await queue.fund(40_000, { ...ANN, id: 'more' });
    await clock.settle();
    expect(await queue.list()).toEqual(['1 A', '2 B', '3 C'].map((of) => `${of}: approved: It is fine.`));
    expect(await ledgerOf(world)).toMatchObject({ reserved: 0, spent: { tokens: 36_000 } });
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('another level is a row with bounds of its own: a document passes it before it comes to a person', async () => {
    const main = scriptBy(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : act('escalate', 'Who knows?'),
    );
    const third = { agent: 'reviewer', slots: 1, minutes: 60, tokens: 80_000 };
    const { world, queue, clock } = await openDesk({ main, levels: [...LEVELS, third] });
    await queue.submit('Contract', 'The liability is unlimited.');
    await clock.settle();
    expect(await queue.list()).toEqual(['1 Contract: waiting, a person: Who knows?']);
    expect(await ledgerOf(world)).toMatchObject({ asked: 3, reserved: 80_000 });
    await world.close();
  });

  it('the desk refuses a second verdict, a call beside an escalation, and a decision of a person who is not asked', async () => {
    const hasty = scriptBy(({ messages, system }) => {
      if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
      const first = system.includes('senior') ? 'escalate' : 'approve';
      return { calls: [first, 'reject'].map((tool) => ({ tool, args: { text: 'Because.' } })) };
    });
    const { world, queue, clock } = await openDesk({ main: hasty });
    await queue.submit('A', 'This is A.');
    await clock.settle();
    expect(await queue.list()).toEqual(['1 A: approved: Because.']);
    expect(hasty.requests.at(-1)?.last).toContain('The document is decided or with a person.');
    await expect(queue.decide(1, 'rejected', 'No.', ANN)).rejects.toMatchObject({ code: 'request_rejected' });
    await expect(queue.decide(2, 'rejected', 'No.', ANN)).rejects.toMatchObject({ code: 'request_rejected' });
    await world.close();
  });
});

describe('a process that dies', () => {
  /** The whole day: three documents, and the decision of a person. */
  async function day(store: Store, main: Options['main'], clock: VirtualClock) {
    const { world, queue } = await openDesk({ store, clock, ...(main === undefined ? {} : { main }) });
    await queue.submit('Invoice', 'Two chairs: 120 euros.');
    await queue.submit('Flyer', 'lorem ipsum');
    await queue.submit('Contract', 'The liability is unlimited.');
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(60_000);
      if ((await queue.list()).some((line) => line.includes('a person')))
        await queue.decide(3, 'approved', 'They have changed it.', { ...ANN, id: 'decision' });
      if ((await ledgerOf(world)).reserved === 0) break;
    }
    return { world, list: await queue.list(), ledger: await ledgerOf(world) };
  }

  it('a desk whose process dies loses nothing and repeats nothing, at appends drawn from the seed 39', async () => {
    const counting = new DyingStore(memory());
    const whole = reviewing();
    const clean = await day(counting, whole, new VirtualClock());
    expect(clean.list.map((line) => line.split(': ')[1])).toEqual(['approved', 'rejected', 'approved']);
    await clean.world.close();
    const drawn = randomFrom(SEED);
    for (let round = 0; round < 16; round++) {
      const dying = new DyingStore(memory());
      const [at, side] = [1 + Math.floor(drawn() * counting.appends), drawn() < 0.5 ? 'before' : 'after'] as const;
      dying.dieAt(at, side);
      const main = reviewing();
      const clock = new VirtualClock();
      const done =
        (await day(dying, main, clock).catch((error: unknown) => {
          if (dying.deaths === 0) throw error;
        })) ?? (await day(dying, main, clock));
      expect([at, side, done.list]).toEqual([at, side, clean.list]);
      expect([at, side, done.ledger.reserved, done.ledger.asked]).toEqual([at, side, 0, clean.ledger.asked]);
      expect([at, main.requests.length <= whole.requests.length + dying.deaths]).toEqual([at, true]);
      expect([at, (await done.world.verify()).unverified]).toEqual([at, 0]);
      await done.world.close();
    }
  });
});

const MAIN = await program(new URL('../src/main.ts', import.meta.url));

describe('the program', () => {
  const page = readFileSync(path.join(ROOT, 'docs/how-to/build-an-organization.md'), 'utf8');
  const run = (cwd: string, args: readonly string[], killAfter?: number) => {
    const child = spawn(process.execPath, [MAIN, ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (piece) => {
      out += String(piece);
    });
    if (killAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfter);
    return new Promise<string>((resolve) => child.on('close', () => resolve(out)));
  };

  it('the program goes on after it was killed, and prints what the first lines of the page show', async () => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'reprise-reviews-'));
    try {
      const drawn = randomFrom(SEED);
      for (let kills = 0; kills < 3; kills++) await run(cwd, [], 800 + drawn() * 1_000);
      const shown = /```text\n\$ npx tsx main\.ts\n([\s\S]*?)\$ npx tsx main\.ts 3 approved\n([\s\S]*?)```/.exec(page);
      expect(await run(cwd, [])).toBe(shown?.[1]);
      expect(await run(cwd, ['3', 'approved'])).toBe(shown?.[2]);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });

  it('the page shows the files of the program as they are, and the organization has fewer than 150 lines of code', () => {
    const text = (name: string) => readFileSync(path.join(ROOT, 'examples/review-queue/src', name), 'utf8');
    const organization = ['reviewers.ts', 'desk.ts', 'reviews.ts'];
    for (const name of [...organization, 'main.ts'])
      expect(page).toContain(`\`\`\`ts file=${name}\n${text(name)}\`\`\``);
    const isCode = (line: string) => !/^\s*(?:$|\/\/|\/?\*)/.test(line);
    const lines = organization.flatMap((name) => text(name).split('\n').filter(isCode));
    expect(lines.length).toBeLessThan(150);
  });
});
