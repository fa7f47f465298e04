import { ledgerApp } from './ledger.js';

/** At most 3 may be added, and 4 was recorded. */
export const app = ledgerApp({ by: (by) => by.max(3) });
