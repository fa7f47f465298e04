/** Tests what a survey shows at its end: a changed byte that is found, and commands that work. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextSteps, proof, wrapped } from '../src/closing.js';
import { MODEL_NAME, startModelServer } from '../src/model-server.js';
import { lineFor, shortened } from '../src/progress.js';
import { type SurveyResult, survey } from '../src/survey.js';
import { type Tampering, tamper } from '../src/tamper.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

let scratch: string;
let world: string;
let copy: string;
let result: SurveyResult;
const lines: string[] = [];
beforeAll(async () => {
  scratch = mkdtempSync(path.join(tmpdir(), 'reprise-closing-'));
  world = path.join(scratch, 'world.db');
  copy = path.join(scratch, 'tampered.db');
  const folder = path.join(scratch, 'folder');
  mkdirSync(path.join(folder, 'src'), { recursive: true });
  writeFileSync(path.join(folder, 'README.md'), '# Kettle\n\nBoils water.\n');
  writeFileSync(path.join(folder, 'src/boil.ts'), '// TODO: heat\n');
  const server = await startModelServer();
  const model = openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME });
  const onEvent = (event: Parameters<typeof lineFor>[0]) => lines.push(lineFor(event) ?? '');
  result = await survey({ folder, out: scratch, store: sqlite(world), model, onEvent });
  await server.close();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the progress of a survey', () => {
  it('each file that is read and each pattern that is searched has a line', () => {
    expect(lines).toEqual(
      expect.arrayContaining(['step 1', '  count_files', '  list_files .', '  read_file README.md', '  grep "TODO"']),
    );
  });

  it('a line that is longer than the terminal is wide is shortened in its middle', () => {
    expect(shortened('  read_file a', 80)).toBe('  read_file a');
    const long = shortened(`  read_file ${'deep/'.repeat(40)}file.ts`, 60);
    expect(long).toHaveLength(60);
    expect(long).toMatch(/^ {2}read_file deep.*….*deep\/file\.ts$/);
  });
});

describe('a changed byte', () => {
  it('a changed byte in a copy is found in its frame, and the world stays as it was', async () => {
    const before = await tampered();
    expect(before.found).toMatchObject({ code: 'journal_damaged', details: { seq: before.frame } });
    expect(before.name).toEqual({ before: 'SURVEY.md', after: 'SURVEX.md' });
    const again = await tampered(); // over the copy of the first time
    expect(again).toMatchObject({ frame: before.frame, at: before.at });
    expect(reprise('verify', world, '--expect', result.verified.head.digest).code).toBe(0);
  });

  it('a journal that names no report is changed in its middle', async () => {
    const empty = path.join(scratch, 'empty');
    mkdirSync(empty);
    const server = await startModelServer();
    const model = openAiCompatible({ baseUrl: 'http://127.0.0.1:9/v1', model: 'none' });
    await survey({ folder: empty, out: empty, store: sqlite(path.join(empty, 'world.db')), model });
    await server.close();
    const { name, found, frame } = await tamper(path.join(empty, 'world.db'), path.join(empty, 'copy.db'));
    expect(name).toBeUndefined();
    expect(found?.details.seq).toBe(frame);
  });

  it('an aborted signal ends the copy', async () => {
    await expect(tamper(world, copy, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    expect((await tampered()).found).toBeDefined();
  });

  it('the text fits 80 columns and names the frame', async () => {
    const tampering = await tampered();
    const text = wrapped(proof(result.verified, tampering, placesIn(scratch)), 80);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text.replace(/\s+/g, ' ')).toContain(`recorded head; at frame ${tampering.frame}`);
    expect(text).toContain(`${result.verified.frames} of ${result.verified.frames} frames`);
  });
});

describe('the commands to try', () => {
  it('each command on the world works as it is printed', async () => {
    const { found, ...tampering } = await tampered();
    const commands = nextSteps(placesIn(ROOT), { ...tampering, found })
      .split('\n')
      .flatMap((line) => /^ {2}npx reprise (.*)$/.exec(line)?.[1] ?? []);
    expect(commands.map((command) => command.split(' ')[0])).toEqual(['log', 'inspect', 'why', 'show', 'verify']);
    // The page stays until Ctrl-C: its own tests open it.
    const reading = commands.filter((command) => !command.startsWith('inspect '));
    const [log, why, show, verify] = reading.map((command) => reprise(...command.split(' ')));
    expect(log?.out).toContain('run 0 ends: completed');
    expect(why?.out).toMatch(/^write_file was called/);
    expect(show?.out).toContain('"path": "SURVEY.md"');
    expect([log, why, show].map((ran) => ran?.code)).toEqual([0, 0, 0]);
    expect(verify).toMatchObject({ code: 1, err: expect.stringContaining(`frame ${tampering.frame}`) });
    const check = reprise('check', world, '--against', 'packages/agent/src/world/app.ts');
    expect(check).toMatchObject({ code: 0, out: expect.stringContaining('opens') });
  });

  it('paths are relative inside of the clone; elsewhere the commands begin with the folder of the clone', () => {
    const steps = (cwd: string, home: string) =>
      nextSteps({ cwd, home, world: `${home}/w/world.db`, copy: `${home}/w/t.db`, report: `${home}/w/R.md` }, found(3));
    expect(steps('/clone', '/clone')).toContain('  npx reprise log w/world.db\n');
    expect(steps('/clone/docs', '/clone')).toContain('  npx reprise why ../w/world.db R.md\n');
    expect(steps('/home/me', '/my clone')).toContain("  cd '/my clone'\n");
    expect(steps('/home/me', '/my clone')).toContain("  npx reprise log '/my clone/w/world.db'\n");
  });

  it('setup links the command of the clone, and repairs the link', () => {
    const clone = path.join(scratch, 'clone');
    cpSync(path.join(ROOT, 'scripts/lib'), path.join(clone, 'scripts/lib'), { recursive: true });
    for (const name of ['setup.mjs', 'reprise.mjs'])
      cpSync(path.join(ROOT, 'scripts', name), path.join(clone, 'scripts', name));
    const link = path.join(clone, 'node_modules/.bin/reprise');
    for (const _ of ['first', 'again', 'missing']) {
      const { status, stderr } = spawnSync(process.execPath, [path.join(clone, 'scripts/setup.mjs')], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(readlinkSync(link)).toBe('../../scripts/reprise.mjs');
      expect(existsSync(link)).toBe(true);
      if (_ === 'again') rmSync(link);
    }
  });
});

function tampered(): Promise<Tampering> {
  return tamper(world, copy);
}

function found(frame: number): Tampering {
  return { frame, at: 0, name: undefined, found: undefined };
}

function placesIn(cwd: string) {
  return { cwd, home: ROOT, world, copy, report: result.report };
}

/** Runs the command as `npx reprise` does in the clone. */
function reprise(...args: string[]): { code: number | null; out: string; err: string } {
  const script = path.join(ROOT, 'scripts/reprise.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: ROOT, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}
