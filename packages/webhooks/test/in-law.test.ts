/**
 * Senders and an adversary between them and a world: messages come several times, in any order and at once, with a bit turned over
 * in the body, the id, the time or the signature, with the signature of another message, and by another key. In the middle the
 * world is closed, and another process takes them.
 */
import { memory } from '@reprise/kernel';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { randomFrom } from '../../../conformance/random.js';
import { standardWebhook, webhookHandler } from '../src/index.js';
import { agent, newSecret, opened } from './support/world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const HISTORIES = 60 / stepOf(20);
const MESSAGES = 8;
const ATTEMPTS = 60;

interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  readonly signature: string;
}

const PARTS = ['id', 'timestamp', 'body', 'signature'] as const;

/** Turns over one bit of a text, so that it stays a text of a header. */
function turned(text: string, random: () => number): string {
  const at = Math.floor(random() * text.length);
  const code = text.charCodeAt(at) ^ (1 << Math.floor(random() * 5));
  const sign = code > 0x20 && code < 0x7f ? String.fromCharCode(code) : '!';
  return text.slice(0, at) + (sign === text[at] ? '~' : sign) + text.slice(at + 1);
}

async function play(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const secret = newSecret();
  const store = memory();
  let world = await opened({ store, secrets: { hooks: secret } });
  let reached = 0;
  const handlerNow = () =>
    webhookHandler(world, {
      ...{ name: 'law', verify: standardWebhook({ secret: 'hooks' }) },
      to: ({ id, body }) => {
        reached++;
        return { session: `of ${id}`, text: Buffer.from(body).toString(), agent };
      },
    });
  let handler = handlerNow();
  const at = new Date();
  const sign = (id: string, body: string, key: string): Message => ({
    ...{ id, body, timestamp: String(Math.floor(at.getTime() / 1_000)) },
    signature: new Webhook(key).sign(id, at, body),
  });
  const messages = Array.from({ length: MESSAGES }, (_, i) => sign(`m${i}`, `{"n":${i}}`, secret));
  const forged = (): Message => {
    const one = pick(messages);
    const how = random();
    if (how < 0.1) return sign(one.id, one.body, newSecret());
    if (how < 0.2) return { ...one, signature: pick(messages.filter(({ id }) => id !== one.id)).signature };
    if (how < 0.3) return { ...one, signature: '' };
    const part = pick(PARTS);
    return { ...one, [part]: turned(one[part], random) };
  };
  const isValid = ({ id, timestamp, body, signature }: Message): boolean => {
    try {
      new Webhook(secret).verify(body, {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signature,
      });
      return true;
    } catch {
      return false;
    }
  };
  const send = ({ id, timestamp, body, signature }: Message): Promise<Response> =>
    handler(
      new Request('http://localhost/', {
        ...{ method: 'POST', body },
        headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
      }),
    );

  const accepted = new Set<string>();
  let valid = 0;
  const waiting: Promise<void>[] = [];
  for (let i = 0; i < ATTEMPTS; i++) {
    const message = random() < 0.5 ? pick(messages) : forged();
    const wanted = isValid(message) ? 200 : 401; // as the library sees it
    if (wanted === 200) {
      valid++;
      accepted.add(message.id);
    }
    waiting.push(
      send(message).then(async (answer) => {
        expect([answer.status, message]).toEqual([wanted, message]);
        if (wanted === 200) expect(await answer.json()).toEqual({ id: message.id, status: 'accepted' });
      }),
    );
    if (random() < 0.4) await Promise.all(waiting.splice(0));
    if (i !== ATTEMPTS / 2) continue;
    await Promise.all(waiting.splice(0));
    await world.close();
    world = await opened({ store, secrets: { hooks: secret } });
    handler = handlerNow();
  }
  await Promise.all(waiting);
  expect(reached).toBe(valid);
  const inputs: string[] = [];
  for await (const {
    seq,
    records: [first],
  } of world.kernel.frames()) {
    if (first?.kind === 'request' && first.event.name === 'aos.agent/UserInput@1') inputs.push(first.to[1]);
    if (seq >= world.kernel.head.seq) break;
  }
  expect(inputs.sort()).toEqual([...accepted].map((id) => `of ${id}`).sort());
  await world.close();
}

describe(`messages that come often, in any order, and changed (seed ${SEED})`, () => {
  for (let i = 0; i < HISTORIES; i++)
    it(`each verified id is exactly one act, and what is not verified changes nothing, in history ${i} [HOOK-14, HOOK-15, HOOK-16]`, () =>
      play(SEED * 1_000 + i));
});
