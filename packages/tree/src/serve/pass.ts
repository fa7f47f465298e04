/**
 * What opens the people's door of a world: a key, and where the door is. One pass lies in the home folder of the user,
 * for terminals; another one is a token that the owner prints, for scripts.
 *
 * Invariants
 * W1  A pass is in a folder and a file of this user only, below the home folder: in no folder, environment or argument
 *     that a program is told of.
 * W2  A pass ends with its owner.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { RepriseError } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import * as z from 'zod';
import { doorPlace, nameOf, requireOwn } from './place.js';

const KEY_BYTES = 32;

const key = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const door = z.string().regex(/^[0-9a-f]{16}$/);
const stored = z.strictObject({ door, socket: z.string(), key });

/** A pass: the name of the door, the path of its socket, and the key. */
export type Pass = z.output<typeof stored>;

/** A key that nobody can guess. */
export function freshKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** A pass as a token. */
export function tokenOf(pass: Pick<Pass, 'door' | 'key'>): string {
  return `${pass.door}.${pass.key}`;
}

/**
 * The pass in a token. Where the door is follows from the token alone.
 *
 * @throws RepriseError `invalid_argument` for any other text
 */
export function passIn(token: string): Pass {
  const [name, secret, ...more] = token.trim().split('.');
  const parsed = stored.safeParse({ door: name, socket: doorPlace(String(name)).socket, key: secret });
  if (parsed.success && more.length === 0) return parsed.data;
  throw new RepriseError('invalid_argument', 'this is no token of a tree', {
    expected: 'the line that reprise tree run --print-token prints behind the word "token"',
  });
}

/** The file with the pass of a world (W1). */
function fileOf(world: string): string {
  const state = process.env.XDG_STATE_HOME || path.join(homedir(), '.local', 'state');
  return path.join(state, 'reprise', 'doors', `${nameOf(world)}.json`);
}

/** The pass of a world in the home folder; undefined where no file holds one. */
export function readPass(world: string): Pass | undefined {
  try {
    return stored.safeParse(parseJson(readFileSync(fileOf(world), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/**
 * Writes the pass of a world in one step, in the place of an earlier owner's.
 *
 * @returns the pass that was there
 * @throws RepriseError `invalid_argument` when its folder is open to others; Error when it cannot be written
 */
export function writePass(world: string, pass: Pass): Pass | undefined {
  const file = fileOf(world);
  const before = readPass(world);
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  requireOwn(folder);
  const fresh = `${file}.${randomBytes(4).toString('hex')}`;
  writeFileSync(fresh, JSON.stringify(pass), { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
  return before;
}

/** Removes the pass of a world, unless it is another owner's (W2). */
export function removePass(world: string, { door: own }: Pass): void {
  if (readPass(world)?.door === own) rmSync(fileOf(world), { force: true });
}

/** What a connection and its two sides have said so far. Nothing of one connection counts in another one. */
type Said = readonly [label: string, ...parts: readonly string[]];

/** Signs what was said. The key itself is never sent: who answers at a path is not thereby the owner. */
export function sign(secret: string, said: Said): string {
  return createHmac('sha256', secret).update(JSON.stringify(said)).digest('base64url');
}

/** Whether a signature is right, in a time that tells nothing of it. */
export function isSigned(secret: string, said: Said, signature: unknown): boolean {
  const [right, given] = [Buffer.from(sign(secret, said)), Buffer.from(String(signature))];
  return right.length === given.length && timingSafeEqual(right, given);
}
