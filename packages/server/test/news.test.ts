/** What clients that listen are told: tools that a principal gains or loses, new sessions; and their streams. */
import { describe, expect, it } from 'vitest';
import { EventStream } from '../src/mcp/event-stream.js';
import { begin, openNotes, overHttp, overPipes, post, REVISIONS } from './support/stage.js';
import { talker } from './support/talker.js';

const note = { name: 'note_add', arguments: { notebook: 'ann', text: 'x' } };

describe.each(REVISIONS)('news for a client of the revision %s', (revision, negotiation) => {
  it.each(['http', 'stdio'] as const)(
    'a tool that a principal loses, and a new session, are told over %s [SRV-8]',
    async (carrier) => {
      let has = ['note_add', 'note_wait'];
      const world = await openNotes({ has: () => has });
      await using stage = await overHttp({ world });
      const pipe = carrier === 'stdio' ? await overPipes(world, 'human:ann', negotiation) : undefined;
      const client = pipe?.client ?? (await stage.client('human:ann', negotiation));
      const told: string[] = [];
      client.setNotificationHandler('notifications/tools/list_changed', () => void told.push('tools'));
      client.setNotificationHandler('notifications/resources/list_changed', () => void told.push('resources'));
      if (revision === '2026-07-28') await client.listen({ toolsListChanged: true, resourcesListChanged: true });
      expect((await client.listTools()).tools).toHaveLength(2);
      await new Promise((resolve) => setTimeout(resolve, 50)); // the stream of a client in a session opens beside its first requests
      has = ['note_add'];
      await client.callTool(note);
      await expect.poll(() => told).toContain('tools');
      expect((await client.listTools()).tools).toHaveLength(1);
      const before = told.length;
      await client.callTool(note);
      await world.session('new', talker).send('Hello');
      await expect.poll(() => told).toContain('resources');
      expect(told.slice(before)).not.toContain('tools'); // nothing was lost or gained meanwhile
      await client.close();
      await pipe?.serving.close();
    },
  );
});

/** How long a session lasts that nothing uses, in milliseconds. */
const SESSION_MS = 150;

describe('a stream of notices', () => {
  it('a new stream of a session takes the place of the one before, and a session that nothing uses ends', async () => {
    await using stage = await overHttp({ http: { limits: { sessionMs: SESSION_MS } } });
    const token = await stage.tokenOf('human:ann');
    const opening = async () => {
      const opened = await post(stage.url, token, begin);
      await opened.text();
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
      };
      return { headers, first: await fetch(stage.url, { headers }) };
    };
    let { headers, first } = await opening();
    // On a machine that stood still meanwhile the session ended before it had a stream.
    for (let tries = 1; first.status === 404 && tries < 20; tries++) ({ headers, first } = await opening());
    const second = await fetch(stage.url, { headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await first.text()).toBe('');
    const ping = () =>
      post(
        stage.url,
        token,
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { 'mcp-session-id': headers['mcp-session-id'] },
      );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await ping()).status).toBe(200); // its stream is in use
    await second.body?.cancel();
    // Each request uses the session, so the time between two is longer than it lasts.
    await expect.poll(() => ping().then(({ status }) => status), { interval: 2 * SESSION_MS }).toBe(404);
  });

  it('a stream that its client does not read ends, and its memory with it [SRV-11]', async () => {
    let ended = 0;
    const stream = new EventStream({}, new AbortController(), () => ended++);
    for (let i = 0; i < 5_000; i++) stream.notify('notifications/resources/updated', { uri: `notes://${i}` });
    const text = await stream.response.text();
    expect(text.split('\n\n').length).toBeLessThan(1_100);
    expect(ended).toBe(0); // the client did not leave
  });

  it('an `auth` that throws refuses the request, and is told to the app only [SRV-10]', async () => {
    const auth = async (): Promise<never> => {
      throw new Error('the directory of people is down: ldap://10.0.0.7');
    };
    await using stage = await overHttp({ http: { auth } });
    const answer = await post(stage.url, 'any', begin);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('ldap');
    expect(stage.errors.join()).toContain('ldap');
  });
});
