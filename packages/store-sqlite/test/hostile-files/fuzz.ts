/**
 * Files that an attacker changed, read in a process with little memory and a time limit: each comes to a
 * verdict of the closed list, or is the world that it was.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../../../conformance/bundle.js';
import { MUTATIONS } from './mutations.js';
import { makeSample } from './sample.js';

/** The heap of the process that reads. */
const HEAP_MIB = 96;

/** How much memory it may take in all: its heap, and four mebibytes of frames, blobs and pages at once beside the start. */
export const MEMORY_MIB_MAX = 256;

/** Files that one process judges: what it takes is counted from a fresh start. */
const FILES_AT_A_TIME = 100;

/** How long it may take for one file, on a machine that others use as well. */
const PATIENCE_MS = 30_000;

/** What a run of the fuzzer came to. */
export interface Fuzzed {
  readonly inputs: number;
  readonly hangs: number;
  readonly memoryMiB: number;
  /** How often each verdict was given. */
  readonly verdicts: ReadonlyMap<string, number>;
  /** What should not have happened, with the number of the input. */
  readonly findings: readonly string[];
}

interface Judged {
  readonly read: string;
  readonly written: string;
  readonly rss: number;
}

/** A process that judges one file after another. */
class Judge {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string) {
    this.#child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, '--no-warnings', program], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.stdin.on('error', () => undefined); // it died: the lines say so
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async judge(file: string, patienceMs: number): Promise<Judged | 'hang' | 'died'> {
    this.#child.stdin.write(`${file}\n`);
    let patience: NodeJS.Timeout | undefined;
    const hang = new Promise<'hang'>((resolve) => {
      patience = setTimeout(() => resolve('hang'), patienceMs);
    });
    const line = await Promise.race([this.#lines.next(), hang]);
    clearTimeout(patience);
    if (line === 'hang') return 'hang';
    return line.done === true ? 'died' : (JSON.parse(line.value) as Judged);
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/** What may be chosen about a run of the fuzzer. */
export interface FuzzOptions {
  /** The program that reads the files, in this folder; ours when absent. */
  readonly judge?: string;
  readonly patienceMs?: number;
  /** The kinds of changes; all of them when absent. */
  readonly kinds?: readonly string[];
}

/** Changes a file in so many ways, each a function of the seed and its number. */
export async function fuzz(seed: number, from: number, inputs: number, options: FuzzOptions = {}): Promise<Fuzzed> {
  const { judge = 'judge.ts', patienceMs = PATIENCE_MS, kinds: names = Object.keys(MUTATIONS) } = options;
  const root = mkdtempSync(path.join(tmpdir(), 'reprise-hostile-'));
  const sample = path.join(root, 'sample.db');
  const program = path.join(root, 'judge.mjs');
  await bundle(fileURLToPath(new URL(judge, import.meta.url)), program);
  const heads = new Set(await makeSample(sample));
  const verdicts = new Map<string, number>();
  const findings: string[] = [];
  let [hangs, rss] = [0, 0];
  let process_ = new Judge(program);
  try {
    for (let n = from; n < from + inputs; n++) {
      if (n % FILES_AT_A_TIME === 0) {
        process_.end();
        process_ = new Judge(program);
      }
      const random = randomOf(seed, n);
      const name = names[n % names.length] as string;
      const file = path.join(root, `${n}.db`);
      copyFileSync(sample, file);
      cpSync(`${sample}.blobs`, `${file}.blobs`, { recursive: true });
      const done = MUTATIONS[name]?.(file, random);
      const what = `input ${n}, ${name}: ${done}`;
      const judged = await process_.judge(file, patienceMs);
      if (typeof judged === 'string') {
        if (judged === 'hang') hangs++;
        findings.push(`${what}: the process ${judged === 'hang' ? 'hung' : 'died'}`);
        process_.end();
        process_ = new Judge(program);
      } else {
        rss = Math.max(rss, judged.rss);
        for (const verdict of [judged.read, judged.written]) {
          const [word = '', detail = ''] = verdict.split(' ');
          const key = word === 'refused' ? detail : word;
          verdicts.set(key, (verdicts.get(key) ?? 0) + 1);
          if (word === 'broke') findings.push(`${what}: ${verdict}`);
          if (word === 'ok' && !heads.has(detail)) findings.push(`${what}: taken for another world`);
        }
      }
      for (const side of ['', '-wal', '-shm', '-lock', '.blobs']) {
        rmSync(`${file}${side}`, { recursive: true, force: true });
      }
    }
  } finally {
    process_.end();
    rmSync(root, { recursive: true, force: true });
  }
  return { inputs, hangs, memoryMiB: Math.round(rss / 2 ** 20), verdicts, findings };
}

/** A random sequence of its own for each input: those of neighbors are not alike. */
function randomOf(seed: number, n: number): () => number {
  let block = createHash('sha256').update(`${seed} ${n}`).digest();
  let at = 0;
  return () => {
    if (at === block.length) [block, at] = [createHash('sha256').update(block).digest(), 0];
    at += 4;
    return block.readUInt32BE(at - 4) / 2 ** 32;
  };
}
