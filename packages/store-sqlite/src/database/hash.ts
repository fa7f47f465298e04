import type { Hash } from '@reprise/kernel';
import { hostSha256 } from '@reprise/kernel/driver';

/** The sha-256 of the host, in place of the portable one. */
export const nodeSha256: Hash = hostSha256();
