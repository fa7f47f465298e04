/** A scan of all that a world of registrations writes, for the bytes of private keys in every form. */
import { memory } from '@reprise/kernel';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { base64Of, makePair } from '../../src/adapters/ed25519.js';
import { type KeptKey, vaultOver } from '../../src/adapters/vault.js';
import { society } from '../../src/index.js';

/** The registrations of a run: 10,000 in the long form, by REPRISE_REGISTRATIONS. */
const REGISTRATIONS = Number(process.env.REPRISE_REGISTRATIONS ?? 60);

describe('the private keys of agents', () => {
  it('a scan of the journal, the content, logs, errors and a fork finds no private key in any form, and finds one that a careless vault gives away [SOC-5]', async () => {
    const { keys, text } = await written(REGISTRATIONS, false);
    expect(keys).toHaveLength(REGISTRATIONS);
    expect(found(keys, text)).toEqual([]);
    const careless = await written(4, true);
    expect(found(careless.keys, careless.text)).toHaveLength(4);
  }, 3_600_000);
});

/** Registers agents, fails in every way, forks, and gathers each byte that was written. */
async function written(registrations: number, careless: boolean) {
  const kept = new Map<string, KeptKey>();
  const readers = new Map<string, Uint8Array>();
  const vault = vaultOver({
    label: 'watched',
    put: async (ref, key) => void kept.set(ref, key),
    get: async (ref) => kept.get(ref),
    remove: async (ref) => void kept.delete(ref),
    list: async () => [...kept.keys()],
    putReader: async (name, key) => void readers.set(name, key),
    getReader: async (name) => readers.get(name),
  });
  const leak = async (ref: string) => base64Of(kept.get(ref)?.pair.privateKey ?? new Uint8Array());
  const keys = careless ? { ...vault, encrypted: leak } : vault;
  const said: string[] = [];
  const [store, fork] = [memory(), memory()];
  const part = society({ keys });
  const onError = (error: unknown) => void said.push(String(error), JSON.stringify(error));
  const world = await openWorld({ store, models: { main: script() }, parts: [part], onError });
  try {
    await keys.register(world.kernel.id, 'p0', base64Of(makePair('x25519').publicKey));
    for (let n = 0; n < registrations; n++) {
      const person = await world.part(part).human(`p${Math.floor(n / 500)}`);
      if (n % 500 === 0) await keys.register(world.kernel.id, person.id, base64Of(makePair('x25519').publicKey));
      const bot = { agent_type: 'custom', display_name: `Agent ${n}`, capabilities: { ttl_seconds: 60 } } as const;
      const { agent_id } = await person.register(bot);
      if (n % 50 !== 0) continue;
      const { nonce } = await person.challenge(agent_id, 'node');
      await person.prove(agent_id, { nonce, signature: base64Of(new Uint8Array(64)) }).catch(onError);
      await person.register({ ...bot, public_key: 'wrong' }).catch(onError);
    }
    await world.kernel.fork({ at: world.kernel.head.seq, into: fork });
  } finally {
    await world.close();
  }
  const bytes = [...(await bytesIn(store)), ...(await bytesIn(fork)), ...said.map((one) => Buffer.from(one))];
  return { keys: [...kept.values()].map(({ pair }) => Buffer.from(pair.privateKey)), text: Buffer.concat(bytes) };
}

/** The frames and the content of a store. */
async function bytesIn(store: ReturnType<typeof memory>): Promise<Uint8Array[]> {
  const open = await store.openReadonly();
  const all: Uint8Array[] = [];
  for await (const { bytes } of open.journal.read(0)) all.push(bytes);
  for await (const ref of open.content.list()) all.push((await open.content.get(ref)) ?? new Uint8Array());
  await open.close();
  return all;
}

/** The keys of which a form stands in a text: their bytes, hex in both cases, and base64 at each of its three offsets. */
function found(keys: readonly Buffer[], text: Buffer): readonly number[] {
  const latin = text.toString('latin1');
  const places = new Set<string>();
  const WINDOW = 20;
  for (let at = 0; at + WINDOW <= latin.length; at++) places.add(latin.slice(at, at + WINDOW));
  return keys.flatMap((key, n) => (formsOf(key).some((form) => places.has(form.slice(0, WINDOW))) ? [n] : []));
}

function formsOf(key: Buffer): readonly string[] {
  const shifted = [0, 1, 2].map((pad) => {
    const text = Buffer.concat([Buffer.alloc(pad), key]).toString('base64');
    return text.slice(pad === 0 ? 0 : 4, 40);
  });
  const urls = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [key.toString('latin1'), key.toString('hex'), key.toString('hex').toUpperCase(), ...shifted, ...urls];
}
