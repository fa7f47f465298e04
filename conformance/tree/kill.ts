/** Kills the owner of a tree at random moments, and looks at what becomes of the tree. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
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

/** Grows trees on SQLite files; kills the owner of each several times. */
export async function killOwners(kills: number, trees: number, seed: number): Promise<Killed> {
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
      const argv = [program, file, address, marks];
      const { killed, seen } = await grow(argv, left, random);
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
async function grow(
  argv: readonly string[],
  kills: number,
  random: () => number,
): Promise<{ killed: number; seen: Seen }> {
  for (let killed = 0; ; killed++) {
    const owner = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    const seen = await watch(owner, killed < kills ? random() * 160 : undefined);
    if (seen !== undefined) return { killed, seen };
  }
}

/** Watches an owner; kills it some time after it has opened its world. @returns what it saw when it came to the end */
function watch(owner: ChildProcess, killAfter: number | undefined): Promise<Seen | undefined> {
  let out = '';
  let isKilled = false;
  owner.stdout?.on('data', (piece) => {
    const wasOpen = out.includes('open');
    out += String(piece);
    if (wasOpen || killAfter === undefined) return;
    setTimeout(() => {
      isKilled = owner.exitCode === null && owner.kill('SIGKILL');
    }, killAfter);
  });
  return new Promise((resolve, reject) => {
    owner.on('error', reject);
    owner.on('close', (code) => {
      const ended = /^ended (.*)$/m.exec(out)?.[1];
      if (ended !== undefined) resolve(JSON.parse(ended) as Seen);
      else if (isKilled) resolve(undefined);
      else reject(new Error(`the owner exits with ${code}: ${out}`));
    });
  });
}
