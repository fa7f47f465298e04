/** The tutorials and how-to pages are run as written, and reference pages are compared with their sources. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FAILURE_KINDS, FAULT_CODES } from '@reprise/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deepOnes } from '../../conformance/part.js';
import { FOLDERS } from '../architecture/folders.js';
import { PACKAGES } from '../architecture/rules.js';
import { agentEventsPage, sessionCommandsPage } from './docs-agent.js';
import { installPackages } from './docs-packages.js';
import { parsePage, readPages, rewriteOutputs } from './docs-pages.js';
import { providersPage } from './docs-providers.js';
import { fieldsOf, layoutsTable, PARTS, RECORDS, STAMPS } from './docs-records.js';
import { boundsIn, failureCodesIn, numberIn, tablesOf } from './docs-reference.js';
import { Digests, runPage } from './docs-run.js';
import { sourcesOf, typeProblems } from './docs-types.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Inside the repository, so that the packages resolve by name as they do in an app.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Far above the need of a page: all pages are queued at once, and wait for the cores of a busy machine. */
const TIMEOUT_MS = 600_000;

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const packages = readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}`);
const pages = readPages(ROOT, ['docs/tutorial', 'docs/how-to', 'docs/explanation', ...packages]);

/** Runs for each change, as the README does; other pages run in their share. */
const FIRST_PAGE = 'docs/tutorial/first-world.md';

describe('pages with code', () => {
  beforeAll(() => installPackages(ROOT, folder), TIMEOUT_MS);

  const run = new Set([...pages.filter(({ file }) => file === FIRST_PAGE), ...deepOnes(pages, ({ file }) => file)]);
  it.concurrent.each([...run].map((page) => [page.file, page] as const))(
    '%s prints what it promises',
    async (_, page) => {
      const { surprises, printed } = await runPage(page, folder);
      if (process.env.DOCS_UPDATE === '1') rewriteOutputs(ROOT, page, printed);
      expect(surprises).toEqual([]);
    },
  );

  describe('their TypeScript', () => {
    const broken = parsePage(
      'docs/tutorial/broken.md',
      "```ts\nimport { openWord } from 'reprise';\nopenWord();\n```\n",
    );
    let problems: string[] = [];
    beforeAll(() => {
      problems = typeProblems(ROOT, sourcesOf(ROOT, [...pages, broken]));
    }, TIMEOUT_MS);

    it('the TypeScript of the pages compiles', () => {
      expect(problems.filter((problem) => !problem.startsWith('docs/tutorial/broken/'))).toEqual([]);
    });

    it('an error in the TypeScript of a page is found', () => {
      expect(problems.filter((problem) => problem.startsWith('docs/tutorial/broken/'))[0]).toContain('openWord');
    });
  });

  it('a fence that no check runs is refused, and so is an output without a command', () => {
    expect(() => parsePage('a.md', '```ts runs=x\n```\n')).toThrow('a.md:2');
    expect(() => parsePage('a.md', '```ts\n```\n```output\n```\n')).toThrow('a.md:4');
  });

  it('digests and times may differ, but equal digests stay equal everywhere, and other words must agree', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
    const digests = new Digests();
    expect(digests.agree(`head ${a}\nat 2026-11-22T08:00:00.000Z\n`, `head ${b}\nat 2026-11-23T09:00:00.000Z\n`)).toBe(
      true,
    );
    expect(digests.actual(`--expect ${a}`)).toBe(`--expect ${b}`);
    expect(digests.agree(`again ${a.slice(0, 12)}\n`, `again ${c.slice(0, 12)}\n`)).toBe(false);
    expect(digests.agree('3 frames\n', '4 frames\n')).toBe(false);
  });
});

describe('reference pages', () => {
  const sources = readdirSync(path.join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!testkit)[^/]+\/src\/.*\.ts$/.test(file))
    .map((file) => `packages/${file}`);

  it('every record and every part of one has its fields, with their types', () => {
    const tables = tablesOf(read('docs/reference/records.md'));
    const listed = (heading: string) => (tables.get(heading) ?? []).map(([name, type]) => [name, type]);
    for (const [kind, schema] of Object.entries(RECORDS)) {
      const fields = fieldsOf(schema);
      const common = fields.some(([name]) => name === 'seq') ? STAMPS : [['c', 'integer ≥ 0']];
      const own = fields.filter(([name]) => !common.some(([known]) => known === name));
      expect([kind, listed(kind)]).toEqual([kind, own]);
    }
    for (const [name, schema] of Object.entries(PARTS)) expect([name, listed(name)]).toEqual([name, fieldsOf(schema)]);
    expect(listed('Stamps')).toEqual(STAMPS);
  });

  it('the table of how records are written is that of the code [JRN-1]', () => {
    const file = 'docs/reference/records.md';
    const written = (page: string) =>
      page.replace(/(<!-- generated: layouts -->\n).*?(<!-- end -->)/s, `$1\n${layoutsTable()}\n\n$2`);
    if (process.env.DOCS_UPDATE === '1') writeFileSync(path.join(ROOT, file), written(read(file)));
    expect(read(file)).toBe(written(read(file)));
    expect(read(file)).toContain(layoutsTable());
  });

  it.each([
    ['docs/reference/agent-events.md', agentEventsPage],
    ['docs/reference/session-commands.md', sessionCommandsPage],
    ['docs/reference/providers.md', providersPage],
  ])('%s agrees with the contract [EVT-8]', (file, page) => {
    if (process.env.DOCS_UPDATE === '1') writeFileSync(path.join(ROOT, file), page());
    expect(read(file)).toBe(page());
  });

  it('every bound of the rules is listed, and every listed one has its number [JRN-26]', () => {
    const tables = tablesOf(read('docs/reference/bounds.md'));
    const rows = [
      ...(tables.get('What decides derived bytes') ?? []),
      ...(tables.get('What a release may change') ?? []),
    ];
    expect(rows.length).toBeGreaterThan(20);
    for (const [name = '', bound = '', file = ''] of rows) {
      const known = boundsIn(read(file)).find(([constant]) => constant === name);
      expect([file, name, numberIn(bound)]).toEqual([file, name, known?.[1]]);
    }
    for (const file of ['packages/kernel/src/pure/engine/leaf/bounds.ts', 'packages/kernel/src/pure/codec/bounds.ts']) {
      const constants = read(file).match(/^export const [A-Z]/gm) ?? [];
      const names = boundsIn(read(file)).map(([name]) => name);
      expect([file, names.length]).toEqual([file, constants.length]);
      expect(names.filter((name) => !rows.some((row) => row[0] === name && row[2] === file))).toEqual([]);
    }
  });

  it('the fault codes are those of the closed list', () => {
    const [rows = []] = tablesOf(read('docs/reference/fault-codes.md')).values();
    expect(rows.map(([code]) => code)).toEqual(FAULT_CODES);
  });

  it('every failure code that the sources give has its line, and every line a source [EFF-15]', () => {
    const tables = tablesOf(read('docs/reference/failure-codes.md'));
    const given = new Set(sources.flatMap((file) => failureCodesIn(file, read(file))));
    expect(tables.get('Kinds')?.map(([kind]) => kind)).toEqual(FAILURE_KINDS);
    const withReasons = [...given].filter((code) => code.includes('/')).sort();
    expect(
      tables
        .get('With reasons')
        ?.map(([code]) => code)
        .sort(),
    ).toEqual(withReasons);
  });

  it('a code that is only written would be found', () => {
    const template = ['`cap_denied/$', '{why}`'].join('');
    const text = `code = 'adapter_error/new'; terminal('gone'); b = 'adapter_errors'; c = ${template};`;
    const codes = ['adapter_error/new', 'provider_error_terminal/gone', 'cap_denied/…'];
    expect(failureCodesIn('a.ts', text)).toEqual(codes);
  });
});

describe('the architecture page', () => {
  const tables = tablesOf(read('ARCHITECTURE.md'));
  const column = (heading: string, i: number) => (tables.get(heading) ?? []).map((row) => row[i]);

  it('the page lists the packages and what they may import', () => {
    const { reprise, ...others } = PACKAGES;
    const imports = Object.values(others).map((names) => (names.length === 0 ? '–' : names.join(', ')));
    expect(column('Packages', 0)).toEqual(Object.keys(PACKAGES));
    expect(column('Packages', 2)).toEqual([...imports, 'all']);
    expect(new Set(reprise)).toEqual(new Set(Object.keys(others)));
  });

  it('the page lists the folders of the kernel', () => {
    const folders = column('Folders of the kernel', 0).map((cell) => /^`?([\w/-]+)/.exec(cell ?? '')?.[1]);
    expect(folders.sort()).toEqual(
      Object.keys(FOLDERS.kernel ?? {})
        .filter((name) => name !== '.')
        .sort(),
    );
  });
});
