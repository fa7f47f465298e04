/** The README's examples are run as they stand: a reader's first copy-and-paste must work. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { program } from '../lib/program.js';
import { QUIET_SQLITE } from '../lib/quiet-sqlite.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Inside the repository, so that the packages resolve by name as they do in an app.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function examplesOf(readme: string): string[] {
  const blocks = readme.matchAll(/<!-- example: begin -->\s*```ts\n([\s\S]*?)```\s*<!-- example: end -->/g);
  return [...blocks].map(([, block = '']) => block);
}

/** Runs a program in the folder of this test. */
function runExample(file: string, ...options: string[]) {
  const args = ['--import', 'tsx', '--conditions=@reprise/source', ...options, file];
  // Otherwise the inner test runner reports to the outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, ...QUIET_SQLITE };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
  return { status, lines: stdout.trim().split('\n'), stderr };
}

const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');

describe('the examples of the README', () => {
  const [agent = '', test = '', ...others] = examplesOf(README);

  it('the README has an agent and a test between its markers', () => {
    expect([agent === '', test === '', others]).toEqual([false, false, []]);
  });

  it('the first code stands within the first ten lines, and the whole within 130', () => {
    const lines = README.trimEnd().split('\n');
    expect(lines.findIndex((line) => line.startsWith('```ts'))).toBeLessThan(10);
    expect(lines.length).toBeLessThanOrEqual(130);
  });

  it('the agent prints what its comments promise, and prints the same in a second run', () => {
    const promised = [...agent.matchAll(/console\.log\(.*\/\/ ([^:\n]*)/g)].map(([, text]) => text?.trim());
    const file = path.join(folder, 'example.mts');
    writeFileSync(file, agent);
    for (const _ of ['first', 'second']) {
      expect(runExample(file)).toEqual({ status: 0, lines: promised, stderr: '' });
    }
  });

  it.each([
    ['passes as it stands', '', '', 0],
    ['fails when Ann denies the refund', 'approve: true', "deny: 'no'", 1],
    ['fails when the tool needs no approval', "approval: 'always'", "approval: 'never'", 1],
  ])('the test of the approval %s', (_, before, after, status) => {
    const file = path.join(folder, 'refund.test.mts');
    writeFileSync(file, test.replace(before, after));
    const run = runExample(file, '--test', '--test-reporter=tap');
    expect(run.status).toBe(status);
    expect(run.lines).toContain(status === 0 ? '# pass 1' : '# fail 1');
  });
});

describe('the page of entries and packages', () => {
  const page = readFileSync(path.join(ROOT, 'docs/reference/packages.md'), 'utf8');
  const row = (name: string): string => page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';

  it('the page has a row for each entry that the package exports, and for no other', () => {
    const manifest = readFileSync(path.join(ROOT, 'packages/reprise/package.json'), 'utf8');
    const { exports } = JSON.parse(manifest) as { readonly exports: Readonly<Record<string, unknown>> };
    const entries = Object.keys(exports).filter((name) => name !== './package.json');
    const named = [...page.matchAll(/^\| `reprise(\/[a-z0-9/]+)?` \|/gm)].map(([, name = '']) => `.${name}`);
    expect(named.toSorted()).toEqual(entries.toSorted());
  });

  it('the row of the command names every verb that its help lists', async () => {
    const bin = await program(new URL('../../packages/cli/src/bin.ts', import.meta.url));
    const help = spawnSync(process.execPath, [bin, '--help'], { cwd: ROOT, encoding: 'utf8' }).stdout;
    const commands = help.slice(help.indexOf('\nCommands:'), help.indexOf('\nExit codes:'));
    const listed = [...commands.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);
    const named = [...row('@reprise/cli').matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => name !== 'reprise')).toEqual(listed);
  });
});
