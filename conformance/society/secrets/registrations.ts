/** Registers agents in a world of files, fails in every way, forks, and gathers each byte that was written. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { fileVault, type KeyVault, society } from 'reprise/society';
import { sqlite } from 'reprise/sqlite';

/** The agents of one person. */
const OF_ONE = 500;
/** One in so many registrations is followed by failures. */
const FAILURES = 50;

/** An X25519 public key: private keys are encrypted for it. */
const READER = Buffer.from(`${'09'.padEnd(64, '0')}`, 'hex').toString('base64');

/** What was written, and the keys that must not stand in it. */
export interface Written {
  readonly keys: readonly Buffer[];
  readonly bytes: readonly Uint8Array[];
}

/**
 * Registers agents.
 *
 * @param folder an empty folder
 * @param careless the vault gives private keys as they are where it should encrypt them
 */
export async function register(folder: string, registrations: number, careless: boolean): Promise<Written> {
  const [vault, world, fork] = ['keys', 'world.db', 'fork.db'].map((name) => path.join(folder, name));
  const keys = careless ? leaking(fileVault(vault as string), vault as string) : fileVault(vault as string);
  const said = await registerIn({ keys, world: world as string, fork: fork as string, registrations });
  const files = readdirSync(folder).filter((name) => name !== 'keys');
  return {
    keys: keysIn(vault as string),
    bytes: [...files.map((name) => readFileSync(path.join(folder, name))), ...said],
  };
}

interface Registering {
  readonly keys: KeyVault;
  readonly world: string;
  readonly fork: string;
  readonly registrations: number;
}

/** @returns what was told: errors, and the journal as JSON, as `reprise log` prints it */
async function registerIn({ keys, world: file, fork, registrations }: Registering): Promise<readonly Uint8Array[]> {
  const said: Uint8Array[] = [];
  const onError = (error: unknown) =>
    void said.push(Buffer.from(`${String(error)}\n${JSON.stringify(error)}\n${(error as Error)?.stack}`));
  const part = society({ keys });
  const world = await openWorld({ store: sqlite(file), models: { main: script() }, parts: [part], onError });
  for (let n = 0; n < registrations; n++) {
    const person = await world.part(part).human(`p${Math.floor(n / OF_ONE)}`);
    if (n % OF_ONE === 0) await keys.register(world.kernel.id, person.id, READER);
    const bot = { agentType: 'custom', displayName: `Agent ${n}`, capabilities: { ttl_seconds: 60 } } as const;
    const { agent_id } = await person.register(bot);
    if (n % FAILURES !== 0) continue;
    const { nonce } = await person.challenge(agent_id, 'node');
    await person.prove(agent_id, { nonce, signature: Buffer.alloc(64).toString('base64') }).catch(onError);
    await person.register({ ...bot, publicKey: 'wrong' }).catch(onError);
  }
  for await (const { seq, records } of world.kernel.frames(0)) {
    said.push(Buffer.from(JSON.stringify(records)));
    if (seq === world.kernel.head.seq) break;
  }
  await world.kernel.fork({ at: world.kernel.head.seq, into: sqlite(fork) });
  await world.close();
  return said;
}

/** A vault that gives a private key away, in base64, in place of one that is encrypted. */
function leaking(vault: KeyVault, folder: string): KeyVault {
  return { ...vault, encrypted: async (ref) => privateKey(path.join(folder, `${ref}.key`)).toString('base64') };
}

function keysIn(folder: string): readonly Buffer[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.key'));
  return names.map((name) => privateKey(path.join(folder, name)));
}

function privateKey(file: string): Buffer {
  const { private_key } = JSON.parse(readFileSync(file, 'utf8')) as { readonly private_key: string };
  return Buffer.from(private_key, 'base64');
}
