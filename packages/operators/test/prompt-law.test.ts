/** What model calls of random worlds sent, beside the bytes that their receipts recorded. */
import { createHash } from 'node:crypto';
import type { WorldPart } from '@reprise/agent';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import { scriptBy, verifyRequests } from '@reprise/providers';
import { describe, expect, it } from 'vitest';
import { compareHistories, type Histories, type Pair, type Place } from '../../cli/test/views/histories.js';
import { SWARMS } from '../../cli/test/views/swarms.js';
import { TEAMS } from '../../cli/test/views/teams.js';
import { type PromptPart, type RequestReport, requestOf } from '../src/prompt/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? { teams: 20, swarms: 6 } : { teams: 800, swarms: 150 };

const seen = { answered: 0, newParts: 0, results: 0, messages: 0 };

function promptsIn<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  return { part, answer, act, look: comparePrompts };
}

async function comparePrompts({ store }: Place<WorldPart>): Promise<readonly Pair[]> {
  const calls = await callsOf(store);
  const pairs: Pair[] = [];
  const before = new Map<string, readonly unknown[]>();
  for (const { place, effect, digest } of calls) {
    const report = await requestOf(store, place, { sent: true });
    pairs.push([`the effect of ${place}`, report.effect, effect]);
    pairs.push(
      ...(digest === undefined ? [] : bytesOf(report, digest)),
      ...partsOf(report, before.get(report.session)),
    );
    before.set(report.session, valuesOf(messagesIn(report)));
    count(report);
  }
  const { equal, different } = await verifyRequests(store, { main: scriptBy(() => undefined) });
  const answered = calls.filter(({ digest }) => digest !== undefined).length;
  return [...pairs, ['requests that verifyRequests calls equal', equal, answered], ['different', different, []]];
}

/** The model calls of a journal, with the digests of their answers. */
async function callsOf({ journal }: ReadonlyStore) {
  const found = new Map<string, { place: string; effect: string; digest?: string }>();
  for await (const { seq, bytes } of journal.read(0))
    for (const [i, record] of readFrame(bytes, seq).all.entries()) {
      if (record.kind === 'effect' && record.name === 'llm.generate@2')
        found.set(record.effect, { place: `${seq}.${i}`, effect: record.effect });
      const call = record.kind === 'receipt' ? found.get(record.effect) : undefined;
      if (record.kind !== 'receipt' || call === undefined || record.receipt.status !== 'ok') continue;
      call.digest = (record.receipt.payload as { request_digest: string }).request_digest;
    }
  return [...found.values()];
}

/** The bytes as sent have the recorded digest, and the parts are what stands in them. */
function bytesOf({ place, sent, parts, bytes }: RequestReport, digest: string): Pair[] {
  const body = sent.body ?? '';
  if (body === '') return [[`the bytes of ${place}`, sent, 'a body']];
  const { system, tools, messages } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return [
    [`the digest of the bytes of ${place}`, createHash('sha256').update(body).digest('hex'), digest],
    [`the verdict on ${place}`, [sent.isSame, sent.recorded, sent.recomputed], [true, digest, digest]],
    [`the size of ${place}`, bytes.sent, new TextEncoder().encode(body).length],
    [`the parts of ${place}`, valuesOf(parts), [system, tools, ...(messages as unknown[])]],
  ];
}

/** Each message has an origin, the sizes add up, and what is not new is what the step before sent first. */
function partsOf(report: RequestReport, before: readonly unknown[] | undefined): Pair[] {
  const { place, parts, bytes, frame } = report;
  const messages = messagesIn(report);
  const old = valuesOf(messages.filter(({ isNew }) => !isNew));
  const origins = messages.flatMap((part) => part.origins);
  const items = origins.filter(({ item }) => item !== undefined);
  const size = parts.reduce((sum, { value }) => sum + Buffer.byteLength(JSON.stringify(value)), 0);
  return [
    [`the sum of the sizes of ${place}`, bytes.parts, size],
    [`origins without a frame up to that of ${place}`, items.filter((one) => !((one.frame ?? frame + 1) <= frame)), []],
    [`results of ${place} without their effect`, items.filter(({ kind, effect }) => kind === 'result' && !effect), []],
    ...(before === undefined ? [] : [[`what is not new in ${place}`, old, before.slice(0, old.length)] as const]),
  ];
}

function messagesIn({ parts }: RequestReport): PromptPart[] {
  return parts.filter(({ part }) => part === 'message');
}

function valuesOf(parts: readonly PromptPart[]): unknown[] {
  return parts.map(({ value }) => JSON.parse(JSON.stringify(value)) as unknown);
}

function count({ parts, sent }: RequestReport): void {
  if (sent.isSame === true) seen.answered++;
  for (const { isNew, origins } of parts) {
    if (isNew) seen.newParts++;
    seen.results += origins.filter(({ kind }) => kind === 'result').length;
    seen.messages += origins.filter(({ kind }) => kind === 'message').length;
  }
}

describe(`what model calls sent (seed ${SEED})`, () => {
  it.each([
    ['teams', TEAMS as unknown as Histories<WorldPart>, PLACES.teams],
    ['swarms', SWARMS as unknown as Histories<WorldPart>, PLACES.swarms],
  ])(
    'given random %s whose processes die, when each request is rebuilt, then its bytes have the recorded digest and its parts are those bytes',
    async (_name, histories, places) => {
      const { differences } = await compareHistories(promptsIn(histories), { places, seed: SEED });
      expect(differences).toEqual([]);
    },
  );

  it('the random worlds came across answers, new parts, results and messages', () => {
    for (const [what, times] of Object.entries(seen)) expect([what, times > 0]).toEqual([what, true]);
  });
});
