/** Tests the sample world from outside: the command, its files, its exit codes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { agentApp } from 'reprise';
import { AgentEvents } from 'reprise/history';
import { getValue, readFrame, type VerifyReport, verifyStore } from 'reprise/kernel';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import { readArguments } from '../src/arguments.js';
import { complete, MODEL_NAME, type ModelServer, startModelServer } from '../src/model-server.js';
import { readReport, type SurveyResult, survey } from '../src/survey.js';

const MAIN = await program(new URL('../src/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let scratch: string;
let server: ModelServer;
let count = 0;
beforeAll(async () => {
  scratch = mkdtempSync(path.join(tmpdir(), 'reprise-world-'));
  server = await startModelServer();
});
afterAll(async () => {
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** Creates an empty folder. */
function place(what: string): string {
  const made = path.join(scratch, `${what}-${count++}`);
  mkdirSync(made);
  return made;
}

/** Makes a folder; the n-th file was last changed n hours after the start of 2024. */
function folder(files: Readonly<Record<string, string>>): string {
  const root = place('folder');
  Object.entries(files).forEach(([name, text], i) => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    const when = Date.UTC(2024, 0, 1, i) / 1000;
    utimesSync(file, when, when);
  });
  return root;
}

const KETTLE = {
  'README.md': '# Kettle\n\nBoils water.\n',
  'src/boil.ts': 'export const boil = 1; // TODO heat\n',
  'src/deep/steam.py': 'print(1)\n',
};
const NOTES = { 'notes/a.txt': 'alpha\n', 'notes/b.txt': 'beta\n', 'index.html': '<p>FIXME</p>\n' };

/** Surveys in this process. */
function look(at: string, out: string): Promise<SurveyResult> {
  const model = openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME });
  return survey({ folder: at, out, store: sqlite(path.join(out, 'world.db')), model });
}

/** Verifies a world's file with nothing but the pure app. */
async function read(out: string): Promise<{ report: VerifyReport; calls: string[]; blobs: string[] }> {
  const store = await sqlite(path.join(out, 'world.db')).openReadonly();
  const report = await verifyStore(store, { app: agentApp });
  const calls: string[] = [];
  const events = new AgentEvents({ sessions: ['survey'] });
  for await (const { seq, at, head, bytes } of store.journal.read(0)) {
    for (const event of events.project({ seq, at, head, records: readFrame(bytes, seq).all })) {
      if (event.type !== 'tool.requested') continue;
      const args = (await getValue(store.content, event.ref)) as { path?: string; pattern?: string };
      calls.push([event.tool, args.path, args.pattern].filter((part) => part !== undefined).join(' '));
    }
  }
  const blobs: string[] = [];
  for await (const ref of store.content.list())
    blobs.push(Buffer.from((await store.content.get(ref)) ?? []).toString());
  await store.close();
  return { report, calls, blobs };
}

interface Ended {
  readonly code: number | null;
  readonly out: string[];
  readonly err: string;
}

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

/** Runs the command as `npm start` does. `watch` is told each line as it comes. */
function run(
  args: readonly string[],
  watch: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<Ended> {
  const { OPENAI_API_KEY: _, ...env } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: ROOT,
    env,
  });
  children.add(child);
  let out = '';
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = chunk.toString().split('\n').filter(Boolean);
    out += chunk;
    for (const line of lines) watch(line, child);
  });
  return new Promise((resolve) => {
    child.once('close', (code) => {
      children.delete(child);
      resolve({ code, out: out.trimEnd().split('\n'), err });
    });
  });
}

describe('the command', () => {
  it('the command surveys a folder and ends with the paths of the world and the report, and the result of replay', async () => {
    const at = folder(KETTLE);
    const out = place('out');
    const { code, out: lines, err } = await run([at, '--out', out]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines).toEqual(expect.arrayContaining(['step 1', '  read_file README.md', '  write_file SURVEY.md']));
    expect(lines.join('\n')).toContain(
      'it now says "SURVEX.md" where it said "SURVEY.md". Verifying the copy finds it:\n  journal_damaged: ',
    );
    // The path is shown as it is shortest: absolute, or from the working directory.
    const [, shown = ''] = /npx reprise why (\S+) SURVEY\.md/.exec(lines.join('\n')) ?? [];
    expect(path.resolve(shown)).toBe(path.join(out, 'world.db'));
    expect(lines.at(-3)).toBe(`world: ${path.join(out, 'world.db')}`);
    expect(lines.at(-2)).toBe(`report: ${path.join(out, 'SURVEY.md')}`);
    const text = readFileSync(path.join(out, 'SURVEY.md'), 'utf8');
    expect(text).toContain('3 files in 2 folders');
    expect(text).toContain('Kettle: Boils water.');
    expect(readdirSync(at).sort()).toEqual(['README.md', 'src']); // it leaves no trace in what it surveys

    // The folder and the process are gone: the world replays without any adapter.
    rmSync(at, { recursive: true });
    const { report } = await read(out);
    expect(lines.at(-1)).toBe(`replay identical: ${report.records} records, head sha256:${report.head.digest}`);
    expect(report.replayed).toBe(report.frames);
  });

  it('the command explains wrong arguments and exits with 2', async () => {
    const file = path.join(folder({ 'a.txt': 'x' }), 'a.txt');
    const cases = [
      [['--nonsense'], '--nonsense'],
      [[scratch, '--out', file], 'cannot be made a folder'],
    ] as const;
    for (const [args, told] of cases) {
      const { code, err, out } = await run(args);
      expect({ args, code, out }).toEqual({ args, code: 2, out: [''] });
      expect(err).toContain(told);
      expect(err).toContain('npm start [-- FOLDER]');
      expect(err).not.toMatch(/^\s+at /m);
    }
    expect(() => readArguments(['a', 'b'], '/', '/')).toThrow('one FOLDER, not 2: a b');
    expect(() => readArguments(['--base-url', 'nonsense'], '/', '/')).toThrow(
      '--base-url is not an http address: nonsense',
    );
    expect(readArguments(['x'], '/here', '/home')).toMatchObject({ folder: '/here/x', quiet: false });
    expect(readArguments(['x'], '/here', '/home').out).not.toBe(readArguments(['x'], '/there', '/home').out);
  });

  it('the command explains a model that does not answer and exits with 1, and the world replays', async () => {
    const out = place('dead');
    const { code, out: lines, err } = await run([folder(KETTLE), '--out', out, '--base-url', 'http://127.0.0.1:9/v1']);
    expect(code).toBe(1);
    const words = /\(127\.0\.0\.1\) \[provider_error_retryable\/network\]\. Check the address of the model/;
    const [first = '', ...more] = err.trim().split('\n');
    expect(first).toMatch(/^llm\.generate@\d of reprise\.llm failed in /); // while it still tries
    expect(first).toMatch(words);
    expect(more).toEqual([expect.stringMatching(/^The run did not complete: no answer/)]);
    expect(more[0]).toMatch(words);
    expect(lines.at(-2)).toBe('report: none');
    expect((await read(out)).report.frames).toBe(4);
    // With a model that answers, the same world continues.
    const again = await run([folder(KETTLE), '--out', out, '--quiet']);
    expect(again.code).toBe(0);
    expect(again.out.filter((line) => line !== '').map((line) => line.split(':')[0])).toEqual([
      expect.stringContaining('I counted 3 files'),
      'world',
      'report',
      'replay identical',
    ]);
    expect(readdirSync(out)).toContain('SURVEY.md');
  });

  it('the command refuses a world that another process has open, and changes nothing', async () => {
    const out = place('held');
    const held = await sqlite(path.join(out, 'world.db')).open();
    const { code, err } = await run([folder(KETTLE), '--out', out]);
    expect(code).toBe(1);
    expect(err).toMatch(/^world_locked: the world is already open for writing; at .*world\.db; got process \d+/);
    expect(err).not.toMatch(/^\s+at /m);
    expect((await held.journal.head()).seq).toBe(-1);
    await held.close();
  });
});

describe('Ctrl-C', () => {
  let slow: Server;
  let asked: () => void;
  let answers: boolean;
  beforeAll(async () => {
    slow = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const steps = body.toString().split('"role":"assistant"').length - 1;
        if (steps === 2) asked();
        if (steps === 2 && !answers) return; // never
        const reply = complete(body);
        response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
      });
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    slow.closeAllConnections();
    slow.close();
  });

  it('Ctrl-C ends a run with 130 and keeps what was done; the same command continues from there', async () => {
    const at = folder(KETTLE);
    const out = place('interrupted');
    const args = [at, '--out', out, '--base-url', `http://127.0.0.1:${(slow.address() as AddressInfo).port}/v1`];
    answers = false;
    const thinking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let child: ChildProcess | undefined;
    const first = run(args, (_, running) => {
      child = running;
    });
    await thinking;
    child?.kill('SIGINT');
    const { code, err } = await first;
    expect(code).toBe(130);
    expect(err).toContain(`Everything up to here is in ${path.join(out, 'world.db')}; run the same command to go on.`);
    const before = (await read(out)).calls;
    expect(before.length).toBeGreaterThan(0);

    answers = true;
    const second = await run(args);
    expect({ code: second.code, err: second.err }).toEqual({ code: 0, err: '' });
    expect(second.out).toContain('a survey was interrupted; what it did before:');
    const goesOn = second.out.indexOf('and now it goes on:');
    expect(second.out.indexOf('  list_files .')).toBeLessThan(goesOn);
    expect(second.out.indexOf('  write_file SURVEY.md')).toBeGreaterThan(goesOn);
    const after = await read(out);
    expect(after.calls.slice(0, before.length)).toEqual(before);
    expect(second.out.at(-1)).toContain(after.report.head.digest);
    expect(readFileSync(path.join(out, 'SURVEY.md'), 'utf8')).toContain('Kettle');
  });

  it('Ctrl-C while the world opens ends the command as well', async () => {
    const interrupt = new AbortController();
    interrupt.abort();
    const out = place('early');
    const model = openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME });
    const store = sqlite(path.join(out, 'world.db'));
    const surveying = survey({ folder: folder(KETTLE), out, store, model, signal: interrupt.signal });
    await expect(surveying).rejects.toMatchObject({ code: 'world_closed' });
    expect((await look(folder(KETTLE), out)).outcome.stop.kind).toBe('Completed');
  });
});

describe('a survey', () => {
  it('a survey of another folder makes other calls and another report', async () => {
    const outs = [place('one'), place('two')] as const;
    const results = [await look(folder(KETTLE), outs[0]), await look(folder(NOTES), outs[1])];
    const reports = await Promise.all(results.map(({ report }) => readReport(report)));
    expect(reports[0]).toContain('TypeScript');
    expect(reports[1]).toContain('HTML');
    expect(reports[0]).not.toBe(reports[1]);
    const calls = await Promise.all(outs.map(async (out) => (await read(out)).calls));
    expect(calls[0]).not.toEqual(calls[1]);
    expect(calls[0]).toContain('list_files src');
    expect(calls[1]).toContain('list_files notes');
  });

  it('a second survey of the same folder in a fresh world makes the same calls and the same report', async () => {
    const at = folder({ ...KETTLE, ...NOTES });
    const outs = [place('one'), place('two')];
    const texts: string[] = [];
    for (const out of outs) texts.push(await readReport((await look(at, out)).report));
    expect(texts[1]).toBe(texts[0]);
    const [one, two] = await Promise.all(outs.map(read));
    expect(two?.calls).toEqual(one?.calls);
    expect(two?.report.head.digest).not.toBe(one?.report.head.digest); // worlds have identities of their own
  });

  it('a survey reports an empty folder', async () => {
    const out = place('out');
    const { report, outcome, verified } = await look(folder({}), out);
    expect(outcome.stop).toEqual({ kind: 'Completed' });
    expect(await readReport(report)).toContain('The folder holds no files.');
    expect(verified.replayed).toBe(verified.frames);
  });

  it('a survey takes no secret of the folder into the world or the report', async () => {
    const secrets = {
      '.env': 'KEY=hunter2-env',
      'deploy/server.pem': 'hunter2-pem',
      '.aws/credentials': 'hunter2-aws',
    };
    const others = {
      id_rsa: 'hunter2-rsa',
      'app/.npmrc': '//r/:_authToken=hunter2-npm TODO',
      'app/main.ts': '// TODO\n',
    };
    const out = place('out');
    const { report } = await look(folder({ ...KETTLE, ...secrets, ...others }), out);
    const text = await readReport(report);
    expect(text).toContain('TypeScript');
    const { blobs } = await read(out);
    for (const held of [text, ...blobs, readFileSync(path.join(out, 'world.db'), 'latin1')]) {
      expect(held.includes('hunter2')).toBe(false);
    }
  });
});
