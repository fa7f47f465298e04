import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import { asError, causesOf, describeError } from '../src/process/failure.js';
import { toJson } from '../src/text/json.js';
import app from './apps/app.js';
import { ended, run, startProgram } from './run.js';
import { freshFolder, makeLedger } from './worlds.js';

const SEED = 20261123;
const OPENS = await program(new URL('apps/opens.ts', import.meta.url));

const folder = freshFolder();
afterAll(() => folder.remove());

/** Things that an error may carry or have as its cause: also those that nobody should throw. */
const thing: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withTypedArray: true,
  }),
  fc.constantFrom<unknown>(
    Symbol('s'),
    () => 1,
    class A {},
    Promise.resolve(),
    new WeakMap(),
    /x/,
    NaN,
    -0,
    new URL('http://x'),
  ),
  fc.anything().map((message) => Object.assign(new Error('plain'), { message })),
  fc.anything().map((name) => Object.assign(new Error('plain'), { name })),
  fc.anything().map((cause) => new Error('outer', { cause })),
  fc.anything().map((actual) => new RepriseError('invalid_argument', 'inner', { actual, cause: actual })),
  fc.constant(null).map(() => {
    const loop: { self?: unknown; cause?: unknown } = {};
    loop.self = loop;
    loop.cause = loop;
    return loop;
  }),
  fc.constant({
    get cause() {
      throw new Error('refused');
    },
    toJSON: () => undefined,
  }),
  fc.constant({ toJSON: () => undefined }),
  fc.constant({ [Symbol.toStringTag]: '[object' }),
);

/** Boxed, since fast-check itself would look at a revoked proxy. */
const boxed: fc.Arbitrary<{ readonly it: unknown }> = fc.oneof(
  { weight: 20, arbitrary: thing.map((it) => ({ it })) },
  {
    weight: 1,
    arbitrary: fc.constant(null).map(() => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return { it: proxy };
    }),
  },
);

describe('an error in words', () => {
  it(`an error that carries anything is printed without [object …], in full lines, and never throws (seed ${SEED})`, () => {
    fc.assert(
      fc.property(boxed, boxed, boxed, boxed, ({ it: expected }, { it: actual }, { it: cause }, { it: extra }) => {
        const error = new RepriseError('store_failed', 'it failed', { where: 'here', expected, actual, cause, extra });
        const texts = [describeError(error), error.message, ...causesOf(cause), toJson(extra), toJson(asError(error))];
        for (const text of texts) expect(text).not.toContain('[object');
        expect(() => JSON.parse(toJson(asError(error)))).not.toThrow();
        expect(describeError(error)).toMatch(/^store_failed: it failed\n {2}where {7}here\n/);
      }),
      { seed: SEED, numRuns: 2_000 },
    );
  });

  it('reprise check prints the cause in words when a module throws something that is no error', async () => {
    const path = folder.file('throws.mjs');
    writeFileSync(path, "throw { code: 7, reason: 'no licence' };\n");
    const { code, err } = await run('check', folder.file('none.db'), '--against', path);
    expect(code).toBe(2);
    expect(err).toContain('  because     {"code":7,"reason":"no licence"}\n');
  });
});

describe('a world that another process holds', () => {
  it('an error of a held world names the process, and is printed in a few lines when nobody catches it', async () => {
    const path = folder.file('held.db');
    await makeLedger(path);
    const holder = startProgram(folder.path, OPENS, path);
    await once(holder.stdout!, 'data');
    try {
      const error = await openKernelWorld({ store: sqlite(path), app }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(isRepriseError(error, 'world_locked')).toBe(true);
      expect((error as RepriseError).details.actual).toMatch(
        new RegExp(`^process ${holder.pid} \\(.*${basename(OPENS)} held\\.db\\)$`),
      );
      const second = await ended(startProgram(folder.path, OPENS, path));
      expect(second.code).toBe(1);
      const printed = second.err.slice(second.err.indexOf('RepriseError: ')).split('\n\n')[0] ?? '';
      const lines = printed.split('\n').filter((line) => !/^\s+at /.test(line));
      expect(printed).toContain(
        `world_locked: the world is already open for writing; at ${path}; got process ${holder.pid} `,
      );
      expect(printed).toContain(`Reading needs no lock: npx reprise log ${path}`);
      expect(lines.length).toBeLessThanOrEqual(3); // the message, and its code in braces
      expect((await run('log', path)).code).toBe(0);
    } finally {
      holder.kill('SIGKILL');
    }
  });

  it('an error of a world that the same process holds says so', async () => {
    const path = folder.file('own.db');
    await makeLedger(path);
    await using _open = await openKernelWorld({ store: sqlite(path), app });
    const error = await openKernelWorld({ store: sqlite(path), app }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect((error as RepriseError).details.actual).toBe(`this process, ${process.pid}`);
  });
});
