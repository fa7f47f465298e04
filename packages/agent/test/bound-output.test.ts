import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutputPolicy } from '../src/index.js';
import { boundOutput, MODEL_OUTPUT_POLICY } from '../src/index.js';

const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const utf8 = (of: string) => new TextEncoder().encode(of);

const policies = fc.record({
  policyId: fc.constant('test@1'),
  bytesMax: fc.integer({ min: 1, max: 400 }),
  keep: fc.constantFrom('head_tail' as const, 'head' as const, 'tail' as const),
});
const outputs = fc.oneof(
  fc.uint8Array({ maxLength: 900 }),
  fc.string({ unit: 'binary', maxLength: 400 }).map(utf8),
  fc.string({ unit: fc.constantFrom('a', 'é', '語', '😀', '\ufeff', '\n'), maxLength: 400 }).map(utf8),
);

describe('bounding an output', () => {
  it('never exceeds the cap, always is UTF-8, and says the truth about sizes (seed 7)', () => {
    fc.assert(
      fc.property(outputs, policies, (bytes, policy) => {
        const bounded = boundOutput(bytes, policy);
        expect(bounded.bytes.length).toBeLessThanOrEqual(policy.bytesMax);
        expect(bounded.meta.original_bytes).toBe(bytes.length);
        expect(bounded.meta.bounded_bytes).toBe(bounded.bytes.length);
        expect(text(bounded.bytes)).toBeTypeOf('string');
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });

  it('is idempotent: what fits stays as it is (seed 7)', () => {
    fc.assert(
      fc.property(outputs, policies, (bytes, policy) => {
        const once = boundOutput(bytes, policy);
        const twice = boundOutput(once.bytes, policy);
        expect(Buffer.compare(once.bytes, twice.bytes)).toBe(0);
        expect(twice.meta.truncated).toBe(false);
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });

  it('keeps a prefix and a suffix, and counts exactly what is left out (seed 7)', () => {
    const roomy = policies.map((policy) => ({ ...policy, bytesMax: policy.bytesMax + 150 }));
    fc.assert(
      fc.property(outputs, roomy, (bytes, policy) => {
        const { bytes: bounded, meta } = boundOutput(bytes, policy);
        const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        if (!meta.truncated) {
          expect(text(bounded)).toBe(whole);
          return;
        }
        const digest = createHash('sha256').update(bytes).digest('hex');
        const found = new RegExp(`\\n\\.\\.\\.\\[truncated (\\d+) bytes; sha256:${digest}\\]\\n`).exec(text(bounded));
        const head = text(bounded).slice(0, found?.index);
        const tail = text(bounded).slice((found?.index ?? 0) + (found?.[0].length ?? 0));
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(Number(found?.[1])).toBe(utf8(whole).length - utf8(head).length - utf8(tail).length);
        if (policy.keep === 'head') expect(tail).toBe('');
        if (policy.keep === 'tail') expect(head).toBe('');
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });

  it('uses the room it has: at most a code point on each side is given up', () => {
    const policy: OutputPolicy = { policyId: 'test@1', bytesMax: 1_000, keep: 'head_tail' };
    expect(boundOutput(utf8('😀'.repeat(5_000)), policy).bytes.length).toBeGreaterThan(1_000 - 8);
    expect(boundOutput(utf8('a'.repeat(50_000)), MODEL_OUTPUT_POLICY).bytes.length).toBe(16_384);
  });

  it('counts the cap after bytes that are not UTF-8 became U+FFFD, three bytes each', () => {
    const policy: OutputPolicy = { policyId: 'test@1', bytesMax: 300, keep: 'head' };
    expect(boundOutput(new Uint8Array(100).fill(0xff), policy)).toMatchObject({
      meta: { original_bytes: 100, bounded_bytes: 300, truncated: false },
    });
    expect(boundOutput(new Uint8Array(101).fill(0xff), policy).meta.truncated).toBe(true);
  });
});
