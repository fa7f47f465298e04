/** Kills the owner of a society at each append while it takes the rights of an agent whose cell has failed. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, type Planted } from '../../bundle.js';

/** How the rights are taken. */
export const WAYS = ['deactivate', 'narrow'] as const;

/** How the rights are taken. */
export type Way = (typeof WAYS)[number];

/** What the last owner found from the frame on in which the rights were taken. */
export interface Revoked {
  /** Whether they were taken. */
  readonly taken: boolean;
  /** Tools that were started, and those that ran, in that frame or behind it. */
  readonly started: number;
  readonly run: number;
  /** Tools that were open then and were answered, and those that ended without an answer. */
  readonly answered: number;
  readonly ended: number;
  /** Tools that are open at the end. */
  readonly open: number;
  readonly unverified: number;
}

/** What came of the taking. */
export interface RevokedKills {
  readonly kills: number;
  /** Tools that the taking ended, in all trials together. */
  readonly ended: number;
  /** The trials in which something went on. */
  readonly failures: readonly string[];
}

/** How owners are killed. */
export interface KillRevoking {
  readonly ways: readonly Way[];
  /** The owner dies at each append up to this one, as long as there are so many. */
  readonly appends: number;
  readonly sides: readonly ('before' | 'after')[];
  /** A mistake, to see that it is found. */
  readonly planted?: Planted;
  /** Hears what came of each trial. */
  readonly told?: (line: string) => void;
}

const OWNER = fileURLToPath(new URL('owner.ts', import.meta.url));

/** Takes the rights in a society of its own for each death, and goes on behind it. */
export async function killRevoking(options: KillRevoking): Promise<RevokedKills> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-revoked-kill-'));
  const program = path.join(folder, 'owner.mjs');
  const prepared = path.join(folder, 'prepared');
  const failures: string[] = [];
  let [kills, ended] = [0, 0];
  try {
    await bundle(OWNER, program, options.planted === undefined ? {} : { planted: options.planted });
    cpSync(mkdtempSync(path.join(folder, 'new-')), prepared, { recursive: true });
    await owner([program, prepared, '-', 'prepare']);
    for (const way of options.ways)
      for (const side of options.sides)
        for (let n = 1; n <= options.appends; n++) {
          const at = path.join(folder, `${way}-${side}-${n}`);
          cpSync(prepared, at, { recursive: true });
          const isAlive = (await owner([program, at, way, 'cut', String(n), side])).includes('alive');
          const found = foundIn(await owner([program, at, way, 'end']));
          if (!isAlive) kills++;
          ended += found.ended;
          const line = `${way}, ${isAlive ? 'not killed' : `killed ${side} append ${n}`}: ${JSON.stringify(found)}`;
          options.told?.(`${isRight(found) ? 'right' : 'WRONG'}: ${line}`);
          if (!isRight(found)) failures.push(line);
          if (isAlive) break;
        }
    return { kills, ended, failures };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isRight({ taken, started, run, answered, open, unverified }: Revoked): boolean {
  return taken && started + run + answered + open + unverified === 0;
}

function foundIn(out: string): Revoked {
  const found = /^found (.*)$/m.exec(out)?.[1];
  if (found === undefined) throw new Error(`the last owner does not say what it found: ${out}`);
  return JSON.parse(found) as Revoked;
}

/** Runs an owner until it is killed or ends. @returns what it says */
function owner(argv: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (piece) => {
    out += String(piece);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve(out);
      else reject(new Error(`the owner exits with ${code}: ${out}`));
    });
  });
}
