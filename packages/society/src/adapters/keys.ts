/** Executes `identity.keygen@1`, `identity.nonce@1` and `identity.destroy@1`, and clears the vault of keys without an agent. */
import { randomBytes } from 'node:crypto';
import type { PartHost } from '@reprise/agent';
import { fieldsOf } from '@reprise/contracts';
import { type AnyAdapter, adapterOf, type Head, type World } from '@reprise/kernel';
import { entityAt, identityDestroy, identityKeygen, identityNonce } from '../pure/contracts/index.js';
import { sharesSecrets } from './ed25519.js';
import { agentOfKey, type KeyVault } from './vault.js';

/** The world whose keys are made: what adapters need of it. */
type KeyWorld = Pick<World, 'id' | 'state' | 'head' | 'frames'>;

/** The keys of a society: its adapters, and the cleaning of its vault. */
interface SocietyKeys {
  /** Its adapters, for one of the worlds that have this part. */
  adapters(host: Pick<PartHost, 'world'>): readonly AnyAdapter[];
  /**
   * Destroys the keys without an agent: those that an earlier process made for a registration that did not take place,
   * and those of agents that were removed. A key that this process makes is never among them, and no key that was made
   * for frames that this journal does not have: a world that was restored from an older backup does not know its agent.
   *
   * @returns how many were destroyed
   */
  clear(world: KeyWorld): Promise<number>;
}

const NONCE_BYTES = 32;

export function societyKeys(vault: KeyVault): SocietyKeys {
  // Read before this process makes a key: a registration that is under way must not lose its own.
  const before = new WeakMap<KeyWorld, Promise<readonly string[]>>();
  const earlier: Earlier = (world) => {
    const known = before.get(world) ?? vault.list(world.id);
    before.set(world, known);
    known.catch(() => before.get(world) === known && before.delete(world)); // no key was made: it can be read again
    return known;
  };
  return {
    adapters(host) {
      const worldOf = async (): Promise<KeyWorld> => (await host.world).kernel;
      return [
        adapterOf(identityKeygen, {
          name: 'identity.keygen',
          async doExecute({ parent, encrypt_to }) {
            const world = await worldOf();
            await earlier(world);
            const named = encrypt_to === undefined ? undefined : Buffer.from(encrypt_to, 'base64');
            if (named !== undefined && !sharesSecrets(named))
              return { status: 'error', code: 'adapter_error/key_unfit' };
            const reader = named ?? (await vault.registered(world.id, parent));
            const key = await vault.make(world.id, world.head);
            const encrypted = reader === undefined ? undefined : await vault.encrypted(key.key_ref, reader);
            return { status: 'ok', payload: { ...key, private_key_encrypted: encrypted ?? null } };
          },
        }),
        adapterOf(identityNonce, {
          name: 'identity.nonce',
          doExecute: async () => ({ status: 'ok', payload: { nonce: randomBytes(NONCE_BYTES).toString('hex') } }),
        }),
        adapterOf(identityDestroy, {
          name: 'identity.destroy',
          async doExecute({ key_ref }) {
            return { status: 'ok', payload: { destroyed: await vault.destroy((await worldOf()).id, key_ref) } };
          },
        }),
      ];
    },
    clear: (world) => clearKeys(world, vault, earlier),
  };
}

/** The keys that the vault had for a world when it was opened. */
type Earlier = (world: KeyWorld) => Promise<readonly string[]>;

async function clearKeys(world: KeyWorld, vault: KeyVault, earlier: Earlier): Promise<number> {
  let destroyed = 0;
  for (const key_ref of await earlier(world)) {
    const { status } = fieldsOf(await world.state(entityAt(agentOfKey(key_ref))));
    if (status !== undefined && status !== 'removed') continue;
    if (status === undefined && !(await isOfHistory(world, await vault.madeAt(key_ref)))) continue;
    if (await vault.destroy(world.id, key_ref)) destroyed++;
  }
  return destroyed;
}

/** Whether a journal goes on from a head. */
async function isOfHistory(world: KeyWorld, at: Head | undefined): Promise<boolean> {
  if (at === undefined || at.seq > world.head.seq) return false;
  for await (const { head } of world.frames(at.seq)) return head === at.digest;
  return false;
}
