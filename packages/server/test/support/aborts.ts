/** Clients that leave at any moment, and the places that are free after them. */
import type { Principal } from '@reprise/contracts';
import { notebookOf } from './notes.js';
import { requestText, statusOf, type Wire, wire } from './sockets.js';
import { bareCall, bareRequest, begin, callOf, openNotes, overHttp, post } from './stage.js';

/** Bounds that are met soon: a few places that leak are all places. */
const LIMITS = {
  open: 6,
  streams: 3,
  connections: 64,
  connectionsEach: 48,
  sessions: 100_000,
  sessionsEach: 100_000,
  burst: 1_000_000,
};

/** The most turns of the event loop that a client waits before it leaves: more than a request takes. */
const TURNS_MAX = 30;

/** A random number from 0 to below `below`. */
type Chance = (below: number) => number;

/** What was left when all clients had left. */
export interface Left {
  /** How many calls were made, and how many of them still run. */
  readonly calls: number;
  readonly running: number;
  /** How many requests and streams one principal could have open at once, of as many as the bounds say. */
  readonly requests: number;
  readonly streams: number;
  readonly errors: readonly string[];
}

/** What must be left, besides the number of calls. */
export const NOTHING_TAKEN = { running: 0, requests: LIMITS.open, streams: LIMITS.streams, errors: [] };

/** How often it is looked whether all is free, and the time between two looks, in milliseconds. */
const LOOKS_MAX = 20;
const LOOK_MS = 300;

/** How often an answer is waited for, each time so many milliseconds: a minute, of which a busy machine needs a part. */
const WAITS_MAX = 3_000;
const WAIT_MS = 20;

/** A generator of random numbers that gives the same ones for a seed (mulberry32). */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const refused = (all: readonly Wire[]): number => all.filter((one) => statusOf(one) === 429).length;

/** Waits until a condition holds. */
async function come(holds: () => boolean): Promise<void> {
  for (let left = WAITS_MAX; !holds(); left--) {
    if (left === 0) throw new Error('the server did not answer');
    await pause(WAIT_MS);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Lets clients leave at random moments, a few at once. */
export async function leaveOften(times: number, seed: number): Promise<Left> {
  const random = chance(seed);
  const turns = async (): Promise<void> => {
    for (let n = random(6); n > 0; n--) await new Promise((resolve) => setImmediate(resolve));
  };
  let [calls, running] = [0, 0];
  const world = await openNotes({
    admits: () => true,
    onCall: async () => {
      calls++;
      running++;
      await turns();
    },
    onReturn: () => {
      running--;
    },
  });
  const principals: readonly Principal[] = ['human:ann', 'human:bob'];
  const auth = async (request: { header(name: string): string | undefined }): Promise<Principal | undefined> => {
    await turns();
    return principals.find((one) => request.header('authorization') === `Bearer ${one}`);
  };
  await using stage = await overHttp({ world, http: { auth, limits: LIMITS } });
  const sessions = await Promise.all(
    principals.map(async (one) => {
      const opened = await post(stage.url, one, begin);
      await opened.text();
      return opened.headers.get('mcp-session-id') ?? '';
    }),
  );
  const leave = async (n: number): Promise<void> => {
    const who = random(principals.length);
    const text = anyRequest(stage.url, principals[who] ?? '', sessions[who] ?? '', n, random);
    const sent = random(3) === 0 ? text.slice(0, random(text.length)) : text;
    const { socket } = wire(stage.url, sent);
    const stop = 1 + random(TURNS_MAX);
    for (let turn = 0; turn < stop; turn++) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
  };
  for (let n = 0; n < times; n += 8) await Promise.all(Array.from({ length: 8 }, (_, i) => leave(n + i)));
  const looked = async () => ({ running, ...(await placesFree(stage.url, 'human:ann')) });
  let found = await looked();
  // A server sees that a client has left when it comes to it. What a client took with it is missing at every look.
  for (let looks = 1; looks < LOOKS_MAX && !isNothingTaken(found); looks++) {
    await pause(LOOK_MS);
    found = await looked();
  }
  return { calls, ...found, errors: stage.errors.slice(0, 5) };
}

/** One of the requests that a client may send; sometimes two on one connection. */
function anyRequest(url: string, token: string, session: string, n: number, random: Chance): string {
  const args = { notebook: notebookOf('book', n), text: 'x' };
  const inSession = { 'mcp-session-id': session };
  const posted = (body: object, headers: Record<string, string>): string =>
    requestText(url, token, 'POST', headers, JSON.stringify(body));
  const kinds: readonly (() => string)[] = [
    () => posted(...bareCall(n, args)),
    () => posted(...bareCall(n, {}, 'note_wait')),
    () => posted(callOf(n, args), inSession),
    () => posted(callOf(n, {}, 'note_wait'), inSession),
    () => posted([callOf(n, args), callOf(`${n}`, {}, 'note_wait')], inSession),
    () => posted(...bareRequest(n, 'subscriptions/listen', { notifications: { toolsListChanged: true } })),
    () => posted(begin, {}),
    () => requestText(url, token, 'GET', inSession),
    () => requestText(url, 'nobody', 'POST', {}, JSON.stringify(begin)),
  ];
  const one = (): string => (kinds[random(kinds.length)] ?? kinds[0])?.() ?? '';
  return random(4) === 0 ? one() + one() : one();
}

type Found = Omit<Left, 'calls' | 'errors'>;

function isNothingTaken(found: Found): boolean {
  const { running, requests, streams } = NOTHING_TAKEN;
  return found.running === running && found.requests === requests && found.streams === streams;
}

/** Takes all places, and tells how many there were. */
async function placesFree(url: string, token: string): Promise<Omit<Found, 'running'>> {
  const listen = bareRequest(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const call = bareCall(1, {}, 'note_wait');
  const streams = Array.from({ length: LIMITS.streams + 2 }, () =>
    wire(url, requestText(url, token, 'POST', listen[1], JSON.stringify(listen[0]))),
  );
  await come(() => streams.every((one) => statusOf(one) !== undefined));
  const waits = Array.from({ length: LIMITS.open + 2 }, () =>
    wire(url, requestText(url, token, 'POST', call[1], JSON.stringify(call[0]))),
  );
  // One that is taken is not answered. Two are refused at least; if places are missing, more are, soon after.
  await come(() => refused(waits) >= 2);
  await pause(LOOK_MS);
  const found = { requests: waits.length - refused(waits), streams: streams.length - refused(streams) };
  for (const { socket } of [...waits, ...streams]) socket.destroy();
  return found;
}
