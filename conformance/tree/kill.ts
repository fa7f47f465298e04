/** Kills the owner of a tree at random moments, and looks at what becomes of the tree. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.js';
import { randomFrom } from '../random.js';

/** What the last owner of a tree saw. */
interface Seen {
  readonly status: string;
  readonly unverified: number;
  readonly nodes: readonly { readonly n: number; readonly status: string; readonly launches: readonly string[] }[];
}

/** What came of the trees. */
export interface Killed {
  readonly kills: number;
  readonly trees: number;
  readonly ended: number;
  readonly twice: number;
  readonly lost: number;
  readonly unverified: number;
  readonly requests: number;
}

const OWNER = fileURLToPath(new URL('kill-owner.ts', import.meta.url));

/** The nodes of the tree that `kill-owner.ts` grows. */
const NODES = 11;

/** How owners are killed. */
export interface KillOptions {
  readonly kills: number;
  readonly trees: number;
  readonly seed: number;
  /** Whether the owners know of launches only what is in their memory: another one begins again what was under way. */
  readonly forgets?: boolean;
}

/** Grows trees on SQLite files; kills the owner of each several times. */
export async function killOwners({ kills, trees, seed, forgets = false }: KillOptions): Promise<Killed> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-tree-kill-'));
  const program = path.join(folder, 'owner.mjs');
  const random = randomFrom(seed);
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    setTimeout(() => response.end('ok'), 10);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sum = { kills: 0, trees: 0, ended: 0, twice: 0, lost: 0, unverified: 0 };
  try {
    await bundle(OWNER, program);
    while (sum.trees < trees) {
      const left = Math.ceil((kills - sum.kills) / (trees - sum.trees));
      const file = path.join(folder, `${sum.trees}.world`);
      const marks = path.join(folder, `${sum.trees}.marks`);
      const argv = [program, file, address, marks, ...(forgets ? ['forgets'] : [])];
      const { killed, seen } = await grow({ argv, kills: left, random, server });
      sum.kills += killed;
      sum.trees++;
      const lines = existsSync(marks) ? readFileSync(marks, 'utf8').trim().split('\n') : [];
      const launches = seen.nodes.flatMap((node) => node.launches);
      sum.twice += lines.length - new Set(lines).size + launches.length - new Set(launches).size;
      sum.lost += NODES - seen.nodes.filter(({ status }) => status === 'complete').length;
      sum.ended += seen.status === 'complete' ? 1 : 0;
      sum.unverified += seen.unverified;
    }
    return { ...sum, requests };
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

/** Starts owner after owner, and kills each but the last. */
async function grow({
  argv,
  kills,
  random,
  server,
}: {
  readonly argv: readonly string[];
  readonly kills: number;
  readonly random: () => number;
  readonly server: Server;
}): Promise<{ killed: number; seen: Seen }> {
  for (let killed = 0; ; killed++) {
    const owner = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    const seen = await watch(owner, server, killed < kills ? momentFrom(random) : undefined);
    if (seen !== undefined) return { killed, seen };
  }
}

/** When an owner is killed: so long after it has opened its world, or after so many requests of it. */
type Moment = { readonly ms: number } | { readonly requests: number };

/** A busy machine lets little happen in a time, so that every other moment is one of requests. */
function momentFrom(random: () => number): Moment {
  return random() < 0.5 ? { ms: random() * 160 } : { requests: 1 + Math.floor(random() * 5) };
}

/** Watches an owner, and kills it. @returns what it saw when it came to the end */
function watch(owner: ChildProcess, server: Server, moment: Moment | undefined): Promise<Seen | undefined> {
  let out = '';
  let isKilled = false;
  const kill = (): void => {
    isKilled ||= owner.exitCode === null && owner.kill('SIGKILL');
  };
  let heard = 0;
  const hear = (): void => {
    if (moment !== undefined && 'requests' in moment && ++heard === moment.requests) setTimeout(kill, 5);
  };
  server.on('request', hear);
  owner.stdout?.on('data', (piece) => {
    const wasOpen = out.includes('open');
    out += String(piece);
    if (!wasOpen && moment !== undefined && 'ms' in moment) setTimeout(kill, moment.ms);
  });
  return new Promise((resolve, reject) => {
    owner.on('error', reject);
    owner.on('close', (code) => {
      server.off('request', hear);
      const ended = /^ended (.*)$/m.exec(out)?.[1];
      if (ended !== undefined) resolve(JSON.parse(ended) as Seen);
      else if (isKilled) resolve(undefined);
      else reject(new Error(`the owner exits with ${code}: ${out}`));
    });
  });
}
