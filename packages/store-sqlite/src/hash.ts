import { type Hash, hostSha256 } from '@reprise/kernel';

/** The native sha-256. */
export const nodeSha256: Hash = hostSha256();
