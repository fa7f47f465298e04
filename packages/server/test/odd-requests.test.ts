/** Requests that no library sends. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { requestText, statusOf, wire } from './support/sockets.js';
import { bareRequest, begin, messageOf, overHttp, post } from './support/stage.js';

const SEED = 11;

/** The status of the answer to bytes, after which the connection ends. */
async function statusFor(url: string, text: string): Promise<number | undefined> {
  const one = wire(url, text);
  await expect.poll(() => statusOf(one) ?? one.isClosed).toBeTruthy();
  one.socket.destroy();
  return statusOf(one);
}

describe('an odd request', () => {
  it(`a request with an odd target is the client's mistake (seed ${SEED}) [SRV-22]`, async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const targets = [
      '//',
      '///',
      '//mcp',
      '*',
      'http:',
      'http://',
      'http://x:99999/mcp',
      'mcp',
      '/%',
      '/mcp//',
      '/\\mcp',
      '?',
      '#',
    ];
    const one = async (target: string, bearer: string): Promise<void> => {
      const text = requestText(stage.url, bearer, 'GET').replace('/mcp', () => target);
      expect([target, await statusFor(stage.url, text)]).toEqual([
        target,
        expect.toSatisfy((n) => n >= 400 && n < 500),
      ]);
    };
    for (const target of targets) for (const bearer of ['', token]) await one(target, bearer);
    const odd = fc.string({ unit: fc.constantFrom(...'/:@%?#[]\\mcp0.*-&=;'), minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(odd, (target) => one(target, token)),
      { numRuns: 60 / stepOf(4), seed: SEED },
    );
    expect(stage.errors).toEqual([]);
  });

  it('a request whose target is a whole address, as proxies send it, reaches the server', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const text = requestText(stage.url, token, 'POST', {}, JSON.stringify(begin)).replace('/mcp', () => stage.url);
    expect(await statusFor(stage.url, text)).toBe(200);
    expect(stage.errors).toEqual([]);
  });

  it('a session begins with a granted request only [SRV-20]', async () => {
    await using stage = await overHttp({ http: { limits: { sessionsEach: 1 } } });
    const token = await stage.tokenOf('human:ann');
    const good = await post(stage.url, token, begin);
    await good.text();
    const session = { 'mcp-session-id': good.headers.get('mcp-session-id') ?? '' };
    for (const params of [{}, { protocolVersion: 5 }, { ...begin.params, clientInfo: 'x' }, undefined]) {
      const answer = await post(stage.url, token, { ...begin, params });
      expect([answer.headers.get('mcp-session-id'), (await messageOf(answer)).error?.code]).toEqual([null, -32_602]);
    }
    const ping = await post(stage.url, token, { jsonrpc: '2.0', id: 1, method: 'ping' }, session);
    expect(ping.status).toBe(200); // no failed one took its place
  });

  it('a URI that is too long for anything names nothing, and is no failure of the server [SRV-22]', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    for (const uri of [
      `reprise://sessions/${'a'.repeat(300)}`,
      `reprise://sessions/${'a'.repeat(300)}/transcript`,
      `reprise://sessions/${'%F0%9F%98%80'.repeat(65)}/content/${'0'.repeat(64)}`,
      `notes://${'a'.repeat(300)}`,
      `notes://${'a'.repeat(3_000)}`,
    ]) {
      const [body, headers] = bareRequest(1, 'resources/read', { uri });
      const answer = await messageOf(await post(stage.url, token, body, { ...headers, 'mcp-name': uri }));
      expect([uri.slice(0, 30), answer.error?.code]).toEqual([uri.slice(0, 30), -32_602]);
    }
    expect(stage.errors).toEqual([]);
  });

  it('params that do not fit their method are the mistake of the client, in words, in each revision [SRV-24]', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const begun = await post(stage.url, token, begin);
    await begun.text();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const odd: readonly (readonly [string, object, string])[] = [
      ['resources/read', {}, 'params.uri: '],
      ['resources/read', { uri: 5 }, 'params.uri: '],
      ['resources/list', { cursor: 5 }, 'params.cursor: '],
      ['tools/list', { cursor: [] }, 'params.cursor: '],
      ['tools/call', { name: 5 }, 'params.name: '],
      ['tools/call', { name: 'note_add', arguments: 'x' }, 'params.arguments: '],
    ];
    for (const [method, params, where] of odd) {
      const inSession = await post(stage.url, token, { jsonrpc: '2.0', id: 1, method, params }, session);
      const [body, headers] = bareRequest(1, method, params);
      const name = 'name' in params ? params.name : 'uri' in params ? params.uri : undefined;
      const named = name === undefined ? {} : { 'mcp-name': String(name) };
      for (const answer of [inSession, await post(stage.url, token, body, { ...headers, ...named })]) {
        const { error } = await messageOf(answer);
        expect([method, error?.code, error?.message]).toEqual([method, -32_602, expect.stringContaining(where)]);
        expect(error?.message).not.toContain('{');
      }
    }
    const follow = (uri: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } });
    for (const [uri, words] of [
      [5, 'params.uri: '],
      [`notes://${'a'.repeat(3_000)}`, 'Resource not found'],
    ] as const) {
      const { error } = await messageOf(await post(stage.url, token, follow(uri), session));
      expect([error?.code, error?.message]).toEqual([-32_602, expect.stringContaining(words)]);
    }
    expect(stage.errors).toEqual([]);
  });
});
