/** Kills the owners of swarms at random moments, and looks at what becomes of the swarms. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.js';
import { randomFrom } from '../random.js';
import { STRATEGIES, type SwarmStrategy } from './swarms.js';

/** What the last owner of a swarm found in the whole journal. */
export interface SwarmEnd {
  readonly status: string;
  /** The ends of swarms, the agents that were made, and those whose task was completed. */
  readonly ends: number;
  readonly agents: number;
  readonly results: number;
  /** The agents whose task was completed more than once. */
  readonly twice: number;
  /** The authors of items, and the most items of one. */
  readonly authors: number;
  readonly itemsMost: number;
  readonly unverified: number;
}

/** What came of the swarms. */
export interface SwarmsKilled {
  readonly kills: number;
  readonly swarms: number;
  /** The swarms that did not come to the one end that they should have come to. */
  readonly failures: readonly string[];
}

/** How owners are killed. */
export interface KillSwarms {
  readonly kills: number;
  readonly seed: number;
  readonly sizes: readonly number[];
  /** Whether the owners create a swarm anew each time they start. */
  readonly forgets?: boolean;
  /** Hears what came of each swarm. */
  readonly told?: (line: string) => void;
}

const OWNER = fileURLToPath(new URL('kill-owner.ts', import.meta.url));

/** How often one swarm is killed at most. */
const KILLS_EACH = 6;

/** How many milliseconds after its opening an owner is killed, by agent of its swarm, and at least. */
const WITHIN_MS_EACH = 60;
const WITHIN_MS = 600;

/** Runs swarms of these sizes in each strategy on SQLite files, until so many owners were killed. */
export async function killSwarms({ kills, seed, sizes, forgets = false, told }: KillSwarms): Promise<SwarmsKilled> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-swarm-kill-'));
  const program = path.join(folder, 'owner.mjs');
  const random = randomFrom(seed);
  const scenes = sizes.flatMap((size) => STRATEGIES.map((strategy) => ({ size, strategy })));
  const failures: string[] = [];
  let [killed, swarms] = [0, 0];
  try {
    await bundle(OWNER, program);
    for (; killed < kills; swarms++) {
      const { size, strategy } = scenes[swarms % scenes.length] as (typeof scenes)[0];
      const at = path.join(folder, String(swarms));
      const argv = [program, `${at}.db`, `${at}.keys`, strategy, String(size), ...(forgets ? ['forgets'] : [])];
      const within = Math.max(WITHIN_MS, size * WITHIN_MS_EACH);
      const { deaths, end } = await run(argv, Math.min(KILLS_EACH, kills - killed), () => random() * within);
      killed += deaths;
      const isRight = isWhole(end, strategy, size);
      const line = `${strategy}, ${size} agents, ${deaths} kills: ${JSON.stringify(end)}`;
      told?.(`${isRight ? 'right' : 'WRONG'}: ${line}`);
      if (!isRight) failures.push(line);
    }
    return { kills: killed, swarms, failures };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Whether a swarm has one result of each slot's agent, one item of each, and one end. A coordinator ends the swarm by its
 * own call, so its task has no result of its own.
 */
function isWhole(end: SwarmEnd, strategy: SwarmStrategy, size: number): boolean {
  const { status, ends, agents, results, twice, authors, itemsMost, unverified } = end;
  const wanted = strategy === 'hierarchical' ? size - 1 : size;
  const isOnce = ends === 1 && twice === 0 && itemsMost === 1 && unverified === 0;
  return status === 'archived' && isOnce && agents === size && results === wanted && authors === size;
}

/** Starts owner after owner, and kills each but the last. An owner that comes to its end before that is not killed. */
async function run(
  argv: readonly string[],
  kills: number,
  moment: () => number,
): Promise<{ readonly deaths: number; readonly end: SwarmEnd }> {
  for (let deaths = 0; ; deaths++) {
    const end = await owner(argv, deaths < kills ? moment() : undefined);
    if (end !== undefined) return { deaths, end };
  }
}

/** Runs one owner. @returns what it saw at the end; undefined when it was killed before */
function owner(argv: readonly string[], killedAfterMs: number | undefined): Promise<SwarmEnd | undefined> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  let isKilled = false;
  child.stdout.on('data', (piece) => {
    const wasOpen = out.includes('open');
    out += String(piece);
    if (wasOpen || killedAfterMs === undefined) return;
    setTimeout(() => {
      isKilled = child.exitCode === null && !out.includes('ended') && child.kill('SIGKILL');
    }, killedAfterMs);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const ended = /^ended (.*)$/m.exec(out)?.[1];
      if (ended !== undefined) resolve(JSON.parse(ended) as SwarmEnd);
      else if (isKilled) resolve(undefined);
      else reject(new Error(`the owner exits with ${code}: ${out}`));
    });
  });
}
