/** Files in the JSON of requests. */
import { Problem } from './problem.js';

/** The bytes of a text in base64. @throws Problem for another text */
export function bytesOf(base64: string, where: string): Uint8Array {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64))
    throw new Problem(400, 'invalid_argument', 'A file is not in base64.', { where });
  return Buffer.from(base64, 'base64');
}
