import type { InputPart } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { refOf } from '../histories/content.js';
import { type Call, outputOf, play, type Scene } from './scene.js';

const long = (n: number, length: number) => `${n}`.padEnd(length, 'x');
const part = (n: number): InputPart => ({
  kind: 'blob',
  blob_ref: refOf(n),
  view: 'full',
  media_type: long(n, 128),
  name: long(n, 256),
});

/** A run that is asked for these calls. */
function asked(s: Scene, calls: readonly Call[]): void {
  s.input();
  s.answer({ calls });
}

describe('a state stays small, whatever it is given', () => {
  it('sixty-four calls with sixteen files each and the longest paths: all files are in the transcript [SES-24]', () =>
    play({ limits: { max_tool_calls_per_step: 64 } }, (s) => {
      asked(
        s,
        Array.from({ length: 64 }, (_, n) => ({ id: `k${n}` })),
      );
      const files = Array.from({ length: 16 }, (_, n) => ({
        blob_ref: refOf(n),
        path: long(n, 1_024),
        media_type: 'image/png',
        bytes: 1,
      }));
      for (let n = 0; n < 63; n++) {
        s.toolEnds(`k${n}`, { status: 'ok', payload: outputOf(7, { files: n < 8 ? files : [], artifacts: files }) });
        expect(s.bytes().length).toBeLessThan(48 * 1024);
      }
      s.toolAnswers('k63');
      expect(s.transcript()).toHaveLength(66);
    }));

  it('sixteen waits for many unknown children each have a result', () =>
    play({}, (s) => {
      const children = Array.from({ length: 12 }, (_, n) => long(n, 64));
      asked(
        s,
        Array.from({ length: 16 }, (_, n) => ({ id: `w${n}`, session: { op: 'wait', children, mode: 'all' } })),
      );
      expect(s.lifecycle()).toBe('Running');
      expect(s.transcript().filter((line) => line.startsWith('result'))).toHaveLength(16);
    }));

  it('the first of calls that are too large together are executed, and the rest is refused as data that the model reads', () =>
    play({}, (s) => {
      const parts = Array.from({ length: 16 }, (_, n) => part(n));
      asked(
        s,
        Array.from({ length: 5 }, (_, n) => ({ id: `s${n}`, session: { op: 'spawn', agent: 'a', parts } })),
      );
      expect(s.lifecycle()).toBe('Running');
      expect(s.transcript().at(-1)).toBe('result s4: (failed tool_args_invalid/too_large)');
      const refused = s.transcript().filter((line) => line.includes('too_large'));
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThan(5);
    }));

  it('all calls behind the first one that does not fit are refused, of sixty-four that are too large together', () =>
    play({ limits: { max_tool_calls_per_step: 64 } }, (s) => {
      const parts = Array.from({ length: 16 }, (_, n) => part(n));
      const calls: Call[] = Array.from({ length: 64 }, (_, n) => ({ id: `k${n}` }));
      for (let n = 20; n < 24; n++) calls[n] = { id: `k${n}`, session: { op: 'spawn', agent: 'a', parts } };
      asked(s, calls);
      for (let n = 0; n < 20; n++) s.toolAnswers(`k${n}`);
      const lines = s.transcript().filter((line) => line.startsWith('result'));
      expect(lines).toHaveLength(64);
      const refused = lines.map((line) => line.includes('too_large'));
      const first = refused.indexOf(true);
      expect(first).toBeGreaterThanOrEqual(20);
      expect(first).toBeLessThan(24);
      expect(refused).toEqual(refused.map((_, n) => n >= first));
    }));

  it('steers that are too large together are refused', () =>
    play({}, (s) => {
      s.input();
      const steer = () => s.command({ type: 'Steer', parts: Array.from({ length: 16 }, (_, n) => part(n)) });
      expect(steer()?.code).toBeUndefined();
      expect(steer()?.code).toBe('too_many_steers');
    }));

  it('a definition that is too large is refused', () =>
    play({}, (s) => {
      const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [long(n, 16), long(n, 512)]));
      expect(s.adopt({ options: { metadata } })).toBe('request_rejected');
    }));

  it('a reconfiguration that exceeds the bound of a session is refused and changes nothing [SES-24]', () =>
    play({}, (s) => {
      s.input();
      const before = s.bytes();
      const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [long(n, 16), long(n, 512)]));
      expect(s.command({ type: 'Reconfigure', patch: { options: { metadata } } })?.code).toBe('config_too_large');
      expect(s.bytes()).toEqual(before);
    }));

  it('labels that exceed the bound of a session are refused [SES-24]', () =>
    play({}, (s) => {
      const labels = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [long(n, 64), long(n, 256)]));
      const { config, def_ref } = s.state();
      const value = { def_ref, config, adopt: 'next_run', agents: [], labels };
      expect(s.send('aos.agent/AgentAdopted@1', value, 'other')).toBe('request_rejected');
    }));

  it('a hundred runs leave the size of the state as it was once the table of exchanges was full [SES-24]', () =>
    play({}, (s) => {
      const sizes: number[] = [];
      for (let n = 0; n < 100; n++) {
        asked(s, [{ id: 'a' }]);
        s.toolAnswers('a');
        s.answer();
        if (n >= 20) sizes.push(s.bytes().length);
      }
      // Counters and item numbers take a byte more where they pass 24 and 256.
      expect(Math.max(...sizes) - (sizes[0] ?? 0)).toBeLessThan(40);
    }));
});
