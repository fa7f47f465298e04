/** What went wrong, in rows with words: what holds something up now first, then what may have run twice. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, failureWords, formatAddress } from '@reprise/contracts';
import type { PostedTroubles } from '@reprise/kernel';
import { postedTroubles } from '@reprise/kernel/driver';
import { type AttemptRow, attemptWords } from '@reprise/operators/attempts';
import { type Owner, ownerOfCell, shortKey } from '@reprise/operators/names';
import type { CellFailure } from '@reprise/operators/now';
import type { Asked } from '../ask/question.js';
import type { TroubleRow } from '../contract/index.js';

/** What was found in the journal. */
interface Found {
  /** Whether it holds for now, so that the process that has the world open can say more. */
  readonly isNow: boolean;
  readonly attempts: readonly AttemptRow[];
  readonly failed: readonly CellFailure[];
}

/** The rows of what was found, and of what the process that has the world open says. */
export async function troubleRows(
  { store, path }: Asked,
  { isNow, attempts, failed }: Found,
): Promise<readonly TroubleRow[]> {
  const { writer, troubles } = isNow ? await postedTroubles(store) : { writer: 'unknown', troubles: [] };
  return [
    ...(writer === 'died' ? [serviceRow(`${path}: ${DIED}`)] : []),
    ...troubles.map(wordsOfTrouble).map(serviceRow),
    ...failed.map((one) => cellRow(path, one)),
    ...attempts.map(attemptRow).reverse(),
  ];
}

const DIED =
  'the process that had it open ended without closing it. Open the world again: what was under way goes on, or is reported as unknown.';

function wordsOfTrouble(one: PostedTroubles['troubles'][number]): string {
  const { where, code, waiting } = one;
  const waits = waiting === 0 ? '' : `; ${waiting} wait${waiting === 1 ? 's' : ''} for it`;
  return `${where}${waits}: ${failureWords(code, 'error' in one ? one.error : undefined)}`;
}

function serviceRow(what: string): TroubleRow {
  return { kind: 'service', of: null, what, place: null, effect: null };
}

function cellRow(path: string, { cell, what, place }: CellFailure): TroubleRow {
  const name = formatAddress(cell);
  const words = `${shortKey(name)} has failed: ${what}. Fix the cause, then: reprise revive ${path} '${name}'`;
  return { kind: 'cell', of: ownerOf(cell), what: words, place, effect: null };
}

/** To whom a failed cell belongs, as far as its address says it. */
function ownerOf(cell: Address): Owner {
  const owner = ownerOfCell(cell, () => undefined);
  return cell[0] === SESSION_REDUCER ? { ...owner, session: cell[1] } : owner;
}

function attemptRow(row: AttemptRow): TroubleRow {
  const { kind, of, what, place, effect } = row;
  return { kind, of, what: `${shortKey(what)} ${attemptWords(row)}`, place, effect };
}
