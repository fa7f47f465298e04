/** Pages of lists for readers who may see few of their rows. */

import { AGENT_POLICY } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import { bareRequest, messageOf, openNotes, overHttp, post } from './support/stage.js';
import { talker } from './support/talker.js';

const SESSIONS = 130;
const session = (i: number): string => `patient-${String(i).padStart(3, '0')}`;
const address = (key: string): string => `aos.agent/SessionReducer@1/${key}`;

/** A world with many sessions, of which eve may read every seventh, and joe none. */
async function hospital() {
  const all = Array.from({ length: SESSIONS }, (_, i) => session(i));
  const seen = all.filter((_, i) => i % 2 === 0);
  const policy = [
    ...seen.map((key) => ({ read: address(key), who: 'human:eve', decision: 'allow' as const })),
    ...['human:eve', 'human:joe'].map((who) => ({ read: address('*'), who, decision: 'deny' as const })),
    ...AGENT_POLICY,
  ];
  const world = await openNotes({ policy });
  for (const key of all) await (await world.session(key, talker).send('Hello')).result().catch(() => undefined);
  const stage = await overHttp({ world });
  return { all, seen, stage };
}

const readOf = (uri: string): [object, Record<string, string>] => {
  const [body, headers] = bareRequest(1, 'resources/read', { uri });
  return [body, { ...headers, 'mcp-name': uri }];
};

/** Everything that a text may stand for: as it is, and as the bytes that it encodes. */
function readings(text: string): string {
  const encodings = ['hex', 'base64', 'base64url'] as const;
  return [text, ...encodings.map((encoding) => Buffer.from(text, encoding).toString('latin1'))].join('\n');
}

describe('the list of sessions', () => {
  it('the list of sessions shows each reader all that it may read, page by page, and its cursors name no session [SRV-19]', async () => {
    const { all, seen, stage } = await hospital();
    await using _stage = stage;
    const readers = { ann: all, eve: seen, joe: [] };
    for (const [name, expected] of Object.entries(readers)) {
      const token = await stage.tokenOf(`human:${name}`);
      const found: string[] = [];
      const texts: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
        const params = cursor === undefined ? {} : { cursor };
        const { result } = await messageOf(await post(stage.url, token, ...bareRequest(1, 'resources/list', params)));
        const { resources, nextCursor } = result as {
          readonly resources: readonly { readonly name: string }[];
          readonly nextCursor?: string;
        };
        const keys = resources.map((one) => one.name).filter((one) => one.startsWith('patient-'));
        if (nextCursor !== undefined) expect([name, keys.length]).toEqual([name, 50]);
        found.push(...keys);
        cursor = nextCursor;
        if (cursor !== undefined) texts.push(cursor);
        expect(pages).toBeLessThan(5);
      }
      expect([name, found.sort()]).toEqual([name, [...expected].sort()]);
      for (const text of texts) expect(readings(text)).not.toContain('patient');
      expect(new Set(texts.map(({ length }) => length)).size).toBeLessThanOrEqual(1);
    }
  });

  it('the list of sessions is read page by page as a resource too, and a reader who may see nothing is told of no further page [SRV-19]', async () => {
    const { seen, stage } = await hospital();
    await using _stage = stage;
    const page = async (token: string, uri: string) => {
      const { result } = await messageOf(await post(stage.url, token, ...readOf(uri)));
      const { contents } = result as { readonly contents: readonly { readonly text: string }[] };
      return JSON.parse(contents[0]?.text ?? '') as {
        readonly sessions: readonly { readonly session: string }[];
        readonly next?: string;
      };
    };
    const eve = await stage.tokenOf('human:eve');
    const first = await page(eve, 'reprise://sessions');
    expect(readings(first.next?.split('=')[1] ?? '')).not.toContain('patient');
    const second = await page(eve, first.next ?? '');
    expect(second.next).toBeUndefined();
    expect([...first.sessions, ...second.sessions].map((one) => one.session).sort()).toEqual(seen);
    expect(await page(await stage.tokenOf('human:joe'), 'reprise://sessions')).toEqual({ sessions: [] });
  });

  it('a cursor that was altered, made up, or given to another reader is refused [SRV-19]', async () => {
    const { stage } = await hospital();
    await using _stage = stage;
    const [ann, eve] = [await stage.tokenOf('human:ann'), await stage.tokenOf('human:eve')];
    const list = async (token: string, cursor?: string) =>
      messageOf(
        await post(stage.url, token, ...bareRequest(1, 'resources/list', cursor === undefined ? {} : { cursor })),
      );
    const cursor = String((await list(ann)).result?.nextCursor);
    const altered = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
    for (const [token, given] of [
      [eve, cursor],
      [ann, altered],
      [ann, 'x'],
      [ann, ''],
      [ann, Buffer.from('patient-010').toString('hex')],
    ] as const)
      expect([given.slice(0, 20), (await list(token, given)).error?.code]).toEqual([given.slice(0, 20), -32_602]);
    expect((await list(ann, cursor)).error).toBeUndefined();
  });
});
