/** What leaves the page's server: in pieces, whole, without secrets, and no longer than a reader waits for it. */
import { defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { openKernelWorld, type ReadonlyStore } from '@reprise/kernel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import ledgerApp from '../../cli/test/apps/app.js';
import { add, freshFolder, LEDGER } from '../../cli/test/worlds.js';
import { patientStore } from '../src/ask/patient-store.js';
import { openInspector } from '../src/index.js';
import { openPage, type Page, QUESTIONS } from './page.js';

const CANARY = 'canary-7f3a91c2d4e84b6f9a1c';
const HOSTILE = '\u001b[2J<img src=x onerror="window.__pwned=1">\u202e"},{"x":"</script>';

const folder = freshFolder();
const file = folder.file('secret.db');
let page: Page;

beforeAll(async () => {
  const leak = defineTool({
    name: 'leak',
    description: 'Says what it must not say.',
    args: z.strictObject({ text: z.string() }),
    run: async (_, context) => `${HOSTILE} ${await context.secret('KEY')}`,
  });
  const agent = defineAgent({ name: 'spy', model: 'main', instructions: 'Leak.', tools: [leak] });
  const world = await openAgentWorld({
    ...{ store: sqlite(file), agents: [agent], models: { main: {} } },
    secrets: async () => CANARY,
    llm: (judge) =>
      llmGenerateAdapter(
        {
          main: scriptBy(({ messages }) =>
            messages.at(-1)?.role === 'tool'
              ? { text: `${HOSTILE} said` }
              : { calls: [{ tool: 'leak', args: { text: HOSTILE } }] },
          ),
        },
        { judge },
      ),
  });
  await world.session('spy', agent).send(`Leak ${HOSTILE}`);
  await world.pump();
  await world.close();
  page = await openPage(file);
});
afterAll(async () => {
  await page.close();
  folder.remove();
});

describe('what leaves the server of the page', () => {
  it('hostile texts come whole, as JSON that no browser takes for a page, and no secret comes at all', async () => {
    const { json: story } = await page.ask('/api/story');
    const words = story.entries.map((entry: { words: string }) => entry.words).join('\n');
    expect(words).toContain('[secret]');
    expect(words.split('<img src=x onerror=').length).toBeGreaterThan(3);
    const { cells } = (await page.ask('/api/cells')).json;
    const paths = [
      ...Object.entries(QUESTIONS).map(([name, query]) => `${name}?${query.replace(/at=\d+&?/, '')}`),
      ...cells.map((cell: string) => `state?cell=${encodeURIComponent(cell)}`),
      'records',
      'story?session=spy',
      'prompt?call=last&as=sent',
      `search?q=${encodeURIComponent(HOSTILE)}`,
      `tree?name=${encodeURIComponent(HOSTILE)}`,
    ];
    for (const path of paths) {
      const { headers, text } = await page.ask(`/api/${path}`);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect({ path, secret: text.includes(CANARY) }).toEqual({ path, secret: false });
      // A terminal that prints an answer is sent nothing that it would execute.
      expect({ path, isRaw: ['\u001b', '\u202e'].some((sign) => text.includes(sign)) }).toEqual({ path, isRaw: false });
    }
  });

  it('a long text comes in pieces of 64 KiB at most, cut between characters, that make it up again', async () => {
    const path = folder.file('long.db');
    const long = `${'é😀a'.repeat(30_000)}\n`;
    const world = await openKernelWorld({ store: sqlite(path), app: ledgerApp });
    await add(world, 1);
    const text = await world.content.put(new TextEncoder().encode(long));
    await world.request(LEDGER, { name: 'demo/Noted@1', value: { text: '', at: [text] } });
    await world.close();
    const other = await openPage(path, ledgerApp);
    let whole = '';
    for (let from: number | null = 0; from !== null; ) {
      const { json } = await other.ask(`/api/blob?digest=${text.hex}&from=${from}`);
      expect(new TextEncoder().encode(json.text).length).toBeLessThanOrEqual(64 * 1024);
      whole += json.text;
      from = json.next;
    }
    expect(whole === long).toBe(true);
    await other.close();
  });

  it('the reading of a question ends when its page leaves, and other questions are answered meanwhile [SRV-30]', async () => {
    const store = await sqlite(file).openReadonly();
    const { slow, reading } = endless(store);
    const inspector = await openInspector({
      store: slow,
      path: file,
      page: async () => ({ html: '', script: '', style: '' }),
    });
    const [base = '', token = ''] = inspector.url.split('/#token=');
    const headers = { 'x-reprise-token': token };
    const gone = new AbortController();
    const asked = fetch(`${base}/api/cost`, { headers, signal: gone.signal });
    await expect.poll(() => reading.frames).toBeGreaterThan(3);
    expect((await fetch(`${base}/api/records?from=0&limit=1`, { headers })).status).toBe(200);
    expect(reading.isOver).toBe(false);
    gone.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => reading.isOver).toBe(true);
    await inspector.close();
    await store.close();
  });

  it('a reading that never waits by itself lets others have their turn, and ends with its signal [SRV-30]', async () => {
    const stop = new AbortController();
    const frame = { seq: 0, at: 0, kind: 'request', head: '', bytes: new Uint8Array() };
    const journal = {
      head: async () => ({ seq: 0, digest: '' }),
      findKey: async () => undefined,
      findLast: async () => undefined,
      async *read() {
        for (;;) yield frame;
      },
    };
    const busy = { journal, content: {}, close: async () => undefined } as unknown as ReadonlyStore;
    setTimeout(() => stop.abort(), 5);
    const all = async () => {
      for await (const _ of patientStore(busy, stop.signal).journal.read(0));
    };
    await expect(all()).rejects.toThrow('aborted');
  });

  it('closing the server ends the work on all questions [SRV-30]', async () => {
    const store = await sqlite(file).openReadonly();
    const { slow, reading } = endless(store);
    const inspector = await openInspector({
      store: slow,
      path: file,
      page: async () => ({ html: '', script: '', style: '' }),
    });
    const [base = '', token = ''] = inspector.url.split('/#token=');
    const asked = fetch(`${base}/api/cost`, { headers: { 'x-reprise-token': token } });
    const ended = expect(asked).rejects.toThrow();
    await expect.poll(() => reading.frames).toBeGreaterThan(3);
    await inspector.close();
    expect(reading.isOver).toBe(true);
    await ended;
    await store.close();
  });
});

/** A store whose whole journal never ends: its first frame comes again and again. */
function endless(store: ReadonlyStore) {
  const reading = { frames: 0, isOver: false };
  const { journal } = store;
  const slow: ReadonlyStore = {
    content: store.content,
    close: async () => undefined,
    journal: {
      head: () => journal.head(),
      findKey: (key) => journal.findKey(key),
      findLast: (kind, seq) => journal.findLast(kind, seq),
      async *read(from, to) {
        if (from !== 0 || to === 0) return yield* journal.read(from, to);
        try {
          for (;;)
            for await (const frame of journal.read(0, 0)) {
              reading.frames++;
              await new Promise((resolve) => setTimeout(resolve, 2));
              yield frame;
            }
        } finally {
          reading.isOver = true;
        }
      },
    },
  };
  return { slow, reading };
}
