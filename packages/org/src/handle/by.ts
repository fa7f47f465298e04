/** In whose name an organization is asked. */
import {
  type Actor,
  aPrincipal,
  type KnownOptions,
  type Principal,
  present,
  REQUEST_ID_MAX,
  requireFields,
  requireKnownOptions,
  textOf,
} from '@reprise/contracts';

/** Who asks, and under which id: a repetition with one id is one act. */
export interface By {
  readonly id?: string;
  readonly as?: Principal;
  /** Who acts, where that does not follow from `as`. */
  readonly actor?: Actor;
}

const BY: KnownOptions<Pick<By, 'id' | 'as'>> = { id: textOf(REQUEST_ID_MAX), as: aPrincipal };

/**
 * Refuses what does not say who asks.
 *
 * @param where the argument, such as `tree options`
 * @throws RepriseError `invalid_argument`
 */
export function requireBy(by: unknown, where: string): asserts by is By {
  requireFields(by, where, 'an object with any of id, as, actor');
  const { id, as } = by as By;
  requireKnownOptions(present({ id, as }), BY, where);
}
