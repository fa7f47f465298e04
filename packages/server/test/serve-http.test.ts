/** A world over HTTP: clients of each revision, who they are, and what they may. */
import { AGENT_POLICY } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import { addInput, addOutput, countOf } from './support/notes.js';
import {
  bareCall,
  begin,
  callOf,
  messageOf,
  openNotes,
  overHttp,
  overPipes,
  post,
  REVISIONS,
  raw,
  SECRET,
} from './support/stage.js';
import { talker } from './support/talker.js';

const add = (text: string, more: object = {}) => ({ name: 'note_add', arguments: { notebook: 'ann', text, ...more } });

describe.each(REVISIONS)('serving a client of the revision %s', (revision, negotiation) => {
  it('tools are listed with the schemas by which they are checked, byte for byte [SRV-6]', async () => {
    await using stage = await overHttp();
    const client = await stage.client('human:ann', negotiation);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['note_add', 'note_wrong', 'note_wait']);
    await client.close();
    const listed = await raw(stage, revision, 'tools/list');
    expect(listed).toContain(`"inputSchema":${JSON.stringify(addInput)},"outputSchema":${JSON.stringify(addOutput)}`);
  });

  it('answers are the same over HTTP and on standard input', async () => {
    const answers: unknown[] = [];
    for (const carrier of ['http', 'stdio'] as const) {
      await using stage = await overHttp();
      const pipe = carrier === 'stdio' ? await overPipes(stage.world, 'human:ann', negotiation) : undefined;
      const client = pipe?.client ?? (await stage.client('human:ann', negotiation));
      const failed = (call: object) =>
        client.callTool(call as never).then(String, ({ code, message }) => [code, message]);
      answers.push([
        await client.callTool(add('one')),
        await client.callTool(add('two')),
        await client.callTool(add('forbidden')),
        await failed({ name: 'note_add', arguments: { notebook: 'Ann', text: 7 } }),
        await failed({ name: 'nothing', arguments: {} }),
        await client.listResources(),
        await client.listResourceTemplates(),
        (await client.readResource({ uri: 'notes://ann' })).contents,
        await client.readResource({ uri: 'notes://bob' }).then(String, ({ code }) => code),
      ]);
      await client.close();
      await pipe?.serving.close();
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject([
      { structuredContent: { number: 1 } },
      { structuredContent: { number: 2 } },
      { isError: true, content: [{ text: expect.stringContaining('request_rejected') }] },
      [-32_602, expect.stringContaining('notebook')],
      [-32_602, expect.stringContaining('Unknown tool')],
      { resources: [{ uri: 'notes://' }, { uri: 'reprise://sessions' }] },
      { resourceTemplates: expect.anything() },
      [{ uri: 'notes://ann', mimeType: 'text/plain', text: 'one\ntwo' }],
      expect.any(Number),
    ]);
  });

  it('calls that are sent 1,000 times under one command are one act with one answer [SRV-4]', async () => {
    await using stage = await overHttp();
    const client = await stage.client('human:ann', negotiation);
    const numbers = new Set<unknown>();
    for (let i = 0; i < 20; i++) {
      const sent = Array.from({ length: 50 }, () => client.callTool(add('once', { command_id: 'c1' })));
      for (const { structuredContent } of await Promise.all(sent)) numbers.add(JSON.stringify(structuredContent));
    }
    expect([...numbers]).toEqual(['{"number":1}']);
    expect(await countOf(stage.world.kernel, 'ann')).toBe(1);
    const other = await stage.client('human:bob', negotiation);
    expect((await other.callTool(add('once', { command_id: 'c1' }))).structuredContent).toEqual({ number: 2 });
    const changed = await client.callTool(add('changed', { command_id: 'c1' }));
    expect(changed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('request_conflict') }] });
    expect(await countOf(stage.world.kernel, 'ann')).toBe(2);
    await Promise.all([client.close(), other.close()]);
  });

  it('a client that follows resources is told of changes only of what its principal may read [SRV-8]', async () => {
    const policy = [
      { read: 'test/Notebook@1/secret', who: 'human:ann', decision: 'deny' as const },
      { send: '*', who: 'human:*', decision: 'allow' as const },
    ];
    const world = await openNotes({ policy });
    await using stage = await overHttp({ world });
    const told: string[] = [];
    const client = await stage.client('human:ann', negotiation);
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
    const uris = ['notes://ann', 'notes://secret'];
    if (revision === '2026-07-28') await client.listen({ resourceSubscriptions: uris });
    else for (const uri of uris) await client.subscribeResource({ uri });
    const writer = await stage.client('human:bob', negotiation);
    await expect
      .poll(
        async () => {
          await writer.callTool({ name: 'note_add', arguments: { notebook: 'secret', text: 'x' } });
          await writer.callTool(add('x'));
          return told;
        },
        { interval: 100 },
      )
      .toContain('notes://ann');
    expect(told).not.toContain('notes://secret');
    expect(await client.readResource({ uri: 'notes://secret' }).then(String, ({ code }) => code)).toEqual(
      expect.any(Number),
    );
    await Promise.all([client.close(), writer.close()]);
  });

  it('sessions, their transcripts, and the content that they link are resources [SRV-9]', async () => {
    const session = 'aos.agent/SessionReducer@1/talk/1';
    const policy = [{ read: session, who: 'human:bob', decision: 'deny' as const }, ...AGENT_POLICY];
    const world = await openNotes({ policy });
    await using stage = await overHttp({ world });
    await (await stage.world.session('talk/1', talker).send('Hello')).text();
    const client = await stage.client('human:ann', negotiation);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('reprise://sessions/talk%2F1');
    const read = async (uri: string) => {
      const [found] = (await client.readResource({ uri })).contents;
      return found !== undefined && 'text' in found ? JSON.parse(found.text) : found;
    };
    expect(await read('reprise://sessions')).toMatchObject({ sessions: [{ session: 'talk/1', status: 'Completed' }] });
    expect(await read('reprise://sessions/talk%2F1')).toMatchObject({ agent: 'talker', runs: 1, pending: [] });
    const { items } = await read('reprise://sessions/talk%2F1/transcript');
    expect(items.map(({ role, text }: { role: string; text: string }) => [role, text])).toEqual([
      ['user', 'Hello'],
      ['assistant', 'answer 0'],
    ]);
    const { contents } = await client.readResource({ uri: items[0].links[0] });
    expect(contents).toMatchObject([{ mimeType: 'text/plain', text: 'Hello' }]);
    for (const uri of [
      'reprise://sessions/none',
      items[0].links[0].replace('talk%2F1', 'none'),
      `${items[0].links[0].slice(0, -4)}0000`,
    ])
      expect(await client.readResource({ uri }).then(String, ({ code }) => code)).toEqual(expect.any(Number));
    const bob = await stage.client('human:bob', negotiation);
    expect((await bob.listResources()).resources.map(({ uri }) => uri)).toEqual(['notes://', 'reprise://sessions']);
    for (const uri of ['reprise://sessions/talk%2F1', 'reprise://sessions/talk%2F1/transcript', items[0].links[0]])
      expect(await bob.readResource({ uri }).then(String, ({ code }) => code)).toEqual(expect.any(Number));
    await Promise.all([client.close(), bob.close()]);
  });

  it('a denial is a result, wrong arguments are an error of the protocol, and the client goes on [SRV-5]', async () => {
    await using stage = await overHttp({ has: (who) => (who === 'human:ann' ? ['note_add'] : []) });
    const ann = await stage.client('human:ann', negotiation);
    const bob = await stage.client('human:bob', negotiation);
    expect((await ann.listTools()).tools.map(({ name }) => name)).toEqual(['note_add']);
    expect((await bob.listTools()).tools).toEqual([]);
    expect(await bob.callTool(add('x'))).toMatchObject({
      isError: true,
      content: [{ text: '{"error":"capability_denied","detail":"tool"}' }],
    });
    await expect(ann.callTool({ name: 'note_add', arguments: { text: 'x' } })).rejects.toMatchObject({ code: -32_602 });
    expect((await ann.callTool(add('after'))).structuredContent).toEqual({ number: 1 });
    expect(await countOf(stage.world.kernel, 'ann')).toBe(1);
    await Promise.all([ann.close(), bob.close()]);
  });

  it('an answer that is not of its form is told to the app, and to the client only that the call failed [SRV-10]', async () => {
    await using stage = await overHttp();
    const client = await stage.client('human:ann', negotiation);
    await expect(client.callTool({ name: 'note_wrong', arguments: {} })).rejects.toMatchObject({ code: -32_603 });
    expect(stage.errors.join()).toContain('number');
    await client.close();
  });

  it('progress reaches a client that asked, and a cancelled call is told so', async () => {
    await using stage = await overHttp({ http: { limits: { drainMs: 3_600_000 } } });
    const client = await stage.client('human:ann', negotiation);
    const stop = new AbortController();
    const heard: unknown[] = [];
    const waiting = client.callTool(
      { name: 'note_wait', arguments: {} },
      { signal: stop.signal, onprogress: (note) => void heard.push(note) },
    );
    await expect.poll(() => heard.length).toBe(1);
    stop.abort();
    await expect(waiting).rejects.toThrow();
    await client.close();
    await stage.serving.close(); // it waits for no call that its client has left: if it did, it would never end
  });
});

describe('requests of the revision with sessions', () => {
  it('requests are one act for each session and id, however often they are sent, also at once [SRV-4]', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const opened = await Promise.all([1, 2].map(() => post(stage.url, token, begin)));
    const [one, two] = opened.map(({ headers }) => ({ 'mcp-session-id': headers.get('mcp-session-id') ?? '' }));
    await Promise.all(opened.map((answer) => answer.text()));
    const numbers = new Set<string>();
    for (let i = 0; i < 20; i++) {
      const sent = Array.from({ length: 50 }, async () => {
        const { id, result } = await messageOf(await post(stage.url, token, callOf(9, add('x').arguments), one));
        numbers.add(JSON.stringify([id, result?.structuredContent]));
      });
      await Promise.all(sent);
    }
    expect([...numbers]).toEqual(['[9,{"number":1}]']);
    await messageOf(await post(stage.url, token, callOf(9, add('x').arguments), two));
    await messageOf(await post(stage.url, token, callOf('9', add('x').arguments), one));
    expect(await countOf(stage.world.kernel, 'ann')).toBe(3);
  });

  it('a session belongs to the principal that opened it; to another one it does not exist [SRV-1]', async () => {
    await using stage = await overHttp();
    const [ann, bob] = await Promise.all([stage.tokenOf('human:ann'), stage.tokenOf('human:bob')]);
    const opened = await post(stage.url, ann, begin);
    await opened.text();
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const taken = await post(stage.url, bob, callOf(1, add('x').arguments), session);
    expect(taken.status).toBe(404);
    const ended = await fetch(stage.url, { method: 'DELETE', headers: { authorization: `Bearer ${bob}`, ...session } });
    expect(ended.status).toBe(404);
    expect((await post(stage.url, ann, callOf(1, add('x').arguments), session)).status).toBe(200);
    expect(await countOf(stage.world.kernel, 'ann')).toBe(1);
  });

  it('requests end with their session, and none begins without initialize', async () => {
    await using stage = await overHttp({ http: { limits: { sessions: 2 } } });
    const token = await stage.tokenOf('human:ann');
    expect((await post(stage.url, token, callOf(1, add('x').arguments))).status).toBe(400);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const opened = await post(stage.url, token, begin);
      await opened.text();
      ids.push(opened.headers.get('mcp-session-id') ?? '');
    }
    const status = async (i: number) =>
      (await post(stage.url, token, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': ids[i] ?? '' }))
        .status;
    expect([await status(0), await status(1), await status(2)]).toEqual([404, 200, 200]);
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': ids[1] ?? '' };
    expect((await fetch(stage.url, { method: 'DELETE', headers })).status).toBe(204);
    expect(await status(1)).toBe(404);
  });
});

describe('who sends a request', () => {
  it('two principals share a connection, each request under its own [SRV-1]', async () => {
    const seen: string[] = [];
    await using stage = await overHttp({ onCall: (_id, { principal }) => void seen.push(principal) });
    const tokens = await Promise.all(['ann', 'bob', 'ann'].map((name) => stage.tokenOf(`human:${name}`)));
    for (const [i, token] of tokens.entries()) {
      const [body, headers] = bareCall(i, add('x').arguments);
      const answer = await messageOf(await post(stage.url, token, body, headers));
      expect(answer.result?.structuredContent).toEqual({ number: i + 1 });
    }
    expect(seen).toEqual(['human:ann', 'human:bob', 'human:ann']);
  });

  it('nobody without a valid token: forged, altered, ended, revoked, of another world; nothing reaches a cell [SRV-2, SRV-3]', async () => {
    await using stage = await overHttp();
    await using other = await overHttp();
    const good = await stage.tokenOf('human:ann');
    const [head = '', body = '', sign = ''] = good.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const altered = Buffer.from(JSON.stringify({ ...claims, principal: 'human:root' })).toString('base64url');
    const short = await stage.tokens.issue('human:ann', { for: 1 });
    const revoked = await stage.tokenOf('human:ann');
    await stage.tokens.revoke(revoked);
    const bobs = await stage.tokenOf('human:bob');
    await stage.tokens.revokeAll('human:bob');
    await new Promise((resolve) => setTimeout(resolve, 5));
    const bad = {
      none: '',
      forged: 'rps1.e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      altered: `${head}.${altered}.${sign}`,
      unsigned: `${head}.${body}.`,
      resigned: `${head}.${body}.${'A'.repeat(43)}`,
      ended: short,
      revoked,
      allRevoked: bobs,
      elsewhere: await other.tokenOf('human:ann'),
      long: `rps1.${'A'.repeat(10_000)}.${sign}`,
    };
    const before = stage.world.kernel.head.seq;
    for (const [name, token] of Object.entries(bad)) {
      const [call, headers] = bareCall(1, add('x').arguments);
      for (const answer of [await post(stage.url, token, call, headers), await post(stage.url, token, begin)]) {
        expect([name, answer.status, answer.headers.get('www-authenticate')]).toEqual([name, 401, 'Bearer']);
        expect(await answer.text()).not.toContain('rps1');
      }
    }
    expect(stage.world.kernel.head.seq).toBe(before);
    const [call, headers] = bareCall(1, add('x').arguments);
    expect((await post(stage.url, good, call, headers)).status).toBe(200);
    const again = await stage.tokenOf('human:bob'); // what is issued after a revocation is valid
    expect((await post(stage.url, again, call, headers)).status).toBe(200);
    expect(stage.errors).toEqual([]);
  });

  it('a principal that a part does not let act is refused, in mid-session too [SRV-3]', async () => {
    let mayAct = true;
    await using stage = await overHttp({ admits: () => mayAct });
    const client = await stage.client('human:ann', { mode: 'legacy' });
    expect((await client.callTool(add('x'))).structuredContent).toEqual({ number: 1 });
    mayAct = false;
    await expect(client.callTool(add('x'))).rejects.toThrow();
    const pipe = await overPipes(stage.world, 'human:ann', { mode: 'legacy' });
    expect((await pipe.client.listTools()).tools).toEqual([]);
    await pipe.client.close();
    expect(await countOf(stage.world.kernel, 'ann')).toBe(1);
    await client.close();
  });

  it('no client acts as the operator, whatever auth says', async () => {
    await using stage = await overHttp({ http: { auth: () => 'operator' } });
    expect((await post(stage.url, 'x', begin)).status).toBe(401);
    expect(stage.errors.join()).toContain('human:NAME');
    await expect(stage.tokens.issue('operator', { for: '1h' })).rejects.toThrow('invalid_argument');
  });

  it('tokens and the secret that signs them stand in no frame and no content [SRV-3]', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const client = await stage.client('human:ann', { mode: 'auto' });
    await client.callTool(add('x'));
    await stage.tokens.revoke(token);
    const { kernel } = stage.world;
    let bytes = '';
    for await (const frame of kernel.frames(0)) {
      bytes += JSON.stringify(frame);
      if (frame.seq === kernel.head.seq) break;
    }
    for (const secret of [SECRET, token, token.split('.')[1] ?? '', token.split('.')[2] ?? ''])
      expect(bytes).not.toContain(secret);
    expect(stage.errors.join()).toBe('');
    await client.close();
  });
});
