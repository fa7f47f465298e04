/**
 * The ids of requests in their world. Callers name requests within a session or within the world; both share one
 * namespace without collisions.
 *
 * Invariants
 * R1  Different `(session, id)` pairs, ids of decisions, ids of the calls of programs and ids of
 *     requests to the cells of a part give different request ids: a `/` in a name is written as `%2F`, so the joining
 *     slashes are unambiguous.
 */
import { REQUEST_ID_MAX } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';

/** The id of a request to a session; a long one is a digest. */
export function sessionRequestId(session: string, id: string): string {
  return bounded(`${escaped(session)}/${id}`, ['session', session, id]);
}

/** The id of a request about the whole world, such as a decision. */
export function worldRequestId(id: string): string {
  return bounded(escaped(id), ['world', id]);
}

/** The id of a call that a program makes for an effect of its session. */
export function turnCallRequestId(effect: string, id: string): string {
  return bounded(`//${effect}/${escaped(id)}`, ['turn', effect, id]);
}

/**
 * The id of a request to a cell of a part.
 *
 * @param part names the part; @param key the cell's key; @param id unique among the requests to this cell
 */
export function partRequestId(part: string, key: string, id: string): string {
  return bounded(`///${escaped(part)}/${escaped(key)}/${id}`, ['part', part, key, id]);
}

function bounded(whole: string, parts: readonly string[]): string {
  return whole.length <= REQUEST_ID_MAX ? whole : toHex(portableSha256(encode(parts)));
}

function escaped(name: string): string {
  return name.replace(/[%/]/g, (sign) => (sign === '%' ? '%25' : '%2F'));
}
