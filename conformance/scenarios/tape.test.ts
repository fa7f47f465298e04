/** The file of recorded wire bytes, and the provider that plays it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from './index.js';
import { PROFILE_NAMES } from './profiles.js';
import { tapeFile, tapeOf, wireOf } from './run-scenario.js';
import { readTape, writeTape } from './tape.js';

const [scenario] = SCENARIOS as readonly [(typeof SCENARIOS)[number]];
const profile = 'openai-responses';
const URL_OF_NOTHING = 'http://provider.invalid/v1/responses';

describe('a tape', () => {
  it('a tape exists for each scenario on each protocol, and no other tape', () => {
    const names = SCENARIOS.map(({ name }) => `${name}.http`).sort();
    for (const name of PROFILE_NAMES) expect(readdirSync(path.dirname(tapeFile(name, ''))).sort()).toEqual(names);
  });

  it('a tape that is read and written again has the same bytes', () => {
    for (const name of PROFILE_NAMES) {
      for (const { name: recorded } of SCENARIOS) {
        const bytes = readFileSync(tapeFile(name, recorded));
        expect(Buffer.from(writeTape(readTape(bytes))).equals(bytes), `${recorded} ${name}`).toBe(true);
      }
    }
  });

  it.each(['flaky-provider', 'adapter-failure'])('the tape of %s has the same request at each retry', (name) => {
    for (const at of PROFILE_NAMES) {
      const [first, ...again] = tapeOf(at, name).map(({ request }) => Buffer.from(request).toString());
      expect(again.length).toBeGreaterThan(0);
      expect(new Set(again)).toEqual(new Set([first]));
    }
  });

  it('a tape that was cut, or is not a tape, is refused with the place of the error', () => {
    const bytes = readFileSync(tapeFile(profile, scenario.name));
    expect(() => readTape(bytes.subarray(0, 300))).toThrow('it was cut');
    expect(() => readTape(bytes.subarray(0, -1))).toThrow('a line does not end');
    expect(() => readTape(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toThrow('byte 0 of the tape');
  });
});

describe('a provider that is a tape', () => {
  const body = (text: string) => ({ method: 'POST', body: new TextEncoder().encode(text) });

  it('a provider on a tape returns the recorded pieces, bytes and status', async () => {
    const wire = wireOf(scenario, profile, { exactly: true });
    const [exchange] = tapeOf(profile, scenario.name);
    const answer = await wire.fetch(URL_OF_NOTHING, { method: 'POST', body: exchange?.request } as RequestInit);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(pieces).toEqual(exchange?.pieces);
    expect([wire.requests, wire.left, wire.problems]).toEqual([1, 0, []]);
  });

  it('a tape refuses a recorded request that goes to another address or comes twice', async () => {
    const wire = wireOf(scenario, profile, { exactly: true });
    const [exchange] = tapeOf(profile, scenario.name);
    const ask = (url: string) => wire.fetch(url, { method: 'POST', body: exchange?.request } as RequestInit);
    await expect(ask('http://provider.invalid/v1/chat/completions')).rejects.toThrow('not the recorded one');
    await ask(URL_OF_NOTHING);
    await expect(ask(URL_OF_NOTHING)).rejects.toThrow('not the recorded one');
  });

  it('a tape notes a request that breaks a rule of its protocol, and refuses one that was not recorded', async () => {
    const wire = wireOf(scenario, profile, { exactly: true });
    await expect(wire.fetch(URL_OF_NOTHING, body('{"model":"gpt-5","input":[]}'))).rejects.toThrow(
      'not the recorded one',
    );
    expect(wire.problems.length).toBeGreaterThan(1);
  });
});
