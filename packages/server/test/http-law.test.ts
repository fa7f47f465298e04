/** Laws of a server over HTTP: random requests of several clients at once, against a ledger of what each may do. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServeHttpOptions } from '../src/index.js';
import { NOTEBOOK } from './support/notes.js';
import { bareCall, begin, callOf, openNotes, overHttp, post } from './support/stage.js';

const RUNS = 12;
const SEED = 20;

const PEOPLE = ['human:ann', 'human:bob', 'human:eve'] as const;

/** Eve has the tool no more; a token may be bad in several ways; a session may be that of another person. */
interface Sent {
  readonly who: number;
  readonly token: 'good' | 'none' | 'altered' | 'ended' | 'elsewhere';
  /** In a session: whose; absent in the revision without sessions. */
  readonly session?: number;
  readonly id: number;
  readonly command?: number;
  readonly fits: boolean;
}

const sent: fc.Arbitrary<Sent> = fc.record(
  {
    who: fc.nat({ max: 2 }),
    token: fc.oneof(
      { weight: 4, arbitrary: fc.constant('good' as const) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('none' as const, 'altered' as const, 'ended' as const, 'elsewhere' as const),
      },
    ),
    session: fc.nat({ max: 2 }),
    id: fc.nat({ max: 3 }),
    command: fc.nat({ max: 2 }),
    fits: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  },
  { requiredKeys: ['who', 'token', 'id', 'fits'] },
);

/** The acts that requests are, by what names each; calls that nothing names are acts of their own. */
function actsOf(all: readonly Sent[]): number {
  const acts = new Set<string>();
  for (const [i, { who, token, session, id, command, fits }] of all.entries()) {
    if (token !== 'good' || !fits || who === 2) continue;
    if (session !== undefined && session !== who) continue;
    if (command !== undefined) acts.add(`command ${who} ${command}`);
    else acts.add(session === undefined ? `fresh ${i}` : `request ${session} ${id}`);
  }
  return acts.size;
}

async function holds(all: readonly Sent[], http: Partial<ServeHttpOptions> = {}, forgetful = false): Promise<void> {
  const has = (who: string): string[] => (who === 'human:eve' ? [] : ['note_add']);
  let calls = 0;
  const world = await openNotes({ has, ...(forgetful ? { renamed: () => `again-${calls++}` } : {}) });
  await using stage = await overHttp({ world, http });
  await using other = await overHttp();
  const good = await Promise.all(PEOPLE.map((one) => stage.tokenOf(one)));
  const sessions = await Promise.all(
    good.map(async (token) => {
      const opened = await post(stage.url, token, begin);
      await opened.text();
      return opened.headers.get('mcp-session-id') ?? '';
    }),
  );
  const tokens = {
    good,
    none: PEOPLE.map(() => ''),
    altered: good.map((token) => `${token.slice(0, -6)}AAAAAA`),
    ended: await Promise.all(PEOPLE.map((one) => stage.tokens.issue(one, { for: 1 }))),
    elsewhere: await Promise.all(PEOPLE.map((one) => other.tokenOf(one))),
  };
  await new Promise((resolve) => setTimeout(resolve, 3));
  const statuses = await Promise.all(
    all.map(async ({ who, token, session, id, command, fits }) => {
      const args = {
        notebook: fits ? 'all' : 'NOT',
        text: 'x',
        ...(command === undefined ? {} : { command_id: `c${command}` }),
      };
      const bearer = tokens[token][who] ?? '';
      const [body, headers] = bareCall(id, args);
      const answer =
        session === undefined
          ? await post(stage.url, bearer, body, headers)
          : await post(stage.url, bearer, callOf(id, args), { 'mcp-session-id': sessions[session] ?? '' });
      await answer.text();
      return answer.status;
    }),
  );
  for (const [i, { token, who, session }] of all.entries()) {
    const expected = token !== 'good' ? 401 : session !== undefined && session !== who ? 404 : undefined;
    if (expected !== undefined) expect([all[i], statuses[i]]).toEqual([all[i], expected]);
    else expect([200, 400]).toContain(statuses[i]); // wrong arguments are an error of the protocol
  }
  const state = (await world.kernel.state([NOTEBOOK, 'all'])) as { readonly notes: readonly unknown[] } | undefined;
  expect(state?.notes.length ?? 0).toBe(actsOf(all));
}

/** Requests, some of which are sent again. */
const requests = fc
  .array(fc.tuple(sent, fc.integer({ min: 1, max: 3 })), { minLength: 5, maxLength: 20, size: 'max' })
  .map((all) => all.flatMap(([one, times]) => Array.from({ length: times }, () => one)));

describe('a server over HTTP', () => {
  it(`every request is one act of its principal or none, whatever is sent at once (${RUNS} runs, seed ${SEED}) [SRV-1, SRV-2, SRV-4]`, async () => {
    await fc.assert(
      fc.asyncProperty(requests, (all) => holds(all)),
      { numRuns: RUNS, seed: SEED },
    );
  });

  it('a server that takes any token is found', async () => {
    const http = { auth: () => 'human:ann' as const };
    const law = fc.asyncProperty(requests, (all) => holds(all, http));
    await expect(fc.assert(law, { numRuns: RUNS, seed: SEED, endOnFailure: true })).rejects.toThrow(/Property failed/);
  });

  it('a part that does not know a call again is found', async () => {
    const law = fc.asyncProperty(requests, (all) => holds(all, {}, true));
    await expect(fc.assert(law, { numRuns: RUNS, seed: SEED, endOnFailure: true })).rejects.toThrow(/Property failed/);
  });
});
