/** Addresses of worlds in databases, without a server: what is refused, and that a password stands in no text. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, run } from '../run.js';
import { freshFolder, makeLedger } from '../worlds.js';

/** Nothing listens there. */
const DOWN = '127.0.0.1:1';
const PASSWORD = 'hunter2secret';
const SEED = 20261130;

const folder = freshFolder();
const ledger = folder.file('ledger.db');
beforeAll(() => makeLedger(ledger));
afterAll(() => folder.remove());

describe('the address of a world in a database', () => {
  it.each([
    ['names no world', `postgres://ann:${PASSWORD}@${DOWN}/agents`, 'no world in it'],
    ['has an empty name behind #', `postgres://ann:${PASSWORD}@${DOWN}/agents#`, 'no world in it'],
    ['names no database', `postgres://ann:${PASSWORD}@${DOWN}#home`, 'cannot be read'],
    ['has a # in its password', `postgres://ann:${PASSWORD}#1@${DOWN}/agents#home`, 'cannot be read'],
    ['has a / in its password', `postgres://ann:12/${PASSWORD}@${DOWN}/agents#home`, 'cannot be read'],
    ['has a ? in its password', `postgres://ann:12?${PASSWORD}@${DOWN}/agents#home`, 'cannot be read'],
    ['has a / and a ? in its password', `postgres://ann:12/x?${PASSWORD}@${DOWN}/agents#home`, 'cannot be read'],
    ['has an @ in its password', `postgres://ann:${PASSWORD}@1@${DOWN}/agents#home`, 'cannot be read'],
    ['has a % alone in the name', `postgres://ann:${PASSWORD}@${DOWN}/agents#50%`, 'percent-encoded'],
  ])('an address that %s is wrong use, exit code 2, and the password is not shown', async (_, address, what) => {
    for (const json of [[], ['--json']]) {
      const { code, out, err } = await run('tail', address, ...json);
      expect({ code, text: out + err }).toEqual({ code: 2, text: expect.stringContaining(what) });
      expect(out + err).toContain('invalid_argument');
      expect(out + err).not.toContain(PASSWORD);
    }
  });

  it('a server that does not answer is store_failed, exit code 3, with the address but not the password', async () => {
    const { code, err } = await run('log', `postgres://ann:${PASSWORD}@${DOWN}/agents#home`);
    expect(code).toBe(3);
    expect(err).toContain('store_failed: cannot look for the tables');
    expect(err).toContain(`postgres://${DOWN}/agents`);
    expect(err).toContain('Is the database running');
    expect(err).not.toContain(PASSWORD);
  });

  it.each([
    ['backup', ['backup', '%', 'copy.db'], 'pg_dump'],
    ['a fork without a place', ['fork', '%', '3'], '--into FILE'],
    ['a list of forks', ['fork', '%', '--list'], 'needs a world in a file'],
    ['tree run', ['tree', 'run', 'a goal', '--world', '%'], 'reprise/tree'],
    ['tree continue', ['tree', 'continue', '--world=%'], 'reprise/tree'],
    ['serve with a token', ['serve', '%', '--mcp', '--http', '0', '--as', 'human:ann'], 'REPRISE_MCP_SECRET'],
  ])('%s needs the file of a world and says so in words, before it asks the server', async (_, args, hint) => {
    const address = `postgres://ann:${PASSWORD}@${DOWN}/agents#home`;
    const { code, out, err } = await run(...args.map((one) => one.replace('%', address)));
    expect({ out, err }).toEqual({ out: '', err: expect.stringContaining('in a file, and this one is in a database') });
    expect(err).toContain(hint);
    expect(err).not.toContain(PASSWORD);
    expect(code).toBe(2);
  });

  it.each([
    ['a backup', ['backup', '@', '%']],
    ['a fork', ['fork', '@', '3', '--into', '%']],
  ])('%s into a database is refused in words', async (_, args) => {
    const address = `postgres://ann:${PASSWORD}@${DOWN}/agents#copy`;
    const { code, err } = await run(...args.map((one) => one.replace('%', address).replace('@', ledger)));
    expect(code).toBe(2);
    expect(err).toContain('this place is in a database');
    expect(err).not.toContain(PASSWORD);
  });

  it(`no verb shows a password, whatever it consists of and wherever it stands in the address, with wrong options too (seed ${SEED})`, async () => {
    const word = fc.string({ unit: fc.constantFrom(...'ab1:/?#@%&=+. é'), maxLength: 6 });
    const address = fc.record({
      password: fc.tuple(word, word).map(([before, after]) => `${before}${PASSWORD}${after}`),
      encoded: fc.boolean(),
      place: fc.constantFrom('authority', 'parameter'),
      end: fc.constantFrom('#home', '', '#', '#a#b', '#x@y'),
      args: fc.constantFrom(
        ...[['tail', '%'], ['log', '%', '--nothing'], ['%'], ['verify', '%', '--json'], ['team', 'show', '--world=%']],
        ...[
          ['fork', '%', '1'],
          ['revive', '%', 'a/B@1/c'],
          ['tree', 'stop', 'x/1', '--world', '%'],
        ],
      ),
    });
    await fc.assert(
      fc.asyncProperty(address, async ({ password, encoded, place, end, args }) => {
        // As a parameter it has to be encoded: there it may be anything up to the next &.
        const written = encoded || place === 'parameter' ? encodeURIComponent(password) : password;
        const given =
          place === 'authority'
            ? `postgres://ann:${written}@${DOWN}/agents${end}`
            : `postgres://ann@${DOWN}/agents?password=${written}${end}`;
        const { code, out, err } = await run(...args.map((one) => one.replace('%', () => given)));
        expect(code).not.toBe(0);
        expect(out + err).not.toContain(PASSWORD);
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});

describe('what the command loads', () => {
  it('a verb on a file works where neither the store of databases nor pg can be loaded', async () => {
    const { code, out } = await without('@reprise/store-postgres', 'tail', ledger, '-n', '1');
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('demo/Noted@1') });
    const other = await without('@reprise/store-postgres', 'tail', `postgres://${DOWN}/agents#home`);
    expect(other.code).toBe(3); // so the check sees what is loaded
    expect(other.err).toContain('not installed here');
  });

  it('an address without the package pg is runtime_unsupported, exit code 3, and says what to install', async () => {
    const { code, err } = await without('pg', 'tail', `postgres://ann:${PASSWORD}@${DOWN}/agents#home`);
    expect(code).toBe(3);
    expect(err).toContain('runtime_unsupported: the package pg does not load');
    expect(err).toContain('npm install pg');
    expect(err).not.toContain(PASSWORD);
  });
});

/** Runs the command from its sources, where a package is not found. */
function without(missing: string, ...args: string[]) {
  const hook = `export const resolve = (name, context, next) => {
    if (name === ${JSON.stringify(missing)}) throw new Error('not installed here');
    return next(name, context);
  };`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(asModule(hook))});`;
  const bin = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
  const loaders = ['--import', import.meta.resolve('tsx'), '--import', asModule(register)];
  return ended(
    spawn(process.execPath, ['--conditions=@reprise/source', ...loaders, bin, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

function asModule(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}
