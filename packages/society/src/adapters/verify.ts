/** Executes `identity.verify@1`: checks a signature strictly, over the statement as this world understands it. */
import { createHash } from 'node:crypto';
import type { PartHost } from '@reprise/agent';
import type { Ref } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { type AnyAdapter, adapterOf, type ContentReader, getErasable } from '@reprise/kernel';
import { unlessErased } from '@reprise/org';
import {
  type IdentityProof,
  identityVerify,
  type ProofStatement,
  proofBytes,
  type SignedItem,
  type verdict,
} from '../pure/contracts/index.js';
import { agentIdOf, bytesOf, isSignature, isStrongKey } from './ed25519.js';

type Verdict = z.infer<typeof verdict>;

/** The adapter of `identity.verify@1`, which checks signatures with the crypto of the host. */
export function verifyAdapter(host: Pick<PartHost, 'world'>): AnyAdapter {
  return adapterOf(identityVerify, {
    name: 'identity.verify',
    async doExecute(proof, { content }) {
      const { id } = (await host.world).kernel;
      return { status: 'ok', payload: await verdictOn(proof, id, content) };
    },
  });
}

/** The verdict on a proof for a world. It reads the texts of a return: what is signed is their digest. */
export async function verdictOn(proof: IdentityProof, world: string, content: ContentReader): Promise<Verdict> {
  const refused = await refusalOf(proof, world, content);
  return { verified: refused === null, world, refused };
}

async function refusalOf(proof: IdentityProof, world: string, content: ContentReader): Promise<Verdict['refused']> {
  const key = bytesOf(proof.public_key, 32);
  const signature = bytesOf(proof.signature, 64);
  if (key === undefined || !isStrongKey(key)) return 'key_weak';
  if (agentIdOf(key) !== proof.agent) return 'key_of_another';
  const statement = await statementOf(proof, world, content);
  if (statement === undefined) return 'content_gone';
  const holds = signature !== undefined && isSignature(key, proofBytes(statement), signature);
  return holds ? null : 'signature_invalid';
}

/** The statement that a proof signs; undefined when a text of it was erased. */
async function statementOf(
  { agent, nonce, purpose, returned }: IdentityProof,
  world: string,
  content: ContentReader,
): Promise<ProofStatement | undefined> {
  const proof = { world, agent, nonce, purpose };
  if (returned === undefined) return proof;
  const { chain_hash, session_count, base_hash, items } = returned;
  const signed: SignedItem[] = [];
  for (const { store, type, tags, content_ref, confidence_ppm, subject_key } of items) {
    const digest = await digestOf(content, content_ref);
    if (digest === undefined) return undefined;
    signed.push({ store, type, tags, content: digest, confidence_ppm, subject_key });
  }
  return { ...proof, hash: chain_hash, count: session_count, base: base_hash, items: signed };
}

async function digestOf(content: ContentReader, ref: Ref): Promise<string | undefined> {
  const bytes = await unlessErased(getErasable(content, ref), undefined);
  return bytes === undefined ? undefined : createHash('sha256').update(bytes).digest('hex');
}
