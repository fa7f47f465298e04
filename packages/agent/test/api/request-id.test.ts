/** The names of requests in their world. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partRequestId, sessionRequestId, turnCallRequestId, worldRequestId } from '../../src/session/request-id.js';

const name = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F'), minLength: 1, maxLength: 5 });
const long = name.map((text) => text.repeat(60));
const named = fc.oneof(
  fc.tuple(fc.constant('session'), fc.oneof(name, long), fc.oneof(name, long)),
  fc.tuple(fc.constant('world'), fc.oneof(name, long)),
  fc.tuple(fc.constant('turn'), fc.stringMatching(/^[0-9]\.[0-9]$/), fc.oneof(name, long)),
  fc.tuple(fc.constant('part'), fc.oneof(name, long), fc.oneof(name, long), fc.oneof(name, long)),
);

function idOf([kind, first = '', second = '', third = '']: readonly string[]): string {
  if (kind === 'session') return sessionRequestId(first, second);
  if (kind === 'turn') return turnCallRequestId(first, second);
  if (kind === 'part') return partRequestId(first, second, third);
  return worldRequestId(first);
}

describe('the id of a request', () => {
  it('a request id differs for each session, decision, call of a program and cell of a part, and fits its bound [SES-12]', () =>
    fc.assert(
      fc.property(named, named, (one, other) => {
        expect(idOf(one).length).toBeLessThanOrEqual(256);
        expect(idOf(one) === idOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 5_000, seed: 20_261_122 },
    ));

  it('mutant: the law finds ids that are made of names joined without escapes', () => {
    const joined = ([, ...names]: readonly string[]) => names.join('/');
    const found = fc.check(
      fc.property(named, named, (one, other) => {
        return joined(one) !== joined(other) || JSON.stringify(one) === JSON.stringify(other);
      }),
      { numRuns: 200_000, seed: 2 },
    );
    expect(found.failed).toBe(true);
  });

  it('a request id is unchanged for unambiguous names', () => {
    expect(sessionRequestId('stage', 'm-1')).toBe('stage/m-1');
    expect(sessionRequestId('stage', 'a/b')).toBe('stage/a/b');
    expect(worldRequestId('d-1')).toBe('d-1');
  });
});
