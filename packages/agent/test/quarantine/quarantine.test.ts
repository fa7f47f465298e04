/** Sessions whose cell has failed: what handles of their runs are told, and how they are closed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRepriseError, type PolicyRule } from '@reprise/contracts';
import { memory, type OpenStore, type Store } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  AGENT_POLICY,
  defineAgent,
  openAgentWorld,
  type Run,
  runs,
  type Session,
  type SessionState,
} from '../../src/index.js';
import { all, gate, play, type Scene, ScriptedLlm } from '../api/scene.js';

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });
/** Sessions with the label `breaks`, or those below them, fail when a model has answered: a defect of their reducer, in every performance of it. */
vi.mock('../../src/reducer/model/step.js', async (load) => {
  const real = await load<typeof import('../../src/reducer/model/step.js')>();
  return {
    ...real,
    stepCompleted: (...[draft, value, ctx]: Parameters<typeof real.stepCompleted>) => {
      if (draft.labels.breaks === 'yes' || (draft.labels.breaks === 'below' && draft.depth > 0))
        throw new Error('a defect');
      return real.stepCompleted(draft, value, ctx);
    },
  };
});

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const STORES: readonly (readonly [string, () => Store])[] = [
  ['memory', () => memory()],
  [
    'SQLite',
    () => {
      folders.push(mkdtempSync(path.join(tmpdir(), 'reprise-quarantine-')));
      return sqlite(path.join(folders.at(-1) ?? '', 'world.db'));
    },
  ],
];

/** The codes that each waiting method of a handle gives. */
async function told(run: Run): Promise<unknown[]> {
  const each = await Promise.allSettled([run.result(), run.text(), all(run.events()), all(run.stream())]);
  return each.map((one) => (one.status === 'fulfilled' ? one.value : [one.reason.code, one.reason.details?.fault]));
}

const FAILED = Array(4).fill(['cell_failed', 'threw']);

describe.each(STORES)('a session that has failed, in %s', (_name, make) => {
  const broken = { labels: { breaks: 'yes' } };

  it('a failed session is reported by every handle, waiting and later ones, and closing it ends its runs [SES-26, SES-28]', async () => {
    const store = make();
    const held = gate();
    const steps = [{ after: held.opened, text: 'Hi.' }];
    await play({ agents: [hello], steps, store, goesOn: true }, async ({ world }) => {
      const session = world.session('me', hello, broken);
      const run = await session.send('Hi', { id: 'one' });
      const queued = await session.send('more', { id: 'two' });
      const waiting = [told(run), told(queued)];
      held.open();
      await world.pump();
      expect(await Promise.all(waiting)).toEqual([FAILED, FAILED]);
      const [again] = [(await session.run(0)) as Run];
      expect(await told(again)).toEqual(FAILED);
      const refused = await session.send('and?').catch((error: unknown) => error);
      expect(isRepriseError(refused, 'cell_failed')).toBe(true);
    });
    await play({ agents: [hello], steps: [], store }, async ({ world }) => {
      const session = world.session('me', hello, broken);
      const one = (await session.run(0)) as Run;
      const two = (await session.run(1)) as Run;
      expect([await told(one), await told(two)]).toEqual([FAILED, FAILED]);
      expect(await session.close({ id: 'c' })).toEqual({ command_id: 'c', status: 'accepted' });
      expect((await one.result()).stop).toEqual({ kind: 'Cancelled' });
      expect((await two.result()).stop).toEqual({ kind: 'Cancelled', dropped: 'closed' });
      for (const run of [one, two]) expect((await all(run.events())).at(-1)).toMatchObject({ type: 'lifecycle' });
      expect(await session.close({ id: 'c' })).toEqual({ command_id: 'c', status: 'accepted' });
      expect(await session.close()).toMatchObject({ status: 'rejected', code: 'session_closed' });
      const ended = (await world.views()).view(runs);
      expect(await ended.get(['me', 0])).toMatchObject({ status: 'Cancelled' });
      expect(await ended.get(['me', 1])).toMatchObject({ status: 'Cancelled' });
    });
  });

  it('a failed session that was revived has handles that wait again, and closing it ends its runs [SES-28]', async () => {
    await play({ agents: [hello], steps: [{ text: 'Hi.' }], store: make() }, async ({ world, clock }) => {
      const session = world.session('me', hello, broken);
      const run = await session.send('Hi');
      expect(await told(run)).toEqual(FAILED);
      await world.kernel.revive(session.address);
      const result = run.result();
      expect(await session.close()).toMatchObject({ status: 'accepted' });
      await clock.advance(7_000);
      await world.pump();
      expect((await result).stop).toEqual({ kind: 'Cancelled' });
    });
  });
});

/** A store whose process dies, once it is told to: the next append is durable, and nothing of it happens after that. */
class DyingStore implements Store {
  readonly label = 'dying';
  appends: number | undefined;
  #open: OpenStore | undefined;
  readonly #hears: () => void;
  readonly died: Promise<void>;

  constructor(private readonly real: Store) {
    const heard = gate();
    this.#hears = heard.open;
    this.died = heard.opened;
  }

  async open(): Promise<OpenStore> {
    const open = await this.real.open();
    this.#open = open;
    const { journal } = open;
    const append = async (...given: Parameters<typeof journal.append>) => {
      if (this.appends === undefined) return journal.append(...given);
      if (this.appends++ === 0) await journal.append(...given);
      this.#hears();
      return new Promise<never>(() => undefined);
    };
    const read: typeof journal.read = (from, to) => journal.read(from, to);
    const rest = { head: () => journal.head(), findKey: (key: string) => journal.findKey(key) };
    const findLast: typeof journal.findLast = (kind, seq) => journal.findLast(kind, seq);
    const { content, cleanlyClosed, markAtOpen } = open;
    const base = { content, cleanlyClosed, markAtOpen, ...(open.hash === undefined ? {} : { hash: open.hash }) };
    const mark = (note: string | null) => open.mark(note);
    return { ...base, mark, journal: { append, read, findLast, ...rest }, close: () => open.close() };
  }

  openReadonly() {
    return this.real.openReadonly();
  }

  /** What the operating system does of a process that died: its lock is free. */
  async release(): Promise<void> {
    await this.#open?.close();
  }
}

describe.each(STORES)('a session that has failed and is closed by a process that dies, in %s', (_name, make) => {
  it('a failed session is closed when the first frame of the close is durable: it is never left revived and open [SES-28]', async () => {
    const store = make();
    const dying = new DyingStore(store);
    const options = { agents: [hello], models: { main: {} } };
    const world = await openAgentWorld({
      ...options,
      store: dying,
      llm: (judge) => new ScriptedLlm(judge, [{ text: 'Hi.' }]),
    });
    const session = world.session('me', hello, { labels: { breaks: 'yes' } });
    expect(await told(await session.send('Hi'))).toEqual(FAILED);
    dying.appends = 0;
    session.close({ id: 'c' }).catch(() => undefined);
    await dying.died;
    await dying.release();
    await play({ agents: [hello], steps: [], store }, async ({ world: again }) => {
      const reopened = again.session('me', hello);
      expect((await reopened.state())?.status).toBe('Closed');
      expect((await ((await reopened.run(0)) as Run).result()).stop).toEqual({ kind: 'Cancelled' });
      expect(await reopened.close({ id: 'c' })).toEqual({ command_id: 'c', status: 'accepted' });
    });
  });
});

const NOBODY_REVIVES: readonly PolicyRule[] = [
  { send: 'aos.agent/SessionReducer@1/me#sys/Revive@1', who: 'human:*', decision: 'deny' },
  ...AGENT_POLICY,
];
const NO_CHILDREN: readonly PolicyRule[] = [
  { send: 'aos.agent/SessionReducer@1/b.c*', decision: 'deny' },
  ...AGENT_POLICY,
];

describe('a session that has failed', () => {
  it('a failed session is closed only by a principal that may close and revive it [SES-28]', () =>
    play({ agents: [hello], steps: [{ text: 'Hi.' }], policy: NOBODY_REVIVES }, async ({ world }) => {
      const session = world.session('me', hello, { labels: { breaks: 'yes' } });
      await told(await session.send('Hi'));
      const refused = await session.close({ as: 'human:ann' }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: expect.stringMatching(/denied/) });
      expect((await session.state())?.status).toBe('Open');
      expect(await session.close()).toMatchObject({ status: 'accepted' });
    }));
});

describe('a child that cannot be made', () => {
  it('a child that cannot be made is reported by every handle of its first run, also after a restart [SES-26]', async () => {
    const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead.' });
    const store = memory();
    const NEVER = Array(4).fill(['run_failed', undefined]);
    const spawned = async (world: Scene['world']) => world.session('b', boss).spawn(hello, 'item 1', { id: 's' });
    await play(
      { agents: [boss, hello], steps: [{ text: 'Well.' }], store, goesOn: true, policy: NO_CHILDREN },
      async ({ world }) => {
        await (await world.session('b', boss).send('Be there.')).result();
        expect(await told(await spawned(world))).toEqual(NEVER);
      },
    );
    await play({ agents: [boss, hello], steps: [], store }, async ({ world }) => {
      const run = await spawned(world);
      expect(await told(run)).toEqual(NEVER);
      await expect(run.result()).rejects.toMatchObject({ details: { actual: 'policy_denied' } });
    });
  });
});

const lead = defineAgent({ name: 'lead', model: 'main', instructions: 'Lead.', spawns: [hello] });
const below = { labels: { breaks: 'below' } };
const SPAWNS = { calls: [{ id: 's', tool: 'spawn_agent', args: { agent: 'hello', task: 'item 1' } }] };
const WAITS = { calls: [{ id: 'w', tool: 'wait_agents', args: { children: ['c1'] } }] };
const FAILED_BELOW = { child: 'c1', agent: 'hello', status: 'failed', code: 'internal_invariant_violation/threw' };

async function resultOfWait(session: Session): Promise<unknown> {
  const items = await all(session.transcript());
  return items.find((item) => item.role === 'tool' && item.call_id === 'w');
}

/** Until the run waits for its child. */
async function waits(run: Run): Promise<void> {
  for await (const event of run.events()) if (event.type === 'tool.waiting') return;
}

describe.each(STORES)('a child that has failed, in %s', (_name, make) => {
  it('a failed child ends the wait of its parent at once, with the code of its fault, also after a restart [CHILD-12]', async () => {
    const store = make();
    const held = gate();
    const begun = [SPAWNS, { after: held.opened, text: 'lost' }, WAITS, { text: 'Without it, then.' }];
    await play({ agents: [lead, hello], steps: begun, store, goesOn: true }, async ({ world }) => {
      const session = world.session('b', lead, below);
      const run = await session.send('Go');
      await waits(run);
      held.open();
      expect(await run.text()).toBe('Without it, then.');
      expect(await resultOfWait(session)).toMatchObject({ children: [FAILED_BELOW] });
      const ends = (await all(run.events())).filter(({ type }) => type === 'child.ended');
      expect(ends).toMatchObject([{ child: 'c1', status: 'failed' }]);
    });
    const again = [SPAWNS, { after: gate().opened, text: 'lost' }, WAITS];
    await play({ agents: [lead, hello], steps: again, store, goesOn: true }, async ({ world }) => {
      await waits(await world.session('again', lead, below).send('Go'));
    });
    const rest = [{ text: 'lost' }, { text: 'Without it, too.' }];
    await play({ agents: [lead, hello], steps: rest, store }, async ({ world }) => {
      const session = world.session('again', lead, below);
      expect(await ((await session.run(0)) as Run).text()).toBe('Without it, too.');
      expect(await resultOfWait(session)).toMatchObject({ children: [FAILED_BELOW] });
    });
  });
});

describe('a child that has failed', () => {
  const steps = [SPAWNS, { text: 'lost' }, WAITS, { text: 'Without it, then.' }];

  it('a failed child can be closed: it was reported as failed before, and is then reported as closed [SES-28, CHILD-12]', () =>
    play({ agents: [lead, hello], steps }, async ({ world }) => {
      const session = world.session('b', lead, below);
      const run = await session.send('Go');
      expect(await run.text()).toBe('Without it, then.');
      const child = world.session('b.c1', hello);
      expect(await child.close()).toMatchObject({ status: 'accepted' });
      expect((await ((await child.run(0)) as Run).result()).stop).toEqual({ kind: 'Cancelled' });
    }));

  it('a failed child has used all that was set aside for it, until it is closed and returns the rest [CHILD-3, CHILD-12]', () => {
    const held = gate();
    const short = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.', options: { maxTokens: 100 } });
    const leads = defineAgent({ name: 'lead', model: 'main', instructions: 'Lead.', spawns: [short] });
    const spawns = {
      calls: [{ id: 's', tool: 'spawn_agent', args: { agent: 'hello', task: 'item 1', max_tokens: 900 } }],
    };
    const limited = [spawns, { text: 'lost' }, WAITS, { after: held.opened, text: 'Without it, then.' }];
    return play({ agents: [leads, short], steps: limited }, async ({ world }) => {
      const session = world.session('b', leads, below);
      const run = await session.send('Go');
      const budget = async () => {
        const { run: now } = (await session.state()) as SessionState;
        return [now?.allocated.tokens, now?.unaccounted.tokens];
      };
      for await (const event of run.events()) if (event.type === 'child.ended') break;
      expect(await budget()).toEqual([0, 900]);
      await world.session('b.c1', short).close();
      // Of its one call nobody told what it used: its question and its longest answer.
      expect(await budget()).toEqual([0, 104]);
      held.open();
      expect(await run.text()).toBe('Without it, then.');
    });
  });
});
