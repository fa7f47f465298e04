/** A large tree that is stopped at its root while other inputs wait: in one process, and in one that is killed meanwhile. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { memory, verifyStore } from '@reprise/kernel';
import { bundle } from '../bundle.js';
import {
  cancelled,
  drained,
  grow,
  largeApp,
  openLarge,
  type Size,
  type StopFrames,
  stopFrames,
  stopRoot,
} from './large.js';

/** What a stop came to. */
export interface Stopped extends StopFrames {
  /** The nodes that have ended. */
  readonly ended: number;
  readonly unverified: number;
}

/** What a stop came to whose process was killed. */
export interface KilledStop extends Stopped {
  /** The frames of the stop that were durable when its process was killed. */
  readonly durable: number;
}

/** Grows a tree by commands, and stops its root. */
export async function stopLarge(nodes: number, hanging = 0): Promise<Stopped> {
  const store = memory();
  const found = await stopIn(store, { nodes, hanging });
  const { unverified } = await verifyStore(await store.openReadonly(), { app: largeApp });
  return { ...found, unverified };
}

async function stopIn(store: ReturnType<typeof memory>, size: Size): Promise<Omit<Stopped, 'unverified'>> {
  await using world = await openLarge(store, size.hanging);
  await grow(world, size);
  const from = world.kernel.head.seq + 1;
  await stopRoot(world.kernel);
  await drained(world.kernel);
  return { ended: await cancelled(world), ...(await stopFrames(world.kernel, from)) };
}

const OWNER = fileURLToPath(new URL('size-owner.ts', import.meta.url));

/** The same on a file, by a process that is killed when a part of the stop is durable; another process goes on. */
export async function killLarge({ nodes, hanging }: Size): Promise<KilledStop> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-tree-size-'));
  const [program, file] = [path.join(folder, 'owner.mjs'), path.join(folder, 'large.world')];
  try {
    await bundle(OWNER, program);
    const stop = /^grown (\d+)$/m;
    const first = await run([program, file, 'stop', String(nodes), String(hanging)], (out) => out.includes('frame '));
    const from = Number(stop.exec(first)?.[1]);
    const last = await run([program, file, 'finish', String(from), String(hanging)]);
    const seen = /^ended (.*)$/m.exec(last)?.[1];
    if (seen === undefined) throw new Error(`the second owner ends without an outcome: ${last}`);
    const { opened, ...stopped } = JSON.parse(seen) as Stopped & { readonly opened: number };
    return { ...stopped, durable: opened - from + 1 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs an owner, and kills it as soon as its output says so. @returns its output */
function run(argv: readonly string[], isTime: (out: string) => boolean = () => false): Promise<string> {
  const owner = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  owner.stdout.on('data', (piece) => {
    out += String(piece);
    if (isTime(out)) owner.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    owner.on('error', reject);
    owner.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve(out);
      else reject(new Error(`the owner exits with ${code}: ${out}`));
    });
  });
}
