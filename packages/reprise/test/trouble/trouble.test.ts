/** Nothing fails in silence: each fault, in a turn of a session, at a place in its middle. */
import { describe, expect, it } from 'vitest';
import { FAULTS, type Fault, placesFor, placesOf, played, SILENCE_MAX_MS } from './play.js';
import { ownNow } from './waited.js';

describe('the clock by which silence is measured', () => {
  it('the clock leaves out nothing but the wait for a processor: what a thread sleeps, blocked or not, and what it computes is silence', async () => {
    const since = ownNow();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const { user } = process.cpuUsage();
    while (process.cpuUsage().user - user < 60_000);
    expect(ownNow() - since).toBeGreaterThan(150);
  });
});

describe('a fault in the middle of a turn', () => {
  it('each of eight faults is said within two seconds, by onError, the list of troubles, the run, a command of another process, or the end of the work (all places: npx tsx --conditions=@reprise/source scripts/long/trouble.ts) [JRN-40, EFF-26, TIME-9, SES-35, JRN-41]', async () => {
    const places = await placesOf('session');
    const play = (fault: Fault) => {
      const how = fault === 'full disk' || fault === 'process killed' ? 'process' : 'here';
      return played('session', fault, Math.ceil(placesFor(fault, places) / 2), how);
    };
    // A server that is down is met from the start, so what the other trials compute meanwhile would count as its silence.
    const alone = await play('MCP server down');
    const trials = await Promise.all(FAULTS.map((fault) => (fault === 'MCP server down' ? alone : play(fault))));
    for (const trial of trials) {
      expect(trial.met, trial.fault).toBe(true);
      expect(trial.silentMs, JSON.stringify(trial)).toBeLessThan(SILENCE_MAX_MS);
    }
    const said = trials.map(({ fault, onError, trouble, run, command, work }) => {
      const listed = `${command.codes[0] ?? '–'} (${command.code})`;
      const codes = [onError.at(-1) ?? '–', trouble[0] ?? '–', run[0] ?? '–', listed, work ?? 'waits'];
      return `${fault}: ${codes.join(', ')}`;
    });
    expect(said).toEqual([
      'full disk: store_full, store_full, stalled: store_full, store_full (1), waits',
      'slow disk: store_slow, store_slow, stalled: store_slow, store_slow (1), waits',
      'read-only disk: store_failed, store_failed, told store_failed, store_failed (1), told store_failed',
      'clock jump: clock_mismatch, clock_mismatch, ended, clock_mismatch (1), Completed',
      'provider down: provider_error_retryable/network, provider_error_retryable/network, stalled: provider_error_retryable/network, provider_error_retryable/network (1), waits',
      'wrong key: provider_error_terminal/auth, provider_error_terminal/auth, ended, provider_error_terminal/auth (1), Failed',
      'MCP server down: adapter_error/toolset_unreachable, adapter_error/toolset_unreachable, ended, adapter_error/toolset_unreachable (1), Completed',
      'process killed: –, –, –, process_died (1), Completed',
    ]);
    for (const { fault, stderr } of trials.filter((trial) => trial.fault !== 'process killed'))
      expect(stderr.join('\n'), fault).toMatch(/\[[a-z_/]+\]\. [A-Z]/); // the code, and what to do
  });
});
