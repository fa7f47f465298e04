/** No program outlives the process that started it, even if that process is killed at any moment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';

const HOST = await program(new URL('apps/owner.ts', import.meta.url));

/** Programs for every way to start one; each starts a child in its group, one outside, and one outside without environment. */
const KINDS = ['run', 'shell', 'background', 'external', 'mcp'];
const EXPECTED = KINDS.flatMap((kind) => [kind, `${kind}-child`, `${kind}-left`, `${kind}-bare`]).sort();

const folders: string[] = [];
const started = new Set<number>();

afterEach(() => {
  for (const pid of started) kill(pid);
  started.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** A host with all its programs running, and their process ids by name. */
async function host(): Promise<{ readonly process: ChildProcess; readonly pids: ReadonlyMap<string, number> }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-owner-'));
  folders.push(folder);
  const child = spawn(process.execPath, [HOST, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  started.add(child.pid ?? 0);
  const noted = () => readdirSync(folder).filter((name) => name.endsWith('.pid')).length;
  await expect.poll(noted).toBe(EXPECTED.length);
  const pidOf = (name: string) => Number(readFileSync(path.join(folder, `${name}.pid`), 'utf8'));
  await expect.poll(() => EXPECTED.every((name) => pidOf(name) > 0)).toBe(true);
  const pids = new Map(EXPECTED.map((name) => [name, pidOf(name)]));
  for (const pid of pids.values()) started.add(pid);
  return { process: child, pids };
}

const survivors = (pids: ReadonlyMap<string, number>, names = EXPECTED): string[] =>
  names.filter((name) => isAlive(pids.get(name) ?? 0));

describe('programs of a host', () => {
  it('programs and their children end when their host is killed [TOOL-31]', async () => {
    const { process: owner, pids } = await host();
    expect(survivors(pids)).toEqual(EXPECTED);
    owner.kill('SIGKILL');
    const inGroups = EXPECTED.filter((name) => !/-(?:left|bare)$/.test(name));
    await expect.poll(() => survivors(pids, inGroups)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'programs that left their group end with their host, also without an environment, where the system shows processes',
    async () => {
      const { process: owner, pids } = await host();
      owner.kill('SIGKILL');
      await expect.poll(() => survivors(pids)).toEqual([]);
    },
  );

  it.runIf(process.platform === 'linux')('without its warden, programs outlive their host', async () => {
    const { process: owner, pids } = await host();
    const mark = `REPRISE_OWNER=${owner.pid}-`;
    const wardens = readdirSync('/proc').filter((pid) => /^[0-9]+$/.test(pid) && commandOf(pid).includes(mark));
    expect(wardens).toHaveLength(1);
    for (const pid of wardens) kill(Number(pid));
    owner.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(survivors(pids)).toContain('run');
    expect(survivors(pids)).toContain('shell-left');
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
