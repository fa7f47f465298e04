/** Patterns of approvals: what "always" may cover, and what it never does. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cpuMsOf } from '../../../../scripts/lib/cpu.js';
import { located } from '../../src/approvals/located.js';
import { type Call, describePattern, matches, type Pattern, patternOf } from '../../src/approvals/patterns.js';
import { simpleCommand } from '../../src/approvals/simple-command.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20261123);
const RERUN = `REPRISE_SEED=${SEED} npx vitest run examples/coding-agent/test/approvals/patterns.test.ts`;

const shell = (command: string, place = '.'): Call => ({ tool: 'run_shell', args: { command, cwd: place }, place });
const program = (...argv: string[]): Call => ({ tool: 'run_process', args: { argv }, place: '.' });
const write = (place: string): Call => ({ tool: 'write_file', args: { path: place, text: '' }, place });

/** The pattern of a call that has one. */
function proposed(call: Call): Pattern {
  const pattern = patternOf(call);
  if (pattern === undefined) throw new Error(`no pattern for ${JSON.stringify(call)}`);
  return pattern;
}

const simple: readonly (readonly [command: string, words: string, also: readonly string[], not: readonly string[]])[] =
  [
    [
      'npm test',
      '`npm test`, with other names and paths too',
      ['npm  test ', "npm 'test'", 'npm test parser.test.ts', 'npm test src/a b'],
      [
        'npm testing',
        'npm',
        'npm run test',
        'npm test --script-shell=x',
        'npm test ../other',
        'npm test /etc',
        'Npm test',
      ],
    ],
    [
      'npm run lint src',
      '`npm run lint`, with other names and paths too',
      ['npm run lint'],
      ['npm run build', 'npm run', 'npm run lint -- --config x', 'npm run lint a=b'],
    ],
    [
      'git status',
      '`git status`, with other names and paths too',
      ['git status --short', 'git status src'],
      ['git', 'git push', 'git -c a=b status', 'git status --unknown', 'git stash'],
    ],
    [
      'git diff HEAD~1',
      '`git diff`, with other names and paths too',
      ['git diff --stat'],
      ['git diff --output=x', 'git diff --ext-diff'],
    ],
    ['make check', 'exactly `make check`', ['make  check'], ['make', 'make check install', 'make check SHELL=x']],
    [
      'npm test -- -t "two words"',
      "exactly `npm test -- -t 'two words'`",
      ["npm test -- -t 'two words'"],
      ['npm test', 'npm test -- -t two words'],
    ],
    ['node scripts/build.js', 'exactly `node scripts/build.js`', [], ['node scripts/build.js x', 'node', 'node -e 1']],
  ];

for (const [command, words, also, not] of simple) {
  test(`the pattern of \`${command}\` is ${words}`, () => {
    const pattern = proposed(shell(command));
    expect(describePattern(pattern)).toBe(words);
    for (const other of [command, ...also]) expect(matches(pattern, shell(other)), other).toBe(true);
    for (const other of not) expect(matches(pattern, shell(other)), other).toBe(false);
  });
}

const compound = [
  ...['npm test && rm -r src', 'npm test || x', 'npm test; x', 'npm test | x', 'npm test & x', 'npm test &'],
  ...[
    'npm test $(x)',
    'npm test `x`',
    'npm test <(x)',
    'npm test > out',
    'npm test 2>&1',
    'npm test < in',
    'npm test\nx',
  ],
  ...[
    '(npm test)',
    '{ npm test; }',
    'npm test {a,b}',
    'X=1 npm test',
    'npm test $X',
    'npm test "$X"',
    'npm test "`x`"',
  ],
  ...[
    'npm test *',
    'npm test ?',
    'npm test [a]',
    'npm test ~',
    'npm test a:~',
    'npm test # x',
    'npm test \\',
    "npm test 'a",
  ],
  ...[
    'npm test !x',
    '! npm test',
    'npm test\tx',
    'npm test\r',
    'npm test \u00a0x',
    'npm test \u202ex',
    "npm test $'x'",
  ],
  ...['npm test =x', '', ' ', '"npm" test'],
];

test('compound commands, expansions, redirections and assignments get no pattern and match none', () => {
  const pattern = proposed(shell('npm test'));
  for (const command of compound) {
    expect(patternOf(shell(command)), command).toBeUndefined();
    expect(matches(pattern, shell(command)), command).toBe(false);
  }
});

const wrappers = [
  ...[
    'env npm test',
    'env X=1 npm test',
    'sh -c "npm test"',
    'bash x.sh',
    '/bin/bash x.sh',
    './sh x',
    'xargs npm test',
  ],
  ...[
    'sudo npm test',
    'nohup npm test',
    'time npm test',
    'timeout 5 npm test',
    'find . -exec x',
    'find . -ok x',
    'ENV x',
  ],
  ...[
    'git -c a=b status',
    'git --exec-path=x status',
    'npm exec x',
    'npm --yes exec x',
    'npx x',
    'pnpm dlx x',
    'node -e 1',
  ],
  ...[
    'node',
    'node -r ./x y.js',
    'python3 -c 1',
    'python3.12 -c 1',
    'python3 -',
    'perl -e 1',
    'ssh host x',
    'docker run x',
  ],
  ...[
    'eval x',
    'exec x',
    'command x',
    '. x',
    'source x',
    'test -v x',
    'printf -v x y',
    'trap x EXIT',
    'alias a=b',
    'cd x',
  ],
  ...[
    'if x',
    'awk x',
    'sed x',
    'vim x',
    'fd -x y --exec z',
    'git bisect run x',
    'git submodule foreach x',
    'bash5.2 x',
  ],
];

test('programs that run another program or code in their arguments get no pattern', () => {
  for (const command of wrappers) {
    expect(patternOf(shell(command)), command).toBeUndefined();
    const words = command.split(' ');
    const stored: Pattern = { kind: 'command', words, exact: true, in: '.' };
    expect(matches(stored, shell(command)), `${command}, stored`).toBe(false);
    expect(patternOf(program(...words)), `${command}, as a program`).toBeUndefined();
  }
});

test('a pattern of a command holds in its folder, without input, for both ways to run a command', () => {
  const pattern = proposed(shell('npm test', 'packages/a'));
  expect(describePattern(pattern)).toBe('`npm test`, with other names and paths too, in packages/a/');
  expect(matches(pattern, shell('npm test', 'packages/a'))).toBe(true);
  expect(matches(pattern, shell('npm test', 'packages/b'))).toBe(false);
  expect(matches(pattern, shell('npm test'))).toBe(false);

  const here = proposed(shell('npm test'));
  expect(matches(here, program('npm', 'test'))).toBe(true);
  expect(matches(here, program('npm', 'test', '&& rm -r src'))).toBe(false);
  expect(matches(here, { ...shell('npm test'), place: undefined })).toBe(false);
  expect(matches(here, { tool: 'run_shell', args: { command: 'npm test', stdin: 'x' }, place: '.' })).toBe(false);
  expect(matches(here, { tool: 'run_shell', args: { command: 'npm test', shell: 'x' }, place: '.' })).toBe(false);
  expect(matches(here, { tool: 'start_process', args: { argv: ['npm', 'test'] }, place: '.' })).toBe(false);
  expect(patternOf({ tool: 'run_shell', args: { command: 'npm test' } })).toBeUndefined();
});

test('a pattern of a folder covers files in it and below, and one of a file at the top only that file', () => {
  const folder = proposed(write('src/parse/lexer.ts'));
  expect(describePattern(folder)).toBe('writing and editing files in src/parse/ and below');
  for (const file of ['src/parse/lexer.ts', 'src/parse/new/file.ts']) {
    expect(matches(folder, write(file)), file).toBe(true);
    expect(matches(folder, { ...write(file), tool: 'edit_file' }), file).toBe(true);
  }
  for (const file of ['src/parse', 'src/parser.ts', 'src/parse2/x', 'src/parse/../x', 'src', '.', '/src/parse/x', '']) {
    expect(matches(folder, write(file)), file).toBe(false);
  }
  expect(matches(folder, { ...write('src/parse/x'), tool: 'run_shell' })).toBe(false);
  expect(matches(folder, { ...write('src/parse/x'), place: undefined })).toBe(false);

  const file = proposed(write('README.md'));
  expect(describePattern(file)).toBe('writing and editing README.md');
  expect(matches(file, write('README.md'))).toBe(true);
  expect(matches(file, write('package.json'))).toBe(false);
});

test('no pattern covers the files of git itself, which run programs', () => {
  for (const file of [
    '.git/config',
    '.git/hooks/pre-commit',
    'src/parse/.git',
    'src/parse/sub/.git/config',
    '.GIT/x',
  ]) {
    expect(patternOf(write(file)), file).toBeUndefined();
    expect(matches(proposed(write('src/parse/lexer.ts')), write(file)), file).toBe(false);
    expect(matches({ kind: 'folder', folder: '.git' }, write(file)), file).toBe(false);
  }
  expect(patternOf(write('.github/x.yml'))).toEqual({ kind: 'folder', folder: '.github' });
});

test('a pattern of a whole tool covers its calls, but never a tool of files or of commands', () => {
  const pattern = proposed({ tool: 'docs.search', args: { query: 'x' } });
  expect(describePattern(pattern)).toBe('every call of docs.search');
  expect(matches(pattern, { tool: 'docs.search', args: {} })).toBe(true);
  expect(matches(pattern, { tool: 'docs.fetch', args: {} })).toBe(false);
  for (const tool of [
    'run_shell',
    'run_process',
    'start_process',
    'write_process',
    'write_file',
    'edit_file',
    'ask_human',
  ]) {
    expect(patternOf({ tool, args: {} }), tool).toBeUndefined();
    expect(matches({ kind: 'tool', tool }, { tool, args: {} }), tool).toBe(false);
  }
  expect(patternOf({ args: {} })).toBeUndefined();
});

test('what follows first words is a path inside the folder or a name: no address, no drive, no file of arguments', () => {
  for (const [first, other] of [
    ['pytest tests', 'pytest @arguments'],
    ['npm run get a', 'npm run get https://example.com/a'],
    ['npm run get a', 'npm run get a//b'],
    ['ls src', 'ls C:/src'],
    ['git show HEAD', 'git show HEAD:../x'],
  ] as const)
    expect(matches(proposed(shell(first)), shell(other)), other).toBe(false);
  expect(matches(proposed(shell('pytest tests')), shell('pytest tests/a.py::test_b'))).toBe(true);
});

test('a command that runs any installed program is allowed only as it is', () => {
  expect(describePattern(proposed(shell('yarn run tsx a.ts')))).toBe('exactly `yarn run tsx a.ts`');
  expect(matches(proposed(shell('yarn run tsx a.ts')), shell('yarn run tsx b.ts'))).toBe(false);
});

test('invisible names and very long commands get no pattern', async () => {
  for (const blank of ['\u2800', '\u3164', '\u115f', '\u034f', '\ufe0f', '\u{1d159}']) {
    expect(patternOf(shell(`ls 'src${blank}'`)), JSON.stringify(blank)).toBeUndefined();
    expect(patternOf(write(`src${blank}/a.ts`)), JSON.stringify(blank)).toBeUndefined();
  }
  const cost = await cpuMsOf(() => expect(patternOf(shell(`ls ${'a~'.repeat(1_000_000)}`))).toBeUndefined());
  expect(cost).toBeLessThan(5_000);
});

let folder = '';
let stubs = '';
let log = '';

/** Programs that write down how they were called, in place of real ones. */
const STUBBED = ['npm', 'git', 'make', 'cargo', 'ls', 'pytest'];

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'patterns-'));
  stubs = path.join(folder, 'bin');
  log = path.join(folder, 'log');
  mkdirSync(stubs);
  mkdirSync(path.join(folder, 'work/src'), { recursive: true });
  for (const name of ['--output=x', 'a b', 'src/x']) writeFileSync(path.join(folder, 'work', name), '');
  for (const name of STUBBED) {
    const file = path.join(stubs, name);
    writeFileSync(file, `#!/bin/sh\nprintf '%s\\0' ${name} "$@" END >> '${log}'\n`);
    chmodSync(file, 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('links are followed before a pattern is matched, and a path that leads out has no place', () => {
  const root = path.join(folder, 'root');
  mkdirSync(path.join(root, 'src'), { recursive: true });
  mkdirSync(path.join(root, '.github'));
  symlinkSync('../.github', path.join(root, 'src/hooks'));
  symlinkSync('..', path.join(root, 'out'));
  symlinkSync('nowhere', path.join(root, 'src/dangling'));
  symlinkSync('src', path.join(root, 'alias'));
  const place = (given: string) => located({ tool: 'write_file', args: { path: given, text: '' } }, root).place;
  expect(place('./src//new/deep.ts')).toBe('src/new/deep.ts');
  expect(place('src/hooks/run.yml')).toBe('.github/run.yml');
  expect(place('alias/new.ts')).toBe('src/new.ts');
  for (const given of ['src/../x', '..', '/etc/passwd', 'out/x', 'src/dangling', 'src\\x', 'a\0b']) {
    expect(place(given), given).toBeUndefined();
  }
  const pattern = proposed(located({ tool: 'write_file', args: { path: 'src/a.ts', text: '' } }, root));
  expect(matches(pattern, located({ tool: 'write_file', args: { path: 'src/hooks/a.ts', text: '' } }, root))).toBe(
    false,
  );
  expect(matches(pattern, located({ tool: 'edit_file', args: { path: 'alias/a.ts', old: 'a', new: 'b' } }, root))).toBe(
    true,
  );
  expect(located({ tool: 'run_shell', args: { command: 'npm test' } }, root).place).toBe('.');
  expect(located({ tool: 'run_shell', args: { command: 'npm test', cwd: 'alias' } }, root).place).toBe('src');
  expect(located({ tool: 'run_shell', args: { command: 'npm test', cwd: 'out' } }, root).place).toBeUndefined();
});

test('a command with a word that leads out of the folder through a link has no place', () => {
  const root = path.join(folder, 'links');
  mkdirSync(path.join(root, 'src'), { recursive: true });
  writeFileSync(path.join(root, 'src/a.py'), '');
  symlinkSync('..', path.join(root, 'out'));
  symlinkSync('nowhere', path.join(root, 'src/dangling'));
  symlinkSync('a.py', path.join(root, 'src/b.py'));
  const pattern = proposed(located({ tool: 'run_shell', args: { command: 'pytest src' } }, root));
  const isMatched = (command: string, argv = command.split(' ')) =>
    [
      { tool: 'run_shell', args: { command } },
      { tool: 'run_process', args: { argv } },
    ].map((call) => matches(pattern, located(call, root)));
  for (const word of ['out', 'out/x.py', './out/', 'src/../out', 'src/dangling', 'out/x.py::test_a', 'out/../out/x'])
    expect(isMatched(`pytest ${word}`), word).toEqual([false, false]);
  for (const word of ['src', 'src/b.py', 'src/b.py::test_a', 'src/a.py/x', 'new/x.py', 'a'.repeat(300)])
    expect(isMatched(`pytest ${word}`), word).toEqual([true, true]);
});

/** Words that may follow the first words of each command, in any number. */
const followed = fc
  .tuple(
    fc.constantFrom('npm test', 'npm run lint', 'git status', 'git diff', 'cargo test', 'pytest', 'ls'),
    fc.array(fc.constantFrom('src', './src/a.ts', "'src/b'", '"name"', 'HEAD~1', 'a@b/x', 'a:b,c', '.github'), {
      maxLength: 4,
    }),
  )
  .map(([first, rest]) => [first, ...rest].join(' '));

/** What makes a command more than a simple one, wherever it stands outside quotes. */
const META = [
  '&&',
  '||',
  ';',
  '|',
  '&',
  '$(x)',
  '`x`',
  '<(x)',
  '>',
  '>>',
  '2>',
  '<',
  '\n',
  '(',
  ')',
  '{',
  '}',
  '$X',
  '*',
  '\\',
  '#',
  '!',
  '\r',
  '\t',
];

test(`a matching command with a shell character anywhere outside quotes never matches (seed ${SEED})`, () => {
  const property = fc.property(
    followed,
    fc.constantFrom(...META),
    fc.nat(),
    fc.boolean(),
    (command, meta, where, spaced) => {
      const pattern = proposed(shell(command));
      expect(matches(pattern, shell(command))).toBe(true);
      const at = placesOutsideQuotes(command)[where % placesOutsideQuotes(command).length] as number;
      const changed = `${command.slice(0, at)}${spaced ? ` ${meta} ` : meta}${command.slice(at)}`;
      expect(matches(pattern, shell(changed)), changed).toBe(false);
      expect(patternOf(shell(changed)), changed).toBeUndefined();
    },
  );
  hold(property, 3_000);
});

/** Pieces of shell: anything that is accepted must be one simple command all the same. */
const PIECES = [
  ...META,
  ' ',
  ' ',
  ' ',
  'npm',
  'git',
  'make',
  'test',
  'status',
  'x',
  '-a',
  '--b=c',
  "'",
  '"',
  "''",
  '"a b"',
  "'$(x)'",
  "'; x'",
];
const MORE = [
  '=',
  '~',
  '%',
  'X=1',
  '^',
  '[',
  ']',
  '?',
  '$',
  '@(',
  '$((1))',
  '\u00a0',
  'if',
  'then',
  'a/b',
  '..',
  ':~',
  '.',
  ',',
  '+',
];
const anything = fc
  .tuple(
    fc.constantFrom('', '', 'npm ', 'git ', 'make '),
    fc.array(fc.constantFrom(...PIECES, ...MORE), { maxLength: 8 }),
  )
  .map(([first, pieces]) => first + pieces.join(''));
const quiet = fc
  .array(
    fc.constantFrom(
      ' ',
      'npm',
      'make',
      'x',
      "'$(x) && y'",
      '"a b"',
      "''",
      'a~1',
      '~',
      '=',
      '%',
      ':',
      '@',
      '-a',
      '--b=c',
      "'!'",
      '"*"',
    ),
    { maxLength: 8 },
  )
  .map((pieces) => `ls ${pieces.join('')}`);

test(`each text that is read as a simple command runs as one command with these words, in sh and in bash (seed ${SEED})`, () => {
  const accepted = new Map<string, readonly string[]>();
  const collect = fc.property(fc.oneof(anything, quiet), (text) => {
    const words = simpleCommand(text);
    if (words !== undefined && STUBBED.includes(words[0] as string)) accepted.set(text, words);
  });
  hold(collect, 4_000);
  expect(accepted.size).toBeGreaterThan(300);
  for (const [text, words] of [...accepted].slice(0, 300)) {
    for (const name of ['/bin/sh', 'bash']) expect(ranBy(name, text), `${name}: ${text}`).toEqual([words]);
  }
});

test('the check with a real shell finds a reader that lets a character through', () => {
  for (const text of [
    'npm test; git x',
    'npm test $(git x)',
    'npm *',
    'npm ~',
    'npm test > out',
    'npm {a,b}',
    'npm a\\ b',
  ]) {
    const words = text.split(' ');
    expect(
      ['/bin/sh', 'bash'].some((name) => !same(ranBy(name, text), [words])),
      text,
    ).toBe(true);
  }
});

/** The commands that a real shell runs for a text, and what it leaves in the folder. */
function ranBy(name: string, text: string): string[][] {
  rmSync(log, { force: true });
  const work = path.join(folder, 'work');
  const before = readdirSync(work, { recursive: true }).sort().join(' ');
  const env = { PATH: stubs, HOME: '/home/of/a/person' };
  const shellFile = name === 'bash' ? '/bin/bash' : name;
  const { status, stderr } = spawnSync(shellFile, ['-c', text], { cwd: work, env, encoding: 'utf8' });
  const after = readdirSync(work, { recursive: true }).sort().join(' ');
  if (status !== 0 || stderr !== '' || after !== before) {
    rmSync(path.join(work, 'out'), { force: true });
    return [['status', String(status), stderr, after]];
  }
  const calls = readFileSync(log, 'utf8').split('\0END\0');
  return calls.slice(0, -1).map((call) => call.split('\0'));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The places in a command at which text is not inside quotes. */
function placesOutsideQuotes(command: string): number[] {
  const places: number[] = [];
  let quote = '';
  for (let at = 0; at <= command.length; at++) {
    if (quote === '') places.push(at);
    const unit = command[at] ?? '';
    if (quote === '' ? /["']/.test(unit) : unit === quote) quote = quote === '' ? unit : '';
  }
  return places;
}

function hold<T>(property: fc.IProperty<T>, numRuns: number): void {
  const found = fc.check(property, { seed: SEED, numRuns });
  if (!found.failed) return;
  throw new Error(`${String(found.errorInstance)}\nrerun: ${RERUN}\n${JSON.stringify(found.counterexample)}`);
}
