/** Which test files share processes, and what that asks of them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { runsInShare, SHARES, shareIn, shareOfCommit } from '../../conformance/shares.mjs';
import { readTree, type Tree } from '../architecture/tree.js';
import { DEEP, deepFilesBeside, OF_EACH_CHANGE, sharesOf } from '../lib/deep-tests.mjs';
import { leftBehind, sceneNow } from '../lib/process-scene.js';
import { ROOT } from '../lib/root.mjs';
import { APART, AT_ONCE, HEAVY, isApart, isHeavy, SLOW, suiteOf } from '../lib/suites.mjs';
import { emptyBesideDeep } from '../spec/titles.js';

/** What a file of a shared process does not do: it replaces modules for all others, it measures the others too, or it
 * makes their promises dearer for good. */
const ALONE =
  /\bvi\.(?:(?:doM|m)ock|resetModules)\(|\bprocess\.(?:memoryUsage|resourceUsage)\b|\bprocess\.chdir\(|\/mock-provider\.js'/;

/** Has the words that the check looks for. */
const OWN = 'scripts/test/suites.test.ts';

/** Files that share a process with others although they cannot. */
function wrong(tree: Tree): string[] {
  return [...tree]
    .filter(([file, text]) => file.endsWith('.test.ts') && file !== OWN && !isApart(file) && ALONE.test(text))
    .map(([file]) => file);
}

/**
 * A time limit of a single test, in the forms that Vitest takes: behind its function, and as an option. `vitest.config.ts`
 * states one limit for all, which a busy machine does not reach.
 */
const OWN_LIMIT =
  /^(?:before|after)(?:All|Each)\(.*, \d[\d_]*_000\);|^\s*\},\n\s+\d[\d_]*_000,\n\s*\);|^\s*\}, \d[\d_]*_000\);|^\s*(?:it|test|describe)\b.*, \{ timeout: \d|',\n\s*\{ timeout: [1-9][\d_]* \},$|setConfig\(\{ \w*Timeout/m;

/** Files that state a time limit of their own for a test; a `setTimeout` ends with its number too, and is left out. */
function limited(tree: Tree): string[] {
  return [...tree]
    .filter(([file, text]) => file.endsWith('.test.ts') && file !== OWN && OWN_LIMIT.test(withoutTimers(text)))
    .map(([file]) => file);
}

function withoutTimers(text: string): string {
  return text.replace(/\b(?:setTimeout|setInterval|waitUntil|waitFor|poll)\([\s\S]*?\);/g, '');
}

const tests = (tree: Tree) => [...tree.keys()].filter((file) => file.endsWith('.test.ts'));

describe('the suites of tests', () => {
  it('test files that replace a module, change the folder or measure memory have a process of their own', () => {
    expect(wrong(readTree(ROOT))).toEqual([]);
  });

  it.each([
    "vi.mock('../src/index.js');",
    'vi.resetModules();',
    'const { rss } = process.memoryUsage();',
    'process.chdir(folder);',
  ])('mutant: the check finds a file of a shared process with `%s`', (text) => {
    const file = 'packages/providers/test/planted.test.ts';
    expect(wrong(new Map([[file, text]]))).toEqual([file]);
  });

  it('a test states no time limit of its own: a machine that has other work too is no failure', () => {
    expect(limited(readTree(ROOT))).toEqual([]);
  });

  it.each([
    "  it('waits', async () => {\n    await it;\n  }, 60_000);",
    "  it(\n    'waits',\n    async () => {\n    },\n    60_000,\n  );",
    "describe('a team', { timeout: 120_000 }, () => {",
    "  it.each(CASES)(\n    'when %s fails',\n    { timeout: 120_000 },\n    async () => {",
    'vi.setConfig({ testTimeout: 180_000 });',
  ])('mutant: the check finds the time limit in %j', (text) => {
    const file = 'packages/providers/test/planted.test.ts';
    expect(limited(new Map([[file, text]]))).toEqual([file]);
  });

  it('every entry of the lists leads to a test file', () => {
    const files = tests(readTree(ROOT));
    const leads = ([path]: readonly [string, string]) => files.some((file) => file.startsWith(path));
    expect([...HEAVY, ...APART].filter((entry) => !leads(entry))).toEqual([]);
    expect([...SLOW, ...AT_ONCE].filter((file) => !files.includes(file))).toEqual([]);
  });

  it('a slow file is listed once, and what every change is held against at once is not listed', () => {
    expect(SLOW.filter((file: string) => isHeavy(file) || AT_ONCE.includes(file))).toEqual([]);
    expect(new Set(SLOW).size).toBe(SLOW.length);
  });

  it('files that are heavy and apart are in the rest, of two entries that overlap the narrower', () => {
    const { apart } = suiteOf('rest', []);
    expect(apart.include).toContain('packages/tools/test/output/programs.test.ts');
    expect(apart.include).toContain('packages/cli/test/team/failed.test.ts');
    expect(apart.include).toContain('packages/tree/test/serve/**/*.test.ts');
    expect(apart.include).not.toContain('packages/agent/test/quarantine/**/*.test.ts');
  });
});

describe('the deep tests', () => {
  it('each deep file is in the rest, and of all shares exactly one runs it', () => {
    const files = tests(readTree(ROOT));
    const deepFiles = Object.keys(DEEP);
    expect(deepFiles.filter((file) => !files.includes(file))).toEqual([]);
    expect(deepFiles.filter((file) => !isHeavy(file) && !SLOW.includes(file))).toEqual([]);
    expect(deepFiles.filter((file) => OF_EACH_CHANGE.includes(file))).toEqual([]);
    expect(OF_EACH_CHANGE.filter((file) => !files.includes(file))).toEqual([]);
    expect(sharesOf().flat().toSorted()).toEqual(deepFiles.toSorted());
    const each = Array.from({ length: SHARES }, (_, share) => deepFilesBeside(share));
    for (const file of deepFiles) expect([file, each.filter((left) => !left.includes(file)).length]).toEqual([file, 1]);
    expect(deepFilesBeside(undefined)).toEqual([]);
  });

  it('a share leaves its deep files out of both kinds of processes, and no other file', () => {
    const { shared, apart } = suiteOf('rest', [], 3);
    const whole = suiteOf('rest', []);
    expect(apart.exclude).toEqual(deepFilesBeside(3));
    expect(shared.exclude).toEqual([...whole.shared.exclude, ...deepFilesBeside(3)]);
    expect([shared.include, apart.include]).toEqual([whole.shared.include, whole.apart.include]);
  });

  it('a suite with deep tests has a test that always runs, or is deep itself', () => {
    expect(emptyBesideDeep(readTree(ROOT))).toEqual([]);
    const planted = (text: string) => emptyBesideDeep(new Map([['conformance/planted.test.ts', text]]));
    expect(planted("describe('a', () => { deep('x', () => { it('b', run); }); });")).toHaveLength(1);
    expect(planted("describe('a', () => { deep('x', () => { it('b', run); }); it('c', run); });")).toEqual([]);
    expect(planted("deep('x', () => { describe('a', () => { it('b', run); }); });")).toEqual([]);
  });

  it('the seconds of two shares differ by less than the longest file', () => {
    const seconds = sharesOf().map((files) => files.reduce((sum, file) => sum + (DEEP[file] ?? 0), 0));
    expect(Math.max(...seconds) - Math.min(...seconds)).toBeLessThanOrEqual(Math.max(...Object.values(DEEP)));
  });

  it('a commit has one share, many commits have them all, and each name of a deep test has one', () => {
    const commits = Array.from({ length: 1_000 }, (_, number) => shareOfCommit(`commit ${number}`));
    expect(new Set(commits).size).toBe(SHARES);
    expect(shareOfCommit('commit 1')).toBe(commits[1]);
    const shares = Array.from({ length: SHARES }, (_, share) => share);
    expect(shares.filter((share) => runsInShare('a name', share))).toHaveLength(1);
    expect(runsInShare('a name', undefined)).toBe(true);
  });

  it('DEEP_SHARE takes a share or all, and a wrong one is refused in words', () => {
    expect([shareIn({}), shareIn({ DEEP_SHARE: 'all' }), shareIn({ DEEP_SHARE: '0' })]).toEqual([
      undefined,
      undefined,
      0,
    ]);
    for (const wrong of ['', String(SHARES), '-1', '1.5', 'ALL', '01x'])
      expect(() => shareIn({ DEEP_SHARE: wrong })).toThrow(`DEEP_SHARE: expected 0 to ${SHARES - 1} or all`);
  });
});

describe('what a test file leaves behind', () => {
  it('a variable, a replaced global and a listener are named, and an unchanged process is accepted', () => {
    const before = sceneNow();
    expect(leftBehind(before, sceneNow())).toEqual([]);
    const after = new Map([...before, ['process.env.PLANTED', '1'], ['Date', class {}], ['listeners of SIGINT', 7]]);
    expect(leftBehind(before, after).toSorted()).toEqual(['Date', 'listeners of SIGINT', 'process.env.PLANTED']);
    expect(leftBehind(after, before)).toContain('process.env.PLANTED');
  });

  it.runIf(Number.parseInt(process.versions.node, 10) < 24)(
    'an AsyncLocalStorage that is in use is named, since each promise of the process pays for it from then on',
    () => {
      const before = sceneNow();
      const storage = new AsyncLocalStorage();
      storage.run(1, () => undefined);
      expect(leftBehind(before, sceneNow())).toEqual(['AsyncLocalStorage objects that are in use']);
      storage.disable();
      expect(leftBehind(before, sceneNow())).toEqual([]);
    },
  );
});
