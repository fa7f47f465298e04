import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { boundOutput, FAMILY_POLICIES, OutputBounder, type OutputPolicy } from '../../src/tools/index.js';

const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const utf8 = (of: string) => new TextEncoder().encode(of);

const SIXTEEN_KIB = FAMILY_POLICIES.default as OutputPolicy;

const policies = fc.record(
  {
    policyId: fc.constant('test@1'),
    bytesMax: fc.integer({ min: 1, max: 400 }),
    linesMax: fc.integer({ min: 3, max: 20 }),
    keep: fc.constantFrom('head_tail' as const, 'head' as const, 'tail' as const),
  },
  { requiredKeys: ['policyId', 'bytesMax', 'keep'] },
);
/** Lines as a person counts them: a final line break does not begin another. */
const linesIn = (of: string) => of.split('\n').length - (of === '' || of.endsWith('\n') ? 1 : 0);
const outputs = fc.oneof(
  fc.uint8Array({ maxLength: 900, size: 'max' }),
  fc.string({ unit: 'binary', maxLength: 400, size: 'max' }).map(utf8),
  fc.string({ unit: fc.constantFrom('a', 'é', '語', '😀', '\ufeff', '\n'), maxLength: 400, size: 'max' }).map(utf8),
  fc.string({ unit: fc.constantFrom('a', '\n'), maxLength: 300, size: 'max' }).map(utf8),
);

describe('bounding an output', () => {
  it('a bounded output never exceeds its bounds, is UTF-8, and states the true sizes (seed 7) [TOOL-17, TOOL-18]', () => {
    fc.assert(
      fc.property(outputs, policies, (bytes, policy) => {
        const bounded = boundOutput(bytes, policy);
        expect(bounded.bytes.length).toBeLessThanOrEqual(policy.bytesMax);
        expect(bounded.meta.original_bytes).toBe(bytes.length);
        expect(bounded.meta.bounded_bytes).toBe(bounded.bytes.length);
        expect(linesIn(text(bounded.bytes))).toBeLessThanOrEqual(policy.linesMax ?? Number.POSITIVE_INFINITY);
        // A text of its own: whatever envelope it is put into, it comes out of it whole.
        expect(JSON.parse(JSON.stringify({ output: text(bounded.bytes) })).output).toBe(text(bounded.bytes));
      }),
      { seed: 7, numRuns: 2_000 / stepOf(4) },
    );
  });

  it('bounding is idempotent: an output that fits stays as it is (seed 7) [TOOL-20]', () => {
    fc.assert(
      fc.property(outputs, policies, (bytes, policy) => {
        const once = boundOutput(bytes, policy);
        const twice = boundOutput(once.bytes, policy);
        expect(Buffer.compare(once.bytes, twice.bytes)).toBe(0);
        expect(twice.meta.truncated).toBe(false);
      }),
      { seed: 7, numRuns: 2_000 / stepOf(4) },
    );
  });

  it('a bounded output has a prefix and a suffix, and counts exactly what is omitted (seed 7) [TOOL-19]', () => {
    const roomy = policies.map((policy) => ({ ...policy, bytesMax: policy.bytesMax + 150 }));
    fc.assert(
      fc.property(outputs, roomy, (bytes, policy) => {
        const { bytes: bounded, meta } = boundOutput(bytes, policy);
        const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        if (bytes.includes(0)) return;
        expect(meta.original_lines).toBe(linesIn(whole));
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
      { seed: 7, numRuns: 2_000 / stepOf(4) },
    );
  });

  it('a bounded output uses its room up to one code point on each side', () => {
    const policy: OutputPolicy = { policyId: 'test@1', bytesMax: 1_000, keep: 'head_tail' };
    expect(boundOutput(utf8('😀'.repeat(5_000)), policy).bytes.length).toBeGreaterThan(1_000 - 8);
    expect(boundOutput(utf8('a'.repeat(50_000)), SIXTEEN_KIB).bytes.length).toBe(16_384);
  });

  it('a bounded output counts invalid UTF-8 bytes as U+FFFD, three bytes each [TOOL-18]', () => {
    const policy: OutputPolicy = { policyId: 'test@1', bytesMax: 300, keep: 'head' };
    expect(boundOutput(new Uint8Array(100).fill(0xff), policy)).toMatchObject({
      meta: { original_bytes: 100, bounded_bytes: 300, truncated: false },
    });
    expect(boundOutput(new Uint8Array(101).fill(0xff), policy).meta.truncated).toBe(true);
  });

  it('a bounded output is the same whatever the pieces in which the output arrives (seed 7) [TOOL-20]', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(outputs, policies, cuts, (bytes, policy, sizes) => {
        const bounder = new OutputBounder(policy);
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const size = sizes[n % sizes.length] ?? 1;
          bounder.write(bytes.slice(at, at + size));
          at += size;
        }
        const pieced = bounder.end(createHash('sha256').update(bytes).digest('hex'));
        const whole = boundOutput(bytes, policy);
        expect(Buffer.compare(pieced.bytes, whole.bytes)).toBe(0);
        expect(pieced.meta).toEqual(whole.meta);
      }),
      { seed: 7, numRuns: 2_000 / stepOf(4) },
    );
  });

  it.each(['head_tail', 'head', 'tail'] as const)(
    'a bounded output counts the line of its marker: %s [TOOL-18]',
    (keep) => {
      const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n}`);
      const policy: OutputPolicy = { policyId: 'test@1', bytesMax: 16_384, linesMax: 11, keep };
      const shown = text(boundOutput(utf8(`${lines.join('\n')}\n`), policy).bytes);
      expect(linesIn(shown)).toBe(11);
      expect(shown.startsWith('line 0\n')).toBe(keep !== 'tail');
      expect(shown.endsWith('line 999\n')).toBe(keep !== 'head');
    },
  );

  it.each([
    [
      'a log with one NUL',
      utf8('seq\nx\0y\nERROR: test failed\n[exit 1]'),
      'seq\nx\ufffdy\nERROR: test failed\n[exit 1]',
    ],
    ['names that a NUL ends', utf8('./a\0./b c\0./größe\0[exit 0]'), './a\ufffd./b c\ufffd./größe\ufffd[exit 0]'],
    ['UTF-16 with its mark', Buffer.from('\ufeffgrößer\n', 'utf16le'), 'größer\n'],
  ])('%s is read as text, in whatever pieces it comes [TOOL-63]', (_what, bytes, expected) => {
    for (const size of [1, 2, 3, bytes.length]) {
      const bounder = new OutputBounder(SIXTEEN_KIB);
      for (let at = 0; at < bytes.length; at += size) bounder.write(bytes.subarray(at, at + size));
      expect(text(bounder.end('d').bytes)).toBe(expected);
    }
  });

  it('a binary output is replaced by its type, size and digest [TOOL-21]', () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
    const digest = createHash('sha256').update(png).digest('hex');
    const { bytes, meta } = boundOutput(png, SIXTEEN_KIB);
    expect(text(bytes)).toBe(`[binary output: image/png, 8 bytes; sha256:${digest}]\n`);
    expect(meta).toMatchObject({ original_bytes: 8, truncated: true });
    expect(meta).not.toHaveProperty('original_lines');
    expect(text(boundOutput(new Uint8Array(9), SIXTEEN_KIB).bytes)).toContain('application/octet-stream, 9 bytes');
  });
});
