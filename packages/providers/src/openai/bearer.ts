import type { Asking, SecretText } from '../transport/transport.js';

/** Sends a key as a bearer token. */
export function bearer(apiKey: SecretText | undefined): Pick<Asking, 'key'> {
  return apiKey === undefined ? {} : { key: { header: 'authorization', prefix: 'Bearer ', text: apiKey } };
}
