/**
 * Who an agent is: key pairs, challenges and proofs, and what is kept and cleared of it at its end, as effects. A private key
 * is never part of one.
 */

import { address, digestHex, keyText, ref, requireFields } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';
import { effectOf, scope } from '@reprise/org/contracts';
import { AGENT_ID, AGENT_TYPES, NAME_ID } from '../cell/names.js';

const count = z.int().min(0);
const agent = z.string().regex(AGENT_ID);

/** The bounds of proofs and returns. */
export const IDENTITY_BOUNDS = {
  /** How long a challenge may be answered, in milliseconds of stamps. */
  nonce_ms: 60_000,
  /** Challenges of one entity that wait for an answer; beyond it the oldest is dropped. */
  nonces: 64,
  /** How long a token of a proof may be used, in milliseconds. */
  token_ms: 3_600_000,
  /** Items of one return: with their links they fit the entry of one call. */
  items: 24,
  /** Returns of one entity that wait for a review. */
  staged: 64,
  /** Sessions since the last common state up to which a return may be merged without a review. */
  automatic: 2,
  /** Sessions since the last common state above which a return says that its parent has to review it. */
  unforced: 5,
} as const;

/** What a proof is for. A proof for one purpose counts for no other. */
export const PURPOSES = ['api', 'return', 'node', 'register'] as const;

/** What a proof is for. */
export type Purpose = (typeof PURPOSES)[number];

/** A public key: the base64 of its 32 bytes. */
export const publicKey = z.string().regex(/^[A-Za-z0-9+/]{43}=$/);

/** A challenge: 32 random bytes in hex. The proof of a key that an agent brings names its parent's id instead. */
export const nonce = keyText(128);

/** A signature: the base64 of its 64 bytes. */
export const signature = z.string().regex(/^[A-Za-z0-9+/]{86}==$/);

/** An item that an agent brings back: its words, and the store that it is for. */
export const returnedItem = z.strictObject({
  store: scope,
  type: z.string().min(1).max(32),
  tags: z.array(z.string().min(1).max(48)).max(16),
  content_ref: ref(),
  summary_ref: ref(),
  confidence_ppm: z.exactOptional(z.int().min(0).max(1_000_000)),
  subject_key: z.exactOptional(z.string().min(1).max(128)),
});

/** What an agent states when it comes back: where its chain of sessions is, where it left from, and what it brings. */
export const returned = z.strictObject({
  chain_hash: digestHex(),
  session_count: count,
  /** The link of the chain that this world knew; absent when the agent does not know it. */
  base_hash: z.exactOptional(digestHex()),
  items: z.array(returnedItem).max(IDENTITY_BOUNDS.items),
});

/** What an agent states when it comes back. */
export type Returned = z.infer<typeof returned>;

/** An item as it is signed: the hex SHA-256 of its UTF-8 text stands for the text. */
export interface SignedItem extends Readonly<Pick<z.infer<typeof returnedItem>, 'store' | 'type' | 'tags'>> {
  readonly content: string;
  readonly confidence_ppm?: number | undefined;
  readonly subject_key?: string | undefined;
}

/** A statement that an agent signs. Those of a return also name its chain and its items. */
export interface ProofStatement {
  /** The id of the world that the proof is for. */
  readonly world: string;
  readonly agent: string;
  readonly nonce: string;
  readonly purpose: Purpose;
  /** The chain of a return, the number of sessions, and the link where it left. */
  readonly hash?: string | undefined;
  readonly count?: number | undefined;
  readonly base?: string | undefined;
  readonly items?: readonly SignedItem[] | undefined;
}

/** The bytes that are signed: the canonical encoding of the statement, without absent fields. */
export function proofBytes(statement: ProofStatement): Uint8Array {
  requireFields(statement, 'proofBytes(statement)', 'the statement of a proof, as an object');
  return encode(statement);
}

/** A key pair that was made. */
export const keyMade = z.strictObject({
  public_key: publicKey,
  /** The hex SHA-256 of the public key's bytes. */
  agent_id: agent,
  key_ref: z.string().min(1).max(128),
  /** The private key for the parent alone; null when the parent has registered no key of its own. */
  private_key_encrypted: z.nullable(z.string().max(512)),
});

/** The key of an agent: one that was made, or one that the agent brought, which stays with it. */
export const agentKey = z.strictObject({
  ...keyMade.shape,
  key_ref: z.nullable(keyMade.shape.key_ref),
});

/** For whom the private key is encrypted; absent: for the key that the parent has registered in the vault, if it has one. */
export const keygenReader = { encrypt_to: z.exactOptional(publicKey) };

/**
 * `identity.keygen@1`: makes a key pair, whose private key stays in the vault. An attempt that may have made one is not
 * repeated: another one makes another pair, and the vault destroys keys without an agent when the world is opened again.
 */
export const identityKeygen = effectOf('identity.keygen@1', () => ({
  params: z.strictObject({
    /** The entity whose agent it will be. */
    parent: z.string().regex(NAME_ID),
    ...keygenReader,
    attempt: z.int().min(1),
  }),
  receipt: keyMade,
  guarantee: 'at_most_once',
}));

/** `identity.nonce@1`: draws a challenge that cannot be guessed. */
export const identityNonce = effectOf('identity.nonce@1', () => ({
  params: z.strictObject({ agent, purpose: z.enum(PURPOSES) }),
  receipt: z.strictObject({ nonce }),
  guarantee: 'idempotent',
}));

/** A proof of identity: a signature of the challenge by the key of the agent. */
export const identityProof = z.strictObject({
  agent,
  public_key: publicKey,
  nonce,
  purpose: z.enum(PURPOSES),
  signature,
  returned: z.exactOptional(returned),
});

/** A proof of identity: a signature of the challenge by the key of the agent. */
export type IdentityProof = z.infer<typeof identityProof>;

/** The verdict on a proof, and the world that the signature was checked for. */
export const verdict = z.strictObject({
  verified: z.boolean(),
  world: z.string().max(128),
  /** Why it does not count. */
  refused: z.nullable(z.enum(['key_weak', 'key_of_another', 'signature_invalid', 'content_gone'])),
});

/** `identity.verify@1`: whether a signature is that of a key over a statement for this world. */
export const identityVerify = effectOf('identity.verify@1', () => ({
  params: identityProof,
  receipt: verdict,
  guarantee: 'idempotent',
}));

/** `identity.destroy@1`: destroys the private key of an agent that is gone. */
export const identityDestroy = effectOf('identity.destroy@1', () => ({
  params: z.strictObject({ key_ref: z.string().min(1).max(128) }),
  /** False for a key that another world has made, and for one that is not there. */
  receipt: z.strictObject({ destroyed: z.boolean() }),
  guarantee: 'idempotent',
}));

/** The cells that an erasure names as those that keep content. */
export const KEEPERS_MAX = 16;

/** What an erasure did: the blobs that are gone, those that other cells link as well, and some of these cells. */
export const erasedContent = z.strictObject({
  erased: count,
  kept: count,
  kept_by: z.array(address).max(KEEPERS_MAX),
});

/** What an erasure did to the content of one item. */
export type ErasedContent = z.infer<typeof erasedContent>;

/** `society.erase@1`: erases what the hot context of an agent links, except what others link as well. */
export const societyErase = effectOf('society.erase@1', () => ({
  params: z.strictObject({ agent, cell: address }),
  receipt: erasedContent,
  guarantee: 'idempotent',
}));

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The hex SHA-256 of the bytes of a public key, which stands in base64. */
export function agentIdOfKey(public_key: string): string {
  const bytes: number[] = [];
  let bits = 0;
  let left = 0;
  for (const character of public_key) {
    const six = ALPHABET.indexOf(character);
    if (six < 0) break;
    bits = ((bits << 6) | six) & 0xffff;
    left += 6;
    if (left < 8) continue;
    left -= 8;
    bytes.push((bits >> left) & 0xff);
  }
  return toHex(portableSha256(Uint8Array.from(bytes)));
}

const id = z.string().regex(NAME_ID);

/** What is known of the agent, and the contents of its hot context that its archive shows. */
export const archivedAgent = z.strictObject({
  /** The id of the archive item. */
  key: z.string().max(128),
  agent_id: id,
  parent_entity_id: id,
  display_name: z.string().max(120),
  agent_type: z.nullable(z.enum(AGENT_TYPES)),
  session_count: z.int().min(0),
  chain_hash: digestHex(),
  active: z.nullable(ref()),
  goal: z.nullable(ref()),
  findings: z.nullable(ref()),
  working_memory: z.nullable(ref()),
});

/** `society.archive@1`: stores the archive of an agent as a text that can be erased, and the summary of it. */
export const societyArchive = effectOf('society.archive@1', () => ({
  params: archivedAgent,
  receipt: z.strictObject({ content_ref: ref(), summary_ref: ref() }),
  guarantee: 'idempotent',
}));
