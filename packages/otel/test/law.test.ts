import { describe, expect, it } from 'vitest';
import { Tracer } from '../src/index.js';
import { journalOf, KINDS } from './support/journals.js';
import { problemsIn } from './support/rules.js';

describe('x', () => {
  it.each(KINDS)('%s', async (kind) => {
    const counts: Record<string, number> = {};
    for (let seed = 1; seed <= Number(process.env.N ?? 5); seed++) {
      const tracer = new Tracer();
      const frames = await journalOf(kind, seed);
      const spans = [...frames.flatMap((f) => tracer.take(f)), ...tracer.open()];
      for (const s of spans) counts[s.name.replace(/ .*/, '')] = (counts[s.name.replace(/ .*/, '')] ?? 0) + 1;
      counts.open = (counts.open ?? 0) + tracer.size;
      counts.traces = (counts.traces ?? 0) + new Set(spans.map((s) => s.traceId)).size;
      counts.frames = (counts.frames ?? 0) + frames.length;
      const bad = problemsIn(spans);
      if (bad.length > 0) console.log(kind, seed, bad.slice(0, 8), bad.length);
    }
    console.log(kind, JSON.stringify(counts));
  });
});
