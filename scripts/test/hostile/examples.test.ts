/** Every example in a pseudo-terminal, on a model whose words would control the terminal. */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { escapeLine } from 'reprise/terminal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeDriver, ONE_FILE } from '../../../conformance/bundle.js';
import { spread } from '../../../conformance/part.js';
import { writeDemo } from '../../../examples/coding-agent/src/demo/folder.js';
import { writeSample } from '../../../examples/review-team/test/sample.js';
import { ownAddress } from '../../lib/own-address.js';
import { hasPty, openTerminal, type Tty } from '../../lib/terminal.js';
import { PIECES } from './model.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const STAND_IN = fileURLToPath(new URL('model.ts', import.meta.url));
const EACH = fileURLToPath(new URL('each.ts', import.meta.url));
const LADDER = readdirSync(path.join(EXAMPLES, 'ladder/src')).map((file) => `ladder/src/${path.basename(file, '.ts')}`);
/** It kills itself at its first start. */
const DYING = 'ladder/src/06-after-a-crash';

/** How each example is started, and what it shows of its model; null where it is no program that prints answers. */
const PROGRAMS: Readonly<Record<string, readonly string[] | null>> = {
  chat: null, // a page; its program prints addresses
  'coding-agent': ['coding-agent/src/main'],
  fleet: null, // no model: it prints its own words, and the error code of a process
  'headless-world': ['headless-world/src/main'],
  ladder: LADDER,
  markdown: null, // a library
  'one-world': ['one-world/src/main'],
  'review-queue': ['review-queue/src/main'],
  'review-team': ['review-team/src/main'],
  swarm: ['swarm/src/main'],
};

/** What the embedded model of the coding agent can do. */
const TASK = 'The tests fail. Find out why, and repair it.';

const scratch = mkdtempSync(path.join(tmpdir(), 'reprise-hostile-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** For the modules of the examples, `reprise` is the stand-in. */
const standIn: Plugin = {
  name: 'stand-in',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^reprise$/ }, ({ importer }) =>
      importer.startsWith(EXAMPLES) ? { path: STAND_IN } : undefined,
    );
  },
};

const fileOf = (program: string) => path.join(scratch, 'programs/examples', `${program}.js`);

beforeAll(async () => {
  writeSample(path.join(scratch, 'shop'));
  await writeDemo(path.join(scratch, 'cart'));
  const programs = Object.values(PROGRAMS).flatMap((mains) => mains ?? []);
  await build({
    ...ONE_FILE,
    entryPoints: [...programs.map((program) => path.join(EXAMPLES, `${program}.ts`)), EACH],
    outbase: path.resolve(EXAMPLES, '..'),
    outdir: path.join(scratch, 'programs'),
    splitting: true,
    external: ['esbuild', 'typescript', 'tsx', 'tsx/*'],
    logLevel: 'error',
    plugins: [standIn, nativeDriver, ownAddress()],
  });
  writeFileSync(path.join(scratch, 'programs/package.json'), '{ "type": "module" }');
});

/** No key of this machine reaches a program, and nothing is written beside the test's own folder. */
const ENV = {
  OPENAI_API_KEY: undefined,
  OPENAI_BASE_URL: undefined,
  ANTHROPIC_API_KEY: undefined,
  XDG_STATE_HOME: path.join(scratch, 'state'),
  FORCE_COLOR: undefined,
};

function start(program: string, ...args: readonly string[]): Tty {
  return openTerminal(fileOf(program), args, { cwd: scratch, env: ENV });
}

/** What of an output a terminal would execute, besides what the program itself draws with: each once, as an escape. */
function executed(raw: string, own = /$^/g): readonly string[] {
  const left = raw.replaceAll('\r\n', '\n').replace(own, '');
  const found = new Set([
    ...PIECES.filter((piece) => raw.includes(piece)),
    ...(left.match(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu) ?? []),
  ]);
  return [...found].map(escapeLine);
}

/** What the screens of examples draw with. */
const DRAWN = new RegExp(`${'\u001b'}\\[[?>=<]?[\\d;]*[A-Za-z]|\\r`, 'g');

/** Programs that are started alone: what, its file, and its arguments. */
const ALONE: readonly (readonly [what: string, program: string, args: readonly string[]])[] = [
  ['the survey', 'headless-world/src/main', ['shop', '--out', 'survey']],
  ['the swarm', 'swarm/src/main', ['shop', '--world', 'swarm.db']],
  ['the review in lines', 'review-team/src/main', ['shop', '--world', 'lines.db', '--plain']],
  ['the review in a picture', 'review-team/src/main', ['shop', '--world', 'picture.db', '--pace', '0']],
  ['a task of the coding agent', 'coding-agent/src/main', ['cart', '--worlds', 'print', '--print', TASK, '--yes']],
];

describe.runIf(hasPty())('an example on a model of hostile words', () => {
  it('every example has its row', () => {
    expect(Object.keys(PROGRAMS)).toEqual(readdirSync(EXAMPLES).sort());
  });

  it('the programs of the ladder, the office and the queue print the words, and nothing that a terminal would execute', async () => {
    const rest = LADDER.filter((program) => program !== DYING).map(fileOf);
    const each = path.join(scratch, 'programs/scripts/test/hostile/each.js');
    const folder = path.join(scratch, 'folders');
    const first = openTerminal(
      each,
      [folder, ...rest, fileOf('one-world/src/main'), fileOf('review-queue/src/main'), fileOf(DYING)],
      { env: ENV },
    );
    await first.ended;
    const second = openTerminal(each, [folder, fileOf(DYING)], { env: ENV });
    expect(await second.ended).toBe(0);
    expect(first.out()).toContain('paid, and killed'); // the last one began, so none before it failed
    for (const tty of [first, second]) {
      expect(tty.out()).toContain('HOSTILE\\u001b]52;c;aGk=\\u0007\\u001b[7;7H');
      expect(executed(tty.raw())).toEqual([]);
    }
  });

  it.each(spread(2, ALONE))(
    '%s prints the words, and nothing that a terminal would execute',
    async (_, program, args) => {
      const tty = start(program, ...args);
      await tty.ended;
      expect(tty.out()).toContain('HOSTILE');
      expect(executed(tty.raw(), DRAWN)).toEqual([]);
    },
  );

  it('the screen of the coding agent shows the words, and nothing that a terminal would execute', async () => {
    const tty = start('coding-agent/src/main', 'cart', '--worlds', 'screen');
    await tty.until('/help says');
    await tty.type(TASK);
    await tty.until('[y]es  [n]o');
    expect(tty.out()).toContain('HOSTILE');
    expect(executed(tty.raw(), DRAWN)).toEqual([]);
  });
});
