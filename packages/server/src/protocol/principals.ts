/** The principals that clients outside may act as. */
import { type ArgumentCheck, checkOf, type Principal, principal } from '@reprise/contracts';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid principal of a client');

/** Whether a client may act as a principal: as a person, or as a cell. */
export function isClientPrincipal(given: unknown): given is Principal {
  return typeof given === 'string' && /^(?:human|cell):/.test(given) && principal.safeParse(given).success;
}

/** Refuses what no client may act as. */
export function requirePrincipal(given: unknown, where: string): asserts given is Principal {
  require(isClientPrincipal(given), where, 'human:NAME, or cell:ADDRESS', given);
}
