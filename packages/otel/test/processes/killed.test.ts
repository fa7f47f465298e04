/**
 * A tree whose owner is killed again and again, and its traces at collectors that are processes of their own: one that the owners
 * send to while they run, and one that the command sends the file to afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { randomFrom } from '../../../../conformance/random.js';
import { program } from '../../../../scripts/lib/program.js';
import { type ReceivedSpan, spansIn } from '../support/receiver.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const KILLS = 60 / stepOf(15);
const NODES = 31;

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-otel-kill-'));
const file = path.join(folder, 'tree.world');
const collectors: ChildProcess[] = [];
const at = { owner: '', command: '' };
let live = '';
let later = '';

beforeAll(async () => {
  at.owner = await program(new URL('owner.ts', import.meta.url));
  at.command = await program(new URL('../../../cli/src/bin.ts', import.meta.url));
  const receiver = await program(new URL('receiver-process.ts', import.meta.url));
  [live, later] = await Promise.all([collector(receiver), collector(receiver)]);
});
afterAll(() => {
  for (const one of collectors) one.stdin?.end();
  rmSync(folder, { recursive: true });
});

async function collector(receiver: string): Promise<string> {
  const child = spawn(process.execPath, [receiver], { stdio: ['pipe', 'pipe', 'inherit'] });
  collectors.push(child);
  return new Promise((resolve) => child.stdout.once('data', (line) => resolve(String(line).trim())));
}

/** Runs an owner until it has made so many calls, or to the end. @returns what it said last */
function own(calls: number): Promise<string> {
  const argv = [at.owner, file, live, path.join(folder, 'cursor')];
  const owner = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  owner.stdout.on('data', (piece) => {
    out += String(piece);
    if (out.split('call\n').length > calls) owner.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    owner.on('error', reject);
    owner.on('close', () => resolve(out.trim().split('\n').at(-1) ?? ''));
  });
}

function command(node: string, ...args: string[]): Promise<string> {
  const child = spawn(node, [at.command, 'trace', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (piece) => {
    out += String(piece);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`the command ends with ${code}: ${out}`)),
    );
  });
}

async function taken(url: string): Promise<readonly ReceivedSpan[]> {
  return (await (await fetch(`${url}/spans`)).json()) as ReceivedSpan[];
}

describe(`the traces of a tree whose owner is killed ${KILLS} times (seed ${SEED})`, () => {
  it('a tree is one trace without orphans and without a doubled id, from each exporter in equal bytes, and what was sent twice was the same both times [TRACE-1, TRACE-5, TRACE-6]', async () => {
    const random = randomFrom(SEED);
    for (let kill = 0; kill < KILLS; kill++) await own(1 + Math.floor(random() * 8));
    expect(await own(Number.POSITIVE_INFINITY)).toBe(`ended complete ${NODES}`);

    expect(await command(process.execPath, '--otlp', later)).toMatch(
      /^Sent \d+ spans\. To send what comes later: --after \d+\n$/,
    );
    const spans = await taken(later);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).length).toBe(1);
    expect(spans.filter(({ parentSpanId }) => parentSpanId !== undefined && !ids.has(parentSpanId))).toEqual([]);
    expect(spans.filter(({ name }) => name === 'invoke_workflow tree.node').length).toBe(NODES);

    const other = process.env.REPRISE_OTHER_NODE ?? process.execPath;
    const [once, again] = [await command(process.execPath, '--json'), await command(other, '--json')];
    expect(again).toBe(once);
    const lines = once
      .trim()
      .split('\n')
      .flatMap((line) => spansIn(line));
    expect(lines).toEqual(spans);

    const wanted = new Map(spans.map((span) => [span.spanId, JSON.stringify(span)]));
    const sent = await taken(live);
    expect(sent.filter((span) => wanted.get(span.spanId) !== JSON.stringify(span))).toEqual([]);
    expect(new Set(sent.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });
});
