/** `reprise trace`: drawn, as OTLP/JSON, and sent to a collector. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Receiver, spansIn } from '../../../otel/test/support/receiver.js';
import { run } from '../run.js';
import { openScene } from './scene.js';

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-trace-'));
const file = path.join(folder, 'scene.world');
beforeAll(async () => {
  const scene = await openScene(file);
  await scene.settled();
  await scene.world.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('reprise trace', () => {
  it('each trace is drawn as a tree with times and tokens, with what is open, and how far the command read', async () => {
    const { code, out } = await run('trace', file);
    expect(code).toBe(0);
    expect(out).toContain('invoke_workflow tree upgrade');
    expect(out).toMatch(/└ invoke_workflow tree\.node 1 +[\d.]+ s {2}open/);
    expect(out).toMatch(/invoke_agent thinker thoughts\/r0 +[\d.]+ s {2}1000→100 tokens/);
    expect(out).toMatch(/Up to frame \d+\.\n$/);
    const { out: one } = await run('trace', file, '--limit', '1');
    expect(one.match(/ {2}trace [0-9a-f]{32}/g)?.length).toBe(1);
    expect(one).toContain('older traces are left out');
  });

  it('OTLP/JSON has what has ended, with --open the rest, with --after what came later, and content only with --content', async () => {
    const ended = (await run('trace', file, '--json')).out;
    const all = (await run('trace', file, '--json', '--open', '--service', 'shop')).out;
    const ids = (text: string) =>
      text
        .trim()
        .split('\n')
        .flatMap((line) => spansIn(line).map(({ spanId }) => spanId));
    expect(ids(all).slice(0, ids(ended).length)).toEqual(ids(ended));
    expect(ids(all).length).toBeGreaterThan(ids(ended).length);
    expect(all).toContain('"shop"');
    expect((await run('trace', file, '--json', '--after', '1000000')).out).toBe('');
    expect(ended).not.toContain('I think so.');
    expect((await run('trace', file, '--json', '--content')).out).toContain('I think so.');
  });

  it('the command sends spans to a collector, prints a cursor from which nothing is sent twice, and fails in words when nobody takes them', async () => {
    const receiver = await Receiver.listen();
    const sent = await run('trace', file, '--otlp', receiver.url, '--header', 'x-key: k', '--json');
    const { sent: count, cursor } = JSON.parse(sent.out) as { sent: number; cursor: number };
    expect(receiver.spans.length).toBe(count);
    expect(receiver.requests[0]?.headers['x-key']).toBe('k');
    const { out } = await run('trace', file, '--otlp', receiver.url, '--after', String(cursor));
    expect(out).toBe(`Sent 0 spans. To send what comes later: --after ${cursor}\n`);
    receiver.answers.push([403]);
    const refused = await run('trace', file, '--otlp', receiver.url);
    expect([refused.code, refused.err.includes('export_failed')]).toEqual([3, true]);
    await receiver.close();
    const wrong = await run('trace', file, '--otlp', 'nowhere');
    expect([wrong.code, wrong.err.includes('invalid_argument')]).toEqual([2, true]);
  });
});
