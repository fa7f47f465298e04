/**
 * Vaults: where the private keys of agents are kept, outside the journal and its content.
 *
 * Invariants
 * V1  A private key leaves a vault only encrypted for the parent, by a key that the parent has registered: in the journal, or in the vault. A vault signs itself.
 * V2  A key is there, whole, when `make` resolves; and gone when `destroy` resolves, whenever the process dies.
 * V3  A key belongs to the world that made it: another world, such as a fork, signs with it and never destroys it.
 * V4  A vault signs as an agent only with the pair of that agent: what stands under its name may have been exchanged.
 */
import { RepriseError } from '@reprise/contracts';
import type { Head } from '@reprise/kernel';
import {
  agentIdOf,
  base64Of,
  bytesOf,
  encryptKey,
  isPair,
  makePair,
  type RawPair,
  sharesSecrets,
  signBytes,
} from './ed25519.js';

/** A key that was made: its public half, and the name of its private half. */
export interface MadeKey {
  readonly agent_id: string;
  /** The base64 of the public key. */
  readonly public_key: string;
  readonly key_ref: string;
}

/** Keeps the private keys of agents, outside the journal: a port that an app may fill. */
export interface KeyVault {
  /** The place of the vault, as it is shown to people. */
  readonly label: string;
  /**
   * Makes an Ed25519 pair for an agent of a world. It is durable when this resolves.
   *
   * @param at the head of the journal for which it is made; a key without one is never taken for one without an agent
   */
  make(world: string, at?: Head): Promise<MadeKey>;
  /** The head of the journal for which a key was made; undefined when it is not known. */
  madeAt(key_ref: string): Promise<Head | undefined>;
  /**
   * Signs bytes as an agent.
   *
   * @returns the base64 of the signature; undefined for a key that is not in this vault
   */
  sign(key_ref: string, bytes: Uint8Array): Promise<string | undefined>;
  /** A private key for the holder of an X25519 public key (32 bytes), who opens it with `openPrivateKey`. */
  encrypted(key_ref: string, to: Uint8Array): Promise<string | undefined>;
  /** Destroys a key that this world made. @returns false for one that is not there, or belongs to another world */
  destroy(world: string, key_ref: string): Promise<boolean>;
  /** The keys that a world made. */
  list(world: string): Promise<readonly string[]>;
  /** Registers the X25519 public key, in base64, for which the private keys of an entity's agents are encrypted. */
  register(world: string, entity: string, encryption_key: string): Promise<void>;
  /** The registered key of an entity. */
  registered(world: string, entity: string): Promise<Uint8Array | undefined>;
}

export interface KeptKey {
  readonly world: string;
  readonly at?: Head | undefined;
  readonly pair: RawPair;
}

/** Where a vault keeps its keys. */
interface KeyPlace {
  readonly label: string;
  put(key_ref: string, key: KeptKey): Promise<void>;
  get(key_ref: string): Promise<KeptKey | undefined>;
  remove(key_ref: string): Promise<void>;
  list(): Promise<readonly string[]>;
  putReader(name: string, key: Uint8Array): Promise<void>;
  getReader(name: string): Promise<Uint8Array | undefined>;
}

const PREFIX = 'ed25519.';
const KEY_REF = /^ed25519\.[0-9a-f]{64}$/;

/** The name under which the private key of an agent is kept. */
export function keyRefOf(agent_id: string): string {
  return `${PREFIX}${agent_id}`;
}

export function agentOfKey(key_ref: string): string {
  return key_ref.slice(PREFIX.length);
}

/** A vault over a place. */
export function vaultOver(place: KeyPlace): KeyVault {
  const find = async (key_ref: string) => {
    const kept = KEY_REF.test(key_ref) ? await place.get(key_ref) : undefined;
    return kept && requireOwn(key_ref, kept, place.label);
  };
  return {
    label: place.label,
    async make(world, at) {
      const pair = makePair();
      const agent_id = agentIdOf(pair.publicKey);
      const key_ref = keyRefOf(agent_id);
      await place.put(key_ref, { world, at, pair });
      return { agent_id, public_key: base64Of(pair.publicKey), key_ref };
    },
    async madeAt(key_ref) {
      return (await find(key_ref))?.at;
    },
    async sign(key_ref, bytes) {
      const kept = await find(key_ref);
      return kept && signBytes(kept.pair.privateKey, bytes);
    },
    async encrypted(key_ref, to) {
      const kept = await find(key_ref);
      return kept && encryptKey(kept.pair, to);
    },
    async destroy(world, key_ref) {
      const kept = await find(key_ref);
      if (kept === undefined || kept.world !== world) return false;
      await place.remove(key_ref);
      return true;
    },
    async list(world) {
      const own: string[] = [];
      for (const key_ref of await place.list()) if ((await find(key_ref))?.world === world) own.push(key_ref);
      return own;
    },
    async register(world, entity, encryption_key) {
      await place.putReader(readerName(world, entity), requireKey(encryption_key));
    },
    registered: (world, entity) => place.getReader(readerName(world, entity)),
  };
}

/** A vault in memory, for tests and for worlds in memory: its keys end with the process. */
export function memoryVault(): KeyVault {
  const keys = new Map<string, KeptKey>();
  const readers = new Map<string, Uint8Array>();
  return vaultOver({
    label: 'memory',
    put: async (key_ref, key) => void keys.set(key_ref, key),
    get: async (key_ref) => keys.get(key_ref),
    remove: async (key_ref) => void keys.delete(key_ref),
    list: async () => [...keys.keys()],
    putReader: async (name, key) => void readers.set(name, key),
    getReader: async (name) => readers.get(name),
  });
}

// V4
function requireOwn(key_ref: string, kept: KeptKey, label: string): KeptKey {
  if (keyRefOf(agentIdOf(kept.pair.publicKey)) === key_ref && isPair(kept.pair)) return kept;
  throw new RepriseError('invalid_argument', 'a key of the vault is not the key of its agent', {
    where: `${label}: ${key_ref}`,
    hint: 'The file was exchanged or changed. Restore it from a copy of the vault.',
  });
}

function readerName(world: string, entity: string): string {
  return `${world}/${entity}`;
}

function requireKey(encryption_key: string): Uint8Array {
  const key = typeof encryption_key === 'string' ? bytesOf(encryption_key, 32) : undefined;
  if (key !== undefined && sharesSecrets(key)) return key;
  throw new RepriseError('invalid_argument', 'invalid encryption key of an entity', {
    expected: 'an X25519 public key: the base64 of 32 bytes',
    actual: encryption_key,
  });
}
