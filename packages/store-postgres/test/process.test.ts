/** Whether a process has died: said only where this machine has seen it. */
import { spawnSync } from 'node:child_process';
import { afterEach, expect, it, vi } from 'vitest';
import { hasDied, thisProcess } from '../src/tenure/process.js';

afterEach(() => void vi.restoreAllMocks());

/** This process by another number. */
function numbered(pid: number, started?: string): string {
  const [boot, namespace, , own] = thisProcess().split(' ');
  return [boot, namespace, String(pid), started ?? own].join(' ');
}

it('a process that lives has not died, and one that has ended has', () => {
  expect(hasDied(thisProcess())).toBe(false);
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  expect(hasDied(numbered(ended))).toBe(true);
});

it('a process that the system shows nothing of, and that a signal could reach, has not died', () => {
  const ended = spawnSync(process.execPath, ['-e', '']).pid; // nothing is shown of it, as of a hidden one
  vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
  });
  expect(hasDied(numbered(ended))).toBe(false);
});

it('a later process with the same number is another one, and nothing is known of other boots, containers and odd texts', () => {
  expect(hasDied(numbered(process.pid, '1'))).toBe(true);
  const [, namespace, pid, started] = thisProcess().split(' ');
  for (const known of [`other ${namespace} ${pid} 1`, `${thisProcess()} more`, '', numbered(process.pid, '')])
    expect(hasDied(known)).toBe(false);
  expect(started).not.toBe('');
});
