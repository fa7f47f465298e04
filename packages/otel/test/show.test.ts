import { it } from 'vitest';
import { Tracer } from '../src/index.js';
import { journalOf } from './support/journals.js';

it('shows', async () => {
  const kind = (process.env.KIND ?? 'trees') as never;
  const tracer = new Tracer();
  const frames = await journalOf(kind, Number(process.env.SEED ?? 2));
  const spans = [...frames.flatMap((f) => tracer.take(f)), ...tracer.open()];
  const kids = new Map<string | null, typeof spans>();
  for (const s of spans) kids.set(s.parentSpanId, [...(kids.get(s.parentSpanId) ?? []), s]);
  const out: string[] = [];
  const walk = (id: string | null, d: number) => {
    for (const s of kids.get(id) ?? []) {
      const a = s.attributes;
      out.push(
        `${'  '.repeat(d)}${s.name} [${s.startMs - frames[0]!.at}..${s.endMs - frames[0]!.at}] ${a['reprise.run'] ?? a['gen_ai.tool.call.id'] ?? ''} ${a['reprise.node'] ?? a['reprise.task'] ?? ''} ${a['error.type'] ?? ''} ${a['reprise.status'] ?? ''} ${s.links.length ? `links ${s.links.length}` : ''} ${s.events.map((e) => e.name).join()} ${a['reprise.open'] ? 'OPEN' : ''}`,
      );
      walk(s.spanId, d + 1);
    }
  };
  walk(null, 0);
  console.log(out.join('\n'));
  console.log(
    JSON.stringify(
      spans.find((s) => s.kind === 'client'),
      null,
      1,
    ),
  );
});
