/** Nothing fails in silence: each fault, in a turn of a session, at a place in its middle. */
import { describe, expect, it } from 'vitest';
import { FAULTS, placesFor, placesOf, played, SILENCE_MAX_MS } from './play.js';

describe('a fault in the middle of a turn', () => {
  it('each of eight faults is said within two seconds, by onError, the list of troubles, the run, or the end of the work (all places: npx tsx --conditions=@reprise/source scripts/long/trouble.ts) [JRN-40, EFF-26, TIME-9, SES-35]', async () => {
    const places = await placesOf('session');
    const trials = await Promise.all(
      FAULTS.map((fault) => played('session', fault, Math.ceil(placesFor(fault, places) / 2))),
    );
    for (const trial of trials) {
      expect(trial.met, trial.fault).toBe(true);
      expect(trial.silentMs, JSON.stringify(trial)).toBeLessThan(SILENCE_MAX_MS);
    }
    const said = trials.map(({ fault, onError, trouble, run, work }) => {
      const codes = [onError.at(-1) ?? '–', trouble[0] ?? '–', run[0] ?? '–', work ?? 'waits'];
      return `${fault}: ${codes.join(', ')}`;
    });
    expect(said).toEqual([
      'full disk: store_full, store_full, stalled: store_full, waits',
      'slow disk: store_slow, store_slow, stalled: store_slow, waits',
      'read-only disk: store_failed, store_failed, told store_failed, told store_failed',
      'clock jump: clock_mismatch, clock_mismatch, ended, Completed',
      'provider down: provider_error_retryable/network, provider_error_retryable/network, stalled: provider_error_retryable/network, waits',
      'wrong key: provider_error_terminal/auth, provider_error_terminal/auth, ended, Failed',
      'MCP server down: adapter_error/toolset_unreachable, adapter_error/toolset_unreachable, ended, Completed',
      'process killed: –, –, –, Completed',
    ]);
    for (const { fault, stderr } of trials.filter((trial) => trial.fault !== 'process killed'))
      expect(stderr.join('\n'), fault).toMatch(/\[[a-z_/]+\]\. [A-Z]/); // the code, and what to do
  });
});
