/** The names of keys, checked where they come in. */
import { requireArgument } from '@reprise/contracts';

/** A name that leads nowhere else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,511}$/;

/** Names as a key service takes them. @throws RepriseError `invalid_argument` */
export function requireKeyNames(names: readonly string[]): readonly string[] {
  for (const name of names)
    requireArgument(NAME.test(name), 'keys(names)', 'up to 512 letters, digits and - _ . /', name);
  return names;
}
