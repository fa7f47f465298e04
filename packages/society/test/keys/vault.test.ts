import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { agentIdOf, base64Of, bytesOf, isSignature, makePair, openPrivateKey } from '../../src/adapters/ed25519.js';
import { fileVault } from '../../src/adapters/file-vault.js';
import { type KeyVault, keyRefOf, memoryVault } from '../../src/adapters/vault.js';

const WORLD = 'a'.repeat(64);
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-vault-'));
  folders.push(folder);
  return path.join(folder, 'keys');
}

const VAULTS: readonly (readonly [string, () => KeyVault])[] = [
  ['memory', memoryVault],
  ['a folder', () => fileVault(place())],
];

describe.each(VAULTS)('a vault in %s', (_name, make) => {
  it('a vault signs with keys that it never gives away [SOC-5]', async () => {
    const vault = make();
    const { agent_id, public_key, key_ref } = await vault.make(WORLD);
    const key = bytesOf(public_key, 32) ?? new Uint8Array();
    expect([agent_id, key_ref]).toEqual([agentIdOf(key), keyRefOf(agent_id)]);
    const message = new TextEncoder().encode('hello');
    const signature = bytesOf((await vault.sign(key_ref, message)) ?? '', 64) ?? new Uint8Array();
    expect(isSignature(key, message, signature)).toBe(true);
    expect(await vault.sign(keyRefOf('0'.repeat(64)), message)).toBeUndefined();
    const parent = makePair('x25519');
    const encrypted = (await vault.encrypted(key_ref, parent.publicKey)) ?? '';
    expect(openPrivateKey(encrypted, public_key, parent)).toHaveLength(32);
  });

  it('a key is destroyed by the world that made it, and by no other', async () => {
    const vault = make();
    const { key_ref } = await vault.make(WORLD);
    expect(await vault.destroy('b'.repeat(64), key_ref)).toBe(false);
    expect(await vault.list('b'.repeat(64))).toEqual([]);
    expect(await vault.list(WORLD)).toEqual([key_ref]);
    expect([await vault.destroy(WORLD, key_ref), await vault.destroy(WORLD, key_ref)]).toEqual([true, false]);
    expect([await vault.list(WORLD), await vault.sign(key_ref, new Uint8Array())]).toEqual([[], undefined]);
  });

  it('an encryption key is kept for each entity, and a weak one is refused', async () => {
    const vault = make();
    const { publicKey } = makePair('x25519');
    await vault.register(WORLD, 'ann', base64Of(publicKey));
    expect(await vault.registered(WORLD, 'ann')).toEqual(publicKey);
    expect(await vault.registered(WORLD, 'bob')).toBeUndefined();
    for (const weak of ['', 'abc', base64Of(new Uint8Array(32))])
      await expect(vault.register(WORLD, 'ann', weak)).rejects.toThrow('invalid encryption key');
  });
});

describe('a vault in a folder', () => {
  it('the files of a vault are read by their owner alone, and keys stay after a restart', async () => {
    const folder = place();
    const { key_ref } = await fileVault(folder).make(WORLD);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(folder, `${key_ref}.key`)).mode & 0o777).toBe(0o600);
    expect(await fileVault(folder).list(WORLD)).toEqual([key_ref]);
  });

  it('a folder or a key that others may read is refused', async () => {
    const folder = place();
    const { key_ref } = await fileVault(folder).make(WORLD);
    chmodSync(path.join(folder, `${key_ref}.key`), 0o644);
    await expect(fileVault(folder).sign(key_ref, new Uint8Array())).rejects.toThrow('can be read by others');
    chmodSync(folder, 0o755);
    await expect(fileVault(folder).make(WORLD)).rejects.toThrow('can be read by others');
  });

  it('a vault serves again when what it refused was put right, without a new process [SOC-103]', async () => {
    const folder = place();
    const vault = fileVault(folder);
    writeFileSync(folder, 'a file in the place of the folder');
    await expect(vault.make(WORLD)).rejects.toThrow();
    rmSync(folder);
    mkdirSync(folder, { mode: 0o755 });
    await expect(vault.make(WORLD)).rejects.toThrow('can be read by others');
    chmodSync(folder, 0o700);
    const { key_ref } = await vault.make(WORLD);
    expect(await vault.list(WORLD)).toEqual([key_ref]);
  });

  it('a key that stands under the name of another agent signs nothing, is not given away and destroys nothing [SOC-104]', async () => {
    const folder = place();
    const vault = fileVault(folder);
    const [own, other] = [await vault.make(WORLD), await vault.make(WORLD)];
    const at = ({ key_ref }: { readonly key_ref: string }) => path.join(folder, `${key_ref}.key`);
    const [ownText, otherText] = [own, other].map((key) => readFileSync(at(key), 'utf8'));
    const mixed = { ...JSON.parse(ownText ?? ''), private_key: JSON.parse(otherText ?? '').private_key };
    for (const exchanged of [otherText ?? '', JSON.stringify(mixed)]) {
      writeFileSync(at(own), exchanged);
      await expect(vault.sign(own.key_ref, new Uint8Array())).rejects.toThrow('is not the key of its agent');
      await expect(vault.encrypted(own.key_ref, makePair('x25519').publicKey)).rejects.toThrow('is not the key');
      await expect(vault.destroy(WORLD, own.key_ref)).rejects.toThrow('is not the key of its agent');
    }
    writeFileSync(at(own), ownText ?? '');
    expect(await vault.sign(own.key_ref, new Uint8Array())).toBeDefined();
  });

  it('a link, a folder and a pipe in the place of a key are no key, and destroying follows no link [SOC-105]', async () => {
    const folder = place();
    const vault = fileVault(folder);
    const { key_ref } = await vault.make(WORLD);
    const [key, outside] = [path.join(folder, `${key_ref}.key`), path.join(folder, '..', 'outside.key')];
    renameSync(key, outside);
    symlinkSync(outside, key);
    expect(await vault.sign(key_ref, new Uint8Array())).toBeUndefined();
    expect(await vault.destroy(WORLD, key_ref)).toBe(false);
    symlinkSync(outside, path.join(folder, '.new-999999999-00aa'));
    expect(await fileVault(folder).list(WORLD)).toEqual([]);
    expect(readFileSync(outside, 'utf8')).toContain('private_key');
    expect(readdirSync(folder)).toEqual([`${key_ref}.key`]);
    rmSync(key);
    mkdirSync(key);
    expect(await vault.sign(key_ref, new Uint8Array())).toBeUndefined();
    rmdirSync(key);
    execFileSync('mkfifo', [key]);
    expect(await vault.sign(key_ref, new Uint8Array())).toBeUndefined();
  });

  it('what a process that died left half written or half destroyed is no key', async () => {
    const folder = place();
    const vault = fileVault(folder);
    const [kept, destroyed] = [await vault.make(WORLD), await vault.make(WORLD)];
    const file = path.join(folder, `${destroyed.key_ref}.key`);
    const text = readFileSync(file);
    writeFileSync(path.join(folder, '.new-999999999-00aa'), text.subarray(0, 40), { mode: 0o600 });
    writeFileSync(file, Buffer.alloc(text.length));
    const again = fileVault(folder);
    expect(await again.list(WORLD)).toEqual([kept.key_ref]);
    expect(readdirSync(folder).filter((name) => name.startsWith('.new'))).toEqual([]);
  });

  it('a file that is no key is refused without its text', async () => {
    const folder = place();
    const vault = fileVault(folder);
    const { key_ref } = await vault.make(WORLD);
    const file = path.join(folder, `${key_ref}.key`);
    const { private_key } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, `{"private_key":"${private_key}"`);
    const error = await vault.sign(key_ref, new Uint8Array()).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('is not a key');
    expect(JSON.stringify(error) + String(error)).not.toContain(private_key);
  });

  it('processes that use one folder at once lose no key of each other', async () => {
    const folder = place();
    const vaults = [fileVault(folder), fileVault(folder), fileVault(folder)];
    const made = await Promise.all(vaults.flatMap((vault) => Array.from({ length: 20 }, () => vault.make(WORLD))));
    expect(new Set(await fileVault(folder).list(WORLD))).toEqual(new Set(made.map(({ key_ref }) => key_ref)));
  });

  it('a name that leads out of the folder is not looked up', async () => {
    const vault = fileVault(place());
    for (const name of ['../x', 'ed25519.../../etc/passwd', '/etc/passwd', ''])
      expect(await vault.sign(name, new Uint8Array())).toBeUndefined();
  });
});
