/**
 * Who executes posted calls, and in which order, without a database. Adversary: processes that die before, while and after they
 * execute a call, attempts without an answer, answers that are not written, worlds that do not open, hints that never come.
 */
import { getEventListeners } from 'node:events';
import { RepriseError } from '@reprise/contracts';
import type { Host, HostedWorld } from '@reprise/kernel/host';
import type { PostedCall, PostedCalls, PostedKey, TakenCall } from '@reprise/store-postgres';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Execution } from '../src/execution.js';
import type { Operation } from '../src/operation.js';
import { Delivery } from '../src/posts/delivery.js';
import { Posting } from '../src/posts/posting.js';
import { TRIES_MAX, WorldService } from '../src/posts/world-service.js';
import { firstOf } from '../src/time/waits.js';
import { type Outcome, readOutcome, writeOutcome } from '../src/wire/outcome.js';
import type { Asked } from '../src/wire/seal.js';

interface ModelRow extends PostedCall {
  readonly row: number;
  tries: number;
  answer?: Uint8Array;
}

/** The rows as the database has them; what a dead process asks is never answered. */
class Model {
  readonly rows: ModelRow[] = [];
  readonly owners = new Map<string, string>();
  isDead = (_process: string): boolean => false;
  losesAnswer = (): boolean => false;

  add(world: string, principal: string, request: string): void {
    const call = { world, principal, request, operation: 'shop/order@1', input: new Uint8Array() };
    this.rows.push({ ...call, row: this.rows.length, tries: 0 });
  }

  get waiting(): readonly ModelRow[] {
    return this.rows.filter(({ answer }) => answer === undefined);
  }

  posts(process: string): PostedCalls {
    const alive = <T>(read: () => T): Promise<T> =>
      this.isDead(process) ? new Promise<T>(() => undefined) : Promise.resolve().then(read);
    const find = ({ world, principal, request }: PostedKey): ModelRow | undefined =>
      this.rows.find((one) => one.world === world && one.principal === principal && one.request === request);
    return {
      put: (call) => alive(() => this.add(call.world, call.principal, call.request)),
      find: (key) => alive(() => find(key) && { ...(find(key) as ModelRow), digest: new Uint8Array() }),
      await: async () => () => undefined,
      worlds: (after, limit) =>
        alive(() =>
          [...new Set(this.waiting.map(({ world }) => world))]
            .filter((world) => world > after && (this.owners.get(world) ?? process) === process)
            .sort()
            .slice(0, limit)
            .map((world) => ({ world, isKnown: true, isOwn: this.owners.get(world) === process })),
        ),
      take: (world, except, principals) => alive(() => this.#take(world, except, principals)),
      giveBack: (rows) =>
        alive(() => {
          for (const row of rows) this.#tries(row, -1);
        }),
      answer: (row, answer) =>
        alive(() => {
          if (this.losesAnswer()) throw new RepriseError('store_failed', 'the database is away');
          const found = this.rows[row];
          if (found !== undefined) found.answer ??= answer;
        }),
      announce: async () => undefined,
      unknown: async () => [],
      sweep: async () => 0,
      changed: () => () => undefined, // every hint is lost
    };
  }

  #take(world: string, except: readonly string[], principals: number): TakenCall[] {
    const all = this.waiting.filter((one) => one.world === world && !except.includes(one.principal));
    const chosen = [...new Set(all.map(({ principal }) => principal))].slice(0, principals).flatMap((principal) => {
      const own = all.filter((one) => one.principal === principal);
      const begun = own.findIndex(({ tries }) => tries > 0);
      return own.slice(0, Math.max(1, begun === -1 ? 16 : begun));
    });
    for (const { row } of chosen) this.#tries(row, 1);
    return chosen.map((one) => ({ ...one }));
  }

  #tries(row: number, by: number): void {
    const found = this.rows[row];
    if (found !== undefined) found.tries += by;
  }
}

/** The journal of a world: it takes each request once. */
class Journal {
  readonly taken: string[] = [];
  execute({ world, id }: Asked): void {
    if (!this.taken.includes(`${world} ${id}`)) this.taken.push(`${world} ${id}`);
  }
}

const ANSWER: Outcome = { kind: 'answer', output: Uint8Array.of(1) };
const REFUSED: Outcome = { kind: 'error', error: new RepriseError('unknown_event', 'no such event') };
const ACTS = ['answer', 'refuse', 'dies', 'dies after', 'slow', 'lost', 'unwritten', 'closed'] as const;
const PRINCIPALS = ['human:ann', 'human:bob', 'human:cyd'];

describe('posted calls', () => {
  it('a posted call is executed once and answered once, in the order of its principal, whichever processes die [FLEET-20, FLEET-21]', async () => {
    const seen = new Map<string, number>();
    const posted = fc.array(fc.constantFrom(...PRINCIPALS), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(posted, fc.array(fc.constantFrom(...ACTS), { maxLength: 40 }), async (principals, acts) => {
        const script = [...acts];
        const [model, journal] = [new Model(), new Journal()];
        for (const [n, principal] of principals.entries()) model.add('antwerp', principal, `${principal} ${n}`);
        const dead = new Set<string>();
        model.isDead = (process) => dead.has(process);
        let [now, processes, isUnwritten] = [0, 0, false];
        model.losesAnswer = () => {
          const loses = isUnwritten;
          isUnwritten = false;
          return loses;
        };
        let service: WorldService | undefined;
        let died: Promise<void> = Promise.resolve();
        const start = (): void => {
          const process = `p${processes++}`;
          died = new Promise((resolve) => {
            const dies = (): Promise<never> => {
              dead.add(process);
              resolve();
              return new Promise<never>(() => undefined);
            };
            const attempt = async (asked: Asked): Promise<Outcome> => {
              const act = dead.has(process) ? 'dies' : (script.shift() ?? 'answer');
              seen.set(act, (seen.get(act) ?? 0) + 1);
              if (act === 'dies') return dies();
              if (act === 'slow' || act === 'lost')
                return { kind: 'again', reason: act === 'slow' ? 'slow' : 'failed' };
              if (act === 'closed') return { kind: 'error', error: new RepriseError('host_closed', 'it leaves') };
              const outcome = act === 'refuse' ? REFUSED : ANSWER;
              journal.execute(asked);
              if (act === 'dies after') return dies();
              if (act === 'unwritten') isUnwritten = true;
              return outcome;
            };
            const parts = { posts: model.posts(process), attempt, runMs: 60_000, now: () => now, isOver: () => false };
            service = new WorldService(parts, 'antwerp');
          });
        };
        start();
        for (let round = 0; round < 200 && model.waiting.length > 0; round++) {
          await Promise.race([service?.run(() => undefined), died]);
          if (dead.has(`p${processes - 1}`)) start();
          now += 60_000;
        }
        expect(model.waiting).toEqual([]);
        const isGivenUp = ({ answer }: { readonly answer?: Uint8Array }): boolean => {
          const outcome = readOutcome(answer ?? new Uint8Array());
          return outcome?.kind === 'error' && outcome.error.details.reason === 'abandoned';
        };
        for (const principal of PRINCIPALS) {
          const all = model.rows.filter((one) => one.principal === principal);
          const own = all.map(({ request }) => `antwerp ${request}`);
          const sure = all.filter((one) => !isGivenUp(one)).map(({ request }) => `antwerp ${request}`);
          const taken = journal.taken.filter((one) => own.includes(one));
          expect(taken).toEqual(own.filter((one) => taken.includes(one)));
          expect(taken).toEqual(expect.arrayContaining(sure));
        }
      }),
      { numRuns: 200 },
    );
    for (const one of ACTS) expect([one, seen.get(one) ?? 0]).not.toEqual([one, 0]);
  });

  it('a call that ends its process each time is answered with call_unanswered in the end, and those behind it are executed [FLEET-22]', async () => {
    const [model, journal] = [new Model(), new Journal()];
    for (const [principal, id] of [
      ['a', 'poison'],
      ['a', 'behind'],
      ['b', 'beside'],
    ] as const)
      model.add('antwerp', `human:${principal}`, id);
    let [deaths, now] = [0, 0];
    while (model.waiting.length > 0) {
      const process = `p${deaths}`;
      let isDead = false;
      model.isDead = (one) => one === process && isDead;
      await new Promise<void>((resolve) => {
        const attempt = async (asked: Asked): Promise<Outcome> => {
          if (asked.id !== 'poison') {
            journal.execute(asked);
            return ANSWER;
          }
          await Promise.resolve(); // the others of this process are done
          await new Promise((next) => setImmediate(next));
          isDead = true;
          deaths++;
          resolve();
          return new Promise<never>(() => undefined);
        };
        const parts = { posts: model.posts(process), attempt, runMs: 60_000, now: () => now, isOver: () => false };
        void new WorldService(parts, 'antwerp').run(() => undefined).then(resolve);
      });
      now += 60_000;
    }
    expect([deaths, journal.taken]).toEqual([TRIES_MAX, ['antwerp beside', 'antwerp behind']]);
    const poison = readOutcome(model.rows[0]?.answer ?? new Uint8Array());
    expect(poison?.kind === 'error' && [poison.error.code, poison.error.details.reason]).toEqual([
      'call_unanswered',
      'abandoned',
    ]);
  });

  it('a call whose world did not open has no answer of that, however often, and is executed when it opens [FLEET-20]', async () => {
    const model = new Model();
    model.add('antwerp', 'operator', 'r-1');
    const never = new Execution<HostedWorld>({
      operations: new Map([['shop/order@1', { name: 'shop/order@1' } as unknown as Operation<HostedWorld>]]),
      host: () => ({ use: () => Promise.reject(failures.shift()) }) as unknown as Host<HostedWorld>,
      tell: () => expect.fail('an operation has not run'),
    });
    const [busy, damaged] = (['host_busy', 'journal_damaged'] as const).map(
      (code) => new RepriseError(code, 'not now'),
    );
    const failures: unknown[] = Array.from(
      { length: 4 * TRIES_MAX },
      (_, n) => [new TypeError('away'), busy, damaged][n % 3],
    );
    let now = 0;
    const service = new WorldService(
      {
        ...{ posts: model.posts('a'), runMs: 60_000, now: () => now, isOver: () => false },
        attempt: (asked, signal) => (failures.length > 0 ? never.attempt(asked, signal) : Promise.resolve(ANSWER)),
      },
      'antwerp',
    );
    for (; model.waiting.length > 0; now += 60_000) await service.run(() => undefined);
    expect([failures, readOutcome(model.rows[0]?.answer ?? new Uint8Array())]).toEqual([[], ANSWER]);
  });

  it('a call that is posted while the last look at its world ends is executed in the same run', async () => {
    const model = new Model();
    const posts = model.posts('a');
    let isPosted = false;
    const service: WorldService = new WorldService(
      {
        posts: {
          ...posts,
          take: async (...given) => {
            const taken = await posts.take(...given);
            if (taken.length > 0 || isPosted) return taken;
            isPosted = true;
            model.add('antwerp', 'operator', 'r-1');
            service.more();
            return taken;
          },
        },
        ...{ attempt: async () => ANSWER, runMs: 60_000, now: () => 0, isOver: () => false },
      },
      'antwerp',
    );
    await service.run(() => undefined);
    expect([isPosted, model.waiting]).toEqual([true, []]);
  });

  it('a world whose calls rest keeps its service, and one whose calls another process has taken keeps nothing', async () => {
    const model = new Model();
    model.add('antwerp', 'operator', 'r-1');
    let now = 0;
    const service = new WorldService(
      {
        ...{ posts: model.posts('a'), runMs: 60_000, now: () => now, isOver: () => false },
        attempt: async () => ({ kind: 'elsewhere', address: undefined }),
      },
      'antwerp',
    );
    await service.run(() => undefined);
    now = 50_000;
    expect(service.rests()).toBe(true);
    now = 120_000;
    expect(service.rests()).toBe(false);
  });

  it('a world whose call has no answer is kept no longer, so that it can be opened again while other calls wait for that', async () => {
    const model = new Model();
    for (const principal of ['human:ann', 'human:bob']) model.add('antwerp', principal, principal);
    let reopened: () => void = () => undefined;
    const opens = new Promise<void>((resolve) => {
      reopened = resolve;
    });
    const delivery = new Delivery({
      ...{ posts: model.posts('a'), runMs: 60_000, lookMs: 1, keepMs: 60_000, now: () => performance.now() },
      attempt: async ({ as }): Promise<Outcome> => {
        if (as === 'human:ann') return { kind: 'again', reason: 'failed' };
        await opens; // as a host has it: for the last user of the world that failed
        return ANSWER;
      },
      lease: async () => ({ release: reopened }),
      failed: (error) => expect.fail(String(error)),
    });
    delivery.start();
    await expect.poll(() => model.waiting.map(({ principal }) => principal)).toEqual(['human:ann']);
    await delivery.stop();
  });

  it('the first of some signals ends a wait, and leaves nothing at those that live on', () => {
    const [long, short] = [new AbortController(), new AbortController()];
    const both = firstOf([long.signal, short.signal]);
    short.abort('over');
    expect([both.signal.aborted, both.signal.reason]).toEqual([true, 'over']);
    both.leave();
    expect(getEventListeners(long.signal, 'abort')).toEqual([]);
    const late = firstOf([short.signal, long.signal]);
    expect([late.signal.aborted, late.signal.reason]).toEqual([true, 'over']);
    late.leave();
  });

  it('the first answer of a posted call stays, wherever it is executed again [FLEET-20]', async () => {
    const model = new Model();
    model.add('antwerp', 'operator', 'r-1');
    const posts = model.posts('a');
    await posts.answer(0, writeOutcome(ANSWER));
    await posts.answer(0, writeOutcome(REFUSED));
    const signal = AbortSignal.abort();
    const key = { world: 'antwerp', principal: 'operator', request: 'r-1' };
    expect(await new Posting(posts).answer(key, 'shop/order@1', { lookMs: 1, signal })).toEqual(Uint8Array.of(1));
  });

  it('worlds whose calls are lost on every hint, or beside one that does not open, are found at the next look [FLEET-20]', async () => {
    const [model, journal] = [new Model(), new Journal()];
    const worlds = Array.from({ length: 400 }, (_, n) => `world ${String(n).padStart(3, '0')}`);
    for (const world of worlds) model.add(world, 'operator', 'r-1');
    model.owners.set('world 007', 'another process');
    let refused = 0;
    const delivery = new Delivery({
      ...{ posts: model.posts('a'), runMs: 60_000, lookMs: 1, keepMs: 60_000, now: () => 0 },
      attempt: async (asked) => {
        journal.execute(asked);
        return ANSWER;
      },
      lease: async (world) => {
        if (world !== 'world 000') return { release: () => undefined };
        refused++;
        throw new RepriseError('manifest_mismatch', 'this world does not open');
      },
      failed: (error) => expect.fail(String(error)),
    });
    delivery.start();
    await expect.poll(() => model.waiting.map(({ world }) => world)).toEqual(['world 000', 'world 007']);
    await delivery.stop();
    expect([journal.taken.length, refused]).toEqual([398, 1]); // it is tried again, but not at once
  });
});
