/** The review as a person or a script uses it: a real process, a real folder, signals. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spread } from '../../../conformance/part.js';
import { program } from '../../../scripts/lib/program.js';
import { reviewTeam } from '../src/team.js';
import { EXPECTED, writeSample } from './sample.js';

const MAIN = await program(new URL('../src/main.ts', import.meta.url));
const SKILLS = fileURLToPath(new URL('../skills', import.meta.url));

/** What is said on standard error of a review that goes well. */
const KEPT = /^The review is kept in \S+\.db\.\n$/;

let home = '';
const started = new Set<ChildProcessWithoutNullStreams>();

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'reprise-review-'));
  writeSample(path.join(home, 'shop'));
});

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
  rmSync(home, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Starts the command. Its worlds are kept in the test's own folder. */
function start(...args: readonly string[]) {
  const env = { ...process.env, XDG_STATE_HOME: path.join(home, 'state'), OPENAI_API_KEY: undefined };
  const argv = [MAIN, ...args];
  const child = spawn(process.execPath, argv, { env, cwd: home });
  started.add(child);
  let [out, err] = ['', ''];
  const waiting = new Set<() => void>();
  child.stdout.on('data', (piece) => {
    out += String(piece);
    for (const look of waiting) look();
  });
  child.stderr.on('data', (piece) => {
    err += String(piece);
  });
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  const until = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!out.includes(text)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { child, ended, until: (text: string) => Promise.race([until(text), ended]) };
}

const shop = () => path.join(home, 'shop');
const reportIn = (out: string) => out.slice(out.indexOf('# Review of'), out.indexOf('\n\nThe review is in'));
const worldIn = (out: string) => /The review is in (\S+):/.exec(out)?.[1] ?? '';

/** Replays a world with the app of the team, without a model. */
async function verified(file: string): Promise<number> {
  const [{ appOf }, { verifyStore }, { sqlite }] = await Promise.all([
    import('reprise/org'),
    import('reprise/kernel'),
    import('reprise/sqlite'),
  ]);
  const store = await sqlite(file).openReadonly();
  const { unverified } = await verifyStore(store, { app: appOf([reviewTeam(shop(), { max: 3 })]) });
  await store.close();
  return unverified;
}

describe('a review without key and network', () => {
  it('the report names each fault of the sample by its file and line, and nothing else', async () => {
    const { code, out, err } = await start(shop(), '--out', path.join(home, 'report.md')).ended;
    expect([code, err]).toEqual([0, expect.stringMatching(KEPT)]);
    const findings = [...reportIn(out).matchAll(/^- (`[^`]+:\d+` — .*)$/gm)].map(([, finding]) => finding);
    expect(findings.sort()).toEqual([...EXPECTED].sort());
    expect(out).toContain('11 findings: 3 high, 6 medium, 2 low.');
    expect(readFileSync(path.join(home, 'report.md'), 'utf8').trim()).toBe(reportIn(out).trim());
    expect(await verified(worldIn(out))).toBe(0);
  });

  it('the same command again prints the same report and begins nothing', async () => {
    const first = await start(shop()).ended;
    writeFileSync(path.join(shop(), 'src/login.ts'), 'export const nothing = 1;\n');
    const again = await start(shop()).ended;
    expect(reportIn(again.out)).toBe(reportIn(first.out));
    const fresh = await start(shop(), '--new').ended;
    expect(worldIn(fresh.out)).not.toBe(worldIn(first.out));
    expect(reportIn(fresh.out)).not.toContain('src/login.ts');
  });

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'a review that is ended by %s continues with the same command',
    async (signal) => {
      const world = path.join(home, 'w.db');
      const first = start(shop(), '--world', world, '--pace', '300');
      await first.until('[completed]');
      first.child.kill(signal);
      const killed = await first.ended;
      expect(killed.out).not.toContain('# Review of');
      if (signal === 'SIGINT') expect([killed.code, killed.err]).toEqual([130, expect.stringContaining('continues')]);
      const { code, out } = await start(shop(), '--world', world).ended;
      expect(code).toBe(0);
      const findings = [...reportIn(out).matchAll(/^- (`[^`]+:\d+` — .*)$/gm)].map(([, finding]) => finding);
      expect(findings.sort()).toEqual([...EXPECTED].sort());
      expect(await verified(world)).toBe(0);
    },
  );
});

describe('where a review is kept', () => {
  it('a review says first where it is kept, so that a review that is ended at once can be found', async () => {
    const first = start(shop(), '--pace', '500');
    await first.until('[running]');
    first.child.kill('SIGKILL');
    const { err } = await first.ended;
    expect(err).toMatch(/^The review is kept in .*\/state\/reprise-review-team\/shop-[0-9a-f]{8}\/1\.db\.\n/);
  });
});

describe('the mistakes of the page', () => {
  it.each(
    spread<readonly [string, readonly string[], string]>(3, [
      ['a folder that does not exist', ['nowhere'], 'the repository is not a folder'],
      ['two folders', ['a', 'b'], 'one folder is reviewed at a time'],
      ['an unknown option', ['--colour'], "Unknown option '--colour'"],
      ['no places', ['--max', '0'], '--max takes a whole number from 1 to 16, not 0'],
      ['a model without its key', ['--model', 'gpt-5-mini'], 'for the model gpt-5-mini, set OPENAI_API_KEY'],
      ['a server without a model', ['--base-url', 'http://127.0.0.1:1'], 'name the model of the server'],
      ['an address without http', ['--model', 'x', '--base-url', 'here'], 'this is not an http address: here'],
    ]),
  )('%s is refused with words, and the exit code is 2', async (_what, args, words) => {
    mkdirSync(path.join(home, 'a'));
    const { code, err } = await start(...args).ended;
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });

  it('a second review of the same folder at the same time is refused', async () => {
    const first = start(shop(), '--pace', '500');
    await first.until('[running]');
    const second = await start(shop()).ended;
    expect([second.code, second.err]).toEqual([1, expect.stringContaining('Another review of this folder is at work')]);
    first.child.kill('SIGKILL');
    await first.ended;
  });

  it('a skill that is broken refuses the plan, and the review says so', async () => {
    const skills = path.join(home, 'skills');
    for (const name of ['planner', 'security', 'tests', 'docs', 'style', 'report']) {
      mkdirSync(path.join(skills, name), { recursive: true });
      const text = readFileSync(path.join(SKILLS, name, 'SKILL.md'), 'utf8');
      writeFileSync(path.join(skills, name, 'SKILL.md'), name === 'style' ? text.replace('---', '--') : text);
    }
    const { code, out, err } = await start(shop(), '--skills', skills).ended;
    expect(code).toBe(1);
    expect(out).toContain('The plan was refused');
    expect(err).toContain('style-src: skill_invalid');
    expect(err).toContain('There is no report.');
  });
});
