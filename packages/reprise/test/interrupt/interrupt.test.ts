/** Ctrl-C ends an app soon, whatever it waits for, and leaves a world that goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { agentApp } from 'reprise';
import { verifyStore } from 'reprise/kernel';
import { sqlite } from 'reprise/sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { program } from '../../../../scripts/lib/program.js';

const APP = await program(new URL('app.ts', import.meta.url));

/**
 * What the app waits for takes longer than this, or never ends; a machine that stands still meanwhile takes less. How soon
 * it is, about a second, is printed.
 */
const LONGEST_MS = 30_000;

const folders: string[] = [];
const children = new Set<ChildProcess>();

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('an app that is interrupted', () => {
  it.each([
    ['a command that ignores signals', 'command'],
    ['a program in the background that ignores signals', 'background'],
    ['an MCP server that never answers', 'mcp'],
  ])('Ctrl-C during %s ends the app with 130, its processes too, and the world goes on [TOOL-28]', async (_, kind) => {
    const root = mkdtempSync(path.join(tmpdir(), 'reprise-interrupt-'));
    folders.push(root);
    const child = spawn(process.execPath, [APP, root, kind], { stdio: ['ignore', 'ignore', 'inherit'] });
    children.add(child);
    const noted = path.join(root, 'pids');
    // It is there before it is written.
    await expect.poll(() => existsSync(noted) && /^\d+ \d+/.test(readFileSync(noted, 'utf8'))).toBe(true);
    const pids = readFileSync(noted, 'utf8').trim().split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);

    const ended = new Promise((resolve) => child.once('exit', resolve));
    const interrupted = performance.now();
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    const tookMs = performance.now() - interrupted;
    console.log(`${kind}: ended ${Math.round(tookMs)} ms after Ctrl-C`);
    expect(tookMs).toBeLessThan(LONGEST_MS);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);

    const store = await sqlite(path.join(root, 'world.db')).openReadonly();
    const report = await verifyStore(store, { app: agentApp });
    expect(report.replayed).toBe(report.frames);
    await store.close();
  });
});
