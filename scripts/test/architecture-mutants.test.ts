/**
 * A mutant for every check of the architecture: a planted source that breaks exactly one rule must be named with
 * its file, its line and what to write instead, and its sound mutant must pass. A check that cannot fail checks nothing.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkKernelBundle } from '../architecture/bundle.js';
import { checkColdImport, checkHelloBundle, coldImport } from '../architecture/cold.js';
import { checkContent } from '../architecture/content.js';
import { checkDeadExports } from '../architecture/dead-exports.js';
import { checkDocstrings } from '../architecture/docstrings.js';
import { checkConformance, checkCycles, checkFolders, checkHostFree, checkPackages } from '../architecture/imports.js';
import { checkJson } from '../architecture/json.js';
import { checkLabels } from '../architecture/labels.js';
import { checkLock, checkManifests, checkPureConfig } from '../architecture/manifests.js';
import { checkMarks } from '../architecture/marks.js';
import { checkErrorPages, checkLinks } from '../architecture/pages.js';
import { checkPrinting } from '../architecture/printing.js';
import { checkPureWing } from '../architecture/pure-wing.js';
import { checkRanges } from '../architecture/ranges.js';
import { REACHED_OTHERWISE } from '../architecture/reached-otherwise.js';
import { checkRooms } from '../architecture/rooms.js';
import { CONTENT_GATE, JSON_PARSERS } from '../architecture/rules.js';
import { checkSenders } from '../architecture/senders.js';
import { checkShortDocstrings, docstringsOf } from '../architecture/short-docstrings.js';
import { formatProblem, type Problem, type Tree } from '../architecture/tree.js';

const ENGINE = 'packages/kernel/src/pure/engine/count.ts';

function plant(files: Record<string, string>): Tree {
  return new Map(Object.entries(files));
}

function named(problems: readonly Problem[]): readonly string[] {
  return problems.map(formatProblem);
}

function manifest(over: Record<string, unknown> = {}): string {
  return JSON.stringify({
    name: '@reprise/kernel',
    version: '0.1.0',
    description: 'planted',
    license: 'Apache-2.0',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19' },
    private: true,
    exports: {
      '.': { '@reprise/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    dependencies: { '@reprise/contracts': '0.1.0', zod: '4.6.7' },
    ...over,
  });
}

const ROOT_MANIFEST = JSON.stringify({ engines: { node: '>=20.19' } });

/** A folder of a package. */
const ROOM = 'packages/kernel/src/pure/codec';

describe('printing in examples', () => {
  const file = 'examples/hello/src/planted.ts';
  const judged = (text: string, at = file) => named(checkPrinting(plant({ [at]: text })));

  it.each([
    ['calls console.log', 'console.log(await run.text());'],
    ['calls a method of console that is chosen later', 'console[level](text);'],
    ['takes a method out of console', 'const { log } = console;'],
    ['hands a method of console on', 'const report = reportOnce(console.error);'],
    ['hands console on', 'const options = { console };'],
    ['reaches console through the global object', 'globalThis.console.log(text);'],
    ['reaches console by a key', "globalThis['console'].log(text);"],
    ['imports console', "import { log } from 'node:console';"],
    ['writes to standard output', 'process.stdout.write(text);'],
    ['writes to standard error', 'globalThis.process.stderr.write(text);'],
    ['hands standard output on', 'await pipeline(answers, process.stdout);'],
    ['takes standard output out of process', 'const { stdout: out } = process;'],
    ['reaches standard output by a key', "process['stdout'].write(text);"],
    ['imports the streams of the process', "import { stdout } from 'node:process';"],
    ['loads the streams of the process', "const { stdout } = await import('node:process');"],
    ['opens a terminal', "import { WriteStream } from 'node:tty';"],
  ])('the check of printing finds an example that %s', (_, text) => {
    expect(judged(text)).toEqual([expect.stringContaining(`${file}:1`)]);
    expect(judged(text)[0]).toContain('reprise/terminal');
  });

  it.each([
    ['prints through reprise/terminal', "import { print } from 'reprise/terminal';\nprint(await run.text());"],
    ['asks how its terminal is', 'const width = process.stdout.columns ?? 80;\nconst isLive = process.stdout.isTTY;'],
    ['has a field named console', 'export const f = (page: Page) => page.console;'],
    ['reads the output of a program', 'child.stdout.on("data", keep);'],
  ])('the check of printing passes an example that %s', (_, text) => {
    expect(judged(text)).toEqual([]);
  });

  it('the check of printing leaves pages of a browser and tests alone', () => {
    for (const at of ['examples/hello/page/main.jsx', 'examples/hello/test/a.test.ts'])
      expect(judged('console.log(text);', at)).toEqual([]);
  });
});

describe('parsers of JSON', () => {
  const file = 'packages/tools/src/planted.ts';
  const judged = (text: string, at = file) => named(checkJson(plant({ [at]: text })));

  it.each([
    ['calls JSON.parse', 'export const f = (text: string) => JSON.parse(text);'],
    ['names it in brackets', "export const f = (text: string) => JSON['parse'](text);"],
    ['takes it out of JSON', 'const { parse } = JSON;'],
    ['gives JSON another name', 'const json = JSON; export const f = json.parse;'],
    ['hands it on', 'export const all = (texts: string[]) => texts.map(JSON.parse);'],
    ['reaches it through the global object', 'export const f = globalThis.JSON.parse;'],
    ['lets a response parse its body', 'export const f = async (r: Response) => await r.json();'],
  ])('the check of JSON parsers finds a source that %s', (_, text) => {
    expect(judged(text)).toEqual([expect.stringContaining(`${file}:1`)]);
    expect(judged(text)[0]).toContain('parseJson of @reprise/contracts/json');
  });

  it.each([
    ['writes JSON', 'export const f = (data: unknown) => JSON.stringify(data);'],
    ['uses the one parser', "import { parseJson } from '@reprise/contracts/json';\nexport const f = parseJson;"],
    ['has a field named json', 'export const f = (part: { json: unknown }) => part.json;'],
  ])('the check of JSON parsers passes a source that %s', (_, text) => {
    expect(judged(text)).toEqual([]);
  });

  it.each(JSON_PARSERS)('the check of JSON parsers passes %s', (parser) => {
    expect(judged('export const f = (text: string) => JSON.parse(text);', parser)).toEqual([]);
  });
});

describe('senders', () => {
  const recipe = 'packages/tree/src/pure/reducer/recipe.ts';
  const judged = (text: string) => named(checkSenders(plant({ [recipe]: text })));

  it.each([
    ['reads the sender', 'export const f = (ctx: C) => ctx.sender;'],
    ['takes the sender from the context', 'export const f = ({ sender }: C) => sender;'],
    ['takes the caller apart', 'export const f = (ctx: C) => ctx.caller?.[1];'],
    ['compares the caller', 'export const f = (ctx: C) => ctx.caller === ctx.parent;'],
  ])('a recipe that %s is named, with its file and line', (_what, text) => {
    expect(judged(text)[0]).toContain(`${recipe}:1: a recipe`);
  });

  it('a recipe may answer its caller, and ask whether there is one', () => {
    expect(judged('export const f = (ctx: C) => (ctx.caller === null ? null : ctx.send([...ctx.caller], e));')).toEqual(
      [],
    );
  });
});

describe('ranges of tables', () => {
  const recipe = 'packages/tree/src/pure/reducer/recipe.ts';
  const judged = (text: string) => named(checkRanges(plant({ [recipe]: text })));

  it.each([
    ['all rows as if there were a page of them', 'export const f = (t: T) => t.range();'],
    ['rows behind a key', "export const f = (t: T) => t.range({ after: 'a' });"],
    ['a range of another place', 'export const f = (t: T, range: R) => t.range(range);'],
  ])('a recipe that reads %s and does not say how many is named, with its file and line', (_what, text) => {
    expect(judged(text)[0]).toContain(`${recipe}:1: a recipe reads a table`);
  });

  it('a recipe may read a page whose size it says, and walk all rows', () => {
    expect(judged("export const f = (t: T) => [...t.range({ after: 'a', limit: 8 }), ...allRows(t)];")).toEqual([]);
  });
});

describe('marks', () => {
  const source = 'packages/tree/src/tools/shown.ts';
  const judged = (text: string) => named(checkMarks(plant({ [source]: text })));

  it.each([
    ['says of words that they need no marks', 'export const f = (words: string) => authored(words);'],
    ['casts words to marked ones', 'export const f = (words: string) => words as Marked;'],
  ])('a source that %s is named, with its file and line', (_what, text) => {
    expect(judged(text)[0]).toContain(`${source}:1: a text is taken for marked`);
  });

  it('a source may mark words and quote them', () => {
    expect(judged('export const f = (words: string) => [said(party`x`, words), bare(words)];')).toEqual([]);
  });
});

describe('content of a society', () => {
  const file = 'packages/society/src/pure/reducer/memory/recipe.ts';
  const judged = (text: string) => named(checkContent(plant({ [file]: text })));

  it.each([
    ['emits an effect that reads a store', 'export const f = (plan: P) => plan.emitEffect(memoryRead, {});'],
    ['reads the text of an item', 'export const f = (c: C, ref: R) => readItemText(c, ref);'],
  ])('a file that %s is named, with its file and line', (_what, text) => {
    expect(judged(text)[0]).toContain(`${file}:1:`);
  });

  it('the content gate alone may name the effects that read a store [SOC-95]', () => {
    expect(checkContent(plant({ [CONTENT_GATE]: 'export const READS = [memoryRead, memorySearch];' }))).toEqual([]);
  });
});

describe('exports', () => {
  const entry = 'packages/reprise/src/index.ts';
  const index = 'packages/kernel/src/index.ts';
  const source = 'packages/kernel/src/a.ts';
  const world = (files: Record<string, string>) =>
    named(
      checkDeadExports(
        plant({
          'packages/reprise/package.json': manifest({ name: 'reprise' }),
          'packages/kernel/package.json': manifest(),
          ...files,
        }),
      ),
    );

  it('an export that nothing imports is named, with its file and line', () => {
    const found = world({
      [entry]: "export { a } from '@reprise/kernel';\n",
      [index]: "export { a } from './a.js';\n",
      [source]: 'export const a = 1;\nexport const dead = 2;\nexport type Gone = 1;\n',
    });
    expect(found).toEqual([
      expect.stringContaining(`${source}:2: nothing imports the exported name dead`),
      expect.stringContaining(`${source}:3: nothing imports the exported name Gone`),
    ]);
  });

  it('a name that only the entry of its own package passes on is reported in both files', () => {
    const found = world({ [index]: "export { a } from './a.js';\n", [source]: 'export const a = 1;\n' });
    expect(found).toEqual([
      expect.stringContaining(
        `${source}:1: nothing imports the exported name a; use it in another file, or drop \`export\``,
      ),
      expect.stringContaining(
        `${index}:1: nothing imports the exported name a; use it in another file, or drop the line`,
      ),
    ]);
  });

  it('a name that an inner index exports for no importer is reported in both files', () => {
    const found = world({
      [entry]: "export { a } from '@reprise/kernel';\n",
      [index]: "export { a } from './room/index.js';\n",
      'packages/kernel/src/room/index.ts': "export { a, b } from './a.js';\n",
      'packages/kernel/src/room/a.ts': 'export const a = 1;\nexport const b = a;\n',
    });
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'packages/kernel/src/room/a.ts',
      'packages/kernel/src/room/index.ts',
    ]);
  });

  it('a name that only tests import is named, with the file that a test can import it from', () => {
    const found = world({
      [index]: "export { a } from './a.js';\n",
      [source]: 'export const a = 1;\n',
      'packages/kernel/test/a.test.ts': "import { a } from '../src/index.js';\na;\n",
    });
    expect(found).toEqual([
      expect.stringContaining(`${source}:1: only tests import the exported name a`),
      expect.stringContaining(`${index}:1: only tests import the exported name a; use ${source}`),
    ]);
  });

  it.each([
    ['a namespace of which a file reads another name', "import * as all from './b.js';\nexport const a = all.used;\n"],
    ['a type of a file of which another name is read', "export type A = import('./b.js').used;\n"],
    ['a module that a file loads for another name', "export const a = (await import('./b.js')).used;\n"],
    ['a module that a file takes apart', "const { used } = await import('./b.js');\nexport const a = used;\n"],
  ])('a name is dead in %s', (_, text) => {
    const found = world({
      [entry]: "export * from '@reprise/kernel';\n",
      [index]: "export * from './a.js';\n",
      [source]: text,
      'packages/kernel/src/b.ts': 'export const used = 1;\nexport const dead = 2;\n',
    });
    expect(found).toEqual([expect.stringContaining('packages/kernel/src/b.ts:2: nothing imports')]);
  });

  it('a row of the table for a name that is used by now is named', () => {
    const table = 'scripts/architecture/reached-otherwise.ts';
    const [row = ''] = Object.keys(REACHED_OTHERWISE);
    expect(world({ [table]: '' })).toContainEqual(
      expect.stringContaining(`${table}:1: the row ${row} excuses nothing`),
    );
  });

  it('names that are used by a star, a rename, a namespace, a page, a script, or an import type are alive', () => {
    expect(
      world({
        [entry]: "export * from '@reprise/kernel';\n",
        [index]: "export * from './a.js';\nexport { b as c } from './b.js';\n",
        [source]: "export const a = 1;\nexport type A = import('./e.js').E;\n",
        'packages/kernel/src/b.ts': "import * as d from './d.js';\nexport const b = d;\n",
        'packages/kernel/src/d.ts': 'export const d = 1;\n',
        'packages/kernel/src/e.ts': 'export type E = 1;\n',
        'packages/tree/package.json': manifest({ name: '@reprise/tree' }),
        'packages/tree/src/index.ts': 'export const f = 1;\nexport const g = 1;\n',
        'packages/tree/README.md': "```ts\nimport { f } from '@reprise/tree';\n```\n",
        'scripts/run.mjs': "import { g } from '@reprise/tree';\ng;\n",
      }),
    ).toEqual([]);
  });

  it('a name of the testkit that a test uses is alive', () => {
    expect(
      world({
        'packages/testkit/src/a.ts': 'export const a = 1;\n',
        'packages/kernel/test/a.test.ts': "import { a } from '../../testkit/src/a.js';\na;\n",
      }),
    ).toEqual([]);
  });
});

describe('short docstrings', () => {
  const file = 'packages/kernel/src/a.ts';
  const judged = (text: string) => named(checkShortDocstrings(plant({ [file]: text })));

  it.each([
    ['repeats the name', '/** The number of rows. */\nexport const rows = 1;'],
    ['is a label alone', '/** K1 */\nfunction f() {}'],
    ['stands at a member', 'interface A {\n  /** Milliseconds. */\n  readonly ms: number;\n}'],
    ['stands in a body', 'function f() {\n  return {\n    /** Absent. */\n    a: 1,\n  };\n}'],
    ['has a link and a tag', '/** See {@link f}. @throws */\nfunction g() {}'],
    ['is the head of a file', "/** The index. */\nimport './b.js';"],
  ])('a docstring that %s is named, with its file and line', (_, text) => {
    expect(judged(text)).toEqual([expect.stringMatching(/^packages\/kernel\/src\/a\.ts:\d+: the docstring "/)]);
  });

  it('a docstring of five words, a comment of another form and no comment are accepted', () => {
    expect(
      judged('/** Rows that no page shows. */\nconst a = 1;\n// K1\nconst b = 1;\n/* short */\nconst c = 1;'),
    ).toEqual([]);
  });

  it('a docstring is public at a name that an entry of reprise passes on, and at its members, not in its body', () => {
    const tree = plant({
      'packages/reprise/package.json': manifest({ name: 'reprise' }),
      'packages/reprise/src/index.ts': "export { A } from '@reprise/kernel';\n",
      'packages/kernel/package.json': manifest(),
      'packages/kernel/src/index.ts': "import { A } from './a.js';\nexport { A };\nexport * from './b.js';\n",
      [file]:
        '/** one */\nexport class A {\n  /** two */\n  b = 1;\n  /** three */\n  #c = 1;\n}\n/** four */\nexport class D {}',
      'packages/kernel/src/b.ts': '/** five */\nexport const e = 1;',
    });
    const open = docstringsOf(tree).filter(({ isPublic }) => isPublic);
    expect(open.map(({ text }) => text)).toEqual(['one', 'two']);
  });
});

describe('replayed code', () => {
  /** One row per ban: the code that a newcomer would write, and a part of the expected answer. */
  const BROKEN: readonly (readonly [line: string, what: string, use: string])[] = [
    ['state.at = Date.now();', '`Date`', 'ctx.now'],
    ['state.at = new Date().getTime();', '`Date`', 'ctx.now'],
    ['state.id = Math.random();', '`Math.random`', 'ctx.random()'],
    ['state.n = Math.pow(state.n, 2);', '`Math.pow`', 'mulDiv'],
    ['state.n = Math.sin(state.n);', '`Math.sin`', 'fixed-point'],
    ['const m = Math;', '`Math` as a value', 'by name'],
    ["state.n = Math['pow'](2, 3);", '`Math` as a value', 'by name'],
    ['state.n = state.n ** 2;', '`**`', 'multiplication'],
    ['state.n **= 2;', '`**`', 'multiplication'],
    ['state.name = name.toLowerCase();', '`.toLowerCase`', 'asciiLower'],
    ['state.name = name.toUpperCase();', '`.toUpperCase`', 'ASCII table'],
    ['state.name = total.toLocaleString();', '`.toLocaleString`', 'plain digits'],
    ["state.name = name.normalize('NFC');", '`.normalize`', 'adapter'],
    ['list.sort((a, b) => a.localeCompare(b));', '`.localeCompare`', 'a < b'],
    ['list.sort();', 'without a comparator', '10 stands before 2'],
    ['list.toSorted();', 'without a comparator', '10 stands before 2'],
    ['const f = new Intl.NumberFormat();', '`Intl`', 'no locale'],
    ['setTimeout(() => {}, 10);', '`setTimeout`', 'ctx.timer'],
    ["fetch('https://example.org');", '`fetch`', 'adapter'],
    ['const home = process.env.HOME;', '`process`', 'manifest'],
    ['console.log(state);', '`console`', 'ctx.record'],
    ['const key = crypto.randomUUID();', '`crypto`', 'ctx.id'],
    ['const p = Promise.resolve(1);', '`Promise`', 'plan'],
    ['const f = async () => 1;', '`async`', 'plan'],
    ['const r = new WeakRef(state);', '`WeakRef`', 'strong reference'],
    ['const c = globalThis.Date;', '`globalThis`', 'import'],
    ['const yes = /straße/i.test(name);', 'flag `i`', '[A-Za-z]'],
    ['const yes = /^\\p{L}+$/u.test(name);', '`\\p{…}`', 'explicit ranges'],
    ["const yes = new RegExp(name, 'i').test(name);", 'flag `i`', '[A-Za-z]'],
    ['const yes = new RegExp(name, flags).test(name);', 'computed flags', 'literal'],
    ['for (const key in state) state.n += 1;', '`for..in`', 'Object.keys'],
    ["const late = import('./other.js');", '`import()`', 'static import'],
    ['state.trace = error.stack;', '`.stack`', 'closed list'],
  ];

  it.each(BROKEN)('%s [DET-11]', (line, what, use) => {
    const source = `/** Counts. */\nexport function count(state: any, ctx: any): void {\n  ${line}\n}\n`;
    const problems = checkPureWing(plant({ [ENGINE]: source }));
    expect(problems.length).toBeGreaterThan(0);
    const found = problems.find((problem) => problem.what.includes(what));
    expect(found).toMatchObject({ file: ENGINE, line: 3 });
    expect(found?.use).toContain(use);
  });

  it('an await and a `for await` are named', () => {
    const source = 'export async function f(a: any) {\n  await a;\n  for await (const x of a) void x;\n}\n';
    expect(named(checkPureWing(plant({ [ENGINE]: source }))).map((text) => text.slice(0, 60))).toEqual([
      expect.stringContaining('count.ts:1: `async`'),
      expect.stringContaining('count.ts:2: `await`'),
      expect.stringContaining('count.ts:3: `await`'),
    ]);
  });

  it.each(['catch {', 'catch (thrown) {', 'catch (thrown) { if (thrown instanceof Fault) throw new Fault("x");'])(
    'a `%s` that makes data of the end of the stack is named [REC-3]',
    (clause) => {
      const source = `export function f(a: any) {\n  try { return a(); } ${clause} return 0; }\n}\n`;
      expect(named(checkPureWing(plant({ [ENGINE]: source })))).toEqual([
        expect.stringContaining('count.ts:2: a `catch` that makes data of the end of the stack'),
      ]);
    },
  );

  it.each(['raiseExhaustion(thrown);', 'if (!(thrown instanceof Fault)) throw thrown;'])(
    'a `catch` with `%s` passes [REC-3]',
    (line) => {
      const source = `export function f(a: any) {\n  try { return a(); } catch (thrown) { ${line} return 0; }\n}\n`;
      expect(named(checkPureWing(plant({ [ENGINE]: source })))).toEqual([]);
    },
  );

  it('a clock call in a reducer is named in full', () => {
    const file = 'packages/agent/src/reducer/session.ts';
    const source = '/** Reduces. */\nexport const reduce = (draft: any) => {\n  draft.startedAt = Date.now();\n};\n';
    expect(named(checkPureWing(plant({ [file]: source })))).toEqual([
      `${file}:3: \`Date\` in replayed code; use \`ctx.now\`, the time of the frame`,
    ]);
  });

  it('portable code, foreign code and code with merely similar names passes', () => {
    const sound = [
      'import { process as step } from "./step.js";',
      'export interface Clock { Date: number; fetch(url: string): void }',
      'export function sound(o: any, fetch: any, items: Map<string, number>) {',
      '  const { process: renamed } = o;',
      '  o.Date = Math.floor(Math.sqrt(o.x) * Math.abs(-1));',
      '  fetch(o.console, renamed, step);',
      '  return [...items.keys()].sort().concat(Object.keys(o).sort()).sort((a, b) => (a < b ? -1 : 1));',
      '  // Date.now() in a comment, "Math.random()" in a text',
      '}',
    ].join('\n');
    expect(named(checkPureWing(plant({ [ENGINE]: sound })))).toEqual([]);
  });

  it('the same lines outside the pure wing pass', () => {
    const source = 'export const now = () => Date.now();\n';
    expect(named(checkPureWing(plant({ 'packages/kernel/src/run/world/clock.ts': source })))).toEqual([]);
  });

  it('a folder that only one of the two lists of the wing has is named', () => {
    const tree = plant({ 'tsconfig.pure.json': JSON.stringify({ include: ['packages/kernel/src/pure/codec'] }) });
    expect(named(checkPureConfig(tree, ['packages/kernel/src/pure/codec']))).toEqual([]);
    expect(named(checkPureConfig(tree, ['packages/kernel/src/pure/engine']))).toHaveLength(2);
  });
});

describe('imports', () => {
  const kernel = { 'packages/kernel/package.json': manifest() };
  const contracts = {
    'packages/contracts/package.json': manifest({ name: '@reprise/contracts', dependencies: { zod: '4.6.7' } }),
    'packages/contracts/src/index.ts': '/** A constant. */\nexport const a = 1;\n',
  };

  it('an upward import between packages is named', () => {
    const file = 'packages/contracts/src/index.ts';
    const source = '\nimport type { World } from "@reprise/kernel";\nexport type W = World;\n';
    const found = named(checkPackages(plant({ ...kernel, ...contracts, [file]: source })));
    expect(found).toContainEqual(expect.stringContaining(`${file}:2: upward import: contracts may not import kernel`));
  });

  it('an upward import between floors is named, type-only ones included', () => {
    const tree = plant({
      ...kernel,
      [ENGINE]: '// header\nimport type { Journal } from "../../ports/journal/port.js";\nexport type J = Journal;\n',
      'packages/kernel/src/ports/journal/port.ts': 'export interface Journal {}\n',
    });
    expect(named(checkFolders(tree))).toEqual([
      expect.stringContaining(
        `${ENGINE}:2: upward import: kernel/pure/engine may not import ports/journal; use pure/codec`,
      ),
    ]);
  });

  it.each([
    ['import { run } from "../plan/run.js";\nexport const it = run;\n', 1],
    ['import type { Run } from "../plan/run.js";\nexport type It = Run;\n', 0],
  ])('the lower of two rooms on one floor may import types of the upper, and no values: %j', (text, problems) => {
    const tree = plant({
      ...kernel,
      'packages/kernel/src/pure/engine/leaf/it.ts': text,
      'packages/kernel/src/pure/engine/plan/run.ts': 'export type Run = 1;\nexport const run = 1;\n',
    });
    expect(checkFolders(tree)).toHaveLength(problems);
  });

  it('a folder that the table does not know is named', () => {
    const tree = plant({ 'packages/kernel/src/helpers/misc.ts': 'export {};\n' });
    expect(named(checkFolders(tree))).toEqual([
      expect.stringContaining('folder helpers of kernel is not in the table'),
    ]);
  });

  it('a package without a row of folders is named', () => {
    const tree = plant({ 'packages/newcomer/src/index.ts': 'export {};\n' });
    expect(named(checkFolders(tree))).toEqual([
      expect.stringContaining('package newcomer has no row in the table FOLDERS'),
    ]);
  });

  it.each([
    [21, {}, '21 files in one folder; at most 20'],
    [23, { [ROOM]: 22 }, '23 files in one folder; at most 22'],
    [21, { [ROOM]: 22 }, 'CROWDED_ROOMS says 22 files, and there are 21'],
    [20, { [ROOM]: 22 }, 'CROWDED_ROOMS says 22 files, and there are 20'],
  ])('a folder of %i files is named where the table of crowded rooms says %j', (count, crowded, problem) => {
    const files = Array.from({ length: count }, (_, n) => [`${ROOM}/file-${n}.ts`, 'export {};\n']);
    const found = checkRooms(plant(Object.fromEntries(files)), crowded);
    expect(named(found)).toEqual([expect.stringContaining(problem)]);
    expect(checkRooms(plant(Object.fromEntries(files.slice(0, 20))), {})).toEqual([]);
  });

  it('a downward import between folders passes', () => {
    const tree = plant({
      ...kernel,
      [ENGINE]: 'import { encode } from "../codec/encode.js";\nexport const e = encode;\n',
      'packages/kernel/src/pure/codec/encode.ts': 'export const encode = 1;\n',
    });
    expect(named(checkFolders(tree))).toEqual([]);
  });

  it.each([
    ['a relative path into another package', '../../contracts/src/index.js', 'reaches into another package'],
    ['a subpath that is not exported', '@reprise/contracts/src/errors.js', 'does not export ./src/errors.js'],
    ['a library that is not declared', 'left-pad', 'does not declare left-pad'],
    ['a private import that is not declared', '#texts', 'does not declare #texts'],
    ['a library that one folder owns', 'immer', 'immer may not be imported here'],
    ['a built-in module without its prefix', 'fs', 'built-in module fs without its prefix'],
  ])('%s is named', (_, specifier, what) => {
    const file = 'packages/kernel/src/index.ts';
    const found = named(
      checkPackages(plant({ ...kernel, ...contracts, [file]: `import ${JSON.stringify(specifier)};\n` })),
    );
    expect(found).toContainEqual(expect.stringContaining(`${file}:1: `));
    expect(found.join('\n')).toContain(what);
  });

  it('a module of Node in a package that browsers load is named', () => {
    const found = named(checkHostFree(plant({ [ENGINE]: '\n\nimport fs from "node:fs";\nexport const f = fs;\n' })));
    expect(found).toEqual([`${ENGINE}:3: node:fs is not there in browsers; use a port that a driver fills`]);
    const apart = plant({
      'packages/tree/src/serve/more.ts': 'import "node:fs";\nimport "@reprise/tools/external";\n',
    });
    expect(named(checkHostFree(apart))).toEqual([]);
    const joined = plant({
      'packages/tree/src/serve/index.ts': 'export const n = 1;\n',
      'packages/tree/src/more.ts': 'import "./serve/index.js";\nimport "@reprise/tools";\n',
    });
    expect(named(checkHostFree(joined))).toEqual([
      'packages/tree/src/more.ts:1: ./serve/index.js is for Node; use a type of this package that it fills',
      'packages/tree/src/more.ts:2: @reprise/tools is for Node; use a type of this package that it fills',
    ]);
    const driver = plant({ 'packages/store-sqlite/src/database/driver.ts': 'import "node:fs";\n' });
    expect(named(checkHostFree(driver))).toEqual([]);
  });
});

describe('the conformance suite', () => {
  const conformance = (line: string) =>
    named(
      checkConformance(
        plant({ 'conformance/modes/case.ts': `// a case\n${line}\n`, 'packages/kernel/package.json': manifest() }),
      ),
    );

  it.each([
    "import { Replayer } from '../../packages/kernel/src/replay/verify/index.js';",
    "export * from '../../packages/kernel/test/support/laws/hold.js';",
    "const page = await import('../../scripts/divergence/page.js');",
    "type Row = import('../../scripts/divergence/page.js').RanRow;",
    "import { engine } from '@reprise/kernel/engine';",
  ])('an import past the public entry points is named: %s', (line) => {
    expect(conformance(line)).toEqual([
      expect.stringMatching(/^conformance\/modes\/case\.ts:2: .+ (reaches past the public|does not export)/),
    ]);
  });

  it.each([
    "import { verifyStore } from '@reprise/kernel';",
    "import { describe } from 'vitest';",
    "import { play } from '../scenarios/play.js';",
    "import { survey } from '../../examples/headless-world/src/survey.js';",
  ])('an import of a public entry point, a library, the suite or an example passes: %s', (line) => {
    expect(conformance(line)).toEqual([]);
  });
});

describe('import circles', () => {
  const circle = (second: string): Tree =>
    plant({
      'packages/kernel/src/run/world/a.ts': '// header\nimport { b } from "./b.js";\nexport const a = () => b;\n',
      'packages/kernel/src/run/world/b.ts': second,
    });

  it('two files that import each other are reported once', () => {
    const found = named(checkCycles(circle('import { a } from "./a.js";\nexport const b = () => a;\n')));
    expect(found).toEqual([
      'packages/kernel/src/run/world/a.ts:2: import circle: packages/kernel/src/run/world/a.ts → packages/kernel/src/run/world/b.ts' +
        ' → packages/kernel/src/run/world/a.ts; use a third file, or `import type`',
    ]);
  });

  it('a circle through a re-export is named', () => {
    expect(named(checkCycles(circle('export * from "./a.js";\nexport const b = 1;\n')))).toHaveLength(1);
  });

  it('a circle that the compiler erases passes', () => {
    expect(
      named(checkCycles(circle('import type { a } from "./a.js";\nexport const b = () => null as typeof a;\n'))),
    ).toEqual([]);
  });
});

describe('docstrings', () => {
  const offering = (files: Record<string, string>): Tree =>
    plant({ 'packages/kernel/package.json': manifest(), ...files });
  const index = 'packages/kernel/src/index.ts';

  it.each([
    ['function', 'export function open() {}'],
    ['constant', 'export const open = 1;'],
    ['type', 'export type open = string;'],
    ['interface', 'export interface open {}'],
    ['class', 'export class open {}'],
    ['function with an empty comment', '/** */\nexport function open() {}'],
    ['function with a comment of tags only', '/** @param a one */\nexport function open(a: number) {}'],
    ['function with a plain comment', '// Opens a world.\nexport function open() {}'],
  ])('an exported %s without one is named', (_, source) => {
    const found = named(checkDocstrings(offering({ [index]: source })));
    expect(found).toEqual([expect.stringContaining('exported name open has no docstring')]);
  });

  it('a name is followed through re-exports to where it is declared', () => {
    const files = {
      [index]: 'export * from "./a.js";\nexport { two as second } from "./b.js";\n',
      'packages/kernel/src/a.ts': '\n\nexport const one = 1;\n',
      'packages/kernel/src/b.ts': 'export const two = 2;\nexport const unseen = 3;\n',
    };
    expect(named(checkDocstrings(offering(files)))).toEqual([
      expect.stringContaining('packages/kernel/src/a.ts:3: exported name one'),
      expect.stringContaining('packages/kernel/src/b.ts:1: exported name two'),
    ]);
  });

  it('a name that is declared first and exported below is followed too', () => {
    const files = { [index]: 'const open = 1;\nexport { open };\n' };
    expect(named(checkDocstrings(offering(files)))).toEqual([
      expect.stringContaining('index.ts:1: exported name open'),
    ]);
  });

  it('a documented name, and a schema that shares its name with its type, pass', () => {
    const source =
      '/** What a call carries. */\nexport const call = 1;\n/** What a call carries. */\nexport type call = 1;\n';
    expect(named(checkDocstrings(offering({ [index]: source })))).toEqual([]);
  });
});

describe('labels of invariants', () => {
  const loop = 'packages/kernel/src/run/loop.ts';
  const LOOP = '/**\n * The loop.\n *\n * Invariants\n * W1  One frame at a time.\n * W2  Frames are in order.\n */\n';
  const judged = (files: Record<string, string>) => named(checkLabels(plant({ [loop]: LOOP, ...files })));

  it('a label that a file defines twice is named at its second place', () => {
    expect(judged({ [loop]: `${LOOP}// W1  Another one.\n` })).toEqual([
      `${loop}:8: the label W1 is defined twice in this file; use the next free number`,
    ]);
  });

  it("a bare citation of another file's label is named, with the form that leads there", () => {
    const found = judged({ 'packages/kernel/src/run/other.ts': 'export const a = 1; // W2\n' });
    expect(found).toEqual([
      "packages/kernel/src/run/other.ts:1: the label W2 is not defined in this file; use the file's name before it: loop/W2",
    ]);
  });

  it('a citation that names a file without that label is named, also in a docstring and a script', () => {
    const found = judged({
      'packages/kernel/src/run/other.ts': '/** See loop/W3. */\nexport const a = 1;\n',
      'scripts/other.mjs': '// lop/W1\n',
    });
    expect(found).toEqual([
      'packages/kernel/src/run/other.ts:1: loop/W3 names no file that defines it; use the name of its file',
      'scripts/other.mjs:1: lop/W1 names no file that defines it; use the name of its file',
    ]);
  });

  it('a name that two files share is ambiguous until its folder is given', () => {
    const other = 'packages/agent/src/session/loop.ts';
    const cited = (text: string) => judged({ [other]: LOOP, 'conformance/a.ts': `// ${text}\n` });
    expect(cited('loop/W1')).toEqual(['conformance/a.ts:1: loop/W1 names several files; use the folder and the name']);
    expect(cited('run/loop/W1')).toEqual([]);
  });

  it('citations of the own labels and of other files by name pass, and text that is no comment is not judged', () => {
    expect(
      judged({
        [loop]: `${LOOP}export const a = 1; // W1, W2\n/** W2: in order (W1–W2). */\nexport const b = 2;\n`,
        'conformance/a.ts': `// loop/W1: V8, BM25, SHA-256, CODEC-3, v1.2\nexport const c = 'W9  text' + \`W8 \${1 /* loop/W2 */}\`;\n`,
      }),
    ).toEqual([]);
  });
});

describe('manifests and the lock file', () => {
  const file = 'packages/kernel/package.json';
  const check = (over: Record<string, unknown>) =>
    named(checkManifests(plant({ 'package.json': ROOT_MANIFEST, [file]: manifest(over) })));

  it('a sound manifest passes', () => {
    expect(check({})).toEqual([]);
  });

  it.each([
    ['another licence', { license: 'MIT' }, 'license is MIT'],
    ['CommonJS', { type: 'commonjs' }, 'type is commonjs'],
    ['another Node floor', { engines: { node: '>=18' } }, 'engines.node is >=18'],
    ['a workspace that could be published alone', { private: undefined }, 'private is undefined, not true'],
    ['a choice of files', { files: ['dist'] }, 'files is dist'],
    ['install scripts', { scripts: { postinstall: 'node x' } }, 'scripts is'],
    ['a range', { dependencies: { zod: '^4.6.7' } }, 'dependency zod is ^4.6.7'],
    ['no exports', { exports: {} }, 'exports lacks .'],
    [
      'types after default',
      {
        exports: {
          '.': { '@reprise/source': './src/index.ts', default: './dist/index.js', types: './dist/index.d.ts' },
          './package.json': './package.json',
        },
      },
      'has conditions @reprise/source, default, types',
    ],
  ])('%s is named', (_, over, what) => {
    expect(check(over).join('\n')).toContain(what);
  });

  const lock = (packages: unknown): Tree => plant({ 'package-lock.json': JSON.stringify({ packages }, null, 2) });

  it('a download address in the lock file is named with its line', () => {
    const tree = lock({ 'node_modules/a': { version: '1.0.0', resolved: 'https://registry.example/a-1.0.0.tgz' } });
    expect(named(checkLock(tree))).toEqual(['package-lock.json:5: a download address; use `npm run lock`']);
  });

  it('an optional package without an entry is named; a nested one counts as there', () => {
    const entry = { version: '1.0.0', optionalDependencies: { '@a/linux-x64': '1.0.0' } };
    expect(named(checkLock(lock({ 'node_modules/a': entry })))).toHaveLength(1);
    const nested = { 'node_modules/a': entry, 'node_modules/a/node_modules/@a/linux-x64': { version: '1.0.0' } };
    expect(named(checkLock(lock(nested)))).toEqual([]);
  });

  it('a registry in .npmrc is named', () => {
    const tree = new Map([...lock({}), ['.npmrc', 'fund=false\nregistry=https://registry.example/\n']]);
    expect(named(checkLock(tree))).toEqual(['.npmrc:2: a registry or its secret']);
  });
});

describe('pages', () => {
  const codes = 'export const ERROR_CODES = [\n  // worlds\n  "world_locked",\n] as const;\n';
  const page = '# world_locked\n\n## What happened\n\nx\n\n## Why\n\nx\n\n## What to do\n\nx\n';
  const index = 'docs/errors/README.md';
  const list = {
    'packages/contracts/src/errors/error-codes.ts': codes,
    [index]: '[world_locked](world_locked.md)\n',
  };

  it('a code without a page is named where the code stands', () => {
    expect(named(checkErrorPages(plant(list)))).toEqual([
      'packages/contracts/src/errors/error-codes.ts:3: error code world_locked has no page; use docs/errors/world_locked.md',
    ]);
  });

  it('a page that the index does not list is named', () => {
    const tree = plant({ ...list, 'docs/errors/world_locked.md': page, [index]: '# Error codes\n' });
    expect(named(checkErrorPages(tree))).toEqual([`${index}:1: world_locked is not listed`]);
  });

  it('a page without a code, and a page without an answer, are named', () => {
    const orphan = plant({ ...list, 'docs/errors/world_locked.md': page, 'docs/errors/gone.md': '# gone\n' });
    expect(named(checkErrorPages(orphan))).toEqual([expect.stringContaining('gone is not in the closed list')]);
    const hollow = plant({ ...list, 'docs/errors/world_locked.md': page.replace('## Why', '## Because') });
    expect(named(checkErrorPages(hollow))).toEqual([expect.stringContaining('there is no "## Why"')]);
  });

  it('a link that leads nowhere is named; links to files, folders and the web pass', () => {
    const text =
      '[a](b.md) [b](../docs) [c](https://example.org) [d](#x)\n\n[gone](gone.md)\n```\n[code](no.md)\n```\n';
    const tree = plant({ 'docs/a.md': text, 'docs/b.md': '' });
    expect(named(checkLinks(tree))).toEqual(['docs/a.md:3: the link to gone.md leads nowhere']);
  });
});

describe('the kernel bundle', () => {
  const entry = 'packages/kernel/src/index.ts';

  it('a bundle one byte over the ceiling is reported', () => {
    expect(checkKernelBundle({ entry, bytes: 101, parts: new Map() }, 100)).toHaveLength(1);
    expect(checkKernelBundle({ entry, bytes: 100, parts: new Map() }, 100)).toEqual([]);
  });

  it.each(['node_modules/immer/dist/immer.mjs', 'node_modules/cbor-x/index.js', 'node:fs'])(
    '%s in it is named',
    (part) => {
      const found = named(checkKernelBundle({ entry, bytes: 1, parts: new Map([[part, 1]]) }, 100));
      expect(found).toEqual([expect.stringContaining(`the bundle contains ${part}`)]);
    },
  );
});

describe('cold imports', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const entry = 'packages/reprise/src/index.ts';

  it.each([
    ['packages/reprise/src/mcp.ts', 'packages/tools/src/mcp/index.ts'],
    ['packages/reprise/src/sqlite.ts', 'packages/store-sqlite/src/index.ts'],
    ['packages/reprise/src/testing/testing.ts', 'packages/kernel/src/pure/reduce/index.ts'],
    ['packages/reprise/src/sandbox.ts', 'packages/sandbox/src/index.ts'],
    ['packages/reprise/src/ui.ts', 'packages/ui/src/index.ts'],
    ['packages/reprise/src/tools.ts', 'node_modules/zod/index.js'],
    ['packages/reprise/src/kernel.ts', 'packages/kernel/src/pure/engine/fold.ts'],
    ['packages/reprise/src/world-parts.ts', 'packages/agent/src/world/world.ts'],
  ])('a planted import of %s is named with %s, which it would load', async (planted, loads) => {
    const found = named(checkColdImport(entry, await coldImport(root, [entry, planted])));
    expect(found).toContainEqual(expect.stringContaining(`${entry}:1: importing it loads ${loads}`));
  });

  it('a bundled agent beyond its ceiling, or without one, is named', () => {
    const ceilings = { entry: 10, run: 20, whole: 30 };
    expect(checkHelloBundle('hello.mjs', ceilings, ceilings)).toEqual([]);
    expect(named(checkHelloBundle('hello.mjs', { entry: 10, run: 21, whole: 30 }, ceilings))).toEqual([
      expect.stringContaining('21 bytes (run), more than 20'),
    ]);
    expect(checkHelloBundle('hello.mjs', { entry: 11, run: 21, whole: 31 }, ceilings)).toHaveLength(3);
    expect(checkHelloBundle('hello.mjs', ceilings)).toHaveLength(3);
  });
});
