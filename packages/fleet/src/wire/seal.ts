/**
 * Requests between processes of a fleet, and their signatures.
 *
 * Invariants
 * S1  A signature covers every byte of a message: there is nothing beside the body and its signature that the receiver uses.
 * S2  A request names the fleet, the process that it goes to, the time, and a number that is used once. A process accepts it
 *     within {@link WINDOW_MS} of its time, once, and no other process accepts it. A process has another name after each
 *     start, so what was meant for the one before is refused.
 * S3  The signature of an answer covers that of its request: no answer stands for another request.
 * S4  Nothing of a body is read before its signature was compared, in constant time.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Actor, Principal } from '@reprise/contracts';
import { actor, principal } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { decode, encode } from '@reprise/kernel';

/** How far the clock of the sender may be from the receiver's, in milliseconds. */
export const WINDOW_MS = 30_000;

/** The bytes of a secret at least. */
export const SECRET_BYTES_MIN = 32;

/** The bytes of a signature. */
export const SIGNATURE_BYTES = 32;

/** What is asked of a world, without how it travels. */
export interface Asked {
  readonly world: string;
  readonly operation: string;
  readonly input: Uint8Array;
  readonly id: string;
  readonly as: Principal;
  readonly actor?: Actor;
}

/** A call as it travels. */
export interface ForwardedCall extends Asked {
  readonly fleet: string;
  /** The address of the process that it goes to, which names that start of it. */
  readonly to: string;
  /** How long the caller still waits, in milliseconds. */
  readonly within: number;
  /** The silence after which the caller takes the process for stopped, in milliseconds: it may have another lease. */
  readonly patience: number;
  /** When it was signed, in milliseconds since 1970. */
  readonly at: number;
  /** A random text, used once. */
  readonly nonce: string;
}

const shape = z.strictObject({
  fleet: z.string(),
  to: z.string(),
  world: z.string(),
  operation: z.string(),
  input: z.custom<Uint8Array>((thing) => thing instanceof Uint8Array),
  id: z.string(),
  as: principal,
  actor: actor.optional(),
  within: z.int().min(0),
  patience: z.int().min(1),
  at: z.int().min(0),
  nonce: z.string().min(16).max(64),
});

/** The body of a request. */
export function writeCall(call: ForwardedCall): Uint8Array {
  return encode(call);
}

/** Reads a body whose signature was compared (S4). @returns undefined for what is no call */
export function readCall(body: Uint8Array): ForwardedCall | undefined {
  try {
    const { success, data } = shape.safeParse(decode(body));
    return success ? (data as ForwardedCall) : undefined;
  } catch {
    return undefined;
  }
}

/** The secrets of a fleet: the first one signs, and each of them is accepted, so that a secret can be replaced. */
export class Secrets {
  constructor(private readonly secrets: readonly string[]) {}

  /** Signs a request with the first secret. */
  sign(body: Uint8Array): Signed {
    return { signature: mac(this.secrets[0] ?? '', 'request', body), secret: this.secrets[0] ?? '' };
  }

  /** The request with the secret that it is signed with; undefined when it is signed with none of them. */
  recognize(body: Uint8Array, signature: Uint8Array): Signed | undefined {
    const secret = this.secrets.find((one) => isSame(mac(one, 'request', body), signature));
    return secret === undefined ? undefined : { signature, secret };
  }
}

/** The signature of a request, and the secret that made it, which signs the answer as well. */
export interface Signed {
  readonly signature: Uint8Array;
  readonly secret: string;
}

/** Signs an answer to a request (S3). */
export function signAnswer({ signature, secret }: Signed, body: Uint8Array): Uint8Array {
  return mac(secret, 'answer', signature, body);
}

/** Whether an answer is signed, and for this request. */
export function isSigned(request: Signed, body: Uint8Array, signature: Uint8Array): boolean {
  return isSame(signAnswer(request, body), signature);
}

function mac(secret: string, purpose: 'request' | 'answer', ...parts: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac('sha256', secret).update(`reprise fleet ${purpose} 1\n`);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Numbers of one use that a process remembers at most in a time: more requests than that are refused until it is over. */
export const NONCES_MAX = 500_000;

/** Numbers that were used: two sets, each of which is filled for as long as a request can be accepted. */
export class Nonces {
  #current = new Set<string>();
  #before = new Set<string>();
  #until: number;

  /** @param now the monotonic time */
  constructor(private readonly now: () => number) {
    this.#until = now() + 2 * WINDOW_MS;
  }

  /** Takes a number. @returns why it cannot be used; undefined when it can */
  take(nonce: string): 'used' | 'full' | undefined {
    if (this.now() >= this.#until) {
      [this.#before, this.#current] = [this.#current, new Set()];
      this.#until = this.now() + 2 * WINDOW_MS;
    }
    if (this.#current.has(nonce) || this.#before.has(nonce)) return 'used';
    if (this.#current.size >= NONCES_MAX) return 'full';
    this.#current.add(nonce);
    return undefined;
  }
}
